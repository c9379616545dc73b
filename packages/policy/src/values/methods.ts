/** The methods that texts, objects and chunk lists have in rules (specification 6.5); there are no others. */
import { braceFormat } from './python-format.ts';
import { joined } from './python-str.ts';
import { ANY, LIST, listOf, STR, TEXTS, type Type } from './types.ts';
import {
  Callable,
  type Contents,
  type Dictionary,
  isContents,
  isDictionary,
  isList,
  kindOf,
  type TraceObject,
  tuple,
  undecided,
  type Value,
} from './value.ts';

/** The method `name` of a value, bound to it; null: it has none. */
export function methodOf(value: Value, name: string): Callable | null {
  if (typeof value === 'string') return bound(TEXT_METHODS.get(name), name, value);
  if (isContents(value)) return bound(CONTENTS_METHODS.get(name), name, value);
  return isDictionary(value) ? bound(DICTIONARY_METHODS.get(name), name, value) : null;
}

interface Method<T> {
  /** What is known of its result. */
  readonly result: Type;
  /** The names of its arguments, in order; null: it takes any. */
  readonly takes: readonly string[] | null;
  /** Whether they can be given by name. */
  readonly byName?: true;
  readonly needs?: number;
  readonly run: (self: T, given: readonly Value[], named: ReadonlyMap<string, Value>) => Value;
}

function bound<T>(method: Method<T> | undefined, name: string, self: T): Callable | null {
  if (method === undefined) return null;
  return new Callable(name, (positional, named) => {
    const given = argumentsOf(method, positional, named);
    return given === null ? undecided(`\`${name}\` takes other arguments`) : method.run(self, given, named);
  });
}

/** By position; null where Python refuses them. What is left out is None. */
function argumentsOf<T>(
  { takes, byName, needs = 0 }: Method<T>,
  positional: readonly Value[],
  named: ReadonlyMap<string, Value>,
): readonly Value[] | null {
  if (takes === null) return positional;
  const isKnown = [...named.keys()].every(
    (name) => byName === true && takes.indexOf(name) >= positional.length,
  );
  if (!isKnown || positional.length > takes.length || positional.length < needs) return null;
  return takes.map((name, index) => positional[index] ?? named.get(name) ?? null);
}

const TEXT_METHODS: ReadonlyMap<string, Method<string>> = new Map<string, Method<string>>([
  ['lower', { result: STR, takes: [], run: (self) => self.toLowerCase() }],
  ['upper', { result: STR, takes: [], run: (self) => self.toUpperCase() }],
  ['strip', { result: STR, takes: ['chars'], run: (self, [characters = null]) => strip(self, characters) }],
  ['format', { result: STR, takes: null, run: braceFormat }],
  ['join', { result: STR, takes: ['items'], needs: 1, run: (self, [items = null]) => join(self, items) }],
  [
    'split',
    {
      result: TEXTS,
      takes: ['sep', 'maxsplit'],
      byName: true,
      run: (self, [separator = null, limit]) => split(self, separator, limit ?? -1),
    },
  ],
  [
    'splitlines',
    {
      result: TEXTS,
      takes: ['keepends'],
      byName: true,
      run: (self, [keeps = null]) => splitLines(self, keeps),
    },
  ],
]);

const DICTIONARY_METHODS: ReadonlyMap<string, Method<Dictionary>> = new Map<string, Method<Dictionary>>([
  ['keys', { result: TEXTS, takes: [], run: (self) => Object.keys(self) }],
  ['values', { result: LIST, takes: [], run: (self) => Object.values(self) }],
  [
    'items',
    {
      result: listOf(LIST),
      takes: [],
      run: (self) => Object.entries(self).map(([key, value]) => tuple([key, value])),
    },
  ],
  [
    'get',
    {
      result: ANY,
      takes: ['key', 'default'],
      needs: 1,
      run: (self, [key = null, fallback = null]) => get(self, key, fallback),
    },
  ],
]);

const CONTENTS_METHODS: ReadonlyMap<string, Method<Contents>> = new Map<string, Method<Contents>>([
  ['text', { result: TEXTS, takes: [], run: (self) => texts(self) }],
  ['image', { result: TEXTS, takes: [], run: (self) => images(self) }],
]);

/** Method to the kinds that have it, and what is known of its result. */
export const METHODS: ReadonlyMap<string, { readonly of: readonly string[]; readonly result: Type }> =
  new Map([
    ...described('str', TEXT_METHODS),
    ...described('dict', DICTIONARY_METHODS),
    ...described('Contents', CONTENTS_METHODS),
  ]);

function described<T>(
  kind: string,
  methods: ReadonlyMap<string, Method<T>>,
): readonly [string, { of: string[]; result: Type }][] {
  return [...methods].map(([name, { result }]) => [name, { of: [kind], result }]);
}

/** What Python takes for white space. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: four separators are control characters
const SPACE = /[\t-\r\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

/** Only the ends are looked at: what is between them may be megabytes. */
function strip(text: string, characters: Value): Value {
  if (characters !== null && typeof characters !== 'string') return undecided('`strip` takes a string');
  const isCut = characters === null ? (one: string) => SPACE.test(one) : among(characters);
  let start = 0;
  let end = text.length;
  for (let one = pointFrom(text, start); start < end && isCut(one); one = pointFrom(text, start))
    start += one.length;
  for (let one = pointBefore(text, end); end > start && isCut(one); one = pointBefore(text, end))
    end -= one.length;
  return text.slice(start, end);
}

function pointFrom(text: string, at: number): string {
  return String.fromCodePoint(text.codePointAt(at) ?? 0);
}

function pointBefore(text: string, at: number): string {
  const pair = text.slice(Math.max(0, at - 2), at);
  return (text.codePointAt(at - 2) ?? 0) > 0xffff ? pair : pair.slice(-1);
}

function among(characters: string): (one: string) => boolean {
  const all = new Set(characters);
  return (one) => all.has(one);
}

function split(text: string, separator: Value, limit: Value): Value {
  if (typeof limit !== 'number') return undecided('`split` takes a string and a number');
  if (separator === null) return words(text, limit);
  if (typeof separator !== 'string' || separator === '')
    return undecided('`split` takes a string that is not empty');
  const parts = text.split(separator);
  if (limit < 0 || parts.length <= limit + 1) return parts;
  return [...parts.slice(0, limit), parts.slice(limit).join(separator)];
}

/** Runs of white space part them; what is behind the last cut stays as it is, without what is before it. */
function words(text: string, limit: number): Value {
  const found: string[] = [];
  let at = 0;
  for (;;) {
    while (at < text.length && SPACE.test(text.charAt(at))) at++;
    if (at === text.length) return found;
    if (limit >= 0 && found.length >= limit) return [...found, text.slice(at)];
    const start = at;
    while (at < text.length && !SPACE.test(text.charAt(at))) at++;
    found.push(text.slice(start, at));
  }
}

/** What Python's `splitlines` splits at. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these separators are control characters
const LINE_END = /\r\n|[\n\r\v\f\u001c-\u001e\u0085\u2028\u2029]/g;

function splitLines(text: string, keeps: Value): Value {
  const keepsEnds = keeps === true || keeps === 1;
  const lines: string[] = [];
  let at = 0;
  for (const { 0: end, index } of text.matchAll(LINE_END)) {
    lines.push(text.slice(at, keepsEnds ? index + end.length : index));
    at = index + end.length;
  }
  return at === text.length ? lines : [...lines, text.slice(at)];
}

function join(separator: string, items: Value): Value {
  const parts = typeof items === 'string' ? [...items] : isDictionary(items) ? Object.keys(items) : items;
  if (!isList(parts)) return undecided(`\`join\` of ${kindOf(items)}`);
  const strange = parts.find((item) => typeof item !== 'string');
  if (strange !== undefined) return undecided(`\`join\` of a list with ${kindOf(strange)}`);
  return joined(parts, separator);
}

function get(self: Dictionary, key: Value, fallback: Value): Value {
  return typeof key === 'string' && Object.hasOwn(self, key) ? (self[key] ?? null) : fallback;
}

/** The texts of the chunks, in order. */
export function texts(self: Contents): readonly string[] {
  return self.chunks.map((chunk) => chunk.field('text')).filter((text) => typeof text === 'string');
}

/** The URLs of the images, in order. */
export function images(self: Contents): readonly string[] {
  return self.chunks.flatMap(imageUrls);
}

/** The URL of an image; nothing of any other chunk. */
export function imageUrls(chunk: TraceObject): readonly string[] {
  const image = chunk.field('image_url') ?? null;
  const url = isDictionary(image) && Object.hasOwn(image, 'url') ? image.url : null;
  return typeof url === 'string' ? [url] : [];
}
