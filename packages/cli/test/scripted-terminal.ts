/** A terminal whose user is a script, and whose screen is a string. */
import { PassThrough } from 'node:stream';
import { Screen } from '../src/screen.ts';
import { Terminal } from '../src/terminal.ts';

export interface ScriptedTerminal {
  readonly terminal: Terminal;
  readonly screen: Screen;
  readonly input: PassThrough;
  readonly shown: () => string;
  readonly interrupts: () => number;
}

export function scriptedTerminal(
  options: { isInteractive?: boolean; columns?: number } = {},
): ScriptedTerminal {
  let shown = '';
  let interrupts = 0;
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
    onInterrupt: () => interrupts++,
  });
  return { terminal, screen, input, shown: () => shown, interrupts: () => interrupts };
}

/** Resolves once `text` has been shown; a test that waits for what never comes ends with its own time limit. */
export async function untilShown(terminal: ScriptedTerminal, text: string): Promise<void> {
  while (!terminal.shown().includes(text)) await new Promise((resolve) => setImmediate(resolve));
}
