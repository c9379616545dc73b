/**
 * Lines that the user types, one question at a time. One object for the whole process: chat and consent share it, so
 * that two readers never fight for standard input. Plain lines instead of cursor widgets: they work through a pipe,
 * in tmux and with a screen reader.
 *
 * What it returns is taken for the user's word.
 */
import { createInterface, type Interface } from 'node:readline';
import { Writable } from 'node:stream';
import { visibleLine, wrap } from '@cordon/core';
import { FRAME, type Screen } from '../text/screen.ts';
import { Attention, type TerminalClock } from './attention.ts';
import { Keyboard } from './keyboard.ts';
import { editorPaste, MARK_NO_PASTES, MARK_PASTES, PasteSplitter, textOfEditor } from './pasted-text.ts';

export interface TerminalOptions {
  readonly input: NodeJS.ReadableStream;
  /** For line editing and echo; the screen's own output. */
  readonly output: NodeJS.WritableStream;
  readonly screen: Screen;
  /** Whether a person types. */
  readonly isInteractive: boolean;
  /** Whether the terminal can be asked to mark what is pasted. */
  readonly marksPastes: boolean;
  readonly clock: TerminalClock;
  /** Ctrl-C while nothing is asked. */
  readonly onInterrupt: () => void;
}

/**
 * What can answer a question at a terminal:
 * - `line`: also what was typed before it appeared, and pasted text. For queries.
 * - `answer`: what was typed after it could be read. Attack: pasted lines that say yes to questions which appear meanwhile.
 * - `text`: like `answer`, and pasted text besides; the Enter is typed.
 * - `secret`: like `text`, and nothing of it is shown.
 * - `page`: a key for the next page. It decides nothing.
 *
 * A pipe has no eyes: each question takes its next line, whenever that was written.
 */
export type Takes = 'line' | 'answer' | 'text' | 'secret' | 'page';

export interface Question {
  readonly prompt: string;
  readonly takes: Takes;
  /** Stands in the line to be changed, where a person types; absent: nothing. Shown as it is. */
  readonly initial?: string;
  /** Tab completes a line to those that begin with it; absent: to nothing. */
  readonly completions?: readonly string[];
}

export type Reply =
  | { readonly kind: 'line'; readonly text: string }
  | { readonly kind: 'too-long' } // the half of a query, or of an answer, may mean something else
  | { readonly kind: 'interrupted' } // Ctrl-C
  | { readonly kind: 'ended' } // the input ended
  | { readonly kind: 'aborted' }; // the signal

/** Attack: an endless pipe. With more lines waiting, no more is read from it until someone asks; a person's are dropped. */
const MOST_WAITING_LINES = 1000;
const MOST_HISTORY = 100;
/** UTF-16 code units. */
export const MOST_LINE_LENGTH = 100_000;

const NOT_COUNTED = 'Ignored: this input arrived before you could read the question.';
const PASTED = 'Ignored, because it was pasted:';
/** Characters of a pasted text that are shown where it does not count. */
const MOST_SHOWN_PASTE = 60;

/** A question that stands on the terminal. */
interface Asked {
  readonly question: Question;
  readonly settle: (reply: Reply) => void;
  /** Null: whatever comes counts. */
  readonly attention: Attention | null;
}

export class Terminal {
  readonly #options: TerminalOptions;
  readonly #waiting: Reply[] = [];
  readonly #pastes: PasteSplitter;
  #interface: Interface | null = null;
  /** What the line editor was opened for. */
  #typedFor: Takes = 'line';
  /** What the user typed where earlier lines may come back with the arrow keys: queries, not answers. */
  #history: string[] = [];
  #isEnded = false;
  #asked: Asked | null = null;
  /** A pasted text that does not count, and of which that is still to be said. */
  #refusedPaste: string | null = null;
  #isMarkingPastes = false;
  #held: Promise<unknown> = Promise.resolve();
  #holders = 0;
  /** What to write once nobody holds the terminal. */
  readonly #later: (() => void)[] = [];

  constructor(options: TerminalOptions) {
    this.#options = options;
    this.#pastes = new PasteSplitter({ now: () => options.clock.now(), mostPasted: MOST_LINE_LENGTH });
  }

  /** What the arrow keys bring back before anything was typed here, oldest first. */
  recall(texts: readonly string[]): void {
    this.#history = texts.slice(-MOST_HISTORY).map(editorPaste).reverse();
  }

  /** Whether no question stands on the terminal. */
  get isFree(): boolean {
    return this.#holders === 0 && this.#asked === null;
  }

  /** Whether a person types here, and not a pipe. */
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
    this.#standAgain();
  }

  /** What was told broke off the line in which a person types a query: it stands again, with what is typed so far. */
  #standAgain(): void {
    const { isInteractive, screen } = this.#options;
    if (!isInteractive || screen.isLineOpen || this.#asked?.question.takes !== 'line') return;
    const { question } = this.#asked;
    const typed = this.#interface?.line ?? '';
    this.#open(question);
    this.#show({ ...question, initial: typed });
  }

  /** Asks a question whose answer is yes or no. Everything but `y` and `yes` is a no. */
  async isYes(prompt: string, signal: AbortSignal): Promise<boolean> {
    const reply = await this.ask({ prompt, takes: 'answer' }, signal);
    return reply.kind === 'line' && /^y(es)?$/i.test(reply.text.trim());
  }

  /**
   * Shows the prompt and waits for one line. Only one question at a time: a second one while the first is open is a
   * bug of the caller and throws.
   */
  async ask(question: Question, signal: AbortSignal): Promise<Reply> {
    if (this.#asked !== null) throw new Error('a question is open already');
    if (signal.aborted) return { kind: 'aborted' };
    // A part of the next query may have been typed while the last one ran.
    const isQuery = question.takes === 'line' && this.#typedFor === 'line';
    const typed = isQuery ? (this.#interface?.line ?? '') : '';
    const wasDropped = this.#open(question);
    this.#show(typed === '' ? question : { ...question, initial: typed });
    const early = this.#takeWaiting();
    if (early !== null) return early;
    return new Promise((resolve) => {
      const settle = (reply: Reply) => {
        this.#asked?.attention?.stop();
        this.#asked = null;
        signal.removeEventListener('abort', abort);
        if (reply.kind !== 'line') this.#options.screen.endLine();
        resolve(reply);
      };
      const abort = () => settle({ kind: 'aborted' });
      signal.addEventListener('abort', abort, { once: true });
      this.#asked = { question, settle, attention: this.#attentionTo(question, settle, wasDropped) };
    });
  }

  /** Lets the process end. Questions after this are answered with `ended`. */
  close(): void {
    this.#isEnded = true;
    this.#detach();
    this.restore();
    this.#asked?.settle({ kind: 'ended' });
  }

  /** Gives the terminal back as it was. */
  restore(): void {
    if (this.#isMarkingPastes) this.#options.output.write(MARK_NO_PASTES);
    this.#isMarkingPastes = false;
  }

  #markPastes(): void {
    if (this.#options.marksPastes) this.#options.output.write(MARK_PASTES);
    this.#isMarkingPastes = this.#options.marksPastes;
  }

  #attentionTo({ takes }: Question, settle: (reply: Reply) => void, wasDropped: boolean): Attention | null {
    if (!this.#options.isInteractive || takes === 'line' || takes === 'page') return null;
    return new Attention(
      {
        clock: this.#options.clock,
        onQuiet: (hasDropped) => hasDropped && this.#askAgain(),
        onLine: (text) => settle(replyOf(text)),
      },
      wasDropped,
    );
  }

  /** Says that nothing of what came counts, and shows the question's line again. */
  #askAgain(): void {
    if (this.#asked === null) return;
    const { question } = this.#asked;
    const { screen } = this.#options;
    const pasted = this.#refusedPaste;
    screen.endLine();
    screen.say(FRAME, pasted === null ? NOT_COUNTED : `${PASTED} ${this.#excerpt(pasted)}`, 'warn');
    this.#open(question);
    this.#show(question);
  }

  /** As much as fits behind the words about it, so that it begins no line. */
  #excerpt(pasted: string): string {
    const room = this.#options.screen.width - FRAME.length - PASTED.length - 4;
    const [shown = '', more] = wrap(visibleLine(pasted, MOST_SHOWN_PASTE), room);
    return more === undefined ? shown : `${shown.trimEnd()}…`;
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

  #show({ prompt, takes, initial = '' }: Question): void {
    this.#options.screen.endLine();
    if (this.#interface === null || !this.#options.isInteractive || takes === 'secret') {
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
   * that takes no earlier words gets its own line editor; clearing the old one would redraw its rows over the
   * question. A pipe has no eyes and may answer ahead. Returns whether anything was typed that now counts for nothing.
   */
  #open({ takes, completions = [] }: Question): boolean {
    const { input, output, isInteractive } = this.#options;
    if (this.#isEnded || (this.#interface !== null && !isInteractive)) return false;
    const takesEarlier = takes === 'line' || !isInteractive;
    const wasTyped = this.#waiting.length > 0 || (this.#interface?.line ?? '') !== '';
    if (!takesEarlier) this.#waiting.length = 0;
    this.#refusedPaste = null;
    this.#typedFor = takes;
    this.#detach();
    const keyboard = isInteractive ? this.#keyboard() : null;
    const lines = createInterface({
      input: keyboard ?? input,
      ...(isInteractive ? { output: takes === 'secret' ? nowhere() : output } : {}),
      terminal: isInteractive,
      ...(takesEarlier && isInteractive
        ? { historySize: MOST_HISTORY, history: this.#history }
        : { historySize: 0 }),
      ...(completions.length === 0 || !isInteractive
        ? {}
        : { completer: (line: string) => [completions.filter((one) => one.startsWith(line)), line] }),
    });
    const isCurrent = () => this.#interface === lines;
    lines.on('line', (line) => isCurrent() && this.#receive(line));
    lines.on('SIGINT', () => isCurrent() && this.#interrupt());
    // Behind Ctrl-Z and `fg` the editor has paused, and leaves it to others to read on.
    lines.on('SIGCONT', () => {
      lines.resume();
      this.#markPastes();
    });
    lines.on('close', () => {
      keyboard?.release();
      if (isCurrent()) this.#end();
    });
    if (takesEarlier) lines.on('history', (history) => this.#remember(history));
    this.#interface = lines;
    if (!this.#isMarkingPastes) this.#markPastes();
    return wasTyped && !takesEarlier;
  }

  #keyboard(): Keyboard {
    return new Keyboard({
      input: this.#options.input,
      pastes: this.#pastes,
      onHeard: () => this.#asked?.attention?.heard(),
      takesKey: () => this.#asked?.attention?.takesKey() ?? true,
      onPaste: (text) => this.#paste(text),
      onSuspend: () => this.restore(),
    });
  }

  #paste(text: string): void {
    const takes = this.#asked?.question.takes ?? 'line';
    const attention = this.#asked?.attention ?? null;
    if (takes === 'answer' || attention?.takesKey() === false) {
      attention?.drop();
      this.#refusedPaste = takes === 'secret' ? null : text;
    } else if (takes !== 'page') {
      if (text.length > MOST_LINE_LENGTH) this.#asked?.settle({ kind: 'too-long' });
      else this.#interface?.write(editorPaste(text));
    }
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
    const { screen, isInteractive } = this.#options;
    // The editor shows the Enter that ends a line, except behind a secret.
    if (isInteractive && this.#asked?.question.takes === 'secret') screen.endLine();
    else if (isInteractive) screen.lineEnded();
    const line = isInteractive ? textOfEditor(text) : text;
    if (this.#asked?.attention != null) return this.#asked.attention.take(line);
    const reply = replyOf(line);
    if (this.#asked !== null) return this.#asked.settle(reply);
    const isFull = this.#waiting.length >= MOST_WAITING_LINES;
    // A keyboard is read on, because Ctrl-C is a key.
    if (isFull && isInteractive) return;
    // What was read before a pause still comes.
    this.#waiting.push(reply);
    if (isFull) this.#interface?.pause();
  }

  #interrupt(): void {
    if (this.#asked !== null) this.#asked.settle({ kind: 'interrupted' });
    else this.#options.onInterrupt();
  }

  #end(): void {
    this.#isEnded = true;
    this.#interface = null;
    this.#asked?.settle({ kind: 'ended' });
  }
}

/** Takes the echo of a secret. */
function nowhere(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}

function replyOf(text: string): Reply {
  return text.length > MOST_LINE_LENGTH ? { kind: 'too-long' } : { kind: 'line', text };
}
