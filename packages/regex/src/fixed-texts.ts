/**
 * Patterns that match a few texts and nothing else, e.g. `ignore (?:all )?of it|first: `: looked for, never run.
 */
import { type Match, NO_MATCHES } from './linear.ts';
import { type Alternatives, anchorOf, textsOf } from './literals.ts';
import type { Node } from './syntax-tree.ts';

/** All texts that match; null: too many, too long, or not only these. */
export function fixedTextsOf(root: Node): Alternatives | null {
  const texts = textsOf(root);
  return texts === null || texts.includes('') ? null : [...new Set(texts)];
}

/** A text, and the end of it that is looked for. */
interface Sought {
  readonly text: string;
  readonly anchor: number;
  readonly end: string;
}

export class FixedTextsMatcher {
  readonly #texts: readonly Sought[];

  /** In the order in which they are tried. */
  constructor(texts: Alternatives) {
    this.#texts = texts.map((text) => {
      const anchor = anchorOf(text);
      return { text, anchor, end: text.slice(anchor) };
    });
  }

  startsWith(text: string): boolean {
    return this.#texts.some((sought) => text.startsWith(sought.text));
  }

  findAll(text: string): readonly Match[] {
    const texts = this.#texts;
    let places: number[] | null = null;
    for (let index = 0; index < texts.length; index++) {
      const place = placeOf(texts[index], text, 0);
      if (place < 0) continue;
      places ??= new Array<number>(texts.length).fill(-1);
      places[index] = place;
    }
    return places === null ? NO_MATCHES : this.#matches(text, places);
  }

  /** `places`: where each text stands next; -1: nowhere. Where two stand at one place, the first is taken. */
  #matches(text: string, places: number[]): readonly Match[] {
    const texts = this.#texts;
    const matches: Match[] = [];
    for (;;) {
      let chosen = -1;
      for (let index = 0; index < places.length; index++) {
        const place = places[index] ?? -1;
        if (place >= 0 && (chosen < 0 || place < (places[chosen] ?? 0))) chosen = index;
      }
      if (chosen < 0) return matches;
      const start = places[chosen] ?? 0;
      const end = start + (texts[chosen]?.text.length ?? 0);
      matches.push({ start, end });
      for (let index = 0; index < places.length; index++) {
        const place = places[index] ?? -1;
        if (place >= 0 && place < end) places[index] = placeOf(texts[index], text, end);
      }
    }
  }
}

/** The first place from `from` on where the text stands; -1: nowhere. */
function placeOf(sought: Sought | undefined, text: string, from: number): number {
  if (sought === undefined) return -1;
  const { anchor, end } = sought;
  let at = text.indexOf(end, from + anchor);
  while (at >= 0 && anchor > 0 && !text.startsWith(sought.text, at - anchor)) at = text.indexOf(end, at + 1);
  return at < 0 ? -1 : at - anchor;
}
