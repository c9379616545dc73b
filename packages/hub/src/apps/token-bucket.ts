/**
 * How much may come in a time: a bucket of tokens that fills at a steady rate and holds a burst. For what an app
 * says, and for what is said to it.
 */

export interface RateLimit {
  readonly perSecond: number;
  /** So much may come at once after a quiet time. */
  readonly burst: number;
}

export class TokenBucket {
  readonly #limit: RateLimit;
  readonly #now: () => number;
  #tokens: number;
  #filledAt: number;

  /** @param now milliseconds of a clock that never goes back */
  constructor(limit: RateLimit, now: () => number = () => performance.now()) {
    this.#limit = limit;
    this.#now = now;
    this.#tokens = limit.burst;
    this.#filledAt = now();
  }

  /** Takes `amount` if there is so much; else takes nothing. */
  take(amount = 1): boolean {
    this.#fill();
    if (amount > this.#tokens) return false;
    this.#tokens -= amount;
    return true;
  }

  /** Puts back what was taken for something that was asked for. */
  giveBack(amount: number): void {
    this.#tokens = Math.min(this.#limit.burst, this.#tokens + amount);
  }

  #fill(): void {
    const now = this.#now();
    const { perSecond, burst } = this.#limit;
    const came = ((now - this.#filledAt) / 1000) * perSecond;
    this.#filledAt = now;
    this.#tokens = Math.min(burst, this.#tokens + came);
  }
}
