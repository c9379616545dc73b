/**
 * Whether the time that a detector needs grows with the text and not faster: compared are texts of one kind, the second four
 * times as long. Ratios of the least of several runs, so that a slow or busy machine changes nothing.
 */
import type { FindIn } from '../src/finding.ts';

const RUNS = 3;

/** About 4 for a linear detector, 16 for a quadratic one. */
export function growth(find: FindIn, unit: string, length: number): number {
  const small = unit.repeat(Math.ceil(length / unit.length));
  const large = unit.repeat(Math.ceil((4 * length) / unit.length));
  find(small);
  let [least, most] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let run = 0; run < RUNS; run++) {
    least = Math.min(least, timed(find, small));
    most = Math.min(most, timed(find, large));
  }
  return most / least;
}

function timed(find: FindIn, text: string): number {
  const started = performance.now();
  find(text);
  return performance.now() - started;
}
