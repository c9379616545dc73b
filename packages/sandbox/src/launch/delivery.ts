/**
 * Signals for a confined program. Process 1 of a sandbox passes none on, and one sent to bubblewrap is the end of the
 * whole tree; so the program is looked for in the host's list of processes, below the first process inside.
 */
import { processIds, statusOf } from '../kernel/proc.ts';

/** The first program inside: process 1 is ours, or bubblewrap's, and starts one other. */
const FIRST_INSIDE = 2;

/**
 * `root`: host pid of the first process inside. Sends a signal to the program of the specification, which may catch or ignore it. False: it is not there yet or no
 * more, or is behind a layer that hides it; then only `kill` is left.
 */
export function deliverSignal(root: number, isBehindHandover: boolean, signal: NodeJS.Signals): boolean {
  try {
    const all = processIds().map((pid) => ({ pid, status: statusOf(pid) }));
    const childrenOf = (parent: number) => all.filter(({ status }) => status?.parent === parent);
    const first = childrenOf(root).find(({ status }) => status?.numbers.slice(1).at(-1) === FIRST_INSIDE);
    if (first === undefined) return false;
    // Behind the hand-over the program is its only child.
    const program = isBehindHandover ? childrenOf(first.pid)[0] : first;
    return program !== undefined && process.kill(program.pid, signal);
  } catch {
    return false;
  }
}
