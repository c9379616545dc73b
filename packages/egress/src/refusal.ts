/**
 * What was refused, counted: an app that tries the same thing a million times is reported a few times and never
 * forgotten.
 */

/** Of the request it holds where it should have gone, and nothing else of what the app wrote. */
export interface Refusal {
  /** Canonical; null where the request named none. */
  readonly host: string | null;
  readonly port: number | null;
  readonly reason: string;
  /** The entry of `network` that the manifest lacks; absent: none would help. */
  readonly lacks?: string;
}

/** Kinds of refusal that are counted apart; what comes after them is counted together. */
const MOST_KINDS = 64;
const OTHERS: Refusal = { host: null, port: null, reason: 'further requests of other kinds' };

interface Count {
  /** The newest: a name may lead elsewhere by now, and another entry helps. */
  refusal: Refusal;
  times: number;
  reported: number;
}

export class RefusalCount {
  readonly #report: (refusal: Refusal, times: number) => void;
  readonly #counts = new Map<string, Count>();

  /** `report`: told at the 1st, 10th, 100th, … time, and by `flush` of the rest; `times` is the count so far. */
  constructor(report: (refusal: Refusal, times: number) => void) {
    this.#report = report;
  }

  note(refusal: Refusal): void {
    const count = this.#countOf(refusal);
    count.times++;
    if (/^10*$/.test(String(count.times))) this.#tell(count);
  }

  /** Reports what was counted since it was last reported. */
  flush(): void {
    for (const count of this.#counts.values()) if (count.times > count.reported) this.#tell(count);
  }

  #tell(count: Count): void {
    count.reported = count.times;
    this.#report(count.refusal, count.times);
  }

  #countOf(refusal: Refusal): Count {
    const key = `${refusal.host}:${refusal.port} ${refusal.reason}`;
    const isKnown = this.#counts.has(key) || this.#counts.size < MOST_KINDS;
    const found = isKnown ? refusal : OTHERS;
    const name = isKnown ? key : OTHERS.reason;
    const count = this.#counts.get(name) ?? { refusal: found, times: 0, reported: 0 };
    count.refusal = found;
    this.#counts.set(name, count);
    return count;
  }
}
