/**
 * How far a benchmark is: a line that is overwritten on a terminal, and elsewhere a line at each tenth, so that a log
 * of an hour-long run is not silent.
 */

import type { Style } from '@cordon/console/text';
import { duration } from '@cordon/scan';
import type { Progress } from '../running/run.ts';
export interface ProgressOptions {
  readonly write: (text: string) => void;
  readonly isTerminal: boolean;
  readonly columns: () => number;
  /** Milliseconds that never go back. */
  readonly now: () => number;
  readonly style: (style: Style, text: string) => string;
  readonly hasUnicode: boolean;
}

const CLEAR = '\r\u001b[K';
const BAR = 24;
const LEAST_INTERVAL_MS = 100;

export class BenchProgress {
  readonly #options: ProgressOptions;
  readonly #suite: string;
  readonly #begun: number;
  #drawnAt = Number.NEGATIVE_INFINITY;
  #printedTenth = 0;
  #isDrawn = false;

  constructor(options: ProgressOptions, suite: string) {
    this.#options = options;
    this.#suite = suite;
    this.#begun = options.now();
  }

  update(progress: Progress): void {
    if (this.#options.isTerminal) this.#draw(progress);
    else this.#printTenth(progress);
  }

  /** Takes the line away, so that something else can be written. */
  clear(): void {
    if (this.#isDrawn) this.#options.write(CLEAR);
    this.#isDrawn = false;
    this.#drawnAt = Number.NEGATIVE_INFINITY;
  }

  #draw(progress: Progress): void {
    const now = this.#options.now();
    if (now - this.#drawnAt < LEAST_INTERVAL_MS) return;
    this.#drawnAt = now;
    this.#isDrawn = true;
    const width = Math.max(10, this.#options.columns() - 1);
    const share = shareOf(progress);
    const text = `${Math.floor(share * 100)} %`.padStart(5) + this.#words(progress);
    const hasRoom = text.length + this.#suite.length + BAR + 4 <= width;
    const line = hasRoom ? `${this.#suite}  ${this.#bar(share)}${text}` : text.trimStart().slice(0, width);
    this.#options.write(`${CLEAR}${line}`);
  }

  #printTenth(progress: Progress): void {
    const tenth = Math.floor(shareOf(progress) * 10);
    if (tenth <= this.#printedTenth) return;
    this.#printedTenth = tenth;
    this.#options.write(`${this.#suite}: ${tenth * 10} %${this.#words(progress)}\n`);
  }

  #words({ done, units, work, workDone }: Progress): string {
    const seconds = (this.#options.now() - this.#begun) / 1000;
    const left =
      workDone > 0 && workDone < work
        ? `, about ${duration((seconds / workDone) * (work - workDone))} left`
        : '';
    return `  ${done} of ${units}${left}`;
  }

  #bar(share: number): string {
    const { style, hasUnicode } = this.#options;
    const full = Math.round(share * BAR);
    const done = (hasUnicode ? '━' : '#').repeat(full);
    return `${style('good', done)}${style('dim', (hasUnicode ? '─' : '-').repeat(BAR - full))}`;
  }
}

function shareOf({ done, units, work, workDone }: Progress): number {
  if (work > 0) return Math.min(1, workDone / work);
  return units === 0 ? 1 : done / units;
}
