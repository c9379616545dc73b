/**
 * The part of a line around a place that one line of a terminal has room for. The line may be of any length, and hostile:
 * what a terminal obeys is written out.
 */
import { textColumns, VisibleCharacters } from '@cordon/core';

export interface Excerpt {
  readonly before: string;
  /** The place itself. */
  readonly inside: string;
  readonly after: string;
  /** Columns before the place, and of it; at least one. */
  readonly indent: number;
  readonly width: number;
}

export interface ExcerptOptions {
  /** Columns for everything. */
  readonly room: number;
  /** Stands for what is left out. */
  readonly ellipsis: string;
  /** How a character is written that was made visible. */
  readonly written: (visible: string, character: string) => string;
}

/** Looks at no more of the line than can be shown. `start` and `end` are in UTF-16 units. */
export function excerptOf(line: string, start: number, end: number, options: ExcerptOptions): Excerpt {
  const { room, ellipsis, written } = options;
  const most = room - 2 * ellipsis.length;
  const part = (from: number, to: number) => shownOf(partOf(line, from, to), written);
  const inside = fitting(part(start, Math.min(end, start + most)), most);
  const left = Math.max(0, most - Math.max(1, inside.columns));
  const behind = part(end, end + left);
  const half = Math.min(Math.trunc(room / 2), left);
  const leftBefore = Math.max(half, left - fitting(behind, left).columns);
  const before = fitting(part(start - leftBefore, start).reverse(), leftBefore);
  const isCutInside = inside.units < end - start;
  const after = fitting(isCutInside ? [] : behind, left - before.columns);
  const shownBefore = (before.units < start ? ellipsis : '') + before.texts.toReversed().join('');
  const isCutAfter = isCutInside || end + after.units < line.length;
  const shownInside = inside.texts.join('');
  return {
    before: shownBefore,
    inside: shownInside,
    after: after.texts.join('') + (isCutAfter ? ellipsis : ''),
    indent: columnsIn(shownBefore),
    width: Math.max(1, columnsIn(shownInside)),
  };
}

/** A part of a line, in which no character is half. */
function partOf(line: string, from: number, to: number): string {
  const between = (at: number) => ((line.codePointAt(at - 1) ?? 0) > 0xffff ? at + 1 : at);
  return line.slice(between(Math.max(0, from)), between(to));
}

/** A character as it is shown, and its UTF-16 units. */
interface Shown {
  readonly text: string;
  readonly units: number;
}

function shownOf(text: string, written: ExcerptOptions['written']): Shown[] {
  const characters = new VisibleCharacters();
  return [...text].map((character) => {
    return { text: written(characters.next(character), character), units: character.length };
  });
}

interface Fitting {
  readonly texts: readonly string[];
  readonly columns: number;
  readonly units: number;
}

/** As many as stand in so many columns. The terminal may take fewer; the line must not be wrapped. */
function fitting(shown: readonly Shown[], room: number): Fitting {
  const texts: string[] = [];
  let columns = 0;
  let units = 0;
  for (const one of shown) {
    const wanted = textColumns(one.text);
    if (columns + wanted > room) break;
    texts.push(one.text);
    columns += wanted;
    units += one.units;
  }
  return { texts, columns, units };
}

const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60]/u;

/** What terminals usually take, so that a mark stands below its character. */
function columnsIn(text: string): number {
  let columns = 0;
  for (const character of text) columns += /\p{M}/u.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return columns;
}
