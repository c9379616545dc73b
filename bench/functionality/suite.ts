/**
 * Functionality: does everything still work when apps are isolated and all packs are in force? Each task is played by the
 * obedient model in the real runtime, isolated and in one shared context, and the calls that reached the apps are held
 * against the set's own reference (paper, section VI).
 */

import {
  type Consent,
  type Fault,
  isJsonObject,
  type JsonObject,
  type Model,
  ok,
  type PermissionPrompt,
  type Result,
} from '@cordon/core';
import { meanOf, percent, ratioOf, shareOf, table } from '../evaluation/report-parts.ts';
import type {
  Aim,
  BenchRequest,
  PreparedSuite,
  Section,
  Suite,
  SuiteReport,
  Unit,
} from '../evaluation/suite.ts';
import type { Defences, Runtime } from '../runtime/run.ts';
import { type Judgement, judge } from './judgement.ts';
import { INTERMEDIATE, MISTAKES, type Mistake } from './mistakes.ts';
import type { SetName, Task } from './task.ts';
export const functionalitySuite: Suite = {
  id: 'functionality',
  question: 'Does every task that works in one shared context still work when apps are isolated?',
  jobs: 2,
  takes: [],
  playsModels: true,
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
      import('@cordon/obedient-model'),
      import('@cordon/config/packs'),
    ]);
  const read = readTasks(request);
  if (!read.ok) return read;
  const runtime = new Runtime();
  const columns: readonly (readonly [Column, Defences])[] = [
    ['baseline', { isolation: 'none', packs: null }],
    ['isolated', { isolation: 'spokes', packs: DEFAULT_PACKS }],
  ];
  const obedient = (task: Task): Model => {
    const scenario = decodeScenario(task.scenario, task.key);
    if (!scenario.ok) throw new Error(scenario.fault.map(({ message }) => message).join('; '));
    return createObedientModel({ scenarios: [scenario.value], variant: 'obedient' });
  };
  const unitOf = (task: Task): Unit => ({
    key: task.key,
    weight: 2 + task.apps.length / 4 + task.turns.length,
    calls: expectedCalls(task),
    run: async (signal, played) => {
      const model = played ?? obedient(task);
      const record: Record<string, JsonObject> = {};
      for (const [name, defences] of columns) {
        record[name] = { ...(await play(runtime, task, { model, id: request.model }, defences, signal)) };
      }
      return { set: task.set, ...record };
    },
  });
  const tasks = request.isQuick ? sampleOf(read.value.tasks) : read.value.tasks;
  return ok({
    data: read.value.data,
    units: tasks.map(unitOf),
    close: async () => runtime.close(),
    report: (records) => report(records, request.model ?? null),
  });
}

/** Both columns: a call for each that is expected, one for the answer, and in the isolated column one for the plan. */
function expectedCalls({ turns }: Task): number {
  return turns.reduce((sum, { expected }) => sum + 2 * (expected.length + 1) + 1, 0);
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
  { model, id }: { readonly model: Model; readonly id: string | undefined },
  defences: Defences,
  signal: AbortSignal,
): Promise<Played> {
  const user = new AllowingUser();
  const said = [turns.map(({ query }) => query)];
  const named = id === undefined ? {} : { modelId: id };
  const ran = await runtime.run({ ...defences, apps, model, ...named, consent: user, said }, signal);
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
  /** Null: no answer of the set is compared by its text, or an older run measured it. */
  readonly editDistance: number | null;
  readonly stringScore: number | null;
}

/** IsolateGPT, table II: steps and overall, VanillaGPT and IsolateGPT. */
const PUBLISHED: Partial<Record<SetName | 'all', string>> = {
  'typewriter, 1 app': '1.00 / 1.00, both',
  'typewriter, 26 apps': '1.00 / 1.00, both',
  'relational data': '0.76 / 0.95, both',
  'e-mail extraction': 'see below',
};

/** @param model of a provider that played, `provider/model`; null: the obedient one */
function report(records: ReadonlyMap<string, JsonObject>, model: string | null): SuiteReport {
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
    table(
      'Tasks done',
      'set | tasks | baseline: steps | answers | isolated: steps | answers | questions a task | IsolateGPT',
      rows.map(({ set, tasks, baseline, isolated }) => [
        set,
        String(tasks),
        share(baseline.steps),
        share(baseline.answers),
        share(isolated.steps),
        share(isolated.answers),
        isolated.questions.toFixed(2),
        PUBLISHED[set] ?? '',
      ]),
      'Shares of the tasks whose calls reached the apps as the set expects, and whose answers say what they must. ' +
        `${model === null ? OBEDIENT_NOTE : `The model is \`${model}\` in both columns, so the figures hold its own mistakes.`} ` +
        'All default packs are in force; the user says yes to what carries no warning.',
    ),
    ...similaritySections(rows),
    ...mistakeSections(all),
  ];
  if (failures.length > 0) sections.push(table('What was not done', 'task | column | what', failures));
  return {
    result: {
      tasks: total?.tasks ?? 0,
      sets: Object.fromEntries(
        rows.map(({ set, tasks, ...scores }) => [set, { tasks, ...valuesOf(scores) }]),
      ),
    },
    aims:
      model !== null
        ? comparedAims(total)
        : [
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

const OBEDIENT_NOTE =
  'The model is the obedient one in both columns, so a difference between them is the runtime’s and never the model’s; ' +
  'figures of IsolateGPT are of a real model and hold its own mistakes.';

/** With a model that makes mistakes of its own, isolation must add none: the paper's claim of section VI-A. */
function comparedAims(total: Row | undefined): readonly Aim[] {
  const aim = (what: string, of: (score: Score) => number): Aim => {
    const [isolated, baseline] = total === undefined ? [0, 0] : [of(total.isolated), of(total.baseline)];
    return {
      what: `tasks whose ${what}, isolated`,
      measured: share(isolated),
      aim: `at least ${share(baseline)}, as in the shared context`,
      isMet: (total?.tasks ?? 0) > 0 && isolated >= baseline,
    };
  };
  return [
    aim('calls are those of the reference', ({ steps }) => steps),
    aim('answers say what they must', ({ answers }) => answers),
  ];
}

/** Table II, without apps. */
function similaritySections(rows: readonly Row[]): readonly Section[] {
  const compared = rows.filter(({ set, isolated }) => set !== 'all' && isolated.editDistance !== null);
  if (compared.length === 0) return [];
  const shown = (value: number | null) => (value === null ? '–' : share(value));
  return [
    table(
      'Similarity of answers, no apps (table II)',
      'set | tasks | baseline: edit distance | string score | isolated: edit distance | string score',
      [
        ...compared.map(({ set, tasks, baseline, isolated }) => [
          set,
          String(tasks),
          ...[baseline, isolated].flatMap((score) => [shown(score.editDistance), shown(score.stringScore)]),
        ]),
        ['IsolateGPT, e-mails of LangChain', '42', '0.34', '0.71', '0.33', '0.70'],
      ],
      'Edit distance: 0 is the same text; string score: 1 is. Objects are compared in canonical form.',
    ),
  ];
}

interface Recorded {
  readonly key: string;
  readonly record: JsonObject;
}

/** Table III. */
function mistakeSections(all: readonly Recorded[]): readonly Section[] {
  const of = (column: Column) =>
    all.map(({ record }) => ({ set: String(record.set), mistakes: mistakesIn(record[column]) }));
  const [baseline, isolated] = [of('baseline'), of('isolated')];
  const sets = [...new Set(all.map(({ record }) => String(record.set)))];
  const rows = sets.flatMap((set) =>
    MISTAKES.flatMap((mistake) => {
      const count = (ones: typeof baseline) =>
        ones.filter((one) => one.set === set && one.mistakes.includes(mistake)).length;
      const total = (ones: typeof baseline) =>
        ones.filter((one) => one.set === set).reduce((sum, { mistakes }) => sum + mistakes.length, 0);
      const counts = [baseline, isolated].map((ones) => ({ count: count(ones), of: total(ones) }));
      if (counts.every((one) => one.count === 0)) return [];
      const kind = INTERMEDIATE.has(mistake) ? 'intermediate' : 'overall';
      return [[set, mistake, kind, ...counts.map((one) => `${one.count} (${percent(one)})`)]];
    }),
  );
  if (rows.length === 0) return [];
  return [
    table(
      'Kinds of mistakes (table III)',
      'set | mistake | type | baseline | isolated',
      rows,
      'In brackets the share of the mistakes of that set and column, as in the paper; a task can show several.',
    ),
  ];
}

function mistakesIn(played: unknown): readonly Mistake[] {
  const told = isJsonObject(played) && Array.isArray(played.mistakes) ? played.mistakes : [];
  return MISTAKES.filter((mistake) => told.includes(mistake));
}

function valuesOf({ baseline, isolated }: Pick<Row, Column>): JsonObject {
  return { baseline: { ...baseline }, isolated: { ...isolated } };
}

function scoreOf(played: readonly unknown[]): Score {
  const ones = played.filter((one) => isJsonObject(one));
  const known = (key: string) => ones.flatMap((one) => (typeof one[key] === 'number' ? [one[key]] : []));
  const meanOrNull = (values: readonly number[]) => (values.length === 0 ? null : meanOf(values));
  return {
    steps: ratioOf(shareOf(ones, (one) => one.isStepped === true)) ?? 0,
    answers: ratioOf(shareOf(ones, (one) => one.isAnswered === true)) ?? 0,
    questions: meanOf(ones.map((one) => Number(one.questions))),
    warned: meanOf(ones.map((one) => Number(one.warned))),
    editDistance: meanOrNull(known('editDistance')),
    stringScore: meanOrNull(known('stringScore')),
  };
}

function wrongOf(played: unknown): readonly string[] {
  return isJsonObject(played) && Array.isArray(played.wrong) ? played.wrong.map(String) : [];
}

function share(value: number): string {
  return value.toFixed(2);
}
