/**
 * Where any of many fixed texts occurs, in one reading of a text: detectors look closer only there. An automaton has
 * an edge for every state and character, so a text costs one look-up a character, whatever it holds.
 */

import { lowBytes } from './text-units.ts';

/** A text to look for. */
export interface Literal {
  /** ASCII. */
  readonly text: string;
  /** Letters of either case. */
  readonly anyCase: boolean;
}

/** A literal, by its index, ends before `end`. */
export type OnLiteral = (literal: number, end: number) => void;

/** How far literals have been read: each is `literal * LENGTH + characters read`. */
type Progress = readonly number[];

const LENGTH = 256;
/** Of ASCII. */
const WIDTH = 128;

export class LiteralScan {
  /** By state and character: the next state. */
  readonly #next: Uint16Array;
  /** By state: the literals that end there. States without one come first. */
  readonly #ends: readonly (readonly number[])[];
  readonly #firstEnding: number;
  readonly #lengths: readonly number[];

  constructor(literals: readonly Literal[]) {
    const { rows, ends } = automatonOf(literals);
    const order = [...rows.keys()].sort(
      (a, b) => Number((ends[a] ?? []).length > 0) - Number((ends[b] ?? []).length > 0),
    );
    const place = new Uint16Array(rows.length);
    for (const [index, state] of order.entries()) place[state] = index;
    this.#next = new Uint16Array(rows.length * WIDTH);
    for (const [index, state] of order.entries())
      for (const [unit, target] of (rows[state] ?? []).entries())
        this.#next[index * WIDTH + unit] = place[target] ?? 0;
    this.#ends = order.map((state) => ends[state] ?? []);
    this.#lengths = literals.map(({ text }) => text.length);
    this.#firstEnding = this.#ends.findIndex((ending) => ending.length > 0);
  }

  /** Calls `onLiteral` for each occurrence, in order of its end. */
  scan(text: string, onLiteral: OnLiteral, low: Uint8Array = lowBytes(text)): void {
    const next = this.#next;
    const firstEnding = this.#firstEnding;
    let state = 0;
    for (let at = 0; at < low.length; at++) {
      const unit = low[at] ?? 0;
      state = unit < WIDTH ? (next[state * WIDTH + unit] ?? 0) : 0;
      if (state < firstEnding) continue;
      for (const literal of this.#ends[state] ?? [])
        if (isWritten(text, at + 1 - (this.#lengths[literal] ?? 0), at + 1)) onLiteral(literal, at + 1);
    }
  }
}

/** Whether these characters are their low bytes. */
function isWritten(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (text.charCodeAt(at) >= WIDTH) return false;
  return true;
}

interface Automaton {
  readonly rows: readonly Uint16Array[];
  readonly ends: readonly (readonly number[])[];
}

/** State 0 has read nothing of any literal; it never ends one, and so keeps its place. */
function automatonOf(literals: readonly Literal[]): Automaton {
  const states: Progress[] = [[]];
  const known = new Map<string, number>([['', 0]]);
  const stateOf = (progress: Progress): number => {
    const key = progress.join();
    const old = known.get(key);
    if (old !== undefined) return old;
    known.set(key, states.length);
    return states.push(progress) - 1;
  };
  const starts = literals.map((_, literal) => literal * LENGTH);
  const fromNothing = advanced(starts, literals);
  const begun = new Uint16Array(WIDTH);
  for (const [unit, progress] of fromNothing) begun[unit] = stateOf(progress);
  const rows: Uint16Array[] = [];
  for (let state = 0; state < states.length; state++) {
    const row = begun.slice();
    for (const [unit, progress] of advanced(states[state] ?? [], literals))
      row[unit] = stateOf([...progress, ...(fromNothing.get(unit) ?? [])]);
    rows.push(row);
  }
  const ends = states.map((progress) =>
    progress
      .filter((one) => one % LENGTH === literals[Math.floor(one / LENGTH)]?.text.length)
      .map((one) => Math.floor(one / LENGTH)),
  );
  return { rows, ends };
}

/** By character: what has been read of the literals once it is read, too. */
function advanced(progress: Progress, literals: readonly Literal[]): ReadonlyMap<number, number[]> {
  const byUnit = new Map<number, number[]>();
  for (const one of progress) {
    const literal = literals[Math.floor(one / LENGTH)];
    const wanted = literal?.text[one % LENGTH];
    if (literal === undefined || wanted === undefined) continue;
    const forms = literal.anyCase ? [wanted.toLowerCase(), wanted.toUpperCase()] : [wanted];
    for (const unit of new Set(forms.map((form) => form.charCodeAt(0))))
      byUnit.set(unit, [...(byUnit.get(unit) ?? []), one + 1]);
  }
  return byUnit;
}
