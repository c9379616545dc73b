/**
 * Lines out of bytes, within limits. Used for the spoke's link and for an app's standard output alike: a peer that
 * never ends its line, sends broken UTF-8 or floods is cut off before anything is parsed.
 *
 * Ring 0.
 */
import { failed, ok, type Result } from '@cordon/core';

export interface FramingLimits {
  /** Bytes of one line. */
  readonly lineBytes: number;
}

const MOST_PIECES = 4_096;
/** Of one piece from a pipe, 64 KiB; messages of real peers are many times longer than the 8 bytes that this means. */
const MOST_LINES = 8_192;

export class LineDecoder {
  readonly #limits: FramingLimits;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;

  constructor(limits: FramingLimits) {
    this.#limits = limits;
  }

  /** The lines that `chunk` completes, without their ends. After a fault the peer must be disconnected. */
  push(chunk: Uint8Array): Result<readonly string[], string> {
    const lines: string[] = [];
    let start = 0;
    for (let ends = 0; ; ends++) {
      const end = chunk.indexOf(0x0a, start);
      const piece = chunk.subarray(start, end === -1 ? chunk.length : end);
      if (this.#pendingBytes + piece.length > this.#limits.lineBytes) {
        return failed(`a line is longer than ${this.#limits.lineBytes} bytes`);
      }
      if (end === -1) {
        this.#keep(piece);
        return ok(lines);
      }
      // Each costs time of its own, also the empty one: a piece of nothing but line ends would take 50 ms.
      if (ends >= MOST_LINES) return failed(`there are more than ${MOST_LINES} lines at once`);
      const line = this.#complete(piece);
      if (line === null) return failed('a line is not UTF-8');
      if (line !== '') lines.push(line);
      start = end + 1;
    }
  }

  #keep(piece: Uint8Array): void {
    if (piece.length === 0) return;
    this.#pending.push(piece);
    this.#pendingBytes += piece.length;
    // A peer that sends its line byte by byte would make the hub keep hundreds of bytes for each.
    if (this.#pending.length > MOST_PIECES) this.#pending = [Buffer.concat(this.#pending)];
  }

  /** Null: it is not UTF-8. */
  #complete(piece: Uint8Array): string | null {
    const bytes = this.#pending.length === 0 ? piece : Buffer.concat([...this.#pending, piece]);
    this.#pending = [];
    this.#pendingBytes = 0;
    try {
      const text = this.#decoder.decode(bytes);
      return text.endsWith('\r') ? text.slice(0, -1) : text;
    } catch {
      return null;
    }
  }
}
