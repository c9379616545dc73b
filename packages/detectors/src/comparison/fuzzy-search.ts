/**
 * Where a text holds another one with a few errors: letters too many, too few or changed (Sellers' algorithm over the
 * columns that can still match). The work is the length of the text times that of the query, whose length is limited.
 */
import type { Stretch } from '../text/finding.ts';

/** UTF-16 units of a query. */
export const MOST_QUERY = 512;
const MOST_ERRORS = 10;

export interface FuzzyMatch extends Stretch {
  readonly errors: number;
}

/** As the seed's: `int(len * (1 - threshold))`, ten at most. */
export function errorsFor(query: string, threshold: number): number {
  return Math.min(MOST_ERRORS, Math.floor(query.length * (1 - threshold) + 1e-9));
}

/** The match with the fewest errors, the first of these; null: none with at most `most`. */
export function findFuzzy(text: string, query: string, most: number): FuzzyMatch | null {
  if (query === '') return { start: 0, end: 0, errors: 0 };
  const height = query.length;
  let errors = Array.from({ length: height + 1 }, (_, row) => row);
  let starts = new Array<number>(height + 1).fill(0);
  let best: FuzzyMatch | null = null;
  for (let at = 0; at < text.length; at++) {
    const letter = text.charCodeAt(at);
    const [next, from] = [new Array<number>(height + 1), new Array<number>(height + 1)];
    next[0] = 0;
    from[0] = at + 1;
    for (let row = 1; row <= height; row++) {
      const changed = (errors[row - 1] ?? 0) + (query.charCodeAt(row - 1) === letter ? 0 : 1);
      const added = (errors[row] ?? 0) + 1;
      const left = (next[row - 1] ?? 0) + 1;
      const least = Math.min(changed, added, left);
      next[row] = least;
      from[row] =
        (least === changed
          ? row === 1
            ? at
            : starts[row - 1]
          : least === added
            ? starts[row]
            : from[row - 1]) ?? 0;
    }
    [errors, starts] = [next, from];
    const reached = errors[height] ?? height;
    if (reached <= most && (best === null || reached < best.errors))
      best = { start: starts[height] ?? 0, end: at + 1, errors: reached };
    if (best?.errors === 0) break;
  }
  return best;
}
