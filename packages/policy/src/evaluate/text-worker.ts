/**
 * What the process does that looks at texts for the hub: the same functions that a decision would call, on what it was given.
 */

import { failed, type Json, ok, type Result } from '@cordon/core';
import type { Place } from '../events/provenance.ts';
import type { TraceEvent } from '../events/trace-event.ts';
import { readingsOf } from '../origin/forms.ts';
import { foundIn, phraseOf, SeenTexts } from '../origin/seen-texts.ts';
import { type Detector, NEEDS_PARSER, NoAnswer } from '../values/detector.ts';
import { PatternCache } from '../values/pattern-cache.ts';
import type { TextWork, WorkFault } from '../values/text-questions.ts';
import { Trace } from '../values/trace.ts';

/** Findings that one answer tells. More of them would keep the process that decides busy. */
const MOST_FOUND = 20_000;
/** Texts whose words are kept. Attack: each value of a call asks for the same texts once more. */
const MOST_INDEXED = 8;

/** Looks at texts, one question after the other. */
export class TextWorker {
  readonly #detectors: ReadonlyMap<string, Detector>;
  readonly #patterns = new PatternCache();
  readonly #indexed = new Map<string, Indexed>();

  constructor(detectors: readonly Detector[]) {
    this.#detectors = new Map(detectors.map((one) => [one.name, one]));
  }

  compute(work: TextWork): Result<Json, WorkFault> {
    switch (work.kind) {
      case 'detector':
        return this.#judged(work);
      case 'match':
      case 'find':
        return this.#matched(work);
      case 'origin':
        return this.#found(work);
    }
  }

  #judged({
    name,
    texts,
    of,
    rest,
    named,
    given,
  }: TextWork & { readonly kind: 'detector' }): Result<Json, WorkFault> {
    const detector = this.#detectors.get(name);
    if (detector === undefined) return failed('no-answer');
    const marks: number[] = [];
    const mark = (text: number, start: number, end: number) => void marks.push(text, start, end);
    const answer = detector.judge({ texts, kind: of, rest, named, given, mark });
    if (answer === NEEDS_PARSER) return failed('needs-parser');
    if (answer instanceof NoAnswer) return failed('no-answer');
    const isMuch = Array.isArray(answer) && answer.length > MOST_FOUND;
    return isMuch || marks.length > 3 * MOST_FOUND ? failed('too-much-found') : ok({ answer, marks });
  }

  #matched({ kind, pattern, text }: TextWork & { readonly kind: 'find' | 'match' }): Result<Json, WorkFault> {
    const compiled = this.#patterns.compile(pattern);
    if (!compiled.ok) return failed('no-answer');
    if (kind === 'match') {
      const isMatch = compiled.value.startsWith(text);
      return isMatch === 'exhausted' ? failed('exhausted') : ok(isMatch);
    }
    const matches = compiled.value.findAll(text);
    if (matches === 'exhausted') return failed('exhausted');
    return matches.length > MOST_FOUND
      ? failed('too-much-found')
      : ok(matches.flatMap(({ start, end }) => [start, end]));
  }

  #found({ event, value, isDecoded }: TextWork & { readonly kind: 'origin' }): Result<Json, WorkFault> {
    const { seen, after } = this.#index(event);
    const found = foundIn(seen, phraseOf(value, readingsOf, isDecoded), after);
    return ok(found === null || found === 'lost' ? found : { ...found });
  }

  #index(event: string): Indexed {
    const known = this.#indexed.get(event);
    if (known !== undefined) return known;
    const [oldest] = this.#indexed.keys();
    if (oldest !== undefined && this.#indexed.size >= MOST_INDEXED) this.#indexed.delete(oldest);
    // The hub's own words about what happened.
    const indexed = indexOf(JSON.parse(event) as TraceEvent);
    this.#indexed.set(event, indexed);
    return indexed;
  }
}

/** The words of one event, and a place from which all of it is visible. */
interface Indexed {
  readonly seen: SeenTexts;
  readonly after: Place;
}

/** The event alone, as the first of a trace: where it stood among others the hub knows. */
function indexOf(event: TraceEvent): Indexed {
  const { id: _, context: __, causes: ___, bornFrom: ____, deliveredTo: _____, ...alone } = event;
  const trace = new Trace();
  const seen = new SeenTexts();
  for (const entry of trace.append(alone)) seen.add(entry);
  const [next] = trace.append({ type: 'Message', role: 'user', content: '', toolCalls: [] });
  if (next === undefined) throw new Error('an event has no place');
  return { seen, after: next.place };
}
