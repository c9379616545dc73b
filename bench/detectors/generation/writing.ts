/** Writing labelled texts by a seed: chance that repeats, and texts whose labels are where the values went in. */
import type { Label, Labelled } from '../labelled.ts';

/** Repeats for a seed, on every machine. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 to below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** From `least` to `most`, both included. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  one<T>(items: readonly T[]): T {
    const item = items[Math.floor(this.next() * items.length)];
    if (item === undefined) throw new Error('nothing to choose from');
    return item;
  }

  text(alphabet: string, length: number): string {
    return Array.from({ length }, () => alphabet[Math.floor(this.next() * alphabet.length)]).join('');
  }

  shuffled<T>(items: readonly T[]): readonly T[] {
    const all = [...items];
    for (let last = all.length - 1; last > 0; last--) {
      const other = this.whole(0, last);
      const [a, b] = [all[last], all[other]];
      if (a !== undefined && b !== undefined) [all[last], all[other]] = [b, a];
    }
    return all;
  }
}

/** A value that is to be found. */
export interface Wanted {
  readonly kind: string;
  readonly value: string;
}

export function wanted(kind: string, value: string): Wanted {
  return { kind, value };
}

/** Several parts behind one another, as one part of a text. */
export type Part = string | Wanted;

/** A text out of its parts, labelled where the wanted ones went. */
export function labelled(note: string, ...parts: readonly Part[]): Labelled {
  const findings: Label[] = [];
  let text = '';
  for (const part of parts) {
    const value = typeof part === 'string' ? part : part.value;
    if (typeof part !== 'string')
      findings.push({ kind: part.kind, start: text.length, end: text.length + value.length });
    text += value;
  }
  return { text, findings, note };
}

/** A frame such as `Call {} or write to {}.` with its places filled, in order. */
export function filled(note: string, frame: string, ...values: readonly Part[]): Labelled {
  const pieces = frame.split('{}');
  if (pieces.length !== values.length + 1) throw new Error(`${values.length} values for \`${frame}\``);
  return labelled(note, ...pieces.flatMap((piece, index) => [piece, ...values.slice(index, index + 1)]));
}
