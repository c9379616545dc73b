/**
 * Queries by lines of JSON: what `cordon chat --answers -` reads between two queries. Attack: a text that a program passes
 * on for its user has a second line, and that line is an answer to a question. In JSON a query is one line, whatever it holds.
 *
 * Its result counts as the user's own words.
 */
import { failed, isJsonObject, ok, parseJson, type Result } from '@cordon/core';

/** A query of a program's user. */
export interface QueryLine {
  readonly text: string;
  /** Whether it is asked without earlier context and remembered nowhere. */
  readonly isPrivate: boolean;
}

const KEYS: ReadonlySet<string> = new Set(['query', 'private']);

/** Refuses, with the reason, every line that is not exactly a query: a late answer must not become a query. */
export function readQueryLine(line: string): Result<QueryLine, string> {
  const parsed = parseJson(line);
  if (!parsed.ok || !isJsonObject(parsed.value)) return failed('a line is an object: {"query": TEXT}');
  if ('prompt' in parsed.value) return failed('no question of that id is open');
  const { query, private: isPrivate = false } = parsed.value;
  if (Object.keys(parsed.value).some((key) => !KEYS.has(key)))
    return failed('a query has `query` and `private`, and no other key');
  if (typeof query !== 'string' || query.trim() === '') return failed('`query` is a text that is not empty');
  if (typeof isPrivate !== 'boolean') return failed('`private` is true or false');
  return ok({ text: query.trim(), isPrivate });
}
