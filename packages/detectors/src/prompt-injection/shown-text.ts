/**
 * A text as a person would read it off a screen, with the way back to the places in the original. Tags of a page and keys
 * of a record are not what anybody says: beside words like `password` they look like orders.
 */
import type { HiddenFinding, HiddenKind } from '../hidden-text/hidden-finding.ts';
import type { Stretch } from '../text/finding.ts';
import { wordList } from '../text/words.ts';

export interface Shown {
  readonly text: string;
  originalOf(at: number): number;
}

/** A stretch of the original, and what is read instead of it. */
interface Redrawn extends Stretch {
  readonly shown: string;
}

const UNSEEN: ReadonlySet<HiddenKind> = new Set([
  'ZERO_WIDTH',
  'TAG_CHARACTERS',
  'VARIATION_SELECTORS',
  'BIDI_CONTROL',
]);
const REDRAWN: ReadonlySet<HiddenKind> = new Set(['HOMOGLYPH', 'STYLED_LETTERS', 'SPACED_LETTERS']);

/** Without invisible characters, tags and keys, with plain letters for those that only look like them. */
export function asShown(text: string, findings: readonly HiddenFinding[]): Shown {
  const redrawn = [...redrawnLetters(findings), ...(text.length > MOST_MARKED ? [] : redrawnMarks(text))];
  if (redrawn.length === 0) return { text, originalOf: (at) => at };
  const texts: string[] = [];
  const pieces: Piece[] = [];
  let [drawn, behind] = [0, 0];
  const draw = (piece: string, original: number, isSame: boolean) => {
    if (piece !== '') pieces.push({ at: drawn, original, isSame });
    texts.push(piece);
    drawn += piece.length;
  };
  for (const { start, end, shown } of redrawn.sort((a, b) => a.start - b.start)) {
    if (start < behind) continue;
    draw(text.slice(behind, start), behind, true);
    draw(shown, start, false);
    behind = end;
  }
  pieces.push({ at: drawn, original: behind, isSame: true });
  texts.push(text.slice(behind));
  return { text: texts.join(''), originalOf: (at) => originalIn(pieces, at) };
}

function redrawnLetters(findings: readonly HiddenFinding[]): readonly Redrawn[] {
  return findings
    .filter(({ kind }) => UNSEEN.has(kind) || REDRAWN.has(kind))
    .map(({ kind, start, end, revealed }) => ({ start, end, shown: REDRAWN.has(kind) ? revealed : '' }));
}

/** UTF-16 units: in a longer text tags and keys stay, since each that goes takes room. */
const MOST_MARKED = 1_000_000;

/** Attack: a tag of the attacker's own, `<important>`, sets an order apart, so only those of ordinary pages go. */
const ORDINARY = wordList(
  'a abbr b body br button caption center code div em fieldset font footer form h1 h2 h3 h4 h5 h6 head header hr html i img input label legend li link main meta nav ol optgroup option p pre s section select small span strong sub sup table tbody td textarea tfoot th thead title tr u ul',
).join('|');
/** Attack: the order stands in an attribute, or in a tag that never ends. So a tag goes only if no value in it has a space, or is long. */
const VALUE = '"[!#-;=?-~]{0,80}"|\'[!-&(-;=?-~]{0,80}\'|[!#-&(-;=?-~]{1,80}';
const ATTRIBUTE = `\\s{1,8}(?:required|checked|disabled|selected|readonly|multiple|[a-z-]{1,20}=(?:${VALUE}))`;
const TAG = `</(?:${ORDINARY})\\s{0,8}>|<(?:${ORDINARY})(?:${ATTRIBUTE}){0,12}\\s{0,8}/?>`;
/** Of JSON, and of a dictionary as Python prints it. Attack: the order is spread over keys, so only those of at most three words go. */
const WORD = '[A-Za-z0-9]{1,20}';
const KEY = `(?<=[{,]\\s{0,8})(["'])(?:${WORD}(?:[_.-]${WORD}){0,2}|${WORD} ${WORD})\\1\\s{0,4}:(?=\\s{0,8}["'[{\\dtfnNTF-])`;
const MARK = new RegExp(`${TAG}|${KEY}`, 'gi');

/** A tag becomes a space: an order that tags cut into pieces is one again. A key becomes the end of a line: values are told apart. */
function redrawnMarks(text: string): readonly Redrawn[] {
  return [...text.matchAll(MARK)].map(({ index, 0: { length }, 1: quote }) => ({
    start: index,
    end: index + length,
    shown: quote === undefined ? ' ' : '\n',
  }));
}

interface Piece {
  readonly at: number;
  readonly original: number;
  readonly isSame: boolean;
}

function originalIn(pieces: readonly Piece[], at: number): number {
  let [low, high] = [0, pieces.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((pieces[middle]?.at ?? 0) <= at) low = middle;
    else high = middle - 1;
  }
  const piece = pieces[low];
  if (piece === undefined) return at;
  return piece.isSame ? piece.original + (at - piece.at) : piece.original;
}
