/** Lists of words as sources write them: between blanks and line ends. */

export function wordList(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

export function wordSet(text: string): ReadonlySet<string> {
  return new Set(wordList(text));
}

/** Each word of a row has the row's value. */
export function byWord<Value>(
  rows: readonly (readonly [words: string, value: Value])[],
): ReadonlyMap<string, Value> {
  return new Map(rows.flatMap(([words, value]) => wordList(words).map((word) => [word, value] as const)));
}
