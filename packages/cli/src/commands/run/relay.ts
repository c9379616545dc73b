/**
 * Bytes between the caller's standard streams and those of a confined process: as they come, with back-pressure. The
 * streams themselves are never passed on, so the process holds no descriptor of the caller, least of all a terminal.
 * Its ends of them are shown when it ends: until then bubblewrap holds them, too.
 */
import type { Readable, Writable } from 'node:stream';

/** What the caller writes goes in, and its end; where the process is gone, nobody reads here either. */
export function relayIn(from: Readable, to: Writable): void {
  from.on('error', () => to.end());
  to.on('error', () => {
    from.unpipe(to);
    from.destroy();
  });
  from.pipe(to);
}

/**
 * What the process writes goes out; resolves when its stream has ended and every byte was taken, or nobody takes any.
 * A caller that reads no more is passed on: the process's next write fails, as it would without us.
 */
export function relayOut(from: Readable, to: Writable): Promise<void> {
  return new Promise((resolve) => {
    from.on('error', () => undefined);
    to.on('error', () => {
      from.destroy();
      resolve();
    });
    // Not at once: what was read last may still wait to be taken, and the program ends when this resolves.
    from.on('close', () => to.write('', () => resolve()));
    from.pipe(to, { end: false });
  });
}
