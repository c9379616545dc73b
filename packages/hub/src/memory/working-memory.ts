/**
 * What of a history a context is shown again: the newest part of it, within limits, and one summary for what is older.
 * However long a conversation grows, the prompt of its next turn does not (paper, Appendix A-C: working memory).
 */
import type { MemoryLimits, ModelMessage } from '@cordon/core';

/** As much of a turn as matters here. */
export interface Said {
  readonly role: 'user' | 'assistant' | 'tool';
  readonly text: string;
}

/**
 * The newest messages of the user, each with what followed, as far as the limits go; `older` is the rest. The newest
 * one is shown in any case.
 */
export function divideHistory<T extends Said>(
  turns: readonly T[],
  limits: Pick<MemoryLimits, 'interactions' | 'characters'>,
): { readonly older: readonly T[]; readonly shown: readonly T[] } {
  let first = turns.length;
  let interactions = 0;
  let characters = 0;
  for (let at = turns.length - 1; at >= 0; at--) {
    const turn = turns[at];
    if (turn === undefined) break;
    characters += Math.min(turn.text.length, mostOfOne(limits));
    if (turn.role !== 'user' && at > 0) continue;
    interactions++;
    const fits = characters <= limits.characters && interactions <= Math.max(1, limits.interactions);
    if (!fits && interactions > 1) break;
    first = at;
  }
  return { older: turns.slice(0, first), shown: turns.slice(first) };
}

/** One long text must not push all others out: the middle of it is left out. */
export function shownText(text: string, limits: Pick<MemoryLimits, 'characters'>): string {
  return shortened(text, mostOfOne(limits));
}

/** Begin and end of a text that is longer than `most`, and how much is missing between them. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = Math.floor(most / 4);
  const left = text.length - most;
  return `${text.slice(0, most - end)}\n[… ${left} characters left out …]\n${text.slice(text.length - end)}`;
}

function mostOfOne({ characters }: Pick<MemoryLimits, 'characters'>): number {
  return Math.floor(characters / 3);
}

/** The hub's own question before a summary: models expect a conversation to begin with the user. */
const SUMMARY_QUESTION = 'What did we say before? Sum it up.';

/** A summary stands as what the context's model said, because a model or the hub made it of what was said there. */
export function summaryMessages(summary: string): readonly ModelMessage[] {
  return [
    { role: 'user', text: SUMMARY_QUESTION },
    { role: 'assistant', text: summary, calls: [] },
  ];
}
