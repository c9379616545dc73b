/** Whether work grows with its input and not faster. */

/** What is compared is the work on one input and on one of four times its size. */
const FACTOR = 4;
/** Noise and caches let linear work seem to grow so many times; quadratic work grows sixteen times. */
const MOST_GROWTH = 10;
/** Of one measurement, at least, in microseconds: what takes less is the clock's and the collector's. */
const ENOUGH = 2_000;
/** Of the smaller input in each attempt. */
const RUNS = 3;
/** Noise only adds to what is measured, and seldom to all attempts; what grows too fast does so in each. */
const ATTEMPTS = 6;

/**
 * Null where work grows no faster than its input, which `make` makes of a size; else what was measured. The collector of garbage makes
 * objects dear from the number on at which they outlive a collection. That is one jump, so work grows too fast only where it
 * does so at two ranges of sizes: four times from `size` on, and four times from beyond that.
 */
export function growsTooFast<T>(
  work: (input: T) => unknown,
  make: (size: number) => T,
  size: number,
): string | null {
  const seen: string[] = [];
  for (const from of [size, (FACTOR + 1) * size]) {
    const times = growth(work, make(from), make(FACTOR * from));
    if (times <= MOST_GROWTH) return null;
    seen.push(`${times.toFixed(1)} times from ${from} to ${FACTOR * from}`);
  }
  return seen.join(', ');
}

/** How many times as much processor time the work on the large input takes, at best. It is measured again while that is too much. */
function growth<T>(work: (input: T) => unknown, small: T, large: T): number {
  work(large);
  const times = timesThatAreEnough(work, small);
  let found = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < ATTEMPTS && found > MOST_GROWTH; attempt++) {
    // Before and after: what the engine has not compiled yet, or compiles again, would make the small input look dear.
    const before = leastCost(work, small, times);
    const more = cost(work, large, times);
    found = Math.min(found, more / Math.min(before, leastCost(work, small, times)));
  }
  return found;
}

/** How often the work is done in one measurement. */
function timesThatAreEnough<T>(work: (input: T) => unknown, small: T): number {
  let times = 1;
  while (leastCost(work, small, times) < ENOUGH) times *= 2;
  return times;
}

function leastCost<T>(work: (input: T) => unknown, input: T, times: number): number {
  return Math.min(...Array.from({ length: RUNS }, () => cost(work, input, times)));
}

/** Microseconds of this process, so that others do not count. The clock of a single thread ticks in milliseconds on some machines. */
function cost<T>(work: (input: T) => unknown, input: T, times: number): number {
  const before = process.cpuUsage();
  for (let time = 0; time < times; time++) work(input);
  const { user, system } = process.cpuUsage(before);
  return Math.max(user + system, 1);
}
