/**
 * Timers, signals and other apps get their turn between the steps that a long text takes through the hub: each step is
 * short, all of them in one go would not be. Nothing between a decision and its effect waits here.
 */
import { setImmediate } from 'node:timers/promises';

/** UTF-16 units: a step takes a millisecond for as many. */
export const LONG = 32 * 1024;

export async function yieldIfLong(length: number): Promise<void> {
  if (length > LONG) await eventLoopTurn();
}

/**
 * Resolves when timers and streams have had their turn. Behind the callback of a stream, Node runs one immediate before it
 * looks at any timer; the second comes after.
 */
export async function eventLoopTurn(): Promise<void> {
  await setImmediate();
  await setImmediate();
}
