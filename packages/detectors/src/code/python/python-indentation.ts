/** Whether the lines of a Python text stand where its blocks want them; the grammar takes any column. */
import type { Stretch } from '../../text/finding.ts';
import type { PythonNode } from './python-tree.ts';

/** A stretch in which line ends mean nothing: a string, what is in brackets, a comment. */
interface Unbroken extends Stretch {
  readonly isComment: boolean;
}

/** A column as Python counts it twice, with tabs of eight and of one: where the two disagree, Python refuses it. */
interface Column {
  readonly wide: number;
  readonly narrow: number;
}

const TAB = 8;

/**
 * Where the first line begins that fits no block; null: all do ("Indentation" in Python's language reference).
 * @param nodes the tree of `code`, parents before their children
 */
export function indentationFault(nodes: readonly PythonNode[], code: string): number | null {
  const lines = new LogicalLines(code, stretchesOf(nodes));
  const levels: Column[] = [{ wide: 0, narrow: 0 }];
  let opensBlock = false;
  for (let at = 0; at < code.length; ) {
    const column = columnAt(code, at);
    const { end, last } = lines.from(at);
    // Lines without code belong to no block.
    if (last !== null) {
      if (!fits(levels, column, opensBlock)) return at;
      opensBlock = last === ':';
    }
    at = end + 1;
  }
  return null;
}

/** Whether a line can stand there; opens and closes the levels for it. */
function fits(levels: Column[], column: Column, opensBlock: boolean): boolean {
  const inner = levels.at(-1);
  if (inner !== undefined && column.wide > inner.wide) {
    levels.push(column);
    return opensBlock && column.narrow > inner.narrow;
  }
  while ((levels.at(-1)?.wide ?? 0) > column.wide) levels.pop();
  const own = levels.at(-1);
  return !opensBlock && own?.wide === column.wide && own.narrow === column.narrow;
}

function columnAt(code: string, start: number): Column {
  let wide = 0;
  let narrow = 0;
  for (let at = start; at < code.length; at++) {
    const one = code[at];
    if (one === '\f') {
      wide = 0;
      narrow = 0;
    } else if (one === ' ' || one === '\t') {
      wide = one === ' ' ? wide + 1 : (Math.floor(wide / TAB) + 1) * TAB;
      narrow += 1;
    } else break;
  }
  return { wide, narrow };
}

/** Reads on from line to line, so each character is looked at once. */
class LogicalLines {
  readonly #code: string;
  readonly #stretches: readonly Unbroken[];
  #next = 0;

  constructor(code: string, stretches: readonly Unbroken[]) {
    this.#code = code;
    this.#stretches = stretches;
  }

  /** Where the line that begins at `start` ends, and its last character that is code; null: it has none. */
  from(start: number): { readonly end: number; readonly last: string | null } {
    let last: string | null = null;
    for (let at = start; at < this.#code.length; ) {
      const stretch = this.#stretches[this.#next];
      if (stretch !== undefined && at >= stretch.start) {
        if (!stretch.isComment) last = this.#code.charAt(stretch.end - 1);
        this.#next++;
        at = Math.max(at, stretch.end);
        continue;
      }
      const one = this.#code.charAt(at);
      if (one === '\n' || one === '\r') {
        if (last !== '\\') return { end: one === '\r' && this.#code[at + 1] === '\n' ? at + 1 : at, last };
        // The next line continues this one.
        last = ' ';
        if (one === '\r' && this.#code[at + 1] === '\n') at++;
      } else if (one !== ' ' && one !== '\t' && one !== '\f') last = one;
      at++;
    }
    return { end: this.#code.length, last };
  }
}

const OPENING: ReadonlySet<string> = new Set(['(', '[', '{']);
const CLOSING: ReadonlySet<string> = new Set([')', ']', '}']);
const STRINGS: ReadonlySet<string> = new Set(['String', 'FormatString', 'ContinuedString']);

/** In the order of the text; none within another. */
function stretchesOf(nodes: readonly PythonNode[]): readonly Unbroken[] {
  const found: Unbroken[] = [];
  let depth = 0;
  let open = 0;
  for (const { name, start, end } of nodes) {
    if (start < (found.at(-1)?.end ?? 0)) continue;
    if (OPENING.has(name)) {
      if (depth === 0) open = start;
      depth++;
    } else if (CLOSING.has(name)) {
      depth--;
      if (depth === 0) found.push({ start: open, end, isComment: false });
    } else if (depth === 0 && (STRINGS.has(name) || name === 'Comment'))
      found.push({ start, end, isComment: name === 'Comment' });
  }
  return found;
}
