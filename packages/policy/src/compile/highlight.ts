/** What a condition that holds is about, as places in the trace (specification 11). */

import type { Frame, Locate } from '../evaluate/body.ts';
import { childrenOf, type Expression } from '../syntax/ast.ts';
import type { Span } from '../syntax/source.ts';
import { type ExaminedText, examinedTexts } from '../values/evidence.ts';
import type { PatternCache } from '../values/pattern-cache.ts';
import type { Highlight, Value } from '../values/value.ts';

/** Every match of the text as an expression, as rules of the seed language have it; else where it stands literally. */
export function occurrencesOf(needle: string, text: string, cache: PatternCache): readonly Span[] {
  const compiled = cache.compile(needle);
  const matches = compiled.ok ? compiled.value.findAll(text) : 'exhausted';
  if (matches !== 'exhausted') return matches;
  const spans: Span[] = [];
  for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + Math.max(1, needle.length)))
    spans.push({ start: at, end: at + needle.length });
  return spans;
}

const NOTHING: ExaminedText = { text: '', place: null };

/** Turns what a function says about its arguments into places in the trace. */
export function highlighter(values: readonly Value[], locate: readonly Locate[], frame: Frame): Highlight {
  // A function may mark a text as often as it has characters, so what it marks is looked up once.
  let looked: Map<number, readonly ExaminedText[]> | null = null;
  const look = (argument: number) => {
    looked ??= new Map();
    const known = looked.get(argument);
    if (known !== undefined) return known;
    const found = examinedTexts(values[argument] ?? null, locate[argument]?.(frame) ?? null);
    looked.set(argument, found);
    return found;
  };
  return (argument, index, start, end) => {
    if (!frame.context.explains) return;
    const { text, place } = look(argument)[index] ?? NOTHING;
    if (place === null || 'items' in place) return;
    const spans = [{ start: Math.max(0, start), end: Math.min(end, text.length) }];
    frame.context.trail.push({ kind: 'range', ...place, text, spans: () => spans });
  };
}

/** Whether evaluating the expression can leave evidence, so that it is worth evaluating when it decides nothing. */
export function mayHighlight(expression: Expression): boolean {
  if (expression.kind === 'call' || expression.kind === 'quantifier') return true;
  if (expression.kind === 'binary' && expression.operator === 'in') return true;
  return childrenOf(expression).some(mayHighlight);
}
