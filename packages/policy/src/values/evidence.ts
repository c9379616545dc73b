/**
 * What the evaluation of a rule noticed on its way to its result: characters that a condition was about,
 * assignments that a predicate found, numbers that were counted. It is recorded while the rule is evaluated and
 * thrown away with the assignments that are refuted, so what is left is why the rule holds, not a reconstruction.
 */

import type { Span } from '../syntax/source.ts';
import { EventObject, type Occurrence, type Path, partAt } from './event-object.ts';
import { imageUrls, texts } from './methods.ts';
import { type Contents, isContents, isDictionary, isList, isTraceObject, type Value } from './value.ts';

/** A place in the trace, or a list of such places that the rule has made. */
export type Located =
  | { readonly event: EventObject; readonly path: Path }
  | { readonly items: readonly (Located | null)[] };

/** What brought a text in which a value can stand; `model`: nothing did. */
export type OriginKind = 'user' | 'system' | 'output' | 'description' | 'endorsed' | 'model';

/** How well a text holds a whole value; the first is the best. */
export type WholeMatch = 'exact' | 'short' | 'normalised' | 'structured';

/** How well a source holds a value; `part`: it holds a piece of it. */
export type OriginMatch = WholeMatch | 'part';

/** Where a value came from, as far as explanations say it. */
export interface OriginEvidence {
  readonly kind: OriginKind;
  readonly match: OriginMatch;
  /** What holds it; null: the model. */
  readonly hit: { readonly event: EventObject; readonly bringer: { readonly tool: string | null } } | null;
}

export type Evidence = {
  /** The line of the body that it belongs to, once that has been evaluated. */
  line?: Span;
} & (
  | {
      readonly kind: 'range';
      readonly event: EventObject;
      readonly path: Path;
      readonly text: string;
      /** Offsets in UTF-16 units into the text. */
      readonly spans: () => readonly Span[];
    }
  | { readonly kind: 'witness'; readonly predicate: string; readonly bound: readonly Occurrence[] }
  | {
      readonly kind: 'count';
      readonly found: number;
      /** Whether there may be more, which would change nothing. */
      readonly isLeast: boolean;
      /** The objects that were counted; none where some of them are undecided. */
      readonly counted: () => readonly Occurrence[];
    }
  | { readonly kind: 'origin'; readonly found: () => readonly OriginEvidence[] }
);

/** What was noticed since `from` belongs to `line`. */
export function attribute(trail: readonly Evidence[], from: number, line: Span): void {
  for (let index = from; index < trail.length; index++) {
    const evidence = trail[index];
    if (evidence !== undefined) evidence.line = line;
  }
}

/** One more step from a place: null where there is none. */
export function partOf(located: Located | null, key: string | number): Located | null {
  if (located === null) return null;
  if ('items' in located) return typeof key === 'number' ? (located.items[key] ?? null) : null;
  return { event: located.event, path: [...located.path, key] };
}

/** What a path from a value leads to: an event on the way stands at itself. */
export function placeWithin(value: Value, path: Path, located: Located | null): Located | null {
  let at = value;
  let place = located;
  for (const key of path) {
    at = partAt(at, key);
    place = at instanceof EventObject ? { event: at, path: [] } : partOf(place, key);
  }
  return place;
}

/** Where the texts in `value` stand, in the order in which the built-in `text` gives them. */
export function locateTexts(value: Value, located: Located | null): readonly (Located | null)[] {
  if (typeof value === 'string') return [located];
  if (isContents(value)) {
    return value.chunks.flatMap((chunk, index) =>
      typeof chunk.field('text') === 'string' ? [partOf(partOf(located, index), 'text')] : [],
    );
  }
  if (isList(value)) return value.flatMap((item, index) => locateTexts(item, partOf(located, index)));
  const said = saidIn(value);
  return said === null ? [] : locateTexts(said, partOf(located, 'content'));
}

/** What a message or an output says; null: nothing, or the value is neither. */
export function saidIn(value: Value): string | Contents | null {
  const isSpoken = isTraceObject(value) && (value.type === 'Message' || value.type === 'ToolOutput');
  const content = isSpoken ? (value.field('content') ?? null) : null;
  return typeof content === 'string' || isContents(content) ? content : null;
}

/** The texts in what detectors take: strings, chunk lists, messages, outputs, lists of these (specification 13.1). */
export function textsOf(value: Value): readonly string[] {
  if (typeof value === 'string') return [value];
  if (isContents(value)) return texts(value);
  if (isList(value)) return value.flatMap(textsOf);
  const said = saidIn(value);
  return said === null ? [] : textsOf(said);
}

/** A text that a detector looks at, and where it stands. */
export interface ExaminedText {
  readonly text: string;
  readonly place: Located | null;
}

/**
 * The texts that detectors look at: those of `textsOf`, and beyond the seed language every text within objects, within the
 * arguments of calls and within contents of other kinds; names of members and numbers are texts, too. There, a secret in an
 * argument is found only if the rule names that argument.
 */
export function examinedTexts(value: Value, located: Located | null): readonly ExaminedText[] {
  if (typeof value === 'string') return [{ text: value, place: located }];
  // Attack: the number of a card as a number, which has no characters that a range could name.
  if (typeof value === 'number') return [{ text: String(value), place: null }];
  if (isContents(value)) {
    const places = locateTexts(value, located);
    return textsOf(value).map((text, index) => ({ text, place: places[index] ?? null }));
  }
  if (isList(value)) return value.flatMap((item, index) => examinedTexts(item, partOf(located, index)));
  if (isDictionary(value))
    return Object.entries(value).flatMap(([key, inner]) => [
      { text: key, place: null },
      ...examinedTexts(inner, partOf(located, key)),
    ]);
  if (!isTraceObject(value)) return [];
  if (value.type === 'Image')
    return imageUrls(value).map((text) => ({ text, place: partOf(partOf(located, 'image_url'), 'url') }));
  const fields = EXAMINED.get(value.type) ?? [];
  return fields.flatMap((name) => examinedTexts(value.field(name) ?? null, partOf(located, name)));
}

/** By type: the fields in which texts of others are. */
const EXAMINED: ReadonlyMap<string, readonly string[]> = new Map([
  ['Message', ['content']],
  ['TextChunk', ['text']],
  ['ToolOutput', ['content']],
  ['ToolCall', ['function']],
  ['Function', ['arguments']],
  ['Tool', ['name', 'description', 'inputSchema']],
  ['ToolParameter', ['name', 'description', 'properties', 'additionalProperties', 'items', 'enum']],
  ['AppRequest', ['message']],
  ['AppResponse', ['message']],
  ['DataRelease', ['items']],
  ['Endorsement', ['values']],
  ['Egress', ['host', 'path']],
  ['Plan', ['steps']],
  ['Origin', ['text', 'around']],
]);

export function locateElement(object: Value, index: Value, located: Located | null): Located | null {
  if (typeof index === 'string') return partOf(located, index);
  const items = isContents(object) ? object.chunks : object;
  // The characters of a text are no parts of the trace.
  if (typeof index !== 'number' || !isList(items)) return null;
  const position = index < 0 ? items.length + index : index;
  const item = items[position];
  return item instanceof EventObject ? { event: item, path: [] } : partOf(located, position);
}

/** What methods give back as it is: values of a dictionary, texts of chunks. */
export function locateMethod(self: Value, name: string, key: Value, located: Located | null): Located | null {
  if (isContents(self) && name === 'text') return { items: locateTexts(self, located) };
  if (!isDictionary(self)) return null;
  if (name === 'get')
    return typeof key === 'string' && Object.hasOwn(self, key) ? partOf(located, key) : null;
  if (name === 'values') return { items: Object.keys(self).map((own) => partOf(located, own)) };
  if (name !== 'items') return null;
  return { items: Object.keys(self).map((own) => ({ items: [null, partOf(located, own)] })) };
}
