/**
 * Lines of a stream as they come. A line of any length costs no more memory than the limit, and is no reason to stop.
 *
 * Ring 1.
 */
import { failed, ok, type Result } from '@cordon/core';

export interface StreamLine {
  /** From 1. */
  readonly number: number;
  /** Without its line end; else what is wrong with it. */
  readonly text: Result<string, string>;
}

const NEWLINE = 0x0a;

/** Every line, the last one also without a line end. `mostBytes` is the limit of one line. */
export async function* streamLines(
  bytes: AsyncIterable<Uint8Array>,
  mostBytes: number,
): AsyncGenerator<StreamLine> {
  const line = new OpenLine(mostBytes);
  for await (const piece of bytes) {
    let start = 0;
    for (let end = piece.indexOf(NEWLINE); end >= 0; end = piece.indexOf(NEWLINE, start)) {
      line.add(piece.subarray(start, end));
      yield line.take();
      start = end + 1;
    }
    line.add(piece.subarray(start));
  }
  if (line.isBegun) yield line.take();
}

/** The line that is being read. */
class OpenLine {
  readonly #most: number;
  #pieces: Uint8Array[] = [];
  #length = 0;
  #number = 1;

  constructor(most: number) {
    this.#most = most;
  }

  get isBegun(): boolean {
    return this.#length > 0;
  }

  /** A piece may belong to a buffer that is used again, so it is copied. */
  add(piece: Uint8Array): void {
    this.#length += piece.length;
    if (this.#length > this.#most) this.#pieces = [];
    else if (piece.length > 0) this.#pieces.push(piece.slice());
  }

  take(): StreamLine {
    const number = this.#number++;
    const text = this.#text();
    this.#pieces = [];
    this.#length = 0;
    return { number, text };
  }

  #text(): Result<string, string> {
    if (this.#length > this.#most) return failed(`the line is longer than ${this.#most} bytes`);
    try {
      const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(this.#pieces));
      return ok(text.endsWith('\r') ? text.slice(0, -1) : text);
    } catch {
      return failed('the line is not text in UTF-8');
    }
  }
}
