/** The keys by which `==` looks up what can be equal, so that a join looks at no other value. */
import { isDictionary, isList, type Value } from '../values/value.ts';

/** Equal values have equal keys, whatever else has them too. */
export type JoinKey = string | number | typeof ANY_KEY;

/** The key of what can only be compared: lists, objects, and what is undecided. */
export const ANY_KEY: unique symbol = Symbol('any key');

export function joinKey(value: Value): JoinKey {
  if (typeof value === 'number') return value;
  if (typeof value === 'string') return `s${value}`;
  if (typeof value === 'boolean') return Number(value);
  if (value === null) return 'None';
  const written = isList(value) || isDictionary(value) ? keyText(value, MOST_OF_KEY) : null;
  return written === null ? ANY_KEY : `${STRUCTURED}${written}`;
}

/** Of a long list or object the key says how it begins: others that begin so are compared. */
const MOST_OF_KEY = 512;
/** How the key of a list or an object begins: values with equal keys need not be equal. */
export const STRUCTURED = '~';

/** Null: it holds what only a comparison can tell. */
function keyText(value: Value, most: number): string | null {
  if (value === null) return 'N';
  if (typeof value === 'number' || typeof value === 'boolean') return `${Number(value)}`;
  if (typeof value === 'string') return `s${value.length}:${value.slice(0, most)}`;
  const isSequence = isList(value);
  if (!isSequence && !isDictionary(value)) return null;
  const names = isSequence ? null : Object.keys(value).sort();
  let text = `${isSequence ? '[' : '{'}${isSequence ? value.length : names?.length}`;
  for (const [name, inner] of isSequence
    ? value.entries()
    : (names ?? []).map((one) => [one, value[one]] as const)) {
    if (text.length > most) break;
    const part = keyText(inner ?? null, most - text.length);
    if (part === null) return null;
    text += `,${isSequence ? '' : `s${String(name).length}:${name}`}${part}`;
  }
  return text;
}
