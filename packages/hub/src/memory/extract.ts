/**
 * A summary without a model: the beginning of each message, one a line, the oldest left out when there are too many. It
 * says nothing that was not said, and always the same of the same.
 */
import type { Said } from './working-memory.ts';

const MOST_OF_ONE = 160;

/** At most `most` characters. `before` is the summary that this one takes the place of; null: there was none. */
export function extract(before: string | null, turns: readonly Said[], most: number): string {
  const earlier = before?.split('\n') ?? [];
  const dropped = Number(LEFT_OUT.exec(earlier[0] ?? '')?.[1] ?? 0);
  const lines = [...earlier.filter((line) => !LEFT_OUT.test(line)), ...turns.map(lineOf)];
  let kept = lines.length;
  let room = most - ROOM_FOR_NOTE;
  while (kept > 0) {
    room -= (lines[kept - 1]?.length ?? 0) + 1;
    if (room < 0) break;
    kept--;
  }
  const left = dropped + kept;
  const note = left === 0 ? [] : [`(${left} earlier left out)`];
  return [...note, ...lines.slice(kept)].join('\n');
}

const LEFT_OUT = /^\((\d{1,9}) earlier left out\)$/;
const ROOM_FOR_NOTE = 40;

function lineOf({ role, text }: Said): string {
  const plain = text.replace(/\s+/g, ' ').trim();
  const words = plain.length <= MOST_OF_ONE ? plain : `${plain.slice(0, MOST_OF_ONE)}…`;
  return `- ${SPEAKERS[role]}: ${words}`;
}

const SPEAKERS: Readonly<Record<Said['role'], string>> = {
  user: 'the user',
  assistant: 'answer',
  tool: 'tool',
};
