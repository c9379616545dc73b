/**
 * Signals for a confined program. Process 1 of a sandbox passes none on, and one sent to bubblewrap is the end of the
 * whole tree; so the program is looked for in the host's list of processes, below the first process inside.
 *
 * Ring 0.
 */
import { readdirSync, readFileSync } from 'node:fs';

/** The first program inside: process 1 is ours, or bubblewrap's, and starts one other. */
const FIRST_INSIDE = 2;

/**
 * `root`: host pid of the first process inside. Sends a signal to the program of the specification, which may catch or ignore it. False: it is not there yet or no
 * more, or is behind a layer that hides it; then only `kill` is left.
 */
export function deliverSignal(root: number, isBehindHandover: boolean, signal: NodeJS.Signals): boolean {
  try {
    const children = childrenByParent();
    const first = children.get(root)?.find(({ inside }) => inside === FIRST_INSIDE);
    if (first === undefined) return false;
    // Behind the hand-over the program is its only child.
    const program = isBehindHandover ? children.get(first.pid)?.[0] : first;
    return program !== undefined && process.kill(program.pid, signal);
  } catch {
    return false;
  }
}

interface Entry {
  readonly pid: number;
  /** Its number in the innermost namespace that it is in. */
  readonly inside: number;
}

function childrenByParent(): ReadonlyMap<number, readonly Entry[]> {
  const children = new Map<number, Entry[]>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const status = statusOf(pid);
    if (status === null) continue;
    const siblings = children.get(status.parent) ?? [];
    children.set(status.parent, [...siblings, { pid, inside: status.inside }]);
  }
  return children;
}

/** proc(5), `/proc/PID/status`: NSpid lists the process's numbers, from the reader's namespace to its own. */
function statusOf(pid: number): { readonly parent: number; readonly inside: number } | null {
  try {
    const text = readFileSync(`/proc/${pid}/status`, 'latin1');
    const parent = /^PPid:\s*(\d+)$/m.exec(text)?.[1];
    const inside = /^NSpid:.*\t(\d+)\t(\d+)$/m.exec(text)?.[2];
    return parent === undefined ? null : { parent: Number(parent), inside: Number(inside ?? 0) };
  } catch {
    return null; // ended since the listing
  }
}
