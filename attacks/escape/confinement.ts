/**
 * Something that confines programs: Cordon's sandbox, another one, or none. The attempts run in each of them in the
 * same way, or a comparison would compare nothing.
 */
import type { Attempt, Place } from './attempt.ts';
import { commandOf, type Ended, type Outcome, outcomeOf, type Tools, taskOf } from './program.ts';

export interface Command {
  readonly command: readonly string[];
  readonly input: string | null;
  readonly setting: Attempt['setting'];
}

export interface Confinement {
  readonly name: string;
  readonly tools: Tools;
  /** The driver of shared sandboxes, as it is named inside. */
  readonly driver: string;
  /** Where an app finds what is its own. */
  readonly place: Omit<Place, 'baits'>;
  /** On the host: the app's own folder. */
  readonly state: string;
  /** Before the first run. */
  prepare(): Promise<unknown>;
  /** Runs one command to its end, or ends it after `DEADLINE_MS`. */
  run(command: Command): Promise<Ended>;
}

/** More than all attempts of a group take that are each ended by the driver: it stands against what hangs, not against a slow machine. */
export const DEADLINE_MS = 2_400_000;

/** What is run of an attempt: itself, or its twin. */
export interface Run {
  readonly id: string;
  readonly attempt: Attempt;
  readonly program: ReturnType<Attempt['program']>;
}

const NO_PROBE: Outcome = { kind: 'not-run', why: 'there is neither a C compiler nor Python' };

/** Runs them all, and reports each as it comes. What shares a sandbox, what needs the proxy and what is alone go side by side: all of them mostly wait. */
export async function runAll(
  confinement: Confinement,
  runs: readonly Run[],
  onOutcome: (id: string, outcome: Outcome) => void,
): Promise<void> {
  const together = groups(runs).map(([setting, shared]) =>
    runShared(confinement, setting, shared, onOutcome),
  );
  const alone = severalAtATime(runs.filter(isAlone), async ({ id, attempt, program }) => {
    const command = commandOf(program, confinement.tools);
    if (command === null) return onOutcome(id, NO_PROBE);
    onOutcome(id, outcomeOf(await confinement.run({ command, input: null, setting: attempt.setting })));
  });
  await Promise.all([...together, alone]);
}

/**
 * Of each thread of the driver the kernel counts half a gigabyte that V8 reserves and does not use; and a sandbox that
 * many share must not end by what one of them opens, nor on a slow machine by their time together.
 */
const ROOMY = { memoryMiB: 3_000, openFiles: 1_024, cpuSeconds: 3_600 };

function isAlone({ attempt }: Run): boolean {
  return attempt.setting.in === 'alone' || attempt.setting.in === 'javascript';
}

/** One sandbox for all that may share it, and one for all that need the proxy, in halves: slow ones side by side. */
function groups(runs: readonly Run[]): readonly (readonly [Attempt['setting'], readonly Run[]])[] {
  const network = runs.filter(({ attempt }) => attempt.setting.in === 'network');
  const shared = runs.filter(({ attempt }) => attempt.setting.in === 'shared');
  return [
    [{ in: 'shared', limits: ROOMY } as const, shared] as const,
    [{ in: 'network', limits: ROOMY } as const, network] as const,
  ].filter(([, some]) => some.length > 0);
}

async function runShared(
  confinement: Confinement,
  setting: Attempt['setting'],
  runs: readonly Run[],
  onOutcome: (id: string, outcome: Outcome) => void,
): Promise<void> {
  const tasks = runs.flatMap(({ id, program }) => {
    const task = taskOf(program, confinement.tools);
    if (task === null) onOutcome(id, NO_PROBE);
    return task === null ? [] : [{ id, ...task }];
  });
  const { tools, driver } = confinement;
  const runInOne = async (mine: typeof tasks): Promise<void> => {
    if (mine.length === 0) return;
    const command = [tools.node, '--no-warnings', driver];
    const ended = await confinement.run({ command, input: JSON.stringify(mine), setting });
    const results = readResults(ended.out);
    for (const { id } of mine) {
      const result = results.get(id);
      onOutcome(id, result === undefined ? lost(ended) : outcomeOf(result));
    }
  };
  const exhausting = new Set(runs.filter(({ attempt }) => attempt.exhausts === true).map(({ id }) => id));
  const calm = tasks.filter(({ id }) => !exhausting.has(id));
  const halves = setting.in === 'network' ? [0, 1] : [0];
  await Promise.all(
    halves.map((half) => runInOne(calm.filter((_, index) => index % halves.length === half))),
  );
  // Whoever holds all connections of the proxy would be what stops the honest twins of others.
  await runInOne(tasks.filter(({ id }) => exhausting.has(id)));
}

function lost({ code, signal, out, error }: Ended): Outcome {
  const why = `the sandbox ended before it was tried: exit code ${code}, ${signal}: ${error} ${out.slice(-100)}`;
  return { kind: 'unclear', why: why.slice(0, 400) };
}

function readResults(out: string): ReadonlyMap<string, Ended> {
  const results = new Map<string, Ended>();
  for (const line of out.split('\n')) {
    if (!line.startsWith('{"id":')) continue;
    const { id, code, signal, out: said, error } = JSON.parse(line);
    results.set(String(id), { code, signal, out: String(said), error: String(error), isLimited: false });
  }
  return results;
}

/** Few enough that nothing comes too late for its own deadline on two cores. */
const AT_ONCE = 3;

export async function severalAtATime<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const worker = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await run(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
