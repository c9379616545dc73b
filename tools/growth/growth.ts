/** Whether work grows with its input and not faster. */

/** What is compared is the work on one input and on one of four times its size. */
const FACTOR = 4;
/** Microseconds that one measurement takes at least: the clock and the garbage collector blur what is shorter. */
const ENOUGH = 2_000;
/** Of the smaller input in each attempt. */
const RUNS = 3;
/** Noise only adds to what is measured, and seldom to all attempts; what grows too fast does so in each. */
const ATTEMPTS = 6;

/**
 * Null where work grows no faster than its input, which `make` makes of a size; else what was measured. Objects that outlive a garbage
 * collection cost more, which makes one jump. So work grows too fast only where it does so at two ranges of sizes: four times from `size`
 * on, and four times from beyond that.
 *
 * @param most how many times four times the input may cost, for noise and caches; quadratic work costs sixteen times as much
 */
export function growsTooFast<T>(
  work: (input: T) => unknown,
  make: (size: number) => T,
  size: number,
  most: number,
): string | null {
  const seen: string[] = [];
  for (const from of [size, (FACTOR + 1) * size]) {
    const times = growth(work, make(from), make(FACTOR * from), most);
    if (times <= most) return null;
    seen.push(`${times.toFixed(1)} times from ${from} to ${FACTOR * from}`);
  }
  return seen.join(', ');
}

/** How many times as much processor time the work on the large input takes, at best. It is measured again while that is too much. */
function growth<T>(work: (input: T) => unknown, small: T, large: T, most: number): number {
  work(large);
  const times = timesThatAreEnough(work, small);
  let found = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < ATTEMPTS && found > most; attempt++) {
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
