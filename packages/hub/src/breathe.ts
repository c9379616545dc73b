/**
 * Timers, signals and other apps get their turn between the steps that a long text takes through the hub: each step is
 * short, all of them in one go would not be. Nothing between a decision and its effect waits here.
 *
 * Ring 0.
 */
import { setImmediate } from 'node:timers/promises';

/** UTF-16 units: a step takes a millisecond for as many. */
export const LONG = 32 * 1024;

export async function breathe(length: number): Promise<void> {
  if (length > LONG) await wholeTurn();
}

/**
 * Resolves when timers and streams have had their turn. What is called for a stream waits for two immediates: the first
 * runs before any timer does.
 */
export async function wholeTurn(): Promise<void> {
  await setImmediate();
  await setImmediate();
}
