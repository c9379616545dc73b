/** `prompt_injection` and `injection_spans` as rules ask them. */

import type { Json } from '@cordon/core';
import { type DetectorCall, type NoAnswer, noAnswer } from '@cordon/policy';
import { MAX_TEXT } from '../text/marking.ts';
import { injectionSpans, SURE } from './prompt-injection.ts';
/**
 * Whether one of the texts gives orders to an agent, at least as surely as `threshold`; the orders are marked. A rule
 * that names a `model` wants that one and no other.
 */
export function promptInjection(call: DetectorCall): boolean | NoAnswer {
  const { model = null } = call.given;
  if (model !== null && model !== OWN) return noAnswer('no classifier of that name is set up');
  const spans = spansOf(call);
  return Array.isArray(spans) ? spans.length > 0 : spans;
}

/** The name of the built-in classifier, for a rule that says what it wants. */
const OWN = 'cordon';

/** The sentences that look like orders to an agent: `{text, confidence, hidden}` each, in order; they are marked. */
export function spansAsValues(call: DetectorCall): Json | NoAnswer {
  const spans = spansOf(call);
  if (!Array.isArray(spans)) return spans;
  return spans.map(({ text, confidence, isHidden }) => ({ text, confidence, hidden: isHidden }));
}

interface FoundSpan {
  readonly text: string;
  readonly confidence: number;
  readonly isHidden: boolean;
}

function spansOf({ texts, given, mark }: DetectorCall): FoundSpan[] | NoAnswer {
  const { threshold = SURE } = given;
  if (typeof threshold !== 'number') return noAnswer('`threshold` is a number from 0 to 1');
  if (texts.some(({ length }) => length > MAX_TEXT)) return noAnswer('the text is too long to look at');
  return texts.flatMap((text, index) =>
    injectionSpans(text, threshold).map(({ start, end, confidence, isHidden }) => {
      mark(index, start, end);
      return { text: text.slice(start, end), confidence, isHidden };
    }),
  );
}
