/**
 * `npm run bench:isolation`: what isolation costs. Starts, round trips and calls beside the same without a sandbox,
 * memory of idle processes, many spokes at once, and what a hostile app takes of the hub's time. Real sandboxes, in
 * this process; each round makes every measurement once. See docs/benchmarks.md.
 *
 * Exit codes: 0 every aim is met, 1 one is missed, 2 it could not be measured.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadConfiguration } from '@cordon/config';
import { DEFAULT_TURN_LIMITS, type InstalledApp } from '@cordon/core';
import { SpokeLink } from '@cordon/hub/parts';
import { disturbance, HARMS } from '@cordon/testkit/isolation/disturbance.ts';
import { fail, MeasuredHost, must, openRig, type Rig } from '@cordon/testkit/isolation/rig.ts';
import { printRecords } from '../machine/print.ts';
import { thisMachine } from '../machine.ts';
import { CONFIGURATION } from '../places.ts';
import { summary } from '../sample.ts';
import { manySpokes } from './many-spokes.ts';
import { descendantsPss } from './memory.ts';
import { besideFolders } from './neighbour.ts';
import { overLink, overPipe } from './round-trip.ts';
import { bareStart, confinedStart, ECHO, loopStart, warmStart } from './starts.ts';
import { type CallTimes, toolCalls } from './tool-call.ts';

const LEAST_ROUNDS = 3;
/** A file system in memory, on most machines. */
const MEMORY = '/dev/shm';
const SPOKES = 500;

type Unit = 'ms' | 'µs' | 'MB';

interface Aim {
  /** The median must stay below; with `of`, the median divided by that of another row. */
  readonly below: number;
  readonly of?: string;
}

interface Row {
  /** The measurement that it is of. */
  readonly kind: string;
  readonly name: string;
  readonly unit: Unit;
  readonly median: number;
  readonly quartiles: readonly [number, number];
  readonly range: readonly [number, number];
  readonly runs: number;
  /** To the row that the aim names. */
  readonly ratio: number | null;
  readonly aim: Aim | null;
  readonly met: boolean | null;
}

interface Values extends Pick<Row, 'kind' | 'unit' | 'aim'> {
  readonly all: number[];
}

class Results {
  readonly #values = new Map<string, Values>();
  /** Of what is measured now. */
  kind = '';

  add(name: string, unit: Unit, value: number, aim: Aim | null = null): void {
    const known = this.#values.get(name);
    if (known === undefined) this.#values.set(name, { kind: this.kind, unit, aim, all: [value] });
    else known.all.push(value);
  }

  rows(): readonly Row[] {
    return [...this.#values].map(([name, { kind, unit, aim, all }]) => {
      const { median, quartiles, range, runs } = summary(all);
      const other = aim?.of === undefined ? null : summary(this.#values.get(aim.of)?.all ?? []).median;
      const ratio = other === null ? null : median / other;
      return {
        kind,
        name,
        unit,
        median,
        quartiles,
        range,
        runs,
        ratio,
        aim,
        met: aim === null ? null : (ratio ?? median) < aim.below,
      };
    });
  }
}

interface Stage {
  readonly rig: Rig;
  readonly example: InstalledApp;
  readonly results: Results;
  readonly say: (doing: string) => void;
}

const STARTS = { bare: 'app, bare: start → first answer', confined: 'app, confined: start → first answer' };

async function starts({ rig, example, results, say }: Stage): Promise<void> {
  say('starts');
  results.add(STARTS.bare, 'ms', await bareStart(ECHO));
  results.add(STARTS.confined, 'ms', await confinedStart(rig, ECHO), { below: 1.2, of: STARTS.bare });
  results.add('metro-hail, bare', 'ms', await bareStart(example));
  results.add('metro-hail, confined', 'ms', await confinedStart(rig, example), {
    below: 1.2,
    of: 'metro-hail, bare',
  });
  results.add('agent loop: start → ready', 'ms', await loopStart(rig));
}

async function warm({ rig, example, results, say }: Stage): Promise<void> {
  say('warm apps');
  const journey = { start_point: 'a', end_point: 'b' };
  const waited = await warmStart(rig, example, 'calculate_fare', journey);
  results.add('warm app: needed → ready', 'ms', waited.ready, { below: 4 });
  results.add('warm app: first call', 'ms', waited.firstCall, { below: 1 });
  results.add('warm app: second call', 'ms', waited.secondCall);
  const least = await warmStart(rig, ECHO, 'echo', { text: 'hello' });
  results.add('warm server of 20 lines: first call', 'ms', least.firstCall, { below: 1 });
}

async function trips({ rig, results, say }: Stage): Promise<void> {
  for (const [name, bytes] of [
    ['200 B', 200],
    ['10 KB', 10_000],
  ] as const) {
    say(`round trips of ${name}`);
    const pipe = `round trip, ${name}: bare pipe, own session`;
    results.add(`round trip, ${name}: bare pipe`, 'µs', await overPipe(bytes, false));
    results.add(pipe, 'µs', await overPipe(bytes, true));
    results.add(`round trip, ${name}: hub's link`, 'µs', await overLink(rig, bytes), {
      below: 1.2,
      of: pipe,
    });
  }
}

async function calls({ rig, results, say }: Stage, round: number): Promise<void> {
  say('tool calls');
  const add = ({ inHub, modelToModel }: CallTimes, where: string, aim: Aim | null) => {
    for (const took of inHub) results.add(`tool call, in the hub${where}`, 'ms', took, aim);
    for (const took of modelToModel) results.add(`tool call, model to model${where}`, 'ms', took);
  };
  add(await toolCalls(rig, ECHO, join(rig.folder, `journal-${round}`)), '', { below: 1.5 });
  if (!existsSync(MEMORY)) return;
  // What is left without the disk.
  const inMemory = mkdtempSync(join(MEMORY, 'cordon-isolation-'));
  add(await toolCalls(rig, ECHO, join(inMemory, 'journal')), ', journal in memory', null);
  rmSync(inMemory, { recursive: true, force: true });
}

/** At once: what processes share is divided by how many share it, as in a session with several apps. */
const TOGETHER = 10;

async function memory({ rig, results, say }: Stage): Promise<void> {
  say('memory');
  const each = Array.from({ length: TOGETHER });
  const loops = await Promise.all(each.map(() => rig.loops.launch(new AbortController().signal)));
  const links = loops.map((loop) => new SpokeLink(must(loop), DEFAULT_TURN_LIMITS));
  for (const link of links) if (!(await link.ready)) fail('a loop was not ready');
  await idle();
  results.add('idle agent loop: memory (PSS)', 'MB', descendantsPss() / TOGETHER, { below: 15 });
  for (const link of links) link.close();
  await Promise.all(loops.map((loop) => must(loop).ended));
  const hosts = each.map(() => new MeasuredHost(rig));
  await Promise.all(hosts.map(async ({ host }) => must(await host.start(ECHO))));
  await idle();
  results.add('idle MCP app: memory (PSS)', 'MB', descendantsPss() / TOGETHER, { below: 32 });
  await Promise.all(hosts.map(({ host }) => host.stop()));
}

/** Until what a start leaves to do is done, and what it left to collect is collected. */
function idle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1_000));
}

async function harms({ rig, results, say }: Stage): Promise<void> {
  for (const harm of HARMS) {
    say(`an app that does harm: ${harm}`);
    const { busy, longest } = await disturbance(rig, harm);
    results.add(`hub busy: ${harm}`, 'ms', busy, { below: 100 });
    results.add(`hub's longest pause: ${harm}`, 'ms', longest);
  }
}

const PEACE = 'files of a neighbour, p99: in peace';
const FLAT = 'files of a neighbour, p99: beside 9,000 folders';

async function neighbour({ rig, results, say }: Stage): Promise<void> {
  say('files of a neighbour');
  const { peace, flat, nested, allowed } = await besideFolders(rig);
  results.add(PEACE, 'ms', peace);
  // What the disk and the cores cost, whatever the form of the folders.
  results.add(FLAT, 'ms', flat);
  results.add(`${FLAT}, each in the other`, 'ms', nested, { below: 1.5, of: PEACE });
  results.add(`${FLAT}, as deep as allowed`, 'ms', allowed, { below: 1.5, of: FLAT });
}

/** An example app of ours, which uses our library and is TypeScript. */
function exampleApp({ folder, dataFolder }: Rig): InstalledApp {
  const options = { config: CONFIGURATION, data: dataFolder };
  const loaded = loadConfiguration({ environment: {}, cwd: folder, home: folder, options });
  const app = loaded.ok ? loaded.value.apps.find(({ id }) => id === 'metro-hail') : undefined;
  if (app?.source.kind !== 'command') return fail('metro-hail is not configured');
  mkdirSync(join(dataFolder, 'apps', app.id), { recursive: true, mode: 0o700 });
  const args = app.source.args.map((arg) => join(CONFIGURATION, '..', arg));
  return { ...app, source: { ...app.source, args } };
}

type Measurement = (stage: Stage, round: number) => Promise<void>;

/** What a round consists of, in this order, by the names that `--only` takes. */
const MEASUREMENTS: ReadonlyMap<string, Measurement> = new Map<string, Measurement>([
  ['starts', starts],
  ['warm', warm],
  ['trips', trips],
  ['calls', calls],
  ['memory', memory],
  ['neighbour', neighbour],
  ['harms', (stage, round) => (round <= LEAST_ROUNDS ? harms(stage) : Promise.resolve())],
]);

/** Done once, behind all rounds. */
const MANY = 'spokes';

/** A single figure is compared best where nothing else runs in between. Empty: there is no measurement of that name. */
function chosenMeasurements(
  only: string | undefined,
  withHarms: boolean,
): readonly (readonly [kind: string, measure: Measurement])[] {
  const isChosen = (name: string) => (only === undefined ? name !== 'harms' || withHarms : name === only);
  return [...MEASUREMENTS].filter(([name]) => isChosen(name));
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      rounds: { type: 'string', default: '7' },
      spokes: { type: 'string', default: String(SPOKES) },
      'no-harm': { type: 'boolean' },
      json: { type: 'boolean' },
    },
  });
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < LEAST_ROUNDS) {
    console.error(`--rounds takes a number of at least ${LEAST_ROUNDS}`);
    return 2;
  }
  const { only } = values;
  const chosen = chosenMeasurements(only, values['no-harm'] !== true);
  if (chosen.length === 0 && only !== MANY) {
    console.error(`--only takes one of ${[...MEASUREMENTS.keys(), MANY].join(', ')}`);
    return 2;
  }
  const machine = thisMachine();
  const rig = await openRig();
  try {
    const results = new Results();
    const say = (doing: string) => console.error(`… ${doing}`);
    const example = exampleApp(rig);
    const stage = { rig, example, results, say };
    // Not counted: it fills the caches of the machine.
    await starts({ ...stage, results: new Results() });
    await warm({ ...stage, results: new Results() });
    for (let round = 1; round <= (chosen.length === 0 ? 0 : rounds); round++) {
      const inRound = { ...stage, say: (doing: string) => say(`round ${round} of ${rounds}: ${doing}`) };
      for (const [kind, measure] of chosen) {
        results.kind = kind;
        await measure(inRound, round);
      }
    }
    const count = only === undefined || only === MANY ? Number(values.spokes) : 0;
    const many = count > 0 ? await manySpokes(rig, count, say) : null;
    const rows = results.rows();
    if (values.json === true) console.log(JSON.stringify({ machine, rows, many }, null, 2));
    else {
      const kinds = [...Map.groupBy(rows, ({ kind }) => kind)];
      const records = kinds.map(([kind, own]) => [`isolation/${kind}`, { machine, rows: own }]);
      await printRecords({ ...Object.fromEntries(records), 'isolation/spokes': { machine, many } });
    }
    return rows.some(({ met }) => met === false) ? 1 : 0;
  } finally {
    rig.remove();
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error);
  process.exitCode = 2;
}
