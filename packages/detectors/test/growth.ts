import { sampled } from '../../../tools/cases.ts';
import { growsTooFast } from '../../../tools/growth/growth.ts';
import type { FindIn } from '../src/text/finding.ts';

/** Characters. */
const LENGTH = 20_000;

/** What hostile texts are made of; of many alike, `npm test` tries every fourth. */
export function tried(units: readonly string[]): readonly string[] {
  return sampled(units, (_, index) => index % 4 === 0);
}

/** The units whose repetition makes the work of a detector grow faster than the text, and how fast. */
export function growingFast(find: FindIn, units: readonly string[], most = 9): readonly string[] {
  return units.flatMap((unit) => {
    const grows = growsTooFast(find, (length) => unit.repeat(Math.ceil(length / unit.length)), LENGTH, most);
    return grows === null ? [] : [`${unit}: ${grows}`];
  });
}
