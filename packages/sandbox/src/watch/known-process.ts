/**
 * Which process is meant: a pid may have come to another process since, and a name says nothing, since every process
 * gives itself the name that it likes. A pid and the moment at which it started are one process.
 */
import { statFields } from '../kernel/proc.ts';

/** The 22nd field of proc(5), `/proc/PID/stat`, counted from the third on. */
const STARTED = 19;

export interface KnownProcess {
  readonly pid: number;
  /** Clock ticks since the machine started. */
  readonly started: string;
}

/** Null: it has ended. */
export function knownProcess(pid: number): KnownProcess | null {
  const started = statFields(`/proc/${pid}`)?.[STARTED];
  return started === undefined ? null : { pid, started };
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
