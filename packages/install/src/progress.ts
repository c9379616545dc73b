/**
 * How far an installation is, read from what npm writes about its requests. It is written inside the sandbox, so it is only shown, and
 * nothing is decided by it.
 */
import type { Clock } from '@cordon/core';

export type InstallProgress =
  /** npm asks the registry which packages are needed; `packages` so far. */
  | { readonly kind: 'resolving'; readonly packages: number }
  /** It fetches them. `secondsLeft`: by the speed so far; null: too few have come. */
  | {
      readonly kind: 'fetching';
      readonly done: number;
      readonly total: number;
      readonly secondsLeft: number | null;
    };

export interface ProgressParts {
  readonly now: Clock;
  readonly onProgress: (progress: InstallProgress) => void;
}

/** `npm http fetch GET 200 https://registry/left-pad 12ms` */
const REQUEST = /^npm http fetch GET 200 (\S{1,400}) /;
/** What npm says besides errors. */
const CHATTER = /^npm (?:http|warn|notice)\b/i;
const LONGEST_LINE = 4_000;
/** Attack: lines about a million packages, each with a long address. These are at most 8 MB. */
const MOST_PACKAGES = 10_000;
/** So many have to come before their speed says something. */
const FEW = 5;

export class ProgressReader {
  readonly #parts: ProgressParts;
  /** What is asked for each package once, and each package. */
  readonly #asked = new Set<string>();
  readonly #fetched = new Set<string>();
  #begunAt = 0;
  #rest = '';

  constructor(parts: ProgressParts) {
    this.#parts = parts;
  }

  /** Returns the complete lines that are no progress. */
  take(text: string): string {
    const lines = (this.#rest + text).split('\n');
    this.#rest = (lines.pop() ?? '').slice(-LONGEST_LINE);
    return lines
      .filter((line) => !this.#isChatter(line))
      .map((line) => `${line}\n`)
      .join('');
  }

  /** The last line, where it does not end. */
  end(): string {
    return CHATTER.test(this.#rest) ? '' : this.#rest;
  }

  #isChatter(line: string): boolean {
    const [, address] = REQUEST.exec(line) ?? [];
    if (address !== undefined) this.#count(address);
    return CHATTER.test(line);
  }

  #count(address: string): void {
    const isPackage = address.endsWith('.tgz');
    const known = isPackage ? this.#fetched : this.#asked;
    if (known.size >= MOST_PACKAGES || known.has(address)) return;
    if (isPackage && known.size === 0) this.#begunAt = this.#parts.now();
    known.add(address);
    this.#parts.onProgress(this.#progress());
  }

  #progress(): InstallProgress {
    const done = this.#fetched.size;
    if (done === 0) return { kind: 'resolving', packages: this.#asked.size };
    // Of a package in two versions, the registry is asked once.
    const total = Math.max(done, this.#asked.size);
    const elapsed = this.#parts.now() - this.#begunAt;
    const secondsLeft = done < FEW ? null : Math.ceil((elapsed / done / 1000) * (total - done));
    return { kind: 'fetching', done, total, secondsLeft };
  }
}
