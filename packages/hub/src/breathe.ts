/**
 * Timers, signals and other apps get their turn between the steps that a long text takes through the hub: each step is
 * short, all of them in one go would not be. Nothing between a decision and its effect waits here.
 *
 * Ring 0.
 */
import { setImmediate } from 'node:timers/promises';

/** UTF-16 units: a step takes a millisecond for as many. */
const LONG = 32 * 1024;

export async function breathe(length: number): Promise<void> {
  if (length > LONG) await setImmediate();
}
