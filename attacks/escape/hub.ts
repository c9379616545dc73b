/**
 * The process in which the suite runs, as a hub would: started with a key in its environment and a file open that
 * it never opened, for the attempts to find. What to do is in the file that its first argument names; what came of
 * it goes to descriptor 40, a line of JSON each. Its second argument is a bait, too.
 */
import { copyFileSync, createWriteStream, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LAYER_NAMES, type LayerName } from '@cordon/sandbox';
import type { Attempt, Place } from './attempt.ts';
import { ATTEMPTS } from './attempts.ts';
import { type LaidBaits, layBaits } from './baits.ts';
import { type Confinement, type Run, runAll, severalAtATime } from './confinement.ts';
import { appears, CordonConfinement } from './cordon.ts';
import { type Other, OtherConfinement } from './others.ts';
import { makeProbe, type Probe } from './probe.ts';
import type { Outcome } from './program.ts';
import { type EgressBait, openEgressBait } from './ways-out/egress-bait.ts';
import { openRelayWithoutRules } from './ways-out/relay-without-rules.ts';

/** What to run, where, and without which layers. */
export interface Job {
  readonly in: 'Cordon' | Other;
  readonly weaker: readonly string[];
  readonly ids: readonly string[];
  readonly twins: boolean;
  /** The network leads through a relay that lets everything pass. */
  readonly withoutEgress?: boolean;
}

export type HubMessage =
  | {
      readonly kind: 'outcome';
      readonly job: number;
      readonly id: string;
      readonly isTwin: boolean;
      readonly outcome: Outcome;
    }
  | { readonly kind: 'probe'; readonly how: string };

const TWIN = '#twin';

async function main(jobs: readonly Job[], tell: (message: HubMessage) => void): Promise<void> {
  const laid = await layBaits();
  const egress = await openEgressBait();
  const lax = await openRelayWithoutRules();
  // Ended early by a person or a deadline: the baits go all the same.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => void close(laid, egress, lax).finally(() => process.exit(130)));
  try {
    copyFileSync(join(import.meta.dirname, 'inside', 'driver.ts'), join(laid.tools, 'driver.mts'));
    const probe = makeProbe(laid.tools);
    tell({ kind: 'probe', how: probe.kind });
    let prepared: Promise<unknown> = Promise.resolve();
    await severalAtATime([...jobs.entries()], async ([index, job]) => {
      const confinement = confinementOf(index, job, laid, probe, job.withoutEgress === true ? lax : egress);
      prepared = prepared.then(() => confinement.prepare());
      await prepared;
      await runJob(confinement, laid, job, (id, isTwin, outcome) =>
        tell({ kind: 'outcome', job: index, id, isTwin, outcome }),
      );
    });
  } finally {
    await close(laid, egress, lax);
  }
}

/** A folder of its own for each: who owns it depends on the layers in force. */
function confinementOf(
  index: number,
  job: Job,
  laid: LaidBaits,
  probe: Probe,
  egress: EgressBait,
): Confinement {
  const state = join(laid.states, String(index));
  mkdirSync(state, { mode: 0o700 });
  if (job.in !== 'Cordon') return new OtherConfinement(job.in, state, laid.tools, probe);
  return new CordonConfinement({ laid, state, probe, egress, weaker: layersOf(job) });
}

async function close(laid: LaidBaits, ...ways: readonly EgressBait[]): Promise<void> {
  await Promise.all(ways.map((way) => way.close()));
  await laid.close();
}

function layersOf({ weaker }: Job): readonly LayerName[] {
  const unknown = weaker.find((name) => !LAYER_NAMES.some((known) => known === name));
  if (unknown !== undefined) throw new Error(`there is no layer ${unknown}`);
  return LAYER_NAMES.filter((name) => weaker.includes(name));
}

async function runJob(
  confinement: Confinement,
  laid: LaidBaits,
  job: Job,
  tell: (id: string, isTwin: boolean, outcome: Outcome) => void,
): Promise<void> {
  const place: Place = { ...confinement.place, baits: laid.baits };
  const wanted = ATTEMPTS.filter(({ id }) => job.ids.includes(id));
  const runs: readonly Run[] = wanted.flatMap((attempt) => [
    { id: attempt.id, attempt, program: attempt.program(place) },
    ...(job.twins ? [{ id: `${attempt.id}${TWIN}`, attempt, program: attempt.twin(place) }] : []),
  ]);
  const late: Promise<void>[] = [];
  await runAll(confinement, runs, (id, outcome) => {
    const attempt = wanted.find((one) => one.id === id);
    if (attempt?.leaves !== undefined) {
      late.push(lookBehind(attempt, confinement.state, outcome).then((seen) => tell(id, false, seen)));
      return;
    }
    tell(id.replace(TWIN, ''), id.endsWith(TWIN), outcome);
  });
  await Promise.all(late);
}

/** The program itself cannot tell whether it left something behind. */
async function lookBehind({ leaves = '' }: Attempt, state: string, outcome: Outcome): Promise<Outcome> {
  if (outcome.kind !== 'stopped') return outcome;
  return (await appears(join(state, leaves), 2_500)) ? { kind: 'through' } : outcome;
}

/** Descriptor of the reports; see `suite.ts`. */
const REPORT = 40;

const [task = ''] = process.argv.slice(2);
const reports = createWriteStream('', { fd: REPORT });
await main(JSON.parse(readFileSync(task, 'utf8')), (message) =>
  reports.write(`${JSON.stringify(message)}\n`),
);
reports.end(() => process.exit(0));
