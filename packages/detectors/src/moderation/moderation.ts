/**
 * Texts that someone may not want said, by turns of phrase (`turns.ts`): it finds what is said plainly and nothing that
 * is only meant. A turn is looked for around its own words, so ordinary text costs one reading.
 */
import type { Finding, Stretch } from '../text/finding.ts';
import { LiteralScan } from '../text/literal-scan.ts';
import { addStretch, type OpenStretch } from '../text/match.ts';
import { once } from '../text/on-demand.ts';
import { type Category, TURNS, withoutAccents } from './turns.ts';

/** Talk about such words: a report, a rule, a quotation. It weakens what is found, and does not hide it from a low threshold. */
const SPOKEN_OF =
  /\b(?:report(?:ed|s)?|policy|guidelines?|moderat(?:e|ed|ion|or)|quot(?:e|ed)|said that|is an offence|prohibit(?:s|ed)?|hotline|helpline|prevention|novel|film|movie|lyrics|study|research|dictionary|the word|means|suspects?|prosecutors?|convicted|sentenced|according to|documentary|the (?:character|episode|chapter)|(?:judge|mayor|minister|official|party|police|president|senator|spokes\w+) (?:said|says))\b/i;
/** What a doctor or a lesson says of bodies is not explicit. */
const CLINICAL =
  /\b(?:cancer|contracepti\w+|diagnos\w+|hiv|hpv|infections?|paediatric\w*|pediatric\w*|puberty|screening|sex(?:ual)? (?:education|health)|surgery)\b/i;
const WEAKENED = 0.5;
/** UTF-16 units on either side of a turn's word that may belong to it; what speaks of a turn stands as near. */
const AROUND = 200;

/** Small letters without accents: turns are looked for in them, which is quicker than in letters of either case. */
function plainLetters(text: string): string {
  // The long s is no capital, and stands for an s all the same.
  const small = text.toLowerCase().replaceAll('\u017f', 's');
  return small.replace(BEYOND_ASCII, withoutAccents);
}

/** From the first letter with an accent on. */
const BEYOND_ASCII = /[\u00c0-\uffff]+/g;

function isSpokenOf(category: Category, around: string): boolean {
  return SPOKEN_OF.test(around) || (category === 'sexual' && CLINICAL.test(around));
}

interface Root {
  readonly text: string;
  /** Turns that have it, by their index. */
  readonly turns: readonly number[];
}

const ROOTS: readonly Root[] = [
  ...Map.groupBy(
    TURNS.flatMap(({ words }, turn) => words.map((text) => ({ text, turn }))),
    ({ text }) => text,
  ),
].map(([text, all]) => ({ text, turns: [...new Set(all.map(({ turn }) => turn))] }));
const ASCII = ROOTS.filter(({ text }) => /^[\x20-\x7e]+$/.test(text));
const OTHERS = ROOTS.filter((root) => !ASCII.includes(root));

const rootScan = once(() => new LiteralScan(ASCII.map(({ text }) => ({ text, anyCase: false }))));

/** By turn: where one of its words stands, with what is around it; in order, and apart. */
function stretchesIn(plain: string): readonly (readonly Stretch[])[] {
  const stretches: OpenStretch[][] = TURNS.map(() => []);
  const note = ({ turns, text }: Root, end: number): void => {
    // Within a word, and not at its start, it is another one.
    if (isLatin(plain.charCodeAt(end - text.length - 1))) return;
    const start = Math.max(0, end - text.length - AROUND);
    for (const turn of turns) addStretch(stretches[turn] ?? [], start, end + AROUND);
  };
  rootScan().scan(plain, (index, end) => {
    const root = ASCII[index];
    if (root !== undefined) note(root, end);
  });
  const places = OTHERS.flatMap((root) => placesOf(plain, root));
  for (const { root, end } of places.sort((a, b) => a.end - b.end)) note(root, end);
  return stretches;
}

function isLatin(unit: number): boolean {
  return unit >= 97 && unit <= 122;
}

function placesOf(plain: string, root: Root): { readonly root: Root; readonly end: number }[] {
  const places: { readonly root: Root; readonly end: number }[] = [];
  for (let at = plain.indexOf(root.text); at >= 0; at = plain.indexOf(root.text, at + 1))
    places.push({ root, end: at + root.text.length });
  return places;
}

/** Linear in the text: each turn is looked for once where its words stand, and has bounded gaps. */
export function findModerated(text: string): readonly Finding[] {
  const plain = plainLetters(text);
  // Without its accents a text may be shorter: then places are those of the whole.
  const isSame = plain.length === text.length;
  const stretches = stretchesIn(plain);
  return TURNS.flatMap(({ category, pattern, confidence }, turn) =>
    (stretches[turn] ?? []).flatMap(({ start, end }) =>
      [...plain.slice(start, end).matchAll(pattern)].map(({ 0: said, index }) => {
        const from = start + index;
        const around = plain.slice(Math.max(0, from - AROUND), from + said.length + AROUND);
        return {
          kind: category,
          start: isSame ? from : 0,
          end: isSame ? from + said.length : text.length,
          confidence: isSpokenOf(category, around) ? confidence * WEAKENED : confidence,
          reason: 'said in so many words',
        };
      }),
    ),
  );
}
