/**
 * One line at the bottom of a terminal that says that something happens and is replaced by what is printed next: never part of what
 * a user scrolls back to.
 */
import type { ScreenOutput } from '@cordon/console/text';

export interface StatusLineParts {
  /** Null: there is no terminal on which a line can be replaced. */
  readonly output: ScreenOutput | null;
  readonly columns: () => number;
  /** Whether the cursor stands at the beginning of a line that nobody else uses. */
  readonly isFree: () => boolean;
  readonly hasUnicode: boolean;
  /** Runs `draw` again and again until the returned function is called. */
  readonly repeat: (draw: () => void) => () => void;
}

const CLEAR = '\r\u001b[K';
const FRAMES = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';
const PLAIN_FRAMES = '|/-\\';

export class StatusLine {
  readonly #parts: StatusLineParts;
  #isDrawn = false;
  #drawings = 0;

  constructor(parts: StatusLineParts) {
    this.#parts = parts;
  }

  /** Whether there is a terminal on which a line can be replaced. */
  get isPossible(): boolean {
    return this.#parts.output !== null;
  }

  /** Shows the words of the moment until the returned function is called. */
  show(words: () => string): () => void {
    const { output, repeat } = this.#parts;
    if (output === null) return () => undefined;
    const stop = repeat(() => this.#draw(output, words()));
    return () => {
      stop();
      this.#clear();
    };
  }

  /** `output`, but what is written replaces the line. */
  around(output: ScreenOutput): ScreenOutput {
    return {
      write: (text) => {
        this.#clear();
        return output.write(text);
      },
    };
  }

  #draw(output: ScreenOutput, words: string): void {
    const { columns, isFree, hasUnicode } = this.#parts;
    if (!isFree()) return;
    const frames = hasUnicode ? FRAMES : PLAIN_FRAMES;
    const frame = frames[this.#drawings++ % frames.length] ?? '';
    this.#isDrawn = true;
    output.write(`${CLEAR}${`${frame} ${words}`.slice(0, Math.max(0, columns() - 1))}`);
  }

  #clear(): void {
    if (this.#isDrawn) this.#parts.output?.write(CLEAR);
    this.#isDrawn = false;
  }
}

/** Often enough to move, and seldom enough to cost nothing. */
const EVERY_MS = 200;

/** By the clock of this process. */
export function repeatedly(draw: () => void): () => void {
  const timer = setInterval(draw, EVERY_MS);
  return () => clearInterval(timer);
}
