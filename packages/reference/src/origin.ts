/**
 * Where a value came from, as the definition says it: every text that was visible is read from its beginning. What words,
 * forms and pieces are is the language's; how they are found is said here once more. No index.
 *
 * Tests only.
 */
import { type EventObject, semantics, type Value, values } from '@cordon/policy';

/** The events that were visible where another arose, in their order. */
export type Visible = (anchor: EventObject) => readonly EventObject[];

/** A text that holds a value, or a piece of it, and where in it. */
interface Held {
  readonly event: EventObject;
  readonly seen: semantics.SeenText;
  /** Of the texts of the event, from 0. */
  readonly order: number;
  readonly at: number;
}

interface Source {
  /** What was looked for. */
  readonly value: string;
  readonly match: string;
  /** Null: the model. */
  readonly held: Held | null;
  /** The value stands alone in a field of a record. */
  readonly isField: boolean;
  /** It names no more than what the value lies in. Absent: it has the value. */
  readonly isPlace?: true;
}

const BEST = ['exact', 'short', 'normalised', 'structured', 'part'];

class Origin extends values.TraceObject {
  readonly type = 'Origin';
  readonly #fields: () => Readonly<Record<string, Value>>;

  constructor(fields: () => Readonly<Record<string, Value>>) {
    super();
    this.#fields = fields;
  }

  field(name: string): Value | undefined {
    return this.#fields()[name];
  }

  override fieldNames(): readonly string[] {
    return Object.keys(this.#fields());
  }

  toJSON(): unknown {
    return this.#fields();
  }
}

/** The sources of each text and number in a value. */
function leafSources(value: Value, anchor: EventObject, visible: Visible): readonly (readonly Source[])[] {
  const texts = visible(anchor).flatMap((event) =>
    semantics.seenIn(event).map((seen, order) => ({ event, seen, order })),
  );
  return (semantics.leavesOf(value, Number.POSITIVE_INFINITY) ?? []).map((leaf) => sourcesOf(leaf, texts));
}

type Texts = readonly Omit<Held, 'at'>[];

function sourcesOf(leaf: string, texts: Texts): readonly Source[] {
  const standing = standingIn(leaf, texts);
  const place = semantics.placeOf(leaf);
  if (place === null || standing.some(isUsers)) return standing;
  const naming = texts.filter(
    ({ seen }) => seen.bringer.kind === 'user' && semantics.namesPlaceOf(leaf, seen.text),
  );
  const found = semantics.spokenPlaces(place).flatMap((one) => {
    const wanted = semantics.wordsOf(one);
    return naming.flatMap((text): Source[] => {
      const inside = semantics.wordsOf(text.seen.text);
      return placesOf(wanted, inside, text.seen.isWhole).map((word) => {
        const held = { ...text, at: inside.starts[word] ?? 0 };
        return { value: leaf, match: 'part', held, isField: false, isPlace: true };
      });
    });
  });
  const places = firstOfEach(found);
  const isKnown = (one: Source) => places.some((source) => groupOf(source) === groupOf(one));
  return [...standing.filter((one) => !isKnown(one)), ...places];
}

function isUsers({ match, held }: Source): boolean {
  return ['user', 'endorsed'].includes(held?.seen.bringer.kind ?? 'model') && match !== 'part';
}

function standingIn(leaf: string, texts: Texts): readonly Source[] {
  const isHiding = semantics.hidesText(leaf);
  const models = (match: string): Source => ({ value: leaf, match, held: null, isField: false });
  if (semantics.wordsOf(leaf).words.length === 0) return leaf.trim() === '' ? [] : [models('exact')];
  const decodings = semantics.decodingsOf(leaf);
  const link = semantics.spokenLink(leaf);
  const spelled = [...decodings.filter(({ isWhole }) => isWhole), ...(link === null ? [] : [{ text: link }])];
  const others = spelled.map(({ text }) => ({ text, isDecoded: true }));
  const whole = [{ text: leaf, isDecoded: false }, ...others].flatMap((one) =>
    texts.flatMap((text) => {
      const found = foundIn(one.text, one.isDecoded, text);
      return found === null ? [] : [{ ...found, value: leaf }];
    }),
  );
  if (whole.length > 0) {
    const parts = firstOfEach(whole).map((source): Source => {
      const isAsItIs = !isHiding || source.held?.seen.text.includes(leaf) === true;
      return isAsItIs ? source : { ...source, match: 'part', isField: false };
    });
    return parts.every(({ match }) => match === 'part') ? [...parts, models('part')] : parts;
  }
  const pieces = [
    ...[leaf, ...decodings.map(({ text }) => text)].flatMap(semantics.piecesOf),
    ...decodings.filter(({ isWhole }) => !isWhole).map(({ text }) => ({ text, isTelling: true })),
  ];
  const found = pieces.map(({ text: piece }) =>
    piece === leaf ? [] : firstOfEach(texts.flatMap((text) => foundIn(piece, true, text) ?? [])),
  );
  const sources = [...new Set(found.flat().map(groupOf))].flatMap((group): Source[] => {
    const own = found.map((sources) => sources.find((one) => groupOf(one) === group));
    const isTelling = own.some((one, index) => one !== undefined && pieces[index]?.isTelling === true);
    const isAll = own.every((one) => one !== undefined);
    const { held = null } = own
      .flatMap((one) => one ?? [])
      .reduce((first, one) => (sequenceOf(one) < sequenceOf(first) ? one : first));
    const match = isAll && !isHiding ? 'structured' : 'part';
    return isTelling || isAll ? [{ value: leaf, match, held, isField: false }] : [];
  });
  const isModels =
    isHiding || found.length === 0 || found.some((one) => one.length === 0) || sources.length === 0;
  const match = sources.length > 0 ? 'part' : 'exact';
  return isModels ? [...sources, models(match)] : sources;
}

/** The best way in which a text holds a value. */
function foundIn(value: string, isDecoded: boolean, text: Texts[number]): Source | null {
  const { seen } = text;
  const wanted = semantics.wordsOf(value);
  const core = semantics.coreOf(wanted);
  const inside = semantics.wordsOf(seen.text);
  const source = (match: string, from: number, count: number): Source => ({
    value,
    match,
    held: { ...text, at: inside.starts[from] ?? 0 },
    isField: match !== 'structured' && seen.isField && count === inside.words.length && count <= 16,
  });
  const { length } = wanted.words;
  const found = placesOf(wanted, inside, seen.isWhole).map((word) => {
    const isExact = !isDecoded && !seen.isDecoded && seen.text.startsWith(core, inside.starts[word] ?? 0);
    return source(!isExact ? 'normalised' : semantics.weightOf(wanted) < 3 ? 'short' : 'exact', word, length);
  });
  for (const { key, match } of semantics.readingsOf(wanted)) {
    for (const { key: form, from, to } of semantics.formsIn(inside)) {
      const isCut = semantics.isStrict(inside.joins[from] ?? 0) || semantics.isStrict(inside.joins[to] ?? 0);
      const isPart = seen.isWhole && to - from < inside.words.length;
      if (form === key && !isCut && !isPart) found.push(source(match, from, to - from));
    }
    const plain = key.slice(1);
    if (key.startsWith('=') && plain !== core.toLowerCase())
      for (const word of placesOf(semantics.wordsOf(plain), inside, seen.isWhole))
        found.push(source('normalised', word, semantics.wordsOf(plain).words.length));
  }
  const [best] = [...found].sort(byPlace);
  return best === undefined ? null : { ...best, isField: found.some(({ isField }) => isField) };
}

/** The words one after the other; in an address, with the same between them; and not as a part of another name. */
function placesOf(wanted: semantics.Words, inside: semantics.Words, isWhole: boolean): readonly number[] {
  const count = wanted.words.length;
  return [...inside.words.keys()].filter((at) => {
    if (isWhole && (at > 0 || count < inside.words.length)) return false;
    if (count === 0 || at + count > inside.words.length) return false;
    if (semantics.isStrict((at > 0 ? inside.joins[at] : 0) ?? 0)) return false;
    if (semantics.isStrict(inside.joins[at + count] ?? 0)) return false;
    return wanted.words.every(
      (word, index) =>
        inside.words[at + index] === word &&
        (index === 0 || !semantics.isAddress(wanted) || inside.joins[at + index] === wanted.joins[index]),
    );
  });
}

function groupOf({ held }: Source): string {
  if (held === null) return 'model';
  const { kind, app, tool, labels } = held.seen.bringer;
  return JSON.stringify([kind, app, tool, labels]);
}

/** The model comes last. */
function sequenceOf({ held }: Source): number {
  return held?.event.sequence ?? Number.MAX_SAFE_INTEGER;
}

/** The better match first; of equal ones, what stands first. */
function byPlace(a: Source, b: Source): number {
  const places = [a, b].map(({ held }) => [held?.order ?? 0, held?.at ?? 0]);
  const [[order = 0, at = 0] = [], [otherOrder = 0, otherAt = 0] = []] = places;
  return (
    BEST.indexOf(a.match) - BEST.indexOf(b.match) ||
    sequenceOf(a) - sequenceOf(b) ||
    order - otherOrder ||
    at - otherAt
  );
}

/** For each bringer the best match, and of equal ones the first; in the order of their events. */
function firstOfEach(all: readonly Source[]): readonly Source[] {
  const best = [...all].sort(byPlace);
  return best
    .filter((one, index) => best.findIndex((other) => groupOf(other) === groupOf(one)) === index)
    .map((one) => ({
      ...one,
      isField: all.some((other) => groupOf(other) === groupOf(one) && other.isField),
    }))
    .sort((a, b) => sequenceOf(a) - sequenceOf(b));
}

/** `origin(value)` */
export function originOf(value: Value, anchor: EventObject, visible: Visible): Value {
  const sources = firstOfEach(leafSources(value, anchor, visible).flat());
  return sources.map((source) => new Origin(() => fieldsOf(source, visible)));
}

function fieldsOf(source: Source, visible: Visible): Readonly<Record<string, Value>> {
  const { value, match, held } = source;
  const isOutput = held?.seen.bringer.kind === 'output';
  return {
    kind: held?.seen.bringer.kind ?? 'model',
    match,
    app: held?.seen.bringer.app ?? null,
    tool: held?.seen.bringer.tool ?? null,
    context: held?.event.place.context ?? null,
    labels: held?.seen.bringer.labels ?? [],
    event: held?.event.reference ?? null,
    whole: isWholeField(source),
    record: held?.seen.isInRecord === true,
    text: held?.seen.text ?? null,
    around: held === null ? null : semantics.sentenceAt(held.seen.text, held.at),
    asked: askedBy(source, visible),
    led_by_text: isLedByText(source, visible, 4),
    others: isOutput ? semantics.othersOfKind(value, held.seen.text, held.at) : [],
    beside: isOutput && isWholeField(source) ? [...semantics.namesBeside(held.event, value)] : [],
    names: semantics.holdsName(value),
    place: source.isPlace === true,
  };
}

function isWholeField({ match, isField }: Source): boolean {
  return match !== 'structured' && match !== 'part' && isField;
}

/**
 * The sources of each argument of the call that gave an output, or of those that can lead it; null: it is no output of a call.
 */
function argumentsOf(
  { held, value }: Source,
  visible: Visible,
  isLeading: boolean,
): readonly (readonly Source[])[] | null {
  const call = held?.seen.bringer.kind === 'output' ? held.event.call : null;
  if (call === null) return null;
  const args = call.field('arguments') ?? null;
  if (!isLeading || call.field('read_only') === true) return leafSources(args, call, visible);
  const text = held?.seen.text.toLowerCase() ?? '';
  const echoed = (semantics.leavesOf(args, Number.POSITIVE_INFINITY) ?? []).filter((leaf) => {
    const lower = leaf.toLowerCase();
    return lower !== '' && (text.includes(lower) || lower.includes(value.toLowerCase()));
  });
  return leafSources([call.field('identifying') ?? null, echoed], call, visible);
}

function askedBy(source: Source, visible: Visible): readonly string[] {
  const sources = firstOfEach((argumentsOf(source, visible, false) ?? []).flat());
  return [...new Set(sources.map((one) => (one.isPlace === true ? 'place' : kindOf(one))))];
}

function kindOf({ held }: Source): string {
  return held?.seen.bringer.kind ?? 'model';
}

/** Some argument of the call stands only inside of texts that others wrote, or was itself found by such a call. */
function isLedByText(source: Source, visible: Visible, removes: number): boolean {
  const leaves = argumentsOf(source, visible, true);
  if (leaves === null || removes === 0) return leaves !== null;
  return leaves.some((sources) => {
    const isSaid = sources.some(
      (one) => ['user', 'endorsed', 'system'].includes(kindOf(one)) && one.match !== 'part',
    );
    return !isSaid && sources.some((one) => isOfText(one, visible, removes));
  });
}

function isOfText(source: Source, visible: Visible, removes: number): boolean {
  const { held, match } = source;
  if (held === null || kindOf(source) !== 'output' || match === 'part') return false;
  if (isWholeField(source)) return isLedByText(source, visible, removes - 1);
  if (!held.seen.bringer.labels.includes('untrusted')) return false;
  return held.seen.isInRecord || !askedBy(source, visible).includes('user');
}

/** `from_user(value)` */
export function isFromUser(value: Value, anchor: EventObject, visible: Visible): boolean {
  return leafSources(value, anchor, visible).every(
    (sources) => sources.length === 0 || sources.some(isUsers),
  );
}
