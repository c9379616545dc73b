/**
 * `origin(value)`: which of the texts that were visible where an event arose hold the value, and how well. Best effort: who
 * rewrites a value hides where it came from, and then it is the model's. Flow (`->`) is what cannot be hidden.
 */
import { sizeOfTexts } from '@cordon/core';
import type { EventObject } from '../values/event-object.ts';
import type { OriginEvidence, OriginKind, OriginMatch } from '../values/evidence.ts';
import { isList, isUndecided, TraceObject, type Undecided, undecided, type Value } from '../values/value.ts';
import { decodingsOf, spokenLink } from './encodings.ts';
import { readingsOf } from './forms.ts';
import { holdsName, othersOfKind } from './kinds.ts';
import { leavesOf, namesPlaceOf, piecesOf, placeOf, spokenPlaces } from './pieces.ts';
import {
  betterOf,
  type Effort,
  type Hit,
  MOST_LOOKS,
  type Phrase,
  phraseOf,
  RANKS,
  type SeenTexts,
  standsBefore,
} from './seen-texts.ts';
import { namesBeside } from './sources.ts';
import { hidesText } from './words.ts';

/** Where a value came from; for rules an object of the type `Origin`. */
export class OriginSource extends TraceObject implements OriginEvidence {
  readonly type = 'Origin';
  readonly kind: OriginKind;
  readonly match: OriginMatch;
  /** What holds it; null: the model. */
  readonly hit: Hit | null;
  /** What was asked about. */
  readonly value: string;
  readonly #origins: Origins;
  /** It names no more than what the value lies in: a folder, a site. */
  readonly #isPlace: boolean;

  constructor(
    kind: OriginKind,
    match: OriginMatch,
    hit: Hit | null,
    value: string,
    origins: Origins,
    isPlace = false,
  ) {
    super();
    this.#isPlace = isPlace;
    this.kind = kind;
    this.match = match;
    this.hit = hit;
    this.value = value;
    this.#origins = origins;
  }

  field(name: string): Value | undefined {
    const read = OriginSource.#fields.get(name);
    return read === undefined ? undefined : read(this);
  }

  static readonly #fields: ReadonlyMap<string, (source: OriginSource) => Value> = new Map([
    ['kind', ({ kind }) => kind],
    ['match', ({ match }) => match],
    ['app', ({ hit }) => hit?.bringer.app ?? null],
    ['tool', ({ hit }) => hit?.bringer.tool ?? null],
    ['context', ({ hit }) => hit?.event.place.context ?? null],
    ['labels', ({ hit }) => hit?.bringer.labels ?? []],
    ['event', ({ hit }) => hit?.event.reference ?? null],
    ['whole', (source) => source.#isWhole && source.hit?.isField === true],
    ['record', ({ hit }) => hit?.isInRecord === true],
    ['text', ({ hit }) => hit?.text ?? null],
    ['around', ({ hit }) => (hit === null ? null : sentenceAt(hit.text, hit.at))],
    ['asked', (source) => source.#asked()],
    ['led_by_text', (source) => source.#isLedByText(MOST_REMOVES)],
    [
      'others',
      ({ hit, value }) => (hit?.bringer.kind === 'output' ? othersOfKind(value, hit.text, hit.at) : []),
    ],
    ['beside', (source) => source.#beside()],
    ['names', ({ value }) => holdsName(value)],
    ['place', (source) => source.#isPlace],
  ]);

  /** The same, where a field of a record is known to have it. */
  inField(): OriginSource {
    if (this.hit === null || this.hit.isField) return this;
    const hit = { ...this.hit, isField: true };
    return new OriginSource(this.kind, this.match, hit, this.value, this.#origins, this.#isPlace);
  }

  /** What stands beside it in a record that a tool or an app returned. */
  #beside(): Value {
    if (this.kind !== 'output' || this.hit === null || !this.#isWhole || !this.hit.isField) return [];
    return [...namesBeside(this.hit.event, this.value)];
  }

  get #isWhole(): boolean {
    return this.match !== 'part' && this.match !== 'structured';
  }

  /** For a key of what a rule is bound to. */
  toJSON(): unknown {
    return Object.fromEntries(this.fieldNames().map((name) => [name, this.field(name)]));
  }

  /** The call that gave it, for an output. */
  get #call(): EventObject | null {
    return this.kind === 'output' ? (this.hit?.event.call ?? null) : null;
  }

  /** Of an output: whether the call that gave it looked for what only a text of others says, also at further removes. */
  #isLedByText(removes: number): boolean | Undecided {
    const call = this.#call;
    if (call === null) return false;
    // Whoever has so many look-ups done one after the other may hide the first.
    if (removes === 0) return true;
    // A look-up is led by whatever it looks for, and an action by what it acts upon: a code that confirms it is neither.
    const isLook = call.field('read_only') === true;
    const isLed = this.#origins.onceLed(call, removes, () =>
      this.#isLed(call.field(isLook ? 'arguments' : 'identifying') ?? null, call, removes),
    );
    if (isLed !== false || isLook) return isLed;
    return this.#isLed(this.#echoed(call), call, removes);
  }

  /** Whether one of these stands only in texts that others wrote, or was found by such a call. */
  #isLed(values: Value, call: EventObject, removes: number): boolean | Undecided {
    const leaves = this.#origins.leaves(values, call);
    if (isUndecided(leaves)) return leaves;
    return leaves.some((sources) => {
      const isSaid = sources.some((source) => source.#isSaid());
      return !isSaid && sources.some((source) => source.#isOfText(removes));
    });
  }

  /** What a call was given and gave back. Attack: a file is made that is called like the account, and the tool returns its name. */
  #echoed(call: EventObject): Value {
    const args = call.field('arguments') ?? null;
    const given = leavesOf(args, MOST_LEAVES);
    // Too many to say which of them: then all, which is undecided.
    if (given === null) return args;
    const text = this.hit?.text.toLowerCase() ?? '';
    const value = this.value.toLowerCase();
    return given.filter((leaf) => {
      const lower = leaf.toLowerCase();
      return lower !== '' && (text.includes(lower) || lower.includes(value));
    });
  }

  #isSaid(): boolean {
    return this.match !== 'part' && ['user', 'endorsed', 'system'].includes(this.kind);
  }

  /** Others wrote it, inside of a text that the user did not point at; or it was found with such words. */
  #isOfText(removes: number): boolean {
    if (this.hit === null || this.kind !== 'output' || this.match === 'part') return false;
    if (this.#isWhole && this.hit.isField) return this.#isLedByText(removes - 1) !== false;
    if (!this.hit.bringer.labels.includes('untrusted')) return false;
    // What a search or a list finds is filled in by whoever wrote the item.
    if (this.hit.isInRecord) return true;
    const asked = this.#asked();
    return !(isList(asked) && asked.includes('user'));
  }

  /** Of an output: where the arguments of the call that gave it came from. */
  #asked(): Value {
    const call = this.#call;
    if (call === null) return [];
    const sources = this.#origins.of(call.field('arguments') ?? null, call);
    if (isUndecided(sources)) return sources;
    return [...new Set(sources.map((source) => (source.#isPlace ? 'place' : source.kind)))];
  }
}

/** Calls one behind the other, each of which looks for what the one before it found. */
const MOST_REMOVES = 4;

/** At most so many characters of the sentence or line. */
const MOST_AROUND = 240;

/** The sentence or line that stands at a place of a text. */
export function sentenceAt(text: string, at: number): string {
  const from = Math.max(0, at - MOST_AROUND / 2);
  const before = text.slice(from, at);
  const start = Math.max(before.lastIndexOf('\n'), lastEnd(before)) + 1;
  const rest = text.slice(from + start, from + start + MOST_AROUND);
  const after = before.length - start;
  const end = rest.slice(after).search(/\n|[.!?](?=\s)/);
  return rest.slice(0, end < 0 ? rest.length : after + end + 1).trim();
}

function lastEnd(before: string): number {
  const ends = [...before.matchAll(/[.!?]\s/g)];
  return (ends.at(-1)?.index ?? -2) + 1;
}

const MOST_LEAVES = 20_000;
/** UTF-16 units that a process with other work compares in one go. Attack: an argument in which a text of a megabyte is placed. */
const MOST_VALUE = 64 * 1024;

export const NOT_REMEMBERED = 'more text was seen than `origin` remembers';

/** Asks the texts of one trace. */
export class Origins {
  readonly #seen: SeenTexts;
  /** Several rules ask for the same argument. */
  readonly #known = new WeakMap<EventObject, Map<string, readonly OriginSource[]>>();

  /** By call: whether a text led it, by the removes that are left. Attack: thousands of ids, each found by a call with as many. */
  readonly #led = new WeakMap<EventObject, Map<number, boolean>>();

  constructor(seen: SeenTexts) {
    this.#seen = seen;
  }

  /** An answer about a call that depends on nothing else, asked once; what is undecided is asked again. */
  onceLed(call: EventObject, removes: number, ask: () => boolean | Undecided): boolean | Undecided {
    const known = this.#led.get(call) ?? new Map<number, boolean>();
    this.#led.set(call, known);
    const before = known.get(removes);
    if (before !== undefined) return before;
    const answer = ask();
    if (typeof answer === 'boolean') known.set(removes, answer);
    return answer;
  }

  /** The sources of all texts and numbers in a value, among what was visible where `anchor` arose. */
  of(value: Value, anchor: EventObject): readonly OriginSource[] | Undecided {
    const leaves = this.leaves(value, anchor);
    return isUndecided(leaves) ? leaves : joined(leaves);
  }

  /** Whether every text and number in a value is the user's: said, or allowed as it is. */
  areFromUser(value: Value, anchor: EventObject): boolean | Undecided {
    const leaves = this.leaves(value, anchor);
    return isUndecided(leaves)
      ? leaves
      : leaves.every((sources) => sources.length === 0 || sources.some(isUsers));
  }

  /** The same for each text and number apart. */
  leaves(value: Value, anchor: EventObject): readonly (readonly OriginSource[])[] | Undecided {
    const leaves = leavesOf(value, MOST_LEAVES);
    if (leaves === null) return undecided('there are too many values to ask where they came from');
    if (this.#seen.isShared && sizeOfTexts(leaves, MOST_VALUE, 0) > MOST_VALUE)
      return undecided('the value is too long to ask where it came from');
    if (this.#seen.isLost) return undecided(NOT_REMEMBERED);
    const effort: Effort = { left: MOST_LOOKS, open: null, awaits: [] };
    const found = leaves.map((leaf) => this.#leaf(leaf, anchor, effort));
    if (effort.left < 0) return undecided(NOT_REMEMBERED);
    if (effort.open !== null) return undecided(effort.open.reason, null, effort.awaits);
    return found;
  }

  #leaf(text: string, anchor: EventObject, effort: Effort): readonly OriginSource[] {
    let known = this.#known.get(anchor);
    if (known === undefined) {
      known = new Map();
      this.#known.set(anchor, known);
    }
    const before = known.get(text);
    if (before !== undefined) return before;
    const found = this.#found(text, anchor, effort);
    if (effort.left >= 0 && effort.open === null) known.set(text, found);
    return found;
  }

  #found(text: string, anchor: EventObject, effort: Effort): readonly OriginSource[] {
    const found = this.#standing(text, anchor, effort);
    if (found.some(isUsers)) return found;
    const places = this.#place(text, anchor, effort);
    const isKnown = ({ hit }: OriginSource) => places.some((place) => place.hit?.group === hit?.group);
    return [...found.filter((source) => !isKnown(source)), ...places];
  }

  /** The user's words, where they name what the value lies in. */
  #place(text: string, anchor: EventObject, effort: Effort): readonly OriginSource[] {
    const place = placeOf(text);
    if (place === null) return [];
    const only: Phrase['only'] = { kind: 'user', isMeant: (said) => namesPlaceOf(text, said) };
    const phrases = spokenPlaces(place).map((one) => ({ ...phraseOf(one, () => [], true), only }));
    const hits = grouped(phrases.flatMap((one) => this.#seen.hits(one, anchor.place, effort)));
    return [...hits.values()].map((hit) => new OriginSource('user', 'part', hit, text, this, true));
  }

  #standing(text: string, anchor: EventObject, effort: Effort): readonly OriginSource[] {
    const decodings = decodingsOf(text);
    const phrase = phraseOf(text, readingsOf, false);
    const isHiding = hidesText(text);
    const link = spokenLink(text);
    // Attack: `/` and `*` have no word that could be looked for, and name everything.
    if (phrase.words.words.length === 0) return text.trim() === '' ? [] : [this.#models('exact', text)];
    const whole = [
      phrase,
      ...decodings.filter(({ isWhole }) => isWhole).map((one) => phraseOf(one.text, readingsOf, true)),
      ...(link === null ? [] : [phraseOf(link, readingsOf, true)]),
    ];
    const hits = grouped(whole.flatMap((one) => this.#seen.hits(one, anchor.place, effort)));
    // Its pieces count only where nothing holds the whole.
    if (effort.open !== null) return [];
    if (hits.size > 0)
      return isHiding ? this.#hiding(text, [...hits.values()]) : this.#whole(text, [...hits.values()]);
    const pieces = [text, ...decodings.map((one) => one.text)].flatMap(piecesOf);
    const partial = decodings
      .filter(({ isWhole }) => !isWhole)
      .map((one) => ({ text: one.text, isTelling: true }));
    return this.#pieced(text, [...pieces, ...partial], anchor, effort);
  }

  #models(match: OriginMatch, text: string): OriginSource {
    return new OriginSource('model', match, null, text, this);
  }

  #whole(text: string, hits: readonly Hit[]): readonly OriginSource[] {
    return hits.map((hit) => new OriginSource(hit.bringer.kind, hit.match, hit, text, this));
  }

  /** A source that holds the value with its invisible characters has all of it; one that holds only the visible rest has a part. */
  #hiding(text: string, hits: readonly Hit[]): readonly OriginSource[] {
    const isAsItIs = (hit: Hit) => hit.text.includes(text);
    const parts = hits.filter((hit) => !isAsItIs(hit)).map((hit) => ({ ...hit, isField: false }));
    const sources = [
      ...this.#whole(text, hits.filter(isAsItIs)),
      ...parts.map((hit) => new OriginSource(hit.bringer.kind, 'part', hit, text, this)),
    ];
    return parts.length === hits.length ? [...sources, this.#models('part', text)] : sources;
  }

  /** From a source that has all pieces, or from several that have some. */
  #pieced(
    text: string,
    pieces: ReturnType<typeof piecesOf>,
    anchor: EventObject,
    effort: Effort,
  ): readonly OriginSource[] {
    const held = new Map<string, { hit: Hit; count: number; isTelling: boolean }>();
    const isHiding = hidesText(text);
    let missing = pieces.length === 0 || isHiding ? 1 : 0;
    for (const piece of pieces) {
      const isAll = piece.text === text;
      const phrase = phraseOf(piece.text, readingsOf, true);
      const hits = isAll ? NO_HITS : grouped(this.#seen.hits(phrase, anchor.place, effort));
      if (hits.size === 0) missing++;
      for (const [key, hit] of hits) {
        const before = held.get(key);
        held.set(key, {
          hit: firstOf(before?.hit, { ...hit, isField: false }),
          count: (before?.count ?? 0) + 1,
          isTelling: before?.isTelling === true || piece.isTelling,
        });
      }
    }
    const found = [...held.values()].filter(({ count, isTelling }) => isTelling || count === pieces.length);
    const sources = found.map(
      ({ hit, count }) =>
        new OriginSource(
          hit.bringer.kind,
          count === pieces.length && !isHiding ? 'structured' : 'part',
          hit,
          text,
          this,
        ),
    );
    const isModels = missing > 0 || sources.length === 0;
    const match = sources.length > 0 ? 'part' : 'exact';
    return isModels ? [...sources, this.#models(match, text)] : sources;
  }
}

function firstOf(known: Hit | undefined, hit: Hit): Hit {
  return known === undefined || hit.event.sequence < known.event.sequence ? hit : known;
}

const NO_HITS: ReadonlyMap<string, Hit> = new Map();

function isUsers({ kind, match }: OriginSource): boolean {
  return (kind === 'user' || kind === 'endorsed') && match !== 'part';
}

/** By bringer, whatever the context: the best, and of equal ones the first. */
function grouped(hits: readonly Hit[]): ReadonlyMap<string, Hit> {
  const groups = new Map<string, Hit>();
  for (const hit of hits) {
    groups.set(hit.group, betterOf(groups.get(hit.group), hit));
  }
  return groups;
}

/** One source for each bringer: its best match, of the first event. The model comes last. */
function joined(leaves: readonly (readonly OriginSource[])[]): readonly OriginSource[] {
  const groups = new Map<string, OriginSource>();
  for (const source of leaves.flat()) {
    const key = source.hit?.group ?? 'model';
    groups.set(key, betterSource(groups.get(key), source));
  }
  return [...groups.values()].sort(
    (a, b) =>
      (a.hit?.event.sequence ?? Number.POSITIVE_INFINITY) -
      (b.hit?.event.sequence ?? Number.POSITIVE_INFINITY),
  );
}

/** Of two of one bringer; what one of them says of fields holds for both. */
function betterSource(known: OriginSource | undefined, source: OriginSource): OriginSource {
  if (known === undefined) return source;
  const [better, other] = isBefore(source, known) ? [source, known] : [known, source];
  return other.hit?.isField === true ? better.inField() : better;
}

function isBefore(a: OriginSource, b: OriginSource): boolean {
  const difference = RANKS[a.match] - RANKS[b.match];
  if (difference !== 0) return difference < 0;
  return a.hit !== null && b.hit !== null && standsBefore(a.hit, b.hit);
}
