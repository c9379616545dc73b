/**
 * Overhead: what isolation costs in time, model calls, tokens and money, beside one shared context in the same run. The
 * obedient model answers over HTTP after as long as a model would take; each conversation is two queries of a set, the first
 * of which finds nothing started and the second all of it (paper, section VII).
 */
import { type Consent, type Fault, type JsonObject, type Model, ok, type Result } from '@cordon/core';
import type { BenchRequest, PreparedSuite, Suite, Unit } from '../evaluation/suite.ts';
import type { SetName, Task } from '../functionality/task.ts';
import type { Defences, ReplayApp, Runtime } from '../runtime/run.ts';
import { type Measure, measures } from './measure.ts';
import { reportOf } from './report.ts';
import type { Dropped, SimulatedProvider } from './simulated-provider.ts';

export const overheadSuite: Suite = {
  id: 'overhead',
  question: 'What does isolation cost in time, model calls, tokens and money?',
  // Time is measured.
  jobs: 1,
  takes: [],
  playsModels: true,
  prepare,
};

/** So many apps are installed, those that the task needs among them. */
export const INSTALLED = [1, 3, 10, 30] as const;
const SETS = [
  'typewriter, 1 app',
  'typewriter, 26 apps',
  'relational data',
  'e-mail extraction',
] as const satisfies readonly SetName[];

async function prepare(request: BenchRequest): Promise<Result<PreparedSuite, Fault>> {
  const [{ readTasks }, { Runtime }, { otherApps }, { MODEL_ID, startProvider }, { DEFAULT_PACKS }] =
    await Promise.all([
      import('../functionality/data.ts'),
      import('../runtime/run.ts'),
      import('./installed.ts'),
      import('./simulated-provider.ts'),
      import('@cordon/config/packs'),
    ]);
  const read = readTasks(request);
  if (!read.ok) return read;
  const others = otherApps(request.data);
  if (!others.ok) return others;
  const runtime = new Runtime();
  let provider: SimulatedProvider | null = null;
  const columns: readonly (readonly [Column, Defences])[] = [
    ['baseline', { isolation: 'none', packs: null }],
    ['isolated', { isolation: 'spokes', packs: DEFAULT_PACKS }],
  ];
  const agreed = new Set<string>();
  const agree = async (task: Task) => {
    const apps = task.apps.filter(({ id }) => !agreed.has(id));
    for (const { id } of apps) agreed.add(id);
    if (apps.length === 0) return;
    const model: Model = { complete: () => Promise.reject(new Error('no model is needed to agree')) };
    await runtime.agree({ apps, model, consent: GRANTING, isolation: 'spokes', packs: null });
  };
  const simulated = async (tasks: readonly Task[]): Promise<Model> => {
    provider ??= await startProvider();
    await provider.play(tasks.map(({ scenario }) => scenario));
    return provider.model;
  };
  const unitOf = ({ task, next, installed }: Conversation, index: number): Unit => ({
    key: `${task.key}/${installed}`,
    weight: 4 + task.turns.length + installed / 4 + (task.turns[0]?.expected.length ?? 0),
    calls: expectedCalls([task, next]),
    run: async (signal, played) => {
      const player = played ?? (await simulated([task, next]));
      await agree(task);
      const apps = withOthers(task.apps, others.value.apps, installed);
      const record: Record<string, JsonObject> = {};
      // In turns, so that neither is always the one that runs after the other.
      for (const [name, defences] of index % 2 === 0 ? columns : columns.toReversed()) {
        record[name] = await converse(
          runtime,
          {
            ...defences,
            apps,
            model: player,
            modelId: request.model ?? MODEL_ID,
            consent: GRANTING,
            said: [[task, next].map(({ turns }) => turns[0]?.query ?? '')],
            isAgreed: true,
            // As where a provider is configured; the shared context has no such call.
            facts: 'model',
            warmApps: defences.isolation === 'none' ? apps.length : 4,
          },
          () => (played === undefined ? (provider?.takeDropped() ?? []) : []),
          signal,
        );
      }
      return { set: task.set, installed, calls: task.turns[0]?.expected.length ?? 0, ...record };
    },
  });
  const conversations = conversationsOf(read.value.tasks, request.isQuick);
  return ok({
    data: [...read.value.data, ...others.value.data],
    units: conversations.map(unitOf),
    close: async () => {
      runtime.close();
      await provider?.close();
    },
    report: (records) => reportOf(records, request.model ?? null),
  });
}

export type Column = 'baseline' | 'isolated';

interface Conversation {
  readonly task: Task;
  /** The query that comes after it. */
  readonly next: Task;
  readonly installed: number;
}

/** Each task is once the first of a conversation, with the next of its set behind it. */
function conversationsOf(tasks: readonly Task[], isQuick: boolean): readonly Conversation[] {
  return SETS.flatMap((set) => {
    const ones = tasks.filter((task) => task.set === set);
    const chosen = ones.flatMap((task, index) => {
      const next = ones[(index + 1) % ones.length];
      // Those of typing are ordered by length, and their time is really waited for.
      const isChosen = !isQuick || index === Math.floor(ones.length / 4);
      return next !== undefined && isChosen ? [{ task, next }] : [];
    });
    const needed = Math.max(0, ...ones.map(({ apps }) => apps.length));
    const sizes = INSTALLED.filter((size) => size >= needed);
    // A sample has the smallest that shows the cost of planning.
    const measured = isQuick ? sizes.filter((size) => size > 1).slice(0, 1) : sizes;
    return measured.flatMap((installed) => chosen.map((one) => ({ ...one, installed })));
  });
}

function withOthers(
  own: readonly ReplayApp[],
  others: readonly ReplayApp[],
  installed: number,
): readonly ReplayApp[] {
  return [...own, ...others].slice(0, Math.max(own.length, installed));
}

/** Both columns: of each query a call for each that is expected and one for the answer; isolated, one for the plan and one for facts. */
function expectedCalls(tasks: readonly Task[]): number {
  return tasks.reduce((sum, { turns: [turn] }) => sum + 2 * ((turn?.expected.length ?? 0) + 1) + 2, 0);
}

async function converse(
  runtime: Runtime,
  wanted: Parameters<Runtime['run']>[0],
  takeDropped: () => readonly Dropped[],
  signal: AbortSignal,
): Promise<JsonObject> {
  const { events, outcomes, memory } = await runtime.run(wanted, signal);
  const failed = outcomes.find(({ kind }) => kind !== 'answered');
  if (failed !== undefined) throw new Error(`a query was ${failed.kind}: ${failed.reason ?? 'no reason'}`);
  // Today's assistants start their servers with themselves: of the shared context no start counts.
  const [cold, warm] = measures(events, wanted.isolation === 'none', takeDropped(), memory);
  return { cold: recordOf(cold), warm: recordOf(warm) };
}

function recordOf(measure: Measure | undefined): JsonObject {
  if (measure === undefined) throw new Error('a query left no events');
  return { ...measure };
}

/** As in the paper: whatever is asked is granted. */
const GRANTING: Consent = {
  permission: async () => ({ allow: true, duration: 'once' }),
  choose: async ({ choices: [app] }) => (app === undefined ? null : { app, duration: 'once' }),
};
