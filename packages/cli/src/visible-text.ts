/**
 * Makes text that others wrote safe to show: what a terminal would obey, reorder or hide is written out as
 * `<U+202E>`. Everything that reaches a terminal from an app, a model or a file passes here.
 *
 * Ring 0: the consent question is drawn with it.
 */

/**
 * Control characters, bidi and zero-width characters, tags, fillers, private use, unassigned, lone surrogates, and
 * spaces that are not U+0020. `\p{DI}` are the default-ignorable ones, in which text can be smuggled unseen.
 */
const UNSAFE = /[\p{C}\p{Zl}\p{Zp}\p{DI}\u2800]|(?! )\p{Zs}/gu;
/** A fifth mark on one letter serves to paint over the lines above and below. */
const STACKED_MARKS = /(?<=\p{M}{4})\p{M}/gu;
const EMOJI_STYLE = /(?<=\p{Extended_Pictographic})\ufe0f/gu;
/** Stands for the one variation selector that may stay while the others are written out. */
const KEPT = '\ue000';

/** One line: line breaks are written out too. At most `limit` UTF-16 units of `text` are shown, then `…`. */
export function visibleLine(text: string, limit = 200): string {
  const shown = text.length > limit ? text.slice(0, limit) : text;
  return writeOut(shown) + (text.length > limit ? '…' : '');
}

/**
 * The lines of `text`, each made visible, wrapped at `width` columns by an estimate that never falls short of what a
 * terminal takes: a line that the terminal wrapped itself would continue at column 0, where only the hub writes.
 * Stops after `limit` lines; `more` says how many lines were left out at least.
 */
export function visibleLines(text: string, width: number, limit: number): { lines: string[]; more: number } {
  const lines: string[] = [];
  let start = 0;
  while (start <= text.length && lines.length <= limit) {
    const end = lineEnd(text, start);
    for (const line of wrap(visibleStretch(text, start, end, width * limit), width)) {
      if (lines.length > limit) break;
      lines.push(line);
    }
    start = end + lineBreakLength(text, end);
    if (end === text.length) break;
  }
  if (lines.length <= limit) return { lines, more: 0 };
  return { lines: lines.slice(0, limit), more: 1 + countLineBreaks(text, start) };
}

/** Attack: one line of a megabyte. Only what can be shown is written out. */
function visibleStretch(text: string, start: number, end: number, most: number): string {
  const cut = Math.min(end, start + most + 1);
  return writeOut(text.slice(start, cut));
}

function lineEnd(text: string, from: number): number {
  const newline = text.indexOf('\n', from);
  if (newline < 0) return text.length;
  return newline > from && text.charCodeAt(newline - 1) === 0x0d ? newline - 1 : newline;
}

function lineBreakLength(text: string, end: number): number {
  return text.charCodeAt(end) === 0x0d ? 2 : 1;
}

function countLineBreaks(text: string, from: number): number {
  let count = 0;
  for (let at = text.indexOf('\n', from); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  return from < text.length ? count + 1 : count;
}

function writeOut(text: string): string {
  return text
    .replaceAll(KEPT, '<U+E000>')
    .replace(EMOJI_STYLE, KEPT)
    .replace(UNSAFE, (character) => (character === KEPT ? '\ufe0f' : codePointName(character)))
    .replace(STACKED_MARKS, codePointName);
}

function codePointName(character: string): string {
  if (character === '\t') return '<tab>';
  const code = character.codePointAt(0) ?? 0;
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}

/** Breaks at a space where one is near, else anywhere; an empty line stays one line. */
export function wrap(line: string, width: number): string[] {
  const most = Math.max(width, 8);
  const out: string[] = [];
  let current = '';
  let taken = 0;
  let lastSpace = -1;
  for (const character of line) {
    const columns = columnsOf(character);
    if (taken + columns > most) {
      const at = lastSpace > current.length / 2 ? lastSpace + 1 : current.length;
      out.push(current.slice(0, at));
      current = current.slice(at);
      taken = textColumns(current);
      lastSpace = -1;
    }
    if (character === ' ') lastSpace = current.length;
    current += character;
    taken += columns;
  }
  out.push(current);
  return out;
}

/** An upper bound of the columns that a terminal takes for visible text. */
export function textColumns(text: string): number {
  let columns = 0;
  for (const character of text) columns += columnsOf(character);
  return columns;
}

/**
 * Width tables differ between terminals and Unicode versions, so all that may be wide in one of them counts as two;
 * Latin, Greek, Cyrillic, punctuation and box drawing are one everywhere.
 */
function columnsOf(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x0530) return 1;
  return code >= 0x2010 && code <= 0x2027 ? 1 : code >= 0x2500 && code <= 0x257f ? 1 : 2;
}
