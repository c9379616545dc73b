/** Lines of notebooks that are no Python: commands of the system and of the notebook itself. */

import type { Stretch } from '../../text/finding.ts';
import { wordSet } from '../../text/words.ts';

/** Its place is that of the command, without its sign. */
export interface Magic extends Stretch {
  readonly command: string;
  /** Whether a shell runs it; else the notebook does. */
  readonly isShell: boolean;
}

const SHELL_CELLS: ReadonlySet<string> = new Set(['bash', 'sh', 'script', 'system', 'sx', '!']);
const SHELL_LINES = wordSet('system sx pip conda mamba uv rm mv cp mkdir rmdir cat ls man');

/** The Python of a notebook's cell, with its other lines made blank so that every place stays, and those lines. */
export function magicsOf(text: string): { readonly code: string; readonly magics: readonly Magic[] } {
  const magics: Magic[] = [];
  const cell = /^\s*%%(\S*)[^\n]*/.exec(text);
  if (cell !== null) {
    const name = cell[1] ?? '';
    const start = Math.min(cell[0].length + 1, text.length);
    const isPython = ['time', 'timeit', 'capture', 'prun'].includes(name);
    if (isPython) return { code: blank(text.slice(0, start)) + text.slice(start), magics };
    magics.push({ command: text.slice(start), start, end: text.length, isShell: SHELL_CELLS.has(name) });
    return { code: '', magics };
  }
  const lines: string[] = [];
  let at = 0;
  for (const line of text.split('\n')) {
    const found = /^(\s*(?:[A-Za-z_][\w, ]{0,100}=\s*)?)(!!?|%(?=[A-Za-z]))(.*)$/.exec(line);
    if (found === null) lines.push(helpless(line));
    else {
      const [, before = '', sign = '', rest = ''] = found;
      const start = at + before.length + sign.length;
      const name = /^\w+/.exec(rest)?.[0] ?? '';
      const isShell = sign !== '%' || SHELL_LINES.has(name);
      if (sign === '%' && TIMED.has(name)) {
        // `%time x` runs x: an empty statement before it keeps every place.
        lines.push(
          `${before}0;${blank(rest.slice(1, name.length))}${rest.slice(name.length)}`.padEnd(line.length),
        );
      } else {
        if (isShell || !QUIET.has(name))
          magics.push({ command: rest, start, end: at + line.length, isShell });
        // Its result is unknown.
        lines.push(`${before}0`.padEnd(line.length));
      }
    }
    at += line.length + 1;
  }
  return { code: lines.join('\n'), magics };
}

/** Magics whose rest of the line is Python. */
const TIMED: ReadonlySet<string> = new Set(['time', 'timeit', 'prun', 'memit', 'mprun', 'lprun']);

/** Magics that neither run code nor reach anything. */
const QUIET: ReadonlySet<string> = new Set([
  ...['matplotlib', 'pylab', 'who', 'whos', 'reset', 'config', 'autoreload', 'precision', 'pwd'],
  ...['lsmagic', 'history', 'pinfo', 'cd', 'load_ext', 'reload_ext', 'capture', 'colors', 'autosave', 'tb'],
]);

/** `name?` and `?name` ask for help. */
function helpless(line: string): string {
  return /^\s*\?{1,2}[\w.]+\s*$|^\s*[\w.]+\?{1,2}\s*$/.test(line) ? blank(line) : line;
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, ' ');
}
