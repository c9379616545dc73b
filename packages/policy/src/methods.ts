/**
 * The methods that texts, objects and chunk lists have in rules (specification 6.5); there are no others.
 *
 * Ring 0.
 */
import { joined } from './text.ts';
import {
  type Callable,
  type Contents,
  callable,
  type Dictionary,
  isContents,
  isDictionary,
  isList,
  isTraceObject,
  kindOf,
  undecided,
  type Value,
} from './value.ts';

/** The method `name` of a value, bound to it; null: it has none. */
export function methodOf(value: Value, name: string): Callable | null {
  if (typeof value === 'string') return bound(TEXT_METHODS.get(name), name, value);
  if (isContents(value)) return bound(CONTENTS_METHODS.get(name), name, value);
  return isDictionary(value) ? bound(DICTIONARY_METHODS.get(name), name, value) : null;
}

type Method<T> = (self: T, positional: readonly Value[], named: ReadonlyMap<string, Value>) => Value;

function bound<T>(method: Method<T> | undefined, name: string, self: T): Callable | null {
  return method === undefined ? null : callable(name, (positional, named) => method(self, positional, named));
}

const TEXT_METHODS: ReadonlyMap<string, Method<string>> = new Map<string, Method<string>>([
  ['lower', (self) => self.toLowerCase()],
  ['upper', (self) => self.toUpperCase()],
  ['strip', (self, [characters]) => strip(self, characters ?? null)],
  ['split', (self, [separator, limit]) => split(self, separator ?? null, limit ?? -1)],
  ['splitlines', (self) => splitLines(self)],
  ['format', (self, positional, named) => format(self, positional, named)],
  ['join', (self, [items]) => join(self, items ?? null)],
]);

const DICTIONARY_METHODS: ReadonlyMap<string, Method<Dictionary>> = new Map<string, Method<Dictionary>>([
  ['keys', (self) => Object.keys(self)],
  ['values', (self) => Object.values(self)],
  ['items', (self) => Object.entries(self).map(([key, value]) => [key, value])],
  ['get', (self, [key, fallback]) => get(self, key ?? null, fallback ?? null)],
]);

const CONTENTS_METHODS: ReadonlyMap<string, Method<Contents>> = new Map<string, Method<Contents>>([
  ['text', (self) => texts(self)],
  ['image', (self) => images(self)],
]);

function strip(text: string, characters: Value): Value {
  if (characters === null) return text.trim();
  if (typeof characters !== 'string') return undecided('`strip` takes a string');
  const points = [...text];
  let start = 0;
  let end = points.length;
  while (start < end && characters.includes(points[start] ?? '')) start++;
  while (end > start && characters.includes(points[end - 1] ?? '')) end--;
  return points.slice(start, end).join('');
}

function split(text: string, separator: Value, limit: Value): Value {
  if (typeof limit !== 'number') return undecided('`split` takes a string and a number');
  if (separator === null) return text.trim() === '' ? [] : limited(text.trim().split(/\s+/), ' ', limit);
  if (typeof separator !== 'string' || separator === '')
    return undecided('`split` takes a string that is not empty');
  return limited(text.split(separator), separator, limit);
}

function limited(parts: readonly string[], separator: string, limit: number): Value {
  if (limit < 0 || parts.length <= limit + 1) return parts;
  return [...parts.slice(0, limit), parts.slice(limit).join(separator)];
}

/** What Python's `splitlines` splits at. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these separators are control characters
const LINE_END = /\r\n|[\n\r\v\f\u001c-\u001e\u0085\u2028\u2029]/;

function splitLines(text: string): Value {
  const lines = text.split(LINE_END);
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

/** `{}`, `{0}`, `{name}`, and doubled braces. */
function format(template: string, positional: readonly Value[], named: ReadonlyMap<string, Value>): Value {
  let next = 0;
  const parts: Value[] = [];
  let at = 0;
  for (const { 0: found, 1: name, index } of template.matchAll(/\{\{|\}\}|\{([^{}]*)\}/g)) {
    parts.push(template.slice(at, index));
    at = index + found.length;
    if (name === undefined) parts.push(found.charAt(0));
    else {
      const value =
        name === '' ? positional[next++] : /^\d+$/.test(name) ? positional[Number(name)] : named.get(name);
      if (value === undefined) return undecided('the values do not fit the format');
      parts.push(value);
    }
  }
  parts.push(template.slice(at));
  return joined(parts);
}

function join(separator: string, items: Value): Value {
  if (!isList(items)) return undecided(`\`join\` of ${kindOf(items)}`);
  const strange = items.find((item) => typeof item !== 'string');
  if (strange !== undefined) return undecided(`\`join\` of a list with ${kindOf(strange)}`);
  return joined(items, separator);
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
  return self.chunks.flatMap((chunk) => {
    const image = isTraceObject(chunk) ? (chunk.field('image_url') ?? null) : null;
    const url = isDictionary(image) && Object.hasOwn(image, 'url') ? image.url : null;
    return typeof url === 'string' ? [url] : [];
  });
}
