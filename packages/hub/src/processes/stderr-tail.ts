/**
 * What a process writes to standard error: its end is kept, whatever it writes, and a flood is reported. A process that
 * writes as fast as it can would otherwise keep the hub reading.
 */
import type { Readable } from 'node:stream';
import { TokenBucket } from '../apps/token-bucket.ts';

/** So much is kept, in UTF-16 units. */
const KEPT = 4_000;
/** Logs of a busy program stay far below; what comes at its start may be much. */
const LOG_RATE = { perSecond: 256 * 1024, burst: 4 * 1024 * 1024 };

export class StderrTail {
  #text = '';

  /** @param onFlood called once; nothing is read any more then */
  constructor(stream: Readable, onFlood: () => void) {
    const rate = new TokenBucket(LOG_RATE);
    const read = (chunk: Buffer) => {
      // Of a long piece only the end can be kept: the rest is not even decoded.
      this.#text = (this.#text + chunk.subarray(-4 * KEPT).toString('utf8')).slice(-KEPT);
      if (rate.take(chunk.length)) return;
      stream.off('data', read);
      stream.destroy();
      onFlood();
    };
    stream.on('data', read);
    stream.on('error', () => undefined);
  }

  get text(): string {
    return this.#text;
  }
}

export const FLOODED = 'it wrote more than 256 KiB a second to standard error';
