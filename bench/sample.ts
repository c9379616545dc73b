/**
 * Repeated measurements in milliseconds, and what is told of them. Medians and quartiles, because a shared machine
 * makes single runs slow and never fast.
 */

export interface Summary {
  readonly runs: number;
  readonly median: number;
  readonly quartiles: readonly [lower: number, upper: number];
  readonly range: readonly [least: number, most: number];
}

/** @param values at least one, in milliseconds */
export function summary(values: readonly number[]): Summary {
  const sorted = [...values].sort((a, b) => a - b);
  return {
    runs: sorted.length,
    median: quantile(sorted, 0.5),
    quartiles: [quantile(sorted, 0.25), quantile(sorted, 0.75)],
    range: [quantile(sorted, 0), quantile(sorted, 1)],
  };
}

/** Linear between the two nearest ranks. */
function quantile(sorted: readonly number[], share: number): number {
  const rank = (sorted.length - 1) * share;
  const [below, above] = [sorted[Math.floor(rank)], sorted[Math.ceil(rank)]];
  if (below === undefined || above === undefined) throw new Error('a summary needs a value');
  return below + (above - below) * (rank - Math.floor(rank));
}
