/** `hidden_text` and `unicode` as rules ask them. */

import { type DetectorCall, type NoAnswer, noAnswer } from '@cordon/policy';
import { MAX_TEXT, marked } from '../text/marking.ts';
import { textsIn } from '../text/text-list.ts';
import { CATEGORY_NAMES } from './category-names.ts';
import { categoriesIn } from './character-category.ts';
import { findHidden } from './hidden-text.ts';
/** The kinds of what is hidden in the texts; at least as sure as `threshold`. */
export function hiddenText(call: DetectorCall): string[] | NoAnswer {
  const { threshold = 0.5 } = call.given;
  if (typeof threshold !== 'number') return noAnswer('`hidden_text` needs a number as its threshold');
  return marked(call, findHidden, threshold);
}

/** The general categories of the characters, or those among `categories`, each once (specification 13.2). */
export function unicode({ texts, given, mark }: DetectorCall): string[] | NoAnswer {
  const wanted = given.categories ?? null;
  const names = textsIn(wanted);
  if (wanted !== null && names === null)
    return noAnswer('`unicode` needs a list of general categories such as `Cf`');
  const unknown = names?.find((name) => !CATEGORY_NAMES.includes(name));
  if (unknown !== undefined) return noAnswer(`there is no general category ${JSON.stringify(unknown)}`);
  const found = new Set<string>();
  for (const [index, text] of texts.entries()) {
    if (text.length > MAX_TEXT) return noAnswer('the text is too long to look at');
    const stretches = categoriesIn(text, names);
    const length = stretches.reduce((sum, { start, end }) => sum + end - start, 0);
    for (const { category, start, end } of stretches) {
      found.add(category);
      if (length > MOST_MARKS) mark(index, start, end);
      else markEach(text, start, end, (from, to) => mark(index, from, to));
    }
  }
  return [...found];
}

/** Of longer texts neighbours of one category are marked together: a report names no more than some thousand places. */
const MOST_MARKS = 2_000;

function markEach(text: string, start: number, end: number, mark: (from: number, to: number) => void): void {
  for (let at = start; at < end; ) {
    const next = at + ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
    mark(at, next);
    at = next;
  }
}
