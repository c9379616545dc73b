/** Finds the name that was probably meant, for messages about unknown names. */

/** The closest of `names` if it is close enough to be a slip of the pen, else null. Linear in what is given. */
export function nearest(word: string, names: Iterable<string>): string | null {
  if (word.length > 64) return null;
  const most = Math.max(1, Math.floor(word.length / 3));
  let best: string | null = null;
  let bestDistance = most + 1;
  for (const name of names) {
    const apart = distance(word.toLowerCase(), name.toLowerCase(), bestDistance);
    if (apart < bestDistance) {
      best = name;
      bestDistance = apart;
    }
  }
  return best;
}

/** Help for an unknown name: the one that was probably meant, else `otherwise`. */
export function suggestion(word: string, names: Iterable<string>, otherwise: string): string {
  const meant = nearest(word, names);
  return meant === null ? otherwise : `did you mean \`${meant}\`?`;
}

/** Edits between the two words (Levenshtein, with a swap of neighbours as one edit), or `limit` if at least that. */
function distance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let older: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let least = Math.min(
        at(previous, column) + 1,
        at(current, column - 1) + 1,
        at(previous, column - 1) + (same ? 0 : 1),
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        least = Math.min(least, at(older, column - 2) + 1);
      }
      current.push(least);
    }
    older = previous;
    previous = current;
  }
  return Math.min(at(previous, b.length), limit);
}

function at(numbers: readonly number[], index: number): number {
  return numbers[index] ?? Number.POSITIVE_INFINITY;
}
