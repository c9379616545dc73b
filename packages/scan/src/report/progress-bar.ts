/**
 * A line on a terminal that shows how far a scan is: drawn at most ten times a second, and gone at the end.
 */
import type { Style } from '@cordon/console/text';
import { megabytes } from './summary-report.ts';

export interface ProgressOptions {
  readonly write: (text: string) => void;
  readonly columns: () => number;
  /** Milliseconds, from any beginning. */
  readonly now: () => number;
  readonly style: (style: Style, text: string) => string;
  readonly hasUnicode: boolean;
}

export interface ProgressNow {
  /** Bytes on the disk that have been taken, and all of them; 0 if unknown. */
  readonly taken: number;
  readonly total: number;
  readonly bytes: number;
  readonly violations: number;
}

const LEAST_INTERVAL = 100;
const CLEAR = '\r\u001b[K';
const BAR = 24;

export class ProgressBar {
  readonly #options: ProgressOptions;
  readonly #begun: number;
  readonly #before: number;
  #drawnAt = Number.NEGATIVE_INFINITY;
  #isDrawn = false;

  /** `taken`: what an earlier scan has done, which says nothing about the speed of this one. */
  constructor(options: ProgressOptions, taken: number) {
    this.#options = options;
    this.#begun = options.now();
    this.#before = taken;
  }

  update(now: ProgressNow): void {
    const time = this.#options.now();
    if (time - this.#drawnAt < LEAST_INTERVAL) return;
    this.#drawnAt = time;
    this.#isDrawn = true;
    const width = Math.max(10, this.#options.columns() - 1);
    this.#options.write(`${CLEAR}${this.#line(now, (time - this.#begun) / 1000, width)}`);
  }

  /** Takes it away, so that something else can be written. */
  clear(): void {
    if (this.#isDrawn) this.#options.write(CLEAR);
    this.#isDrawn = false;
  }

  #line({ taken, total, bytes, violations }: ProgressNow, seconds: number, width: number): string {
    const rate = seconds > 0 ? (taken - this.#before) / seconds : 0;
    const share = total > 0 ? Math.min(1, taken / total) : 0;
    const left = rate > 0 && total > 0 ? `, ${duration((total - taken) / rate)} left` : '';
    const speed = `${megabytes(bytes)}${rate > 0 ? `, ${megabytes(rate)}/s` : ''}${left}`;
    const found = violations === 1 ? '1 violation' : `${violations} violations`;
    const text = `${speed}, ${found}`;
    if (total === 0) return text.slice(0, width);
    const percent = `${Math.floor(share * 100)} %`;
    if (text.length + BAR + 8 > width) return `${percent}  ${text}`.slice(0, width);
    return `${this.#bar(share)}${percent.padStart(5)}  ${text}`;
  }

  #bar(share: number): string {
    const { style, hasUnicode } = this.#options;
    const full = Math.round(share * BAR);
    const done = (hasUnicode ? '━' : '#').repeat(full);
    const open = (hasUnicode ? '─' : '-').repeat(BAR - full);
    return `${style('good', done)}${style('dim', open)}`;
  }
}

/** `12 s`, `3 min 5 s`, `2 h 4 min`. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}
