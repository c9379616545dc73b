/** A text as a person would read it off a screen, with the way back to the places in the original. */
import type { HiddenFinding, HiddenKind } from '../hidden-text/hidden-finding.ts';

export interface Shown {
  readonly text: string;
  originalOf(at: number): number;
}

const UNSEEN: ReadonlySet<HiddenKind> = new Set([
  'ZERO_WIDTH',
  'TAG_CHARACTERS',
  'VARIATION_SELECTORS',
  'BIDI_CONTROL',
]);
const REDRAWN: ReadonlySet<HiddenKind> = new Set(['HOMOGLYPH', 'STYLED_LETTERS', 'SPACED_LETTERS']);

/** Without invisible characters, with plain letters for those that only look like them. */
export function asShown(text: string, findings: readonly HiddenFinding[]): Shown {
  const changed = findings.filter(({ kind }) => UNSEEN.has(kind) || REDRAWN.has(kind));
  if (changed.length === 0) return { text, originalOf: (at) => at };
  const pieces: { readonly at: number; readonly original: number; readonly isSame: boolean }[] = [];
  let shown = '';
  let behind = 0;
  for (const { kind, start, end, revealed } of changed) {
    if (start < behind) continue;
    pieces.push({ at: shown.length, original: behind, isSame: true });
    shown += text.slice(behind, start);
    pieces.push({ at: shown.length, original: start, isSame: false });
    shown += REDRAWN.has(kind) ? revealed : '';
    behind = end;
  }
  pieces.push({ at: shown.length, original: behind, isSame: true });
  shown += text.slice(behind);
  return { text: shown, originalOf: (at) => originalIn(pieces, at) };
}

function originalIn(
  pieces: readonly { readonly at: number; readonly original: number; readonly isSame: boolean }[],
  at: number,
): number {
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
