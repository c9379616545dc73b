/** Lists of words as sources write them: between blanks and line ends. Ring 1. */

export function wordList(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

export function wordSet(text: string): ReadonlySet<string> {
  return new Set(wordList(text));
}
