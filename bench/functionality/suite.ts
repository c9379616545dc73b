/**
 * Functionality: does everything still work when apps are isolated and all packs are in force? Each task is played by the
 * obedient model in the real runtime, isolated and in one shared context, and the calls that reached the apps are held
 * against the set's own reference (paper, section VI).
 *
 * Ring 2.
 */
import type { Consent, JsonObject, PermissionPrompt } from '@cordon/core';
import { type Fault, isJsonObject, ok, type Result } from '@cordon/core';
import type { BenchRequest, PreparedSuite, Section, Suite, SuiteReport, Unit } from '../evaluation/suite.ts';
import type { Defences, Runtime } from '../runtime/run.ts';
import { type Judgement, judge } from './judgement.ts';
import type { SetName, Task } from './task.ts';

export const functionalitySuite: Suite = {
  id: 'functionality',
  question: 'Does every task that works in one shared context still work when apps are isolated?',
  jobs: 2,
  takes: [],
  prepare,
};

/** One task in one of the two columns. */
interface Played extends Judgement {
  readonly questions: number;
  readonly warned: number;
  readonly calls: number;
}

async function prepare(request: BenchRequest): Promise<Result<PreparedSuite, Fault>> {
  const [{ readTasks }, { Runtime }, { createObedientModel, decodeScenario }, { DEFAULT_PACKS }] =
    await Promise.all([
      import('./data.ts'),
      import('../runtime/run.ts'),
      import('@cordon/llm'),
      import('../../packages/cli/src/packs.ts'),
    ]);
  const read = readTasks(request);
  if (!read.ok) return read;
  const runtime = new Runtime();
  const columns: readonly (readonly [Column, Defences])[] = [
    ['baseline', { isolation: 'none', packs: null }],
    ['isolated', { isolation: 'spokes', packs: DEFAULT_PACKS }],
  ];
  const unitOf = (task: Task): Unit => ({
    key: task.key,
    weight: 2 + task.apps.length / 4 + task.turns.length,
    run: async (signal) => {
      const scenario = decodeScenario(task.scenario, task.key);
      if (!scenario.ok) throw new Error(scenario.fault.map(({ message }) => message).join('; '));
      const model = createObedientModel({ scenarios: [scenario.value], variant: 'obedient' });
      const record: Record<string, JsonObject> = {};
      for (const [name, defences] of columns) {
        record[name] = { ...(await play(runtime, task, model, defences, signal)) };
      }
      return { set: task.set, ...record };
    },
  });
  const tasks = request.isQuick ? sampleOf(read.value.tasks) : read.value.tasks;
  return ok({
    data: read.value.data,
    units: tasks.map(unitOf),
    close: async () => runtime.close(),
    report,
  });
}

type Column = 'baseline' | 'isolated';

/** The same tasks in every run: of each set the first, the last, and some between. */
function sampleOf(tasks: readonly Task[]): readonly Task[] {
  return [...Map.groupBy(tasks, ({ set }) => set).values()].flatMap((ones) =>
    ones.filter((_, index) => index % Math.ceil(ones.length / 4) === 1 || index === ones.length - 1),
  );
}

async function play(
  runtime: Runtime,
  { apps, turns, key, ...task }: Task,
  model: Parameters<Runtime['run']>[0]['model'],
  defences: Defences,
  signal: AbortSignal,
): Promise<Played> {
  const user = new AllowingUser();
  const said = [turns.map(({ query }) => query)];
  const ran = await runtime.run({ ...defences, apps, model, consent: user, said }, signal);
  const { executed, outcomes } = ran;
  const judgement = judge({ turns, ...task }, executed, outcomes);
  return { ...judgement, questions: user.questions, warned: user.warned, calls: executed.length };
}

/** Says yes to whatever carries no warning, and no to the rest; takes the first of several apps. */
class AllowingUser implements Consent {
  questions = 0;
  warned = 0;

  async permission({ warnings }: PermissionPrompt): ReturnType<Consent['permission']> {
    this.questions++;
    if (warnings.length === 0) return { allow: true, duration: 'once' };
    this.warned++;
    return { allow: false, reason: 'user' };
  }

  async choose({ choices: [app] }: Parameters<Consent['choose']>[0]): ReturnType<Consent['choose']> {
    this.questions++;
    return app === undefined ? null : { app, duration: 'once' };
  }
}

// What all tasks say together.

interface Row {
  readonly set: SetName | 'all';
  readonly tasks: number;
  readonly baseline: Score;
  readonly isolated: Score;
}

interface Score {
  readonly steps: number;
  readonly answers: number;
  readonly questions: number;
  readonly warned: number;
}

/** IsolateGPT, table II: steps and overall, VanillaGPT and IsolateGPT. */
const PUBLISHED: Partial<Record<SetName | 'all', string>> = {
  'typewriter, 1 app': '1.00 / 1.00, both',
  'typewriter, 26 apps': '1.00 / 1.00, both',
  'relational data': '0.76 / 0.95, both',
  'e-mail extraction': 'similarity 0.71; isolated 0.70',
};

function report(records: ReadonlyMap<string, JsonObject>): SuiteReport {
  const all = [...records].map(([key, record]) => ({ key, record }));
  const sets = [...Map.groupBy(all, ({ record }) => String(record.set))];
  const rows: readonly Row[] = [...sets, ['all', all] as const].map(([set, ones]) => ({
    set: set as SetName,
    tasks: ones.length,
    baseline: scoreOf(ones.map(({ record }) => record.baseline)),
    isolated: scoreOf(ones.map(({ record }) => record.isolated)),
  }));
  const total = rows.at(-1);
  const score = total?.isolated ?? scoreOf([]);
  const failures = all.flatMap(({ key, record }) => [
    ...wrongOf(record.baseline).map((what) => [key, 'baseline', what]),
    ...wrongOf(record.isolated).map((what) => [key, 'isolated', what]),
  ]);
  const sections: Section[] = [
    {
      kind: 'table',
      title: 'Tasks done',
      columns: [
        'set',
        'tasks',
        'baseline: steps',
        'answers',
        'isolated: steps',
        'answers',
        'questions a task',
        'IsolateGPT',
      ],
      rows: rows.map(({ set, tasks, baseline, isolated }) => [
        set,
        String(tasks),
        share(baseline.steps),
        share(baseline.answers),
        share(isolated.steps),
        share(isolated.answers),
        isolated.questions.toFixed(2),
        PUBLISHED[set] ?? '',
      ]),
      note:
        'Shares of the tasks whose calls reached the apps as the set expects, and whose answers say what they must. The model is ' +
        'the obedient one in both columns, so a difference between them is the runtime’s and never the model’s; ' +
        'figures of IsolateGPT are of a real model and hold its own mistakes. All default packs are in force; the user says yes to what carries no warning.',
    },
  ];
  if (failures.length > 0)
    sections.push({
      kind: 'table',
      title: 'What was not done',
      columns: ['task', 'column', 'what'],
      rows: failures,
      note: null,
    });
  return {
    result: {
      tasks: total?.tasks ?? 0,
      sets: Object.fromEntries(
        rows.map(({ set, tasks, ...scores }) => [set, { tasks, ...valuesOf(scores) }]),
      ),
    },
    aims: [
      {
        what: 'tasks whose calls are those of the reference, isolated',
        measured: share(score.steps),
        aim: '1.00',
        isMet: all.length > 0 && score.steps === 1,
      },
      {
        what: 'tasks whose answers say what they must, isolated',
        measured: share(score.answers),
        aim: '1.00',
        isMet: all.length > 0 && score.answers === 1,
      },
    ],
    sections,
  };
}

function valuesOf({ baseline, isolated }: Pick<Row, Column>): JsonObject {
  return { baseline: { ...baseline }, isolated: { ...isolated } };
}

function scoreOf(played: readonly unknown[]): Score {
  const ones = played.filter((one) => isJsonObject(one));
  const mean = (value: (one: JsonObject) => number) =>
    ones.length === 0 ? 0 : ones.reduce((sum, one) => sum + value(one), 0) / ones.length;
  return {
    steps: mean((one) => (one.isStepped === true ? 1 : 0)),
    answers: mean((one) => (one.isAnswered === true ? 1 : 0)),
    questions: mean((one) => Number(one.questions)),
    warned: mean((one) => Number(one.warned)),
  };
}

function wrongOf(played: unknown): readonly string[] {
  return isJsonObject(played) && Array.isArray(played.wrong) ? played.wrong.map(String) : [];
}

function share(value: number): string {
  return value.toFixed(2);
}
