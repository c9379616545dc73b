/**
 * Bytes into lines, never holding more than one line's limit. The peer decides how its bytes are cut and may send a
 * line without an end.
 */
export type Line =
  | { readonly kind: 'line'; readonly text: string }
  | { readonly kind: 'too-long' }
  | { readonly kind: 'not-utf8' };

export class LineSplitter {
  readonly #longest: number;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  /** One buffer that grows: a list of parts would cost a hundred bytes for each byte that comes alone. */
  #held = new Uint8Array(0);
  #heldBytes = 0;
  /** Inside a line that was too long already: its rest is dropped up to the newline. */
  #dropping = false;

  /** `longest`: bytes of one line without its newline. */
  constructor(longest: number) {
    this.#longest = longest;
  }

  /** The lines that end in `chunk`. What follows the last newline is kept for the next chunk. */
  *push(chunk: Uint8Array): Generator<Line> {
    let from = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, from)) {
      const tooLong = this.#hold(chunk.subarray(from, end));
      from = end + 1;
      if (tooLong) yield { kind: 'too-long' };
      const dropped = this.#dropping;
      const bytes = this.#take();
      if (!dropped) yield this.#decode(bytes);
    }
    if (this.#hold(chunk.subarray(from))) yield { kind: 'too-long' };
  }

  /** Whether this part made the line too long: said once a line, as soon as it is known. */
  #hold(part: Uint8Array): boolean {
    if (this.#dropping || part.length === 0) return false;
    const bytes = this.#heldBytes + part.length;
    this.#dropping = bytes > this.#longest;
    if (this.#dropping) return true;
    if (bytes > this.#held.length) {
      const larger = new Uint8Array(Math.max(bytes, 2 * this.#held.length));
      larger.set(this.#held.subarray(0, this.#heldBytes));
      this.#held = larger;
    }
    this.#held.set(part, this.#heldBytes);
    this.#heldBytes = bytes;
    return false;
  }

  #take(): Uint8Array {
    const bytes = this.#held.subarray(0, this.#heldBytes);
    this.#held = new Uint8Array(0);
    this.#heldBytes = 0;
    this.#dropping = false;
    return bytes;
  }

  #decode(bytes: Uint8Array): Line {
    try {
      return { kind: 'line', text: this.#decoder.decode(bytes) };
    } catch {
      return { kind: 'not-utf8' };
    }
  }
}
