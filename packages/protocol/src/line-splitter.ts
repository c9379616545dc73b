/**
 * Lines out of the pieces of a stream, in memory that the limit of one line bounds. The peer decides how its bytes are
 * cut, and may send a line without an end.
 */
import { failed, ok, type Result } from '@cordon/core';

/** Without its line end; else what is wrong with it. */
export type Line = Result<string, 'too-long' | 'not-utf8'>;

const NEWLINE = 0x0a;

export class LineSplitter {
  readonly #longest: number;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  /** One buffer that grows: a list of pieces would cost a hundred bytes for each byte that comes alone. */
  #held = new Uint8Array(0);
  #heldBytes = 0;
  /** Inside a line that is too long: its rest is dropped. */
  #isDropping = false;

  /** `longest`: bytes of one line without its end. */
  constructor(longest: number) {
    this.#longest = longest;
  }

  /** The lines that end in `chunk`, and once each line that is too long, as soon as that is known. */
  *push(chunk: Uint8Array): Generator<Line, void> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const piece = chunk.subarray(start, end);
      start = end + 1;
      if (this.#isTooLong(piece)) yield failed('too-long');
      else if (!this.#isDropping) yield this.#take(piece);
      this.#isDropping = false;
    }
    const rest = chunk.subarray(start);
    if (this.#isTooLong(rest)) yield failed('too-long');
    else if (!this.#isDropping) this.#hold(rest);
  }

  /** The line that the stream ended in; null: it ended with a line end. */
  end(): Line | null {
    return this.#heldBytes === 0 ? null : this.#take(new Uint8Array(0));
  }

  /** Whether the line becomes too long with this piece. */
  #isTooLong(piece: Uint8Array): boolean {
    if (this.#isDropping || this.#heldBytes + piece.length <= this.#longest) return false;
    this.#isDropping = true;
    this.#release();
    return true;
  }

  /** Copied: the stream may use its buffer again. */
  #hold(piece: Uint8Array): void {
    const bytes = this.#heldBytes + piece.length;
    if (bytes > this.#held.length) {
      const larger = new Uint8Array(Math.max(bytes, 2 * this.#held.length));
      larger.set(this.#held.subarray(0, this.#heldBytes));
      this.#held = larger;
    }
    this.#held.set(piece, this.#heldBytes);
    this.#heldBytes = bytes;
  }

  #release(): void {
    this.#held = new Uint8Array(0);
    this.#heldBytes = 0;
  }

  /** The held bytes and the last piece as a text; none are held any longer. */
  #take(piece: Uint8Array): Line {
    let bytes = piece;
    if (this.#heldBytes > 0) {
      this.#hold(piece);
      bytes = this.#held.subarray(0, this.#heldBytes);
      this.#release();
    }
    try {
      const text = this.#decoder.decode(bytes);
      return ok(text.endsWith('\r') ? text.slice(0, -1) : text);
    } catch {
      return failed('not-utf8');
    }
  }
}
