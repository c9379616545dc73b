/**
 * Lines that the user types, one question at a time. One object for the whole process: chat and consent share it, so
 * that two readers never fight for standard input. Plain lines instead of cursor widgets: they work through a pipe,
 * in tmux and with a screen reader.
 *
 * Ring 0: what it returns is taken for the user's word.
 */
import { createInterface, type Interface } from 'node:readline';
import { Keyboard } from './keyboard.ts';
import type { Screen } from './screen.ts';

export interface TerminalOptions {
  readonly input: NodeJS.ReadableStream;
  /** For line editing and echo; the screen's own output. */
  readonly output: NodeJS.WritableStream;
  readonly screen: Screen;
  /** Whether a person types. */
  readonly isInteractive: boolean;
  /** Ctrl-C while nothing is asked. */
  readonly onInterrupt: () => void;
}

export interface Question {
  readonly prompt: string;
  /** Whether what the user typed before the question appeared may answer it. */
  readonly acceptsEarlier: boolean;
  /** Stands in the line to be changed, where a person types; absent: nothing. Shown as it is. */
  readonly initial?: string;
}

export type Reply =
  | { readonly kind: 'line'; readonly text: string }
  | { readonly kind: 'too-long' } // the half of a query, or of an answer, may mean something else
  | { readonly kind: 'interrupted' } // Ctrl-C
  | { readonly kind: 'ended' } // the input ended
  | { readonly kind: 'aborted' }; // the signal

/** Attack: an endless pipe. With more lines waiting, no more is read from it until somebody asks; a person's are dropped. */
const MOST_WAITING_LINES = 1000;
/** UTF-16 code units. */
export const MOST_LINE_LENGTH = 100_000;

export class Terminal {
  readonly #options: TerminalOptions;
  readonly #waiting: Reply[] = [];
  #interface: Interface | null = null;
  /** What the user typed where earlier lines may come back with the arrow keys: queries, not answers. */
  #history: string[] = [];
  #isEnded = false;
  #settle: ((reply: Reply) => void) | null = null;
  #held: Promise<unknown> = Promise.resolve();
  #holders = 0;
  /** What is to be written when nobody holds the terminal. */
  readonly #later: (() => void)[] = [];

  constructor(options: TerminalOptions) {
    this.#options = options;
  }

  /** Whether a person types here, or a pipe or nobody. */
  get isInteractive(): boolean {
    return this.#options.isInteractive;
  }

  /** Holds the terminal for a dialog of several lines; dialogs come one after the other. */
  async alone<T>(dialog: () => Promise<T>): Promise<T> {
    this.#holders++;
    const turn = this.#held.then(dialog);
    this.#held = turn.catch(() => undefined);
    try {
      return await turn;
    } finally {
      this.#holders--;
      this.#writeLater();
    }
  }

  /** Runs `write` now, or when the dialog that stands on the terminal is over: nothing is written into a question. */
  whenFree(write: () => void): void {
    this.#later.push(write);
    this.#writeLater();
  }

  #writeLater(): void {
    if (this.#holders > 0) return;
    for (const write of this.#later.splice(0)) write();
  }

  /**
   * Shows the prompt and waits for one line. Only one question at a time: a second one while the first is open is a
   * bug of the caller and throws.
   */
  async ask(question: Question, signal: AbortSignal): Promise<Reply> {
    if (this.#settle !== null) throw new Error('a question is open already');
    if (signal.aborted) return { kind: 'aborted' };
    this.#open(question.acceptsEarlier);
    this.#show(question.prompt, question.initial ?? '');
    const early = this.#takeWaiting();
    if (early !== null) return early;
    return new Promise((resolve) => {
      const settle = (reply: Reply) => {
        this.#settle = null;
        signal.removeEventListener('abort', abort);
        if (reply.kind !== 'line') this.#options.screen.endLine();
        resolve(reply);
      };
      const abort = () => settle({ kind: 'aborted' });
      signal.addEventListener('abort', abort, { once: true });
      this.#settle = settle;
    });
  }

  /** Lets the process end. Questions after this are answered with `ended`. */
  close(): void {
    this.#isEnded = true;
    this.#detach();
    this.#settle?.({ kind: 'ended' });
  }

  #takeWaiting(): Reply | null {
    const early = this.#waiting.shift();
    if (early !== undefined) {
      if (this.#waiting.length < MOST_WAITING_LINES) this.#interface?.resume();
      this.#options.screen.endLine();
      return early;
    }
    if (!this.#isEnded) return null;
    this.#options.screen.endLine();
    return { kind: 'ended' };
  }

  #show(prompt: string, initial: string): void {
    this.#options.screen.endLine();
    if (this.#interface === null || !this.#options.isInteractive) {
      this.#options.screen.write(prompt);
      return;
    }
    this.#interface.setPrompt(prompt);
    this.#interface.prompt();
    if (initial !== '') this.#interface.write(initial);
    this.#options.screen.lineOpened();
  }

  /**
   * Attack: an answer typed ahead, as lines or as half a line, to a question that the user has not seen. Each question
   * that takes no earlier words gets a line editor of its own; clearing the old one would redraw its rows over the
   * question. A pipe has no eyes and may answer ahead.
   */
  #open(acceptsEarlier: boolean): void {
    if (this.#isEnded || (this.#interface !== null && !this.#options.isInteractive)) return;
    if (!acceptsEarlier && this.#options.isInteractive) this.#waiting.length = 0;
    this.#detach();
    const { input, output, isInteractive } = this.#options;
    const keyboard = isInteractive ? new Keyboard(input) : null;
    const lines = createInterface({
      input: keyboard ?? input,
      ...(isInteractive ? { output } : {}),
      terminal: isInteractive,
      ...(acceptsEarlier && isInteractive
        ? { historySize: 100, history: this.#history }
        : { historySize: 0 }),
    });
    const isCurrent = () => this.#interface === lines;
    lines.on('line', (line) => isCurrent() && this.#receive(line));
    lines.on('SIGINT', () => isCurrent() && this.#interrupt());
    // Behind Ctrl-Z and `fg` the editor has paused, and leaves it to others to read on.
    lines.on('SIGCONT', () => lines.resume());
    lines.on('close', () => {
      keyboard?.release();
      if (isCurrent()) this.#end();
    });
    if (acceptsEarlier) lines.on('history', (history) => this.#remember(history));
    this.#interface = lines;
  }

  /** Its own listeners stay until it has closed: with them it takes its hands off the input. */
  #detach(): void {
    const old = this.#interface;
    this.#interface = null;
    old?.close();
  }

  #remember(history: string[]): void {
    this.#history = [...history];
  }

  #receive(text: string): void {
    if (this.#options.isInteractive) this.#options.screen.lineEnded();
    const reply: Reply = text.length > MOST_LINE_LENGTH ? { kind: 'too-long' } : { kind: 'line', text };
    if (this.#settle !== null) return this.#settle(reply);
    const isFull = this.#waiting.length >= MOST_WAITING_LINES;
    // A keyboard is read on, because Ctrl-C is a key.
    if (isFull && this.#options.isInteractive) return;
    // What was read before a pause still comes.
    this.#waiting.push(reply);
    if (isFull) this.#interface?.pause();
  }

  #interrupt(): void {
    if (this.#settle !== null) this.#settle({ kind: 'interrupted' });
    else this.#options.onInterrupt();
  }

  #end(): void {
    this.#isEnded = true;
    this.#interface = null;
    this.#settle?.({ kind: 'ended' });
  }
}
