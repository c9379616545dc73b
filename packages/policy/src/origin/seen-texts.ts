/**
 * Every text that a value may have come from, by its words: a value is looked up by the word of it that is rarest, so
 * the cost does not depend on how much was seen. Kept only while a rule asks for origins.
 *
 * Memory: the texts themselves, and 9 bytes a word with 8 to 40 more for each different word or form; `MAX_WORDS` is the
 * bound. What is beyond it is not forgotten in silence: every question is undecided from then on.
 */
import { isJsonObject, type Json, type Question } from '@cordon/core';
import { flows, type Place } from '../events/provenance.ts';
import type { EventObject } from '../values/event-object.ts';
import type { OriginMatch, WholeMatch } from '../values/evidence.ts';
import type { TextQuestions } from '../values/text-questions.ts';
import { isUndecided, type Undecided } from '../values/value.ts';
import { formsIn, type Reading } from './forms.ts';
import { type Bringer, longBringer, type SeenText, seenIn } from './sources.ts';
import { coreOf, isAddress, isStrict, type Words, weightOf, wordsOf } from './words.ts';

/** A value, or a piece of one, as it is looked for. */
export interface Phrase {
  readonly words: Words;
  readonly core: string;
  readonly isShort: boolean;
  readonly isAddress: boolean;
  readonly readings: readonly Reading[];
  /** The value was taken out of an encoding. */
  readonly isDecoded: boolean;
  /** Only texts of this kind of bringer count, of which this holds; absent: all. */
  readonly only?: { readonly kind: Bringer['kind']; readonly isMeant: (text: string) => boolean };
}

export function phraseOf(
  text: string,
  readings: (words: Words) => readonly Reading[],
  isDecoded: boolean,
): Phrase {
  const words = wordsOf(text);
  return {
    words,
    core: coreOf(words),
    isShort: weightOf(words) < 3,
    isAddress: isAddress(words),
    readings: readings(words),
    isDecoded,
  };
}

/** What brings texts. */
interface Source {
  readonly event: EventObject;
  readonly bringer: Bringer;
  /** Equal for bringers that rules cannot tell apart. */
  readonly group: string;
}

/** A text that holds a phrase. */
export interface Hit extends Source {
  readonly match: WholeMatch;
  /** The text, and where in it. */
  readonly text: string;
  readonly at: number;
  /** Among all words of its event: of two matches that are alike, the first is kept. */
  readonly position: number;
  /** Somewhere what brought it has the value alone in a field of a record. */
  readonly isField: boolean;
  /** `text` is a field of a record, or was taken out of one. */
  readonly isInRecord: boolean;
}

/** Of all texts of one trace. About 24 MB of English. */
const MAX_WORDS = 4_000_000;
/** Places of one word that are kept for one bringer in one context: the first, because those are looked at first. */
const MAX_PLACES = 512;

/** What is left of the work that one question may do, in places looked at; below zero: it was given up. */
export interface Effort {
  left: number;
  /** Why nothing can be said yet: a long text has not been looked through, or cannot be; null: nothing is missing. */
  open: Undecided | null;
  readonly awaits: Question[];
}

/** A phrase that is looked for among what was visible at a place. */
interface Lookup {
  readonly phrase: Phrase;
  readonly place: Place;
  readonly effort: Effort;
  /** By lane. */
  readonly best: Map<number, Hit>;
}

/** Where another process found a phrase. */
export type Found = Omit<Hit, keyof Source>;

const WHOLE_MATCHES: Readonly<Record<WholeMatch, true>> = {
  exact: true,
  short: true,
  normalised: true,
  structured: true,
};

/** As the process answers: null where it found nothing, `lost` where it had to give up. What is no answer is lost, too. */
function readFound(answer: Json): Found | 'lost' | null {
  if (answer === null) return null;
  if (!isJsonObject(answer)) return 'lost';
  const { match, text, at, position, isField, isInRecord } = answer;
  const isFound =
    isWholeMatch(match) &&
    typeof text === 'string' &&
    isCount(at) &&
    at <= text.length &&
    isCount(position) &&
    typeof isField === 'boolean' &&
    typeof isInRecord === 'boolean';
  return isFound ? { match, text, at, position, isField, isInRecord } : 'lost';
}

function isWholeMatch(value: Json | undefined): value is WholeMatch {
  return typeof value === 'string' && Object.hasOwn(WHOLE_MATCHES, value);
}

function isCount(value: Json | undefined): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** The best place of a phrase in all that one event brings. */
export function foundIn(seen: SeenTexts, phrase: Phrase, place: Place): Found | 'lost' | null {
  const effort: Effort = { left: MOST_LOOKS, open: null, awaits: [] };
  const hits = seen.hits(phrase, place, effort);
  if (seen.isLost || effort.left < 0) return 'lost';
  const best = hits.reduce<Hit | undefined>((known, hit) => betterOf(known, hit), undefined);
  if (best === undefined) return null;
  const { match, text, at, position, isField, isInRecord } = best;
  return { match, text, at, position, isField, isInRecord };
}

/** Places that one question looks at; a list of a thousand addresses needs a few thousand. */
export const MOST_LOOKS = 200_000;

interface Text extends Omit<SeenText, 'bringer'> {
  readonly source: Source;
  /** Of bringer and context: what came first in one was visible wherever what came later was. */
  readonly lane: number;
  /** Its words, as positions in the stream. */
  readonly start: number;
  readonly end: number;
}

/** Where a word stands, by lane. */
interface Lane {
  readonly lane: number;
  readonly at: number[];
  isFull: boolean;
}

export class SeenTexts {
  readonly #base: SeenTexts | null;
  readonly #vocabulary = new Map<string, number>();
  /** By word: its one place, or its places. */
  readonly #places: (number | Lane[])[] = [];
  readonly #lanes = new Map<string, number>();
  readonly #texts: Text[] = [];
  readonly #stream = new Stream();
  readonly #textQuestions: TextQuestions | null;
  /** What brings more text than the hub looks through: another process does. */
  readonly #long: Source[] = [];
  #isLost = false;

  /** @param textQuestions where long texts are looked through; null: here and at once */
  constructor(base: SeenTexts | null = null, textQuestions: TextQuestions | null = null) {
    this.#base = base;
    this.#textQuestions = textQuestions;
  }

  /** A private continuation: it sees its base and changes nothing in it. */
  fork(): SeenTexts {
    return new SeenTexts(this, this.#textQuestions);
  }

  /** Whether the process that asks has other work, and leaves long texts to another. */
  get isShared(): boolean {
    return this.#textQuestions !== null;
  }

  /** Whether a text was left out, so that nothing can be said for certain. */
  get isLost(): boolean {
    return this.#isLost || this.#base?.isLost === true;
  }

  add(event: EventObject): void {
    const bringer = this.#textQuestions === null ? null : longBringer(event);
    if (bringer !== null) {
      this.#long.push({ event, bringer, group: groupOf(bringer) });
      return;
    }
    for (const { bringer, ...seen } of seenIn(event)) {
      const words = wordsOf(seen.text);
      if (words.words.length === 0) continue;
      if (this.#isLost || this.#stream.length + words.words.length > MAX_WORDS) {
        this.#isLost = true;
        return;
      }
      const group = groupOf(bringer);
      const lane = this.#laneOf(event, group);
      this.#keep({ source: { event, bringer, group }, lane, ...seen }, words);
    }
  }

  #laneOf(event: EventObject, group: string): number {
    const key = `${group} ${event.place.context}`;
    const known = this.#lanes.get(key);
    if (known !== undefined) return known;
    this.#lanes.set(key, this.#lanes.size);
    return this.#lanes.size - 1;
  }

  #keep(seen: Omit<Text, 'start' | 'end'>, words: Words): void {
    const start = this.#stream.length;
    const { lane } = seen;
    for (const [index, word] of words.words.entries()) {
      const id = this.#idOf(word);
      this.#stream.push(id, words.joins[index] ?? 0, words.starts[index] ?? 0);
      this.#note(id, start + index, lane);
    }
    const end = this.#stream.length;
    this.#texts.push({ ...seen, start, end });
    if (seen.isField && end - start <= MOST_FIELD) this.#note(this.#idOf(fieldOf(words.words)), start, lane);
    for (const { key, from, to } of formsIn(words)) {
      const isBroken = isStrict(words.joins[from] ?? 0) || isStrict(words.joins[to] ?? 0);
      const isPart = seen.isWhole && to - from < end - start;
      if (isBroken || isPart) continue;
      this.#note(this.#idOf(key), start + from, lane);
      if (seen.isField && to - from === end - start && end - start <= MOST_FIELD)
        this.#note(this.#idOf(fieldKey(key)), start, lane);
    }
  }

  #idOf(word: string): number {
    const known = this.#vocabulary.get(word);
    if (known !== undefined) return known;
    const id = this.#vocabulary.size;
    this.#vocabulary.set(own(word), id);
    return id;
  }

  #note(id: number, at: number, lane: number): void {
    const places = this.#places[id];
    if (places === undefined) {
      this.#places[id] = at;
      return;
    }
    let lanes: Lane[];
    if (typeof places === 'number') {
      lanes = [{ lane: this.#textAt(places)?.lane ?? lane, at: [places], isFull: false }];
      this.#places[id] = lanes;
    } else lanes = places;
    const own = lanes.at(-1)?.lane === lane ? lanes.at(-1) : lanes.find((one) => one.lane === lane);
    if (own === undefined) lanes.push({ lane, at: [at], isFull: false });
    else if (own.at.length < MAX_PLACES) own.at.push(at);
    else own.isFull = true;
  }

  /** For each bringer in each context the best match among what was visible at `place`, and of equal ones the first. */
  hits(phrase: Phrase, place: Place, effort: Effort): readonly Hit[] {
    const before = this.#base === null ? [] : this.#base.hits(phrase, place, effort);
    const own = this.#own(phrase, place, effort);
    if (this.#long.length === 0) return [...before, ...own];
    return [...before, ...own, ...this.#inLong(phrase, place, effort)];
  }

  /** What the process says of each long text that was visible; what it has not said yet, `effort` waits for. */
  #inLong({ words, isDecoded, only }: Phrase, place: Place, effort: Effort): readonly Hit[] {
    const textQuestions = this.#textQuestions;
    if (textQuestions === null) return [];
    return this.#long.flatMap((source) => {
      const { event } = source;
      if (!flows(event.place, place) || (only !== undefined && source.bringer.kind !== only.kind)) return [];
      const reply = textQuestions.ask({ kind: 'origin', event: event.event, value: words.text, isDecoded });
      if (isUndecided(reply)) {
        effort.open ??= reply;
        effort.awaits.push(...reply.awaits);
        return [];
      }
      const found = readFound(reply.answer);
      if (found === 'lost') effort.left = -1;
      if (found === null || found === 'lost') return [];
      return only?.isMeant(found.text) === false ? [] : [{ ...found, ...source }];
    });
  }

  #own(phrase: Phrase, place: Place, effort: Effort): readonly Hit[] {
    const lookup: Lookup = { phrase, place, effort, best: new Map() };
    this.#spoken(lookup);
    for (const reading of phrase.readings) this.#read(reading, lookup);
    return [...lookup.best.values()];
  }

  /** The words themselves, one after the other. */
  #spoken(lookup: Lookup): void {
    const { phrase, place, effort, best } = lookup;
    const ids: number[] = [];
    let rarest = 0;
    let least = Number.POSITIVE_INFINITY;
    for (const [index, word] of phrase.words.words.entries()) {
      const id = this.#vocabulary.get(word);
      if (id === undefined) return;
      ids.push(id);
      const count = this.#countOf(id);
      if (count < least) [least, rarest] = [count, index];
    }
    const id = ids[rarest];
    if (id === undefined) return;
    const { only } = phrase;
    if (only === undefined) this.#inFields(ids, lookup);
    for (const { at, isFull } of this.#lanesOf(id)) {
      // Attack: a page with a thousand links of one host, so that nobody knows any more whether the user names it.
      if (only !== undefined && this.#textAt(at[0] ?? 0)?.source.bringer.kind !== only.kind) continue;
      let isFound = false;
      let isOver = false;
      for (const position of at) {
        if (--effort.left < 0) return;
        const text = this.#textAt(position);
        if (text === undefined || !flows(text.source.event.place, place)) {
          isOver = true;
          break;
        }
        const start = position - rarest;
        if (!this.#stands(ids, start, text, phrase)) continue;
        if (only?.isMeant(text.text) === false) continue;
        isFound = true;
        const hit = keepBest(best, text.lane, this.#hit(text, start, phrase));
        if (hit.match !== 'normalised') break;
      }
      // What was not kept may hold it.
      if (isFull && !isFound && !isOver) effort.left = -1;
    }
  }

  /** Fields of records that say this and nothing else, the first of each lane. */
  #inFields(ids: readonly number[], { phrase, place, effort, best }: Lookup): void {
    const id = ids.length > MOST_FIELD ? undefined : this.#vocabulary.get(fieldOf(phrase.words.words));
    if (id === undefined) return;
    for (const { at } of this.#lanesOf(id)) {
      for (const start of at) {
        if (--effort.left < 0) return;
        const text = this.#textAt(start);
        if (text === undefined || !flows(text.source.event.place, place)) break;
        if (!this.#stands(ids, start, text, phrase)) continue;
        keepBest(best, text.lane, this.#hit(text, start, phrase));
        break;
      }
    }
  }

  #stands(ids: readonly number[], start: number, text: Text, phrase: Phrase): boolean {
    const end = start + ids.length;
    if (start < text.start || end > text.end) return false;
    for (const [index, id] of ids.entries()) {
      if (this.#stream.id(start + index) !== id) return false;
      if (index > 0 && phrase.isAddress && this.#stream.join(start + index) !== phrase.words.joins[index])
        return false;
    }
    if (text.isWhole) return start === text.start && end === text.end;
    return !(
      (start > text.start && isStrict(this.#stream.join(start))) ||
      (end < text.end && isStrict(this.#stream.join(end)))
    );
  }

  #hit({ source, text, isDecoded, ...own }: Text, position: number, phrase: Phrase): Hit {
    const count = phrase.words.words.length;
    const isAll = count <= MOST_FIELD && position === own.start && position + count === own.end;
    const at = this.#stream.offset(position);
    const isExact = !isDecoded && !phrase.isDecoded && text.startsWith(phrase.core, at);
    const match = !isExact ? 'normalised' : phrase.isShort ? 'short' : 'exact';
    const { isInRecord } = own;
    return { ...source, match, text, at, position, isField: own.isField && isAll, isInRecord };
  }

  /** The same in another form. */
  #read({ key, match }: Reading, lookup: Lookup): void {
    const { place, effort, best } = lookup;
    const id = this.#vocabulary.get(key);
    for (const { at } of id === undefined ? [] : this.#lanesOf(id)) {
      if (--effort.left < 0) return;
      const position = at[0] ?? 0;
      const found = this.#textAt(position);
      if (found === undefined || !flows(found.source.event.place, place)) continue;
      const { source, lane, text, isInRecord } = found;
      const isField = match === 'normalised' && this.#isInField(key, lane, place);
      const offset = this.#stream.offset(position);
      keepBest(best, lane, { ...source, match, text, at: offset, position, isField, isInRecord });
    }
    if (key.startsWith('=')) this.#plain(key.slice(1), lookup);
  }

  /** Whether some field of a record says it and nothing else. */
  #isInField(key: string, lane: number, place: Place): boolean {
    const id = this.#vocabulary.get(fieldKey(key));
    const own = id === undefined ? undefined : this.#lanesOf(id).find((one) => this.#laneAt(one.at) === lane);
    const event = own === undefined ? undefined : this.#textAt(own.at[0] ?? 0)?.source.event;
    return event !== undefined && flows(event.place, place);
  }

  #laneAt(at: readonly number[]): number {
    return this.#textAt(at[0] ?? 0)?.lane ?? -1;
  }

  /** A number that stands in a text in its plain form. */
  #plain(plain: string, lookup: Lookup): void {
    if (plain === lookup.phrase.core.toLowerCase()) return;
    this.#spoken({ ...lookup, phrase: phraseOf(plain, () => [], true) });
  }

  #countOf(id: number): number {
    const places = this.#places[id];
    if (places === undefined || typeof places === 'number') return places === undefined ? 0 : 1;
    let count = 0;
    for (const { at } of places) count += at.length;
    return count;
  }

  #lanesOf(id: number): readonly Lane[] {
    const places = this.#places[id];
    if (places === undefined) return [];
    return typeof places === 'number' ? [{ lane: 0, at: [places], isFull: false }] : places;
  }

  #textAt(position: number): Text | undefined {
    let low = 0;
    let high = this.#texts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#texts[middle]?.end ?? 0) <= position) low = middle + 1;
      else high = middle;
    }
    return this.#texts[low];
  }
}

/** The best match first. */
export const RANKS: Readonly<Record<OriginMatch, number>> = {
  exact: 0,
  short: 1,
  normalised: 2,
  structured: 3,
  part: 4,
};

/** Keeps the better one, of equal ones the first. */
function keepBest(best: Map<number, Hit>, lane: number, hit: Hit): Hit {
  const kept = betterOf(best.get(lane), hit);
  best.set(lane, kept);
  return kept;
}

/** Of two that one bringer has; what one of them says of fields holds for both. */
export function betterOf(known: Hit | undefined, hit: Hit): Hit {
  if (known === undefined) return hit;
  const better = isBetter(hit, known) ? hit : known;
  const isField = known.isField || hit.isField;
  return better.isField === isField ? better : { ...better, isField };
}

/** Values that are looked for as a whole field are no longer, in words. */
const MOST_FIELD = 16;

/** The key of what all of a field says; no word and no form is like it. */
function fieldOf(words: readonly string[]): string {
  return ` ${words.join(' ')}`;
}

function groupOf({ kind, app, tool, labels }: Bringer): string {
  return JSON.stringify([kind, app, tool, labels]);
}

/** The key of a form that is all of a field; no word and no form is like it. */
function fieldKey(key: string): string {
  return `!${key}`;
}

function isBetter(a: Hit, b: Hit): boolean {
  const difference = RANKS[a.match] - RANKS[b.match];
  return difference !== 0 ? difference < 0 : standsBefore(a, b);
}

/** In the order of events, and of the words in one. */
export function standsBefore(a: Hit, b: Hit): boolean {
  return a.event === b.event ? a.position < b.position : a.event.sequence < b.event.sequence;
}

/** A part of a large text keeps all of it in memory; this does not. */
function own(word: string): string {
  return word.length < 13 ? word : ` ${word}`.slice(1);
}

/** Stands for a join that no byte holds. */
const LONG = 255;

/** Words as numbers, one after the other, with what joins them and where they stand. */
class Stream {
  #ids = new Int32Array(256);
  #offsets = new Int32Array(256);
  #joins = new Uint8Array(256);
  /** Joins of several characters, by place: they are rare, and no byte holds one. */
  readonly #long = new Map<number, number>();
  length = 0;

  push(id: number, join: number, offset: number): void {
    if (this.length === this.#ids.length) this.#grow();
    this.#ids[this.length] = id;
    this.#joins[this.length] = join < LONG ? join : LONG;
    if (join >= LONG) this.#long.set(this.length, join);
    this.#offsets[this.length] = offset;
    this.length++;
  }

  #grow(): void {
    const size = this.length * 2;
    const [ids, offsets, joins] = [this.#ids, this.#offsets, this.#joins];
    this.#ids = new Int32Array(size);
    this.#ids.set(ids);
    this.#offsets = new Int32Array(size);
    this.#offsets.set(offsets);
    this.#joins = new Uint8Array(size);
    this.#joins.set(joins);
  }

  id(at: number): number {
    return this.#ids[at] ?? -1;
  }

  join(at: number): number {
    const join = this.#joins[at] ?? 0;
    return join === LONG ? (this.#long.get(at) ?? 0) : join;
  }

  offset(at: number): number {
    return this.#offsets[at] ?? 0;
  }
}
