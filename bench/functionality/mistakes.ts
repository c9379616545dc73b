/**
 * Which kinds of mistakes a task shows: table III of the paper, whose app is one function, so a tool here. Each kind counts
 * at most once for a task.
 *
 * Source: IsolateGPT (NDSS 2025), section VI-B, table III.
 */
import { canonicalJson } from '@cordon/core';
import type { Outcome } from '@cordon/hub';
import { saysContextExceeded } from '../model/index.ts';
import type { ExecutedCall } from '../runtime/run.ts';
import type { ExpectedCall } from './task.ts';

/** The paper's words, and two more: it compares no arguments, and its queries always ended. */
export const MISTAKES = [
  'app called twice',
  'unexpected app called',
  'expected app not called',
  'unexpected calling order',
  'other arguments',
  'incorrect response',
  'unexpected response',
  'context window exceeded',
  'no answer',
] as const;
export type Mistake = (typeof MISTAKES)[number];

/** Of tasks with a call that is expected, what is wrong on the way; the others are about the answer. */
export const INTERMEDIATE: ReadonlySet<Mistake> = new Set<Mistake>(MISTAKES.slice(0, 5));

export interface Played {
  readonly expected: readonly ExpectedCall[];
  readonly executed: readonly ExecutedCall[];
  readonly outcomes: readonly Outcome[];
  readonly isStepped: boolean;
  readonly isAnswered: boolean;
}

export function mistakesOf(played: Played): readonly Mistake[] {
  const found = new Set<Mistake>([
    ...(played.isStepped ? [] : stepMistakes(played)),
    ...(played.isAnswered ? [] : [answerMistake(played)]),
  ]);
  return MISTAKES.filter((mistake) => found.has(mistake));
}

function stepMistakes({ expected, executed }: Played): readonly Mistake[] {
  const wanted = counts(expected);
  const made = counts(executed);
  const names = [...new Set([...wanted.keys(), ...made.keys()])];
  const mistakes = names.flatMap((name): readonly Mistake[] => {
    const [often, seldom] = [made.get(name) ?? 0, wanted.get(name) ?? 0];
    if (seldom === 0) return ['unexpected app called'];
    if (often === seldom) return [];
    return often > seldom ? ['app called twice'] : ['expected app not called'];
  });
  if (mistakes.length > 0) return mistakes;
  return [hasOtherArguments(expected, executed) ? 'other arguments' : 'unexpected calling order'];
}

/** All tools are called as often as expected. */
function hasOtherArguments(expected: readonly ExpectedCall[], executed: readonly ExecutedCall[]): boolean {
  const left = [...executed];
  return expected.some((wanted) => {
    const at = left.findIndex(
      (made) =>
        nameOf(made) === nameOf(wanted) &&
        (wanted.arguments === null || canonicalJson(wanted.arguments) === canonicalJson(made.arguments)),
    );
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

function answerMistake({ expected, outcomes }: Played): Mistake {
  const ended = outcomes.find(({ kind }) => kind !== 'answered');
  if (ended === undefined) return expected.length === 0 ? 'unexpected response' : 'incorrect response';
  return saysContextExceeded(ended.reason ?? '') ? 'context window exceeded' : 'no answer';
}

function counts(
  calls: readonly { readonly app: string; readonly tool: string }[],
): ReadonlyMap<string, number> {
  return new Map([...Map.groupBy(calls, nameOf)].map(([name, own]) => [name, own.length]));
}

function nameOf({ app, tool }: { readonly app: string; readonly tool: string }): string {
  return `${app}/${tool}`;
}
