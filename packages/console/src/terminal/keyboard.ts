/**
 * A person's keys on their way to the line editor, without what is pasted. Characters that arrive together are passed on
 * together: Node's editor measures the whole line for each that it inserts, so a long text would take it more than 20 s.
 *
 * What it passes on is taken for the user's word.
 */
import { emitKeypressEvents } from 'node:readline';
import { Readable } from 'node:stream';
import type { PasteSplitter } from './pasted-text.ts';

interface Key {
  readonly name?: string;
  readonly ctrl?: boolean;
  readonly meta?: boolean;
}

interface RawInput extends NodeJS.ReadableStream {
  setRawMode?(isRaw: boolean): unknown;
}

export interface KeyboardParts {
  readonly input: RawInput;
  /** The same for all keyboards of one input: a paste may begin before a question and end behind it. */
  readonly pastes: PasteSplitter;
  /** Told of all that arrives, before any of it is passed on. */
  readonly onHeard: () => void;
  /** Whether the next key is passed on; Ctrl-C and Ctrl-Z always are. */
  readonly takesKey: () => boolean;
  readonly onPaste: (text: string) => void;
  /** Ctrl-Z was pressed; the editor suspends the process. */
  readonly onSuspend: () => void;
}

/** Keys that a person must be able to press whatever else arrives. */
const ALWAYS: ReadonlySet<string | undefined> = new Set(['c', 'z']);

/** Stands for an input in front of one line editor: gives it the input's keys, and passes its wishes to the input. */
export class Keyboard extends Readable {
  readonly #parts: KeyboardParts;
  /** Makes keys of characters. */
  readonly #keys = new Readable({ read: () => undefined });
  /** Characters that came together so far, without any key that does something. */
  #typed = '';
  readonly #read = (data: Buffer | string) => this.#hear(data);
  readonly #ended = () => this.emit('end');

  constructor(parts: KeyboardParts) {
    super();
    this.#parts = parts;
    emitKeypressEvents(this.#keys);
    this.#keys.on('keypress', (text: string | undefined, key: Key) => this.#take(text, key));
    parts.input.on('data', this.#read);
    parts.input.on('end', this.#ended);
  }

  /** To be called when the editor has closed: what is still to be passed on is dropped. */
  release(): void {
    this.#typed = '';
    this.#parts.input.off('data', this.#read);
    this.#parts.input.off('end', this.#ended);
  }

  override _read(): void {
    // Keys come as events; there is nothing to read.
  }

  override pause(): this {
    this.#parts.input.pause();
    return super.pause();
  }

  override resume(): this {
    this.#parts.input.resume();
    return super.resume();
  }

  setRawMode(isRaw: boolean): void {
    this.#parts.input.setRawMode?.(isRaw);
  }

  #hear(data: Buffer | string): void {
    this.#parts.onHeard();
    for (const { kind, text } of this.#parts.pastes.push(data)) {
      if (kind === 'typed') this.#keys.emit('data', text);
      else {
        this.#handOn();
        this.#parts.onPaste(text);
      }
    }
  }

  #take(text: string | undefined, key: Key): void {
    const isAlways = key.ctrl === true && ALWAYS.has(key.name);
    if (!isAlways && !this.#parts.takesKey()) return;
    if (text !== undefined && isPlain(text) && key.ctrl !== true && key.meta !== true) {
      // All keys of what was read at once come before the next microtask.
      if (this.#typed === '') queueMicrotask(() => this.#handOn());
      this.#typed += text;
      return;
    }
    this.#handOn();
    if (key.ctrl === true && key.name === 'z') this.#parts.onSuspend();
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
