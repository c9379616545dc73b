/**
 * The arguments of a call or a request, each by itself, in the order in which a person should read them: first those that
 * say whom or what it reaches, as they are listed, then the shortest. Attack: a dozen lines of text in an argument whose name comes first in
 * the alphabet push `role: owner` out of what is shown.
 *
 * The consent question is drawn with it.
 */
import { type Json, type NamedArgument, namedArguments, parseJson } from '@cordon/core';

export interface ArgumentLine extends NamedArgument {
  /** It says whom or what the call reaches. */
  readonly isIdentifying: boolean;
}

/** Behind every argument that says whom or what it reaches. */
const LAST = Number.MAX_SAFE_INTEGER;

/** `identifying`: names of arguments that say whom or what it reaches, the most telling first. Null: the text is no JSON object that holds anything. */
export function argumentLines(json: string, identifying: readonly string[]): readonly ArgumentLine[] | null {
  const parsed = parseJson(json);
  const places = new Map(identifying.map((name, place) => [name, place]));
  const lines = (parsed.ok ? namedArguments(parsed.value) : []).map((argument) => {
    const place = Math.min(...namesOf(argument.path).map((name) => places.get(name) ?? LAST));
    return { argument: { ...argument, isIdentifying: place < LAST }, place };
  });
  if (lines.length === 0) return null;
  const inOrder = lines.toSorted(
    (a, b) =>
      a.place - b.place ||
      a.argument.text.length - b.argument.text.length ||
      (a.argument.path < b.argument.path ? -1 : 1),
  );
  return inOrder.map(({ argument }) => argument);
}

/** Names by which the place of a value may be known: `event.attendees[0].email` is also `event`, and `event.attendees.email`. */
function namesOf(path: string): readonly string[] {
  const plain = path.replace(/\[\d+\]/g, '');
  return [path, plain, plain.split('.')[0] ?? ''];
}

/** Characters that each value may have at least, where all are on one line. */
const LEAST_OF_ONE = 48;

/** In one line, for what is printed while a query runs: whole if it fits, else the shortest first, each cut by itself. */
export function argumentsInLine(value: Json, most: number): string {
  const whole = JSON.stringify(value);
  const lines = whole.length <= most ? null : argumentLines(whole, []);
  if (lines === null) return clipped(whole, most);
  const room = Math.max(LEAST_OF_ONE, Math.trunc(most / lines.length));
  const shown = lines.map(
    ({ path, value: one }) => `${JSON.stringify(path)}:${clipped(JSON.stringify(one), room)}`,
  );
  return clipped(`{${shown.join(',')}}`, most);
}

function clipped(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}
