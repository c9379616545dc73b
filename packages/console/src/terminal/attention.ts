/**
 * Tells what a person types in answer to a question from what arrives by itself: keys pressed before the question could
 * be read, and pasted text on a terminal that does not mark it. An answer begins after the input was quiet since the
 * question was drawn, and nothing follows it at once.
 *
 * What passes here is taken for the user's word.
 */

export interface TerminalClock {
  /** Milliseconds from any fixed moment; never runs backwards. */
  now(): number;
  /** Runs `run` after so many milliseconds, and after whatever has arrived by then was heard; returns what cancels it. */
  after(milliseconds: number, run: () => void): () => void;
}

/** A person needs longer to read the shortest question; pasted lines follow each other sooner. */
export const QUIET_BEFORE_MS = 400;
/** Pasted lines follow each other sooner; a person does not notice the wait. */
export const QUIET_AFTER_MS = 100;

export interface AttentionParts {
  readonly clock: TerminalClock;
  /** The input has been quiet: keys count from now on. `wasDropped`: some came before and did not. */
  readonly onQuiet: (wasDropped: boolean) => void;
  /** A line that a person typed. */
  readonly onLine: (line: string) => void;
}

type State =
  | { readonly kind: 'unquiet' }
  | { readonly kind: 'typing' }
  /** A line has ended, and more of a paste may follow. */
  | { readonly kind: 'judging'; readonly line: string };

/** For one question, from the moment that it is drawn. */
export class Attention {
  readonly #parts: AttentionParts;
  #state: State = { kind: 'unquiet' };
  #heardAt: number;
  #wasDropped: boolean;
  #cancel: () => void = () => undefined;

  /** @param wasDropped whether something was typed before the question was drawn */
  constructor(parts: AttentionParts, wasDropped: boolean) {
    this.#parts = parts;
    this.#heardAt = parts.clock.now();
    this.#wasDropped = wasDropped;
    this.#wait(QUIET_BEFORE_MS);
  }

  /** Bytes have arrived, whatever they mean. To be called before they are looked at. */
  heard(): void {
    this.#heardAt = this.#parts.clock.now();
    if (this.#state.kind === 'judging') this.drop();
    else if (this.#state.kind === 'unquiet') this.#wasDropped = true;
  }

  /** A key was pressed: whether it counts. One that arrives together with the end of a line makes the line part of a paste. */
  takesKey(): boolean {
    if (this.#state.kind === 'judging') this.drop();
    return this.#state.kind === 'typing';
  }

  /** What has been typed so far does not count, nor does anything before the input is quiet again. */
  drop(): void {
    this.#wasDropped = true;
    this.#state = { kind: 'unquiet' };
    this.#wait(QUIET_BEFORE_MS);
  }

  /** The line editor has read a line. */
  take(line: string): void {
    if (this.#state.kind !== 'typing') return;
    this.#state = { kind: 'judging', line };
    this.#wait(QUIET_AFTER_MS);
  }

  /** Nobody waits for an answer now. */
  stop(): void {
    this.#cancel();
  }

  #wait(quiet: number): void {
    const { clock } = this.#parts;
    this.#cancel();
    const left = this.#heardAt + quiet - clock.now();
    this.#cancel = clock.after(Math.max(0, left), () => {
      if (clock.now() - this.#heardAt < quiet) this.#wait(quiet);
      else this.#beQuiet();
    });
  }

  #beQuiet(): void {
    const state = this.#state;
    this.#state = { kind: 'typing' };
    if (state.kind === 'judging') return this.#parts.onLine(state.line);
    const wasDropped = this.#wasDropped;
    this.#wasDropped = false;
    this.#parts.onQuiet(wasDropped);
  }
}
