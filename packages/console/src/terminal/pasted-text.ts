/**
 * Pasted text, as terminals mark it (bracketed paste): parted from what is typed, and shown so that it does nothing.
 *
 * What counts as typed can be a user's yes.
 */
import { StringDecoder } from 'node:string_decoder';
import { VisibleCharacters } from '@cordon/core';

/** Asks the terminal to mark what is pasted, and to stop it. */
export const MARK_PASTES = '\u001b[?2004h';
export const MARK_NO_PASTES = '\u001b[?2004l';

const PASTE_BEGINS = '\u001b[200~';
const PASTE_ENDS = '\u001b[201~';
/** A mark may arrive in pieces. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: a mark begins with one.
const HALF_MARK = /\u001b(?:\[(?:2(?:0[01]?)?)?)?$/;
/** A paste arrives in one go. Without this, an end that is lost would leave the user without a key that does anything. */
const PASTE_GAP_MS = 2000;

export interface InputPiece {
  readonly kind: 'typed' | 'pasted';
  readonly text: string;
}

export interface PasteSplitterParts {
  /** Milliseconds from any fixed moment. */
  readonly now: () => number;
  /** So many characters of a paste are kept, and one that says that there are more. */
  readonly mostPasted: number;
}

/** Parts one input, from its first byte on. */
export class PasteSplitter {
  readonly #parts: PasteSplitterParts;
  readonly #decoder = new StringDecoder('utf8');
  /** The beginning of a mark. */
  #rest = '';
  /** Null: no paste is under way. */
  #pasted: string | null = null;
  #heardAt: number;

  constructor(parts: PasteSplitterParts) {
    this.#parts = parts;
    this.#heardAt = parts.now();
  }

  /** What is complete with `data`. A mark of the beginning inside a paste is text. */
  push(data: Buffer | string): readonly InputPiece[] {
    const pieces: InputPiece[] = [];
    const now = this.#parts.now();
    if (this.#pasted !== null && now - this.#heardAt > PASTE_GAP_MS)
      pieces.push(this.#endPaste(this.#pasted));
    this.#heardAt = now;
    const read = this.#rest + (typeof data === 'string' ? data : this.#decoder.write(data));
    this.#rest = HALF_MARK.exec(read)?.[0] ?? '';
    const text = read.slice(0, read.length - this.#rest.length);
    for (let at = 0; at < text.length; ) {
      const mark = this.#pasted === null ? PASTE_BEGINS : PASTE_ENDS;
      const found = text.indexOf(mark, at);
      const part = text.slice(at, found < 0 ? text.length : found);
      if (this.#pasted !== null) this.#pasted = this.#kept(this.#pasted + part);
      else if (part !== '') pieces.push({ kind: 'typed', text: part });
      if (found < 0) break;
      if (this.#pasted === null) this.#pasted = '';
      else pieces.push(this.#endPaste(this.#pasted));
      at = found + mark.length;
    }
    return pieces;
  }

  #kept(pasted: string): string {
    return pasted.slice(0, this.#parts.mostPasted + 1);
  }

  #endPaste(text: string): InputPiece {
    this.#pasted = null;
    return { kind: 'pasted', text };
  }
}

/** Stand in the line editor for a line break and a tab of a pasted text. */
const LINE_BREAK = '⏎';
const TAB = '⇥';

/** A pasted text as it may stand in the line editor: one line, and whatever a terminal would obey or hide by its name. */
export function editorPaste(text: string): string {
  const characters = new VisibleCharacters();
  let out = '';
  for (const character of text.replace(/\r\n?/g, '\n')) {
    if (character === '\n') out += LINE_BREAK;
    else if (character === '\t') out += TAB;
    else if (character === LINE_BREAK || character === TAB) out += ' ';
    else out += characters.next(character);
  }
  return out;
}

/** The text of a line in the editor, after something was pasted into it. */
export function textOfEditor(line: string): string {
  return line.replaceAll(LINE_BREAK, '\n').replaceAll(TAB, '\t');
}
