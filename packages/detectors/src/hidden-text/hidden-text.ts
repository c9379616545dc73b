/**
 * Text that a person does not see and a model reads: every way of hiding that this folder knows, and what is found is
 * looked at again.
 */
import { findEncoded } from './encoded.ts';
import { type HiddenFinding, hidden } from './hidden-finding.ts';
import { findHiddenMarkup } from './hidden-markup.ts';
import { findInvisible, holdsInvisible, withoutInvisible } from './invisible.ts';
import { findLookAlikes } from './look-alike.ts';

/** How often what was revealed is looked at again: an author who hides something writes each layer. */
const DEEPEST = 3;
/** UTF-16 units of revealed texts that are looked at again, together. */
const MOST_REVEALED = 1024 * 1024;

/**
 * What is hidden in a text, in the order of its start. What is found inside a revealed text is reported at the place
 * of what hides it. A text that is hidden deeper, or longer, than is looked at gives `TOO_DEEP`.
 */
export function findHidden(text: string): readonly HiddenFinding[] {
  const budget = { left: MOST_REVEALED };
  return layers(text, DEEPEST, budget).sort((a, b) => a.start - b.start || b.end - a.end);
}

function layers(text: string, left: number, budget: { left: number }): HiddenFinding[] {
  return layer(text).flatMap((found) => [found, ...inside(found, left, budget)]);
}

function layer(text: string): readonly HiddenFinding[] {
  const isSeen = !holdsInvisible(text);
  const found = [
    ...(isSeen ? [] : findInvisible(text)),
    ...findLookAlikes(text),
    ...findHiddenMarkup(text),
    ...findEncoded(text),
  ];
  if (isSeen) return found;
  // Letters between which nothing is seen spell nothing until they stand together.
  const plain = withoutInvisible(text);
  const all = findEncoded(plain).map(({ kind, confidence, reason, revealed }) =>
    hidden(kind, 0, text.length, confidence, reason, revealed),
  );
  return [
    ...found,
    ...all.filter(
      ({ kind, revealed }) => !found.some((one) => one.kind === kind && one.revealed === revealed),
    ),
  ];
}

function inside(outer: HiddenFinding, left: number, budget: { left: number }): readonly HiddenFinding[] {
  const { start, end, revealed } = outer;
  // The letters of a word that looked like another are not a separate text.
  if (revealed === '' || outer.kind === 'HOMOGLYPH') return [];
  budget.left -= revealed.length;
  const isTooMuch = left === 0 || budget.left < 0;
  const found = isTooMuch
    ? layer(revealed.slice(0, 10_000)).length > 0 || budget.left < 0
      ? [hidden('TOO_DEEP', start, end, 0.9, 'more is hidden in it than is looked at')]
      : []
    : layers(revealed, left - 1, budget);
  return found
    .filter(({ kind }) => kind !== outer.kind || kind === 'TOO_DEEP' || outer.kind === 'BASE64')
    .map(({ kind, confidence, reason, revealed: said }) =>
      hidden(kind, start, end, confidence, reason, said),
    );
}
