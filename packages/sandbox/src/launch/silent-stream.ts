/**
 * The end of a stream whose program is gone. Usually the kernel tells it; but whatever still holds the other end open would
 * make its reader wait for ever.
 */
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';

const TICK_MS = 250;
/** Ticks and not time: a hub that stood still reads what has come before the next one. */
const SILENT_TICKS = 8;

/** Ends it once nothing has come for two seconds and all that came was read. A slow reader loses nothing. */
export function endWhenSilent(stream: Readable | null): void {
  if (!(stream instanceof Socket)) return;
  let [silent, seen] = [0, stream.bytesRead];
  const timer = setInterval(() => {
    const isRead = stream.bytesRead === seen && stream.readableLength === 0;
    [silent, seen] = [isRead ? silent + 1 : 0, stream.bytesRead];
    if (silent >= SILENT_TICKS && !stream.destroyed) {
      stream.on('error', () => {}); // what comes now comes too late
      stream.push(null);
    }
    if (silent >= SILENT_TICKS || stream.destroyed) clearInterval(timer);
  }, TICK_MS).unref();
}
