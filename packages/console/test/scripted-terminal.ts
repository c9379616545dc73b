/** A terminal whose user is a script, and whose screen is a string. */
import { PassThrough } from 'node:stream';
import type { TerminalClock } from '../src/terminal/attention.ts';
import { Terminal } from '../src/terminal/terminal.ts';
import { Screen } from '../src/text/screen.ts';

export interface ScriptedTerminal {
  readonly terminal: Terminal;
  readonly screen: Screen;
  readonly input: PassThrough;
  readonly shown: () => string;
  readonly interrupts: () => number;
  /** Types when the terminal waits for nothing but keys: a person reads first. */
  readonly types: (keys: string) => Promise<void>;
}

/** Time that a test moves on; what is due then runs, in order. */
export class ManualClock implements TerminalClock {
  #now = 0;
  readonly #due = new Set<{ readonly at: number; readonly run: () => void }>();

  now(): number {
    return this.#now;
  }

  after(milliseconds: number, run: () => void): () => void {
    const due = { at: this.#now + milliseconds, run };
    this.#due.add(due);
    return () => this.#due.delete(due);
  }

  get isIdle(): boolean {
    return this.#due.size === 0;
  }

  advance(milliseconds: number): void {
    const end = this.#now + milliseconds;
    for (;;) {
      const [next] = [...this.#due].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#due.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.run();
    }
    this.#now = end;
  }
}

/** In which every wait ends at once: the person is in no hurry, and the test is. */
class PatientClock extends ManualClock {
  override after(milliseconds: number, run: () => void): () => void {
    const cancel = super.after(milliseconds, run);
    setImmediate(() => this.advance(milliseconds));
    return cancel;
  }
}

export function scriptedTerminal(
  options: { isInteractive?: boolean; columns?: number; clock?: ManualClock; marksPastes?: boolean } = {},
): ScriptedTerminal {
  let shown = '';
  let interrupts = 0;
  const clock = options.clock ?? new PatientClock();
  const input = new PassThrough();
  const output = new PassThrough();
  output.on('data', (chunk) => {
    shown += String(chunk);
  });
  const screen = new Screen({
    output: {
      write: (text) => {
        shown += text;
      },
    },
    columns: () => options.columns ?? 80,
    hasColor: false,
  });
  const terminal = new Terminal({
    input,
    output,
    screen,
    isInteractive: options.isInteractive ?? false,
    marksPastes: options.marksPastes ?? false,
    clock,
    onInterrupt: () => interrupts++,
  });
  const types = async (keys: string) => {
    do await new Promise((resolve) => setImmediate(resolve));
    while (!clock.isIdle);
    input.write(keys);
  };
  return { terminal, screen, input, shown: () => shown, interrupts: () => interrupts, types };
}

/** Resolves once `text` has been shown; a test that waits for what never comes ends with its own time limit. */
export async function untilShown(terminal: ScriptedTerminal, text: string): Promise<void> {
  while (!terminal.shown().includes(text)) await new Promise((resolve) => setImmediate(resolve));
}
