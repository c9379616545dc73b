/**
 * Text on its way to the display, over several attempts: what a broken attempt has already shown is not shown again
 * when the next one begins with the same words.
 */
export class ShownText {
  readonly #show: (delta: string) => void;
  #shown = '';
  /** How much of `#shown` the current attempt has repeated; the whole length once it says something new. */
  #repeated = 0;

  constructor(show: (delta: string) => void) {
    this.#show = show;
  }

  /** To be called before each attempt. */
  restart(): void {
    this.#repeated = 0;
  }

  add(delta: string): void {
    const left = this.#shown.length - this.#repeated;
    const overlap = Math.min(left, delta.length);
    if (this.#shown.slice(this.#repeated, this.#repeated + overlap) === delta.slice(0, overlap)) {
      this.#repeated += overlap;
      this.#emit(delta.slice(overlap));
    } else {
      // Different words: they start on their own line.
      const text = this.#shown.slice(0, this.#repeated) + delta;
      this.#shown = '';
      this.#show('\n');
      this.#emit(text);
    }
  }

  #emit(text: string): void {
    if (text === '') return;
    this.#shown += text;
    this.#repeated = this.#shown.length;
    this.#show(text);
  }
}
