import { sampled } from '../../../tools/cases.ts';
import { growsTooFast } from '../../../tools/growth/growth.ts';
import type { FindIn } from '../src/text/finding.ts';

/** Characters of the shortest text; the longest has twenty times as many. */
const LENGTH = 20_000;

/** What hostile texts are made of; of many alike, `npm test` tries every fourth. */
export function tried(units: readonly string[]): readonly string[] {
  return sampled(units, (_, index) => index % 4 === 0);
}

/**
 * The units whose repetition makes the work of a detector grow faster than the text, and how fast.
 *
 * @param shortest a detector that cuts what it looks at needs one so short that it cuts none of the texts
 */
export function growingFast(
  find: FindIn,
  units: readonly string[],
  most = 9,
  shortest = LENGTH,
): readonly string[] {
  return units.flatMap((unit) => {
    const text = (length: number) => unit.repeat(Math.ceil(length / unit.length));
    const grows = growsTooFast(find, text, shortest, most);
    return grows === null ? [] : [`${unit}: ${grows}`];
  });
}
