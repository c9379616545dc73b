/**
 * How much two texts have in common in their words and parts of words: the cosine of the counts of their words and of
 * stretches of three letters. It knows nothing of meaning: synonyms and translations are far apart.
 */

/** From 0, nothing in common, to 1. */
export function lexicalSimilarity(one: string, other: string): number {
  const [a, b] = [countsOf(one), countsOf(other)];
  let product = 0;
  for (const [part, count] of a) product += count * (b.get(part) ?? 0);
  const size = lengthOf(a) * lengthOf(b);
  return size === 0 ? 0 : Math.min(1, product / size);
}

function countsOf(text: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const add = (part: string) => counts.set(part, (counts.get(part) ?? 0) + 1);
  for (const [word] of text
    .normalize('NFKC')
    .toLowerCase()
    .matchAll(/[\p{L}\p{N}]{1,64}/gu)) {
    add(word);
    const padded = `^${word}$`;
    for (let at = 0; at + 3 <= padded.length; at++) add(padded.slice(at, at + 3));
  }
  return counts;
}

function lengthOf(counts: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const count of counts.values()) sum += count * count;
  return Math.sqrt(sum);
}
