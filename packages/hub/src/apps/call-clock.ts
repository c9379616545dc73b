/**
 * How long a call may take: the time in which nobody kept its app waiting. While a person thinks about a request of the app
 * the clock stands still, up to a bound, so that no app can stop its own clock for ever.
 */

/** What an app waits for that is not its own doing; of `AppNetwork`. */
export interface Waiting {
  /** Whether it waits now. */
  readonly isAsking: boolean;
  /** How long it has waited so far, in milliseconds; never less than before. */
  readonly askingMs: number;
}

export interface CallClockOptions {
  /** Milliseconds of the app's own. */
  readonly limitMs: number;
  /** Null: an app that nobody can keep waiting. */
  readonly waiting: Waiting | null;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

/** Five questions that each take as long as one may. Attack: an app asks for one address after the other, so that its call never ends. */
export const MOST_WAITING_MS = 600_000;
/** While somebody thinks the clock looks again this often at least. */
const LOOK_MS = 50;

export class CallClock {
  readonly #limitMs: number;
  readonly #waiting: Waiting | null;
  readonly #now: () => number;
  readonly #beganAt: number;
  readonly #waitedBefore: number;
  readonly #over = new AbortController();
  #timer: NodeJS.Timeout;

  constructor(options: CallClockOptions) {
    const { limitMs, waiting, now = () => performance.now() } = options;
    this.#limitMs = limitMs;
    this.#waiting = waiting;
    this.#now = now;
    this.#beganAt = now();
    this.#waitedBefore = waiting?.askingMs ?? 0;
    this.#timer = setTimeout(() => this.#look(), limitMs);
  }

  /** Aborts when the time is over. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** The call is over; nothing happens any more. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  #look(): void {
    const left = this.#leftMs();
    if (left <= 0) return this.#over.abort();
    this.#timer = setTimeout(() => this.#look(), Math.max(left, LOOK_MS));
  }

  #leftMs(): number {
    const waited = (this.#waiting?.askingMs ?? 0) - this.#waitedBefore;
    const took = this.#now() - this.#beganAt;
    return this.#limitMs - (took - Math.min(waited, MOST_WAITING_MS));
  }
}
