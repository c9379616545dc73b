/**
 * A person's keys on their way to the line editor: characters that arrive together are handed on together. Node's
 * editor measures the whole line for each that it inserts, so a pasted text of 8 KB would take it more than 20 s.
 *
 * Ring 0: what it hands on is taken for the user's word.
 */
import { emitKeypressEvents } from 'node:readline';
import { Readable } from 'node:stream';

interface Key {
  readonly ctrl?: boolean;
  readonly meta?: boolean;
}

interface RawInput extends NodeJS.ReadableStream {
  setRawMode?(isRaw: boolean): unknown;
}

/** Stands for an input in front of one line editor: gives it the input's keys, and hands its wishes to the input. */
export class Keyboard extends Readable {
  readonly #input: RawInput;
  /** Characters that came together so far, without any key that does something. */
  #typed = '';
  readonly #key = (text: string | undefined, key: Key) => this.#take(text, key);
  readonly #ended = () => this.emit('end');

  constructor(input: NodeJS.ReadableStream) {
    super();
    this.#input = input;
    emitKeypressEvents(input);
    input.on('keypress', this.#key);
    input.on('end', this.#ended);
  }

  /** To be called when the editor has closed: what is still to be handed on is nobody's. */
  release(): void {
    this.#typed = '';
    this.#input.off('keypress', this.#key);
    this.#input.off('end', this.#ended);
  }

  override _read(): void {
    // Keys come as events; there is nothing to read.
  }

  override pause(): this {
    this.#input.pause();
    return super.pause();
  }

  override resume(): this {
    this.#input.resume();
    return super.resume();
  }

  setRawMode(isRaw: boolean): void {
    this.#input.setRawMode?.(isRaw);
  }

  #take(text: string | undefined, key: Key): void {
    if (text !== undefined && isPlain(text) && key.ctrl !== true && key.meta !== true) {
      // All keys of what was read at once come before the next microtask.
      if (this.#typed === '') queueMicrotask(() => this.#handOn());
      this.#typed += text;
      return;
    }
    this.#handOn();
    this.emit('keypress', text, key);
  }

  #handOn(): void {
    const typed = this.#typed;
    this.#typed = '';
    if (typed !== '')
      this.emit('keypress', typed, { sequence: typed, ctrl: false, meta: false, shift: false });
  }
}

/** Whether the characters stand for themselves alone. */
function isPlain(text: string): boolean {
  return text !== '' && !/\p{Cc}/u.test(text);
}
