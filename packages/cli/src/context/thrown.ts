/**
 * What was thrown, as a fault to be told: a store that failed knows what to do about it, everything else is a bug of
 * ours, in one line and without its stack.
 */
import type { Fault } from '@cordon/core';

/** By shape and not by class: the library of the store is loaded only by commands that open one. */
export function thrownFault(error: unknown): Fault {
  const message = error instanceof Error ? error.message : 'unknown error';
  const help = error instanceof Error && 'fault' in error ? helpIn(error.fault) : null;
  return { kind: 'journal-unavailable', message, ...(help === null ? {} : { help }) };
}

function helpIn(fault: unknown): string | null {
  const hasFault = typeof fault === 'object' && fault !== null && 'help' in fault;
  return hasFault && typeof fault.help === 'string' ? fault.help : null;
}
