/**
 * The seed of everything that tests generate: of all properties of fast-check, and of what draws its own numbers from
 * `SEED`. `CORDON_SEED` repeats a run; a property that fails prints it.
 */
import fc from 'fast-check';

export const SEED = Number(process.env.CORDON_SEED ?? Math.floor(Math.random() * 2 ** 30));
fc.configureGlobal({ seed: SEED });

/** A few hundred generated cases now and then miss a rare kind. */
const MOST_ROUNDS = 10;

/**
 * Checks a property, with further seeds as long as something that has to come up has not: a property that never met a violation shows
 * nothing about one.
 *
 * @param lacks what has not come up yet
 */
export function checkUntil<T>(
  property: fc.IProperty<T>,
  numRuns: number,
  lacks: () => readonly string[],
): void {
  for (const seed of seedsUntil(lacks)) fc.assert(property, { numRuns, seed });
}

/** The same for what takes its time. */
export async function checkUntilAsync<T>(
  property: fc.IAsyncProperty<T>,
  numRuns: number,
  lacks: () => readonly string[],
): Promise<void> {
  for (const seed of seedsUntil(lacks)) await fc.assert(property, { numRuns, seed });
}

function* seedsUntil(lacks: () => readonly string[]): Generator<number> {
  for (let round = 0; round === 0 || (round < MOST_ROUNDS && lacks().length > 0); round++) yield SEED + round;
  if (lacks().length > 0)
    throw new Error(`with ${MOST_ROUNDS} seeds from ${SEED} on there was no ${lacks().join(', no ')}`);
}

/** What was counted and has not come up, for `checkUntil`. */
export function unseen(counts: Readonly<Record<string, number>>): readonly string[] {
  return Object.keys(counts).filter((kind) => counts[kind] === 0);
}
