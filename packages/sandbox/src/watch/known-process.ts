/**
 * Which process is meant: a pid may have come to another process since, and a name says nothing, since every process
 * gives itself the name that it likes. A pid and the moment at which it started are one process.
 *
 * Ring 0.
 */
import { readFileSync } from 'node:fs';

export interface KnownProcess {
  readonly pid: number;
  /** Clock ticks since the machine started. */
  readonly started: string;
}

/** Null: it has ended. */
export function knownProcess(pid: number): KnownProcess | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // proc(5): field 22; the name before the third may hold spaces and brackets.
    const started = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    return started === undefined ? null : { pid, started };
  } catch {
    return null;
  }
}

/** Ends its process group, if it leads one, and else itself. */
export function killKnown({ pid, started }: KnownProcess): void {
  if (knownProcess(pid)?.started !== started) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    killAlone(pid);
  }
}

function killAlone(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended since.
  }
}
