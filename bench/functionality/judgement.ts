/**
 * Whether a task was done: the calls that reached the apps against those that its set expects, and what the user was
 * told against what the answer must say. What a model claims counts for nothing.
 */
import { canonicalJson } from '@cordon/core';
import type { Outcome } from '@cordon/hub';
import type { ExecutedCall } from '../runtime/run.ts';
import { type Mistake, mistakesOf } from './mistakes.ts';
import { type Similarity, similarity } from './similarity.ts';
import type { ExpectedCall, Task, TaskTurn } from './task.ts';

export interface Judgement {
  /** All expected calls reached their apps with their arguments, in their order where it counts, and no others did. */
  readonly isStepped: boolean;
  /** Each answer said what it must. */
  readonly isAnswered: boolean;
  /** One line for each thing that is wrong. */
  readonly wrong: readonly string[];
  readonly mistakes: readonly Mistake[];
  /** Of the answers that are compared by their texts, the mean; null: none is. */
  readonly editDistance: number | null;
  readonly stringScore: number | null;
}

export function judge(
  { turns }: Pick<Task, 'turns'>,
  executed: readonly ExecutedCall[],
  outcomes: readonly Outcome[],
): Judgement {
  const expected = turns.flatMap((turn) => turn.expected);
  const steps = STEPS[orderOf(turns)](expected, executed);
  const answers = turns.flatMap(({ says }, index) => {
    const told = plain(outcomes[index]?.answer ?? '');
    const missing = says.filter((one) => !told.includes(plain(one)));
    if (missing.length === 0 && outcomes[index]?.kind === 'answered') return [];
    const { kind = 'failed', reason = null, answer = null } = outcomes[index] ?? {};
    return [
      `turn ${index + 1} was ${kind}${reason === null ? '' : ` (${reason})`}: ${answer ?? 'no answer'}`,
    ];
  });
  const done = { isStepped: steps.length === 0, isAnswered: answers.length === 0 };
  return {
    ...done,
    wrong: [...steps, ...answers],
    mistakes: mistakesOf({ expected, executed, outcomes, ...done }),
    ...similarityOf(turns, outcomes),
  };
}

function similarityOf(
  turns: readonly TaskTurn[],
  outcomes: readonly Outcome[],
): Pick<Judgement, 'editDistance' | 'stringScore'> {
  const compared = turns.flatMap(({ reference }, index) =>
    reference === undefined ? [] : [similarity(outcomes[index]?.answer ?? '', reference)],
  );
  const mean = (of: (one: Similarity) => number) =>
    compared.length === 0 ? null : compared.reduce((sum, one) => sum + of(one), 0) / compared.length;
  return {
    editDistance: mean(({ editDistance }) => editDistance),
    stringScore: mean(({ stringScore }) => stringScore),
  };
}

type Order = TaskTurn['order'];
type Comparison = (expected: readonly ExpectedCall[], executed: readonly ExecutedCall[]) => readonly string[];

const STEPS: Readonly<Record<Order, Comparison>> = {
  total: wrongInOrder,
  'each app': (expected, executed) => {
    const apps = new Set([...expected, ...executed].map(({ app }) => app));
    const of = <T extends { readonly app: string }>(calls: readonly T[], app: string) =>
      calls.filter((call) => call.app === app);
    return [...apps].flatMap((app) => wrongInOrder(of(expected, app), of(executed, app)));
  },
  none: wrongInAnyOrder,
};

/** The least that all turns ask for. */
function orderOf(turns: readonly TaskTurn[]): Order {
  const wanted = new Set(turns.map(({ order }) => order));
  if (wanted.has('none')) return 'none';
  return wanted.has('each app') ? 'each app' : 'total';
}

function wrongInOrder(
  expected: readonly ExpectedCall[],
  executed: readonly ExecutedCall[],
): readonly string[] {
  const length = Math.max(expected.length, executed.length);
  const at = Array.from({ length }, (_, index) => index).find((index) => {
    const [wanted, made] = [expected[index], executed[index]];
    return wanted === undefined || made === undefined || !isCall(wanted, made);
  });
  if (at === undefined) return [];
  const [wanted, made] = [expected[at], executed[at]];
  return [
    `call ${at + 1}: ${made === undefined ? 'none' : shown(made)} instead of ${wanted === undefined ? 'none' : shown(wanted)}`,
  ];
}

function wrongInAnyOrder(
  expected: readonly ExpectedCall[],
  executed: readonly ExecutedCall[],
): readonly string[] {
  const left = [...executed];
  const missing = expected.filter((wanted) => {
    const at = left.findIndex((made) => isCall(wanted, made));
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  return [
    ...missing.map((wanted) => `not made: ${shown(wanted)}`),
    ...left.map((made) => `not expected: ${shown(made)}`),
  ];
}

function isCall(wanted: ExpectedCall, made: ExecutedCall): boolean {
  if (wanted.app !== made.app || wanted.tool !== made.tool) return false;
  return wanted.arguments === null || canonicalJson(wanted.arguments) === canonicalJson(made.arguments);
}

function shown({ app, tool, arguments: args }: ExpectedCall): string {
  return `${app}/${tool}(${args === null ? '…' : JSON.stringify(args)})`;
}

/** Letters and digits, so that `milk, soy` and `["Milk","Soy"]` are the same. */
function plain(text: string): string {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(' ');
}
