/**
 * The seed of everything that tests generate: of all properties of fast-check, and of what draws its own numbers from
 * `SEED`. `CORDON_SEED` repeats a run; a property that fails prints it.
 */
import fc from 'fast-check';

export const SEED = Number(process.env.CORDON_SEED ?? Math.floor(Math.random() * 2 ** 30));
fc.configureGlobal({ seed: SEED });
