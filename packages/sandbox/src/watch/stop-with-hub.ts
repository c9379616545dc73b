/**
 * Sandboxes stop while Cordon is stopped, and go on with it. Attack: the user presses Ctrl-Z, which stops the watching
 * thread with the rest of the process, and an app takes as much memory and disk as it likes meanwhile.
 *
 * While a sandbox runs, it takes SIGTSTP.
 */
import { constants } from 'node:os';
import type { Writable } from 'node:stream';

const { SIGSTOP, SIGCONT } = constants.signals;

/** By then this process was stopped and continued, or the kernel has found that nobody could continue it. */
const SETTLED_MS = 100;

const lifelines = new Set<Writable>();

/** `lifeline`: of a running sandbox, to whose first process each byte is a signal for all others. */
export function stopWithHub(lifeline: Writable): void {
  if (lifelines.size === 0) process.on('SIGTSTP', stop);
  lifelines.add(lifeline);
  lifeline.once('close', () => {
    lifelines.delete(lifeline);
    if (lifelines.size === 0) process.off('SIGTSTP', stop);
  });
}

function stop(): void {
  sendToAll(SIGSTOP);
  // Without a listener the signal does what it does by default.
  process.off('SIGTSTP', stop);
  process.kill(process.pid, 'SIGTSTP');
  setTimeout(() => {
    sendToAll(SIGCONT);
    if (lifelines.size > 0) process.on('SIGTSTP', stop);
  }, SETTLED_MS);
}

function sendToAll(signal: number): void {
  for (const lifeline of lifelines) lifeline.write(Buffer.of(signal));
}
