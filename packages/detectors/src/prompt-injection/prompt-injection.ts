/**
 * Orders to an agent in a text that should hold none: how sure that is, and which sentences they are. The text is
 * judged as it is shown, and what is hidden in it is judged too. A signal, because a request that is worded
 * like any other cannot be distinguished from one.
 */

import type { HiddenFinding } from '../hidden-text/hidden-finding.ts';
import { findHidden } from '../hidden-text/hidden-text.ts';
import type { FindIn, Finding, Stretch } from '../text/finding.ts';
import { once, onDemand } from '../text/on-demand.ts';
import { logistic, readWeights, type StoredWeights, type Window, windowsOf } from './classifier.ts';
import { type Sentence, sentencesIn } from './features.ts';
import { asShown, type Shown } from './shown-text.ts';
import { bitOf } from './signs.ts';

const STORED = onDemand<StoredWeights>('../prompt-injection/weights.json');
const weights = once(() => readWeights(STORED()));

/** An order that a span begins with; a rule of the standard library asks for 0.9. */
export const SURE = 0.9;
/**
 * The more sentences a text has, the more chances has each harmless one to look like an order: what makes an order of a
 * single sentence is not enough for one among fifty. Measured on texts of 1 to 200 sentences (docs/detectors.md).
 */
const LEANING = 1.28;
const FEW_SENTENCES = 3;
/** Sentences beside one that is sure belong to it from here on. */
const RELATED = 0.3;
/** How far an order continues behind the sentence that gave it away. */
const MOST_FOLLOWING = 8;
/** UTF-16 units on either side in which marks around an order are looked for. */
const MOST_AROUND = 800;

export interface InjectionSpan extends Stretch {
  /** From 0 to 1. */
  readonly confidence: number;
  /** Whether it was hidden: the span is then what hid it. */
  readonly isHidden: boolean;
}

/**
 * The sentences that look like orders to an agent, in order and not overlapping: from the one that gives them away to
 * the end of what belongs to it, with the marks that set it apart.
 */
export function injectionSpans(text: string, threshold: number = SURE): readonly InjectionSpan[] {
  const spans = candidates(text, findHidden(text)).flatMap((candidate) => spansIn(candidate, threshold));
  return merged([...spans].sort((a, b) => a.start - b.start));
}

export const findInjections: FindIn = (text) => injectionSpans(text).map(findingOf);

function findingOf({ start, end, confidence, isHidden }: InjectionSpan): Finding {
  const reason = isHidden ? 'hidden orders to an agent' : 'sentences that read as orders to an agent';
  return { kind: 'PROMPT_INJECTION', start, end, confidence, reason };
}

const NEVER_HONEST = bitOf('override') | bitOf('override-any') | bitOf('jailbreak') | bitOf('leak');
const SENT_TO = /@[\w-]{1,60}\.|https?:\/\//iu;

/**
 * Of the orders to an agent, those that no description of a tool has a use for: hidden ones, ones that lift rules or demand
 * silence, and ones that send something to an address. Manuals are full of the others: "Use list_accounts first."
 */
export const findForeignOrders: FindIn = (text) =>
  injectionSpans(text)
    .filter(({ start, end, isHidden }) => isHidden || isForeign(text.slice(start, end)))
    .map(findingOf);

function isForeign(order: string): boolean {
  return sentencesIn(order).some(({ start, end, signs }) => {
    const isOutward = (signs & bitOf('act-outward')) !== 0;
    const isUnseen = (signs & bitOf('secrecy')) !== 0;
    return (signs & NEVER_HONEST) !== 0 || (isOutward && (isUnseen || SENT_TO.test(order.slice(start, end))));
  });
}

interface Candidate {
  readonly shown: Shown;
  readonly sentences: readonly Sentence[];
  /** As if each stood alone. */
  readonly windows: readonly Window[];
  /** The same in the text that they stand in. */
  readonly confidences: readonly Window[];
  /** What hid it, in the text that was given; null: the text itself. */
  readonly hiding: HiddenFinding | null;
}

function candidates(text: string, findings: readonly HiddenFinding[]): readonly Candidate[] {
  const own = judged(asShown(text, findings), null);
  // Attack: the same letter hidden a thousand times, each of which would be judged as a separate text.
  const known = new Map<string, Candidate>();
  const inside = findings
    .filter(({ kind, revealed }) => revealed !== '' && kind !== 'HOMOGLYPH' && kind !== 'STYLED_LETTERS')
    .map((hiding) => {
      const { revealed } = hiding;
      const candidate = known.get(revealed) ?? judged({ text: revealed, originalOf: (at) => at }, hiding);
      known.set(revealed, candidate);
      return { ...candidate, hiding };
    });
  return [own, ...inside];
}

function judged(shown: Shown, hiding: HiddenFinding | null): Candidate {
  const sentences = sentencesIn(shown.text);
  const windows = windowsOf(sentences, weights());
  const shift = LEANING - Math.log(Math.max(1, sentences.length / FEW_SENTENCES)) / 2;
  const confidences = windows
    // Words alone order nothing: they only tell what a sign is worth.
    .filter(({ first, next }) => sentences.slice(first, next).some(({ signs }) => signs !== 0))
    .map((window) => ({ ...window, score: shifted(window.score, shift) }));
  return { shown, sentences, windows, confidences, hiding };
}

function shifted(score: number, shift: number): number {
  return logistic(Math.log(score / (1 - score)) + shift);
}

function greatest(windows: readonly Window[]): number {
  return windows.reduce((most, { score }) => Math.max(most, score), 0);
}

function spansIn(candidate: Candidate, threshold: number): readonly InjectionSpan[] {
  const { windows, confidences, hiding } = candidate;
  const sure = confidences.filter(({ score }) => score >= threshold);
  if (sure.length === 0) return [];
  if (hiding !== null) {
    const { start, end } = hiding;
    return [{ start, end, confidence: greatest(sure), isHidden: true }];
  }
  const alone = new Float32Array(candidate.sentences.length);
  for (const { first, next, score } of windows) if (next === first + 1) alone[first] = score;
  const spans: InjectionSpan[] = [];
  for (const window of narrowest(sure)) {
    const from = candidate.shown.originalOf(candidate.sentences[window.first]?.start ?? 0);
    if (from >= (spans.at(-1)?.end ?? 0)) spans.push(visibleSpan(candidate, alone, window));
  }
  return spans;
}

/** Of windows that hold one another, the innermost: a sentence beside an order is not another order. */
function narrowest(windows: readonly Window[]): readonly Window[] {
  const ends = new Map<number, number>();
  for (const { first, next } of windows) ends.set(first, Math.min(ends.get(first) ?? next, next));
  return windows.filter(({ first, next }) => {
    if (ends.get(first) !== next) return false;
    for (let later = first + 1; later < next; later++)
      if ((ends.get(later) ?? Number.POSITIVE_INFINITY) <= next) return false;
    return true;
  });
}

function visibleSpan(
  { shown, sentences }: Candidate,
  alone: Float32Array,
  { first, next, score }: Window,
): InjectionSpan {
  let end = next;
  while (end - next < MOST_FOLLOWING && belongs(shown.text, sentences, end, alone[end] ?? 0)) end++;
  const start = sentences[first]?.start ?? 0;
  const least = sentences[next - 1]?.end ?? start;
  const marked = withinMarks(shown.text, start, least, sentences[end - 1]?.end ?? start);
  return {
    start: shown.originalOf(marked.start),
    end: shown.originalOf(marked.end),
    confidence: score,
    isHidden: false,
  };
}

const ACTS =
  bitOf('act-outward') | bitOf('act-inward') | bitOf('secrecy') | bitOf('first-do') | bitOf('task');

/** The start of another field or of another paragraph. */
const APART = /\n\s*(?:\n|-\s|[\w"']{1,40}:\s)|["']\s*[,}\]]/;

/** What follows an order belongs to it if it orders something itself, or stands with it in one paragraph of one field. */
function belongs(text: string, sentences: readonly Sentence[], at: number, score: number): boolean {
  const [before, sentence] = [sentences[at - 1], sentences[at]];
  if (before === undefined || sentence === undefined) return false;
  if (score >= RELATED || (sentence.signs & ACTS) !== 0) return true;
  return !APART.test(text.slice(Math.max(0, before.end - 2), sentence.start + 42));
}

const OPENING = /<([a-zA-Z][\w-]{2,40})(?:\s[^<>\n]{0,80})?>\s{0,8}(?:[^<>]{0,200})$/;

/** `<IMPORTANT>` … `</IMPORTANT>` around it, and lines of strokes: an order that is set apart is one as a whole. */
function withinMarks(text: string, start: number, least: number, end: number): Stretch {
  const before = text.slice(Math.max(0, start - MOST_AROUND), start);
  const opening = OPENING.exec(before);
  const name = opening?.[1] ?? '';
  if (opening === null) return { start, end };
  const closing = text
    .slice(start, end + MOST_AROUND)
    .toLowerCase()
    .indexOf(`</${name.toLowerCase()}>`);
  if (closing < 0) return { start, end };
  return {
    start: start - before.length + opening.index,
    end: Math.max(least, start + closing + name.length + 3),
  };
}

function merged(spans: readonly InjectionSpan[]): readonly InjectionSpan[] {
  const all: InjectionSpan[] = [];
  for (const span of spans) {
    const last = all.at(-1);
    if (last === undefined || span.start > last.end) all.push(span);
    else
      all[all.length - 1] = {
        start: last.start,
        end: Math.max(last.end, span.end),
        confidence: Math.max(last.confidence, span.confidence),
        isHidden: last.isHidden && span.isHidden,
      };
  }
  return all;
}
