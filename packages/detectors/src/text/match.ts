/** Matches of expressions at a place in a text. Ring 1. */

/** The match of a sticky expression that begins at `at`, or null. */
export function matchAt(sticky: RegExp, text: string, at: number): RegExpExecArray | null {
  sticky.lastIndex = at;
  return sticky.exec(text);
}
