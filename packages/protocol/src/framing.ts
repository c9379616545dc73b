/**
 * Lines out of bytes, within limits. Used for the spoke's link and for an app's standard output alike: a peer that
 * never ends its line, sends broken UTF-8 or floods is cut off before anything is parsed.
 */
import { failed, ok, type Result } from '@cordon/core';
import { LineSplitter } from './line-splitter.ts';

export interface FramingLimits {
  /** Bytes of one line. */
  readonly lineBytes: number;
}

/** Of one piece from a pipe, 64 KiB; messages of real peers are many times longer than the 8 bytes that this means. */
const MOST_LINES = 8_192;

export class LineDecoder {
  readonly #limits: FramingLimits;
  readonly #splitter: LineSplitter;

  constructor(limits: FramingLimits) {
    this.#limits = limits;
    this.#splitter = new LineSplitter(limits.lineBytes);
  }

  /** The lines that `chunk` completes, without their ends. After a fault the peer must be disconnected. */
  push(chunk: Uint8Array): Result<readonly string[], string> {
    const lines: string[] = [];
    let ends = 0;
    for (const line of this.#splitter.push(chunk)) {
      if (!line.ok)
        return failed(
          line.fault === 'too-long'
            ? `a line is longer than ${this.#limits.lineBytes} bytes`
            : 'a line is not UTF-8',
        );
      // Attack: a piece of nothing but line ends. Each costs time, also the empty one: it would take 50 ms.
      if (++ends > MOST_LINES) return failed(`there are more than ${MOST_LINES} lines at once`);
      if (line.value !== '') lines.push(line.value);
    }
    return ok(lines);
  }
}
