/**
 * Which events bring texts that a value can come from, and as what: the user's words, the system's, what tools and other
 * apps gave, what tools say of themselves, and values that the user has allowed. What a model says is no source: where a
 * value stands nowhere else, it is the model's.
 */
import { isJsonObject, type Json, personName, personWords } from '@cordon/core';
import type { EventObject } from '../values/event-object.ts';
import { type OriginKind, textsOf } from '../values/evidence.ts';
import { isLong } from '../values/text-questions.ts';
import { isList } from '../values/value.ts';
import { decodingsOf } from './encodings.ts';
import { isWrittenField } from './field-writer.ts';
import { innerFields, isKeptTogether, jsonFields, type RecordField, recordFields } from './record-text.ts';

/** What brings texts, as `origin` tells sources apart. */
export interface Bringer {
  readonly kind: Exclude<OriginKind, 'model'>;
  readonly app: string | null;
  readonly tool: string | null;
  readonly labels: readonly string[];
}

/** Texts of one event that come from one bringer. */
export interface SeenText {
  readonly bringer: Bringer;
  readonly text: string;
  /** It was taken out of an encoding: what is found in it is never exact. */
  readonly isDecoded: boolean;
  /** Only a value that is all of it comes from it. */
  readonly isWhole: boolean;
  /** It stands alone in a field of a record: a program keeps it so, and it was not written to be read. */
  readonly isField: boolean;
  /** It is a field of a record, or was taken out of one. */
  readonly isInRecord: boolean;
}

/** Everything that an event brings; empty: it is no source. */
export function seenIn(event: EventObject): readonly SeenText[] {
  const inside = event.event;
  switch (inside.type) {
    case 'Message': {
      const kind = kindOfRole(inside.role);
      if (kind === null) return [];
      const members = kind === 'output' ? outputsOf(event).flatMap(given) : textsOf(event).map(spoken);
      return seenFrom(bringerOf(event, kind), members);
    }
    case 'ToolOutput':
      return seenFrom(bringerOf(event, 'output'), outputsOf(event).flatMap(given));
    case 'AppResponse': {
      const bringer = { ...bringerOf(event, 'output'), app: inside.from, tool: inside.functionality };
      return seenFrom(bringer, outputsOf(event).flatMap(given));
    }
    case 'Tool': {
      const parameters = inside.inputSchema.flatMap(({ name, description }) => [name, description]);
      const bringer = { ...bringerOf(event, 'description'), tool: inside.name };
      return seenFrom(bringer, [inside.description, ...parameters].map(spoken));
    }
    case 'DataRelease':
      return inside.items.flatMap(({ value, origin, labels }) => {
        // What the user or the hub has stated, or what was learnt from an app.
        const kind = origin === null && labels.includes('trusted') ? 'user' : 'output';
        const bringer = { kind, app: origin, tool: null, labels } as const;
        return seenFrom(bringer, kind === 'output' ? given(value) : [spoken(value)]);
      });
    case 'Endorsement': {
      const bringer = bringerOf(event, 'endorsed');
      return inside.values.map(({ value }) => ({
        ...{ bringer, text: value, isDecoded: false },
        ...{ isWhole: true, isField: false, isInRecord: false },
      }));
    }
    case 'ToolCall':
    case 'AppRequest':
    case 'Egress':
    case 'Plan':
      return [];
  }
}

/** What brings an event that holds more text than the hub may look through in between; null: it is short, or brings nothing. */
export function longBringer(event: EventObject): Bringer | null {
  const inside = event.event;
  switch (inside.type) {
    case 'Message': {
      const kind = kindOfRole(inside.role);
      return kind !== null && isLong(inside.content) ? bringerOf(event, kind) : null;
    }
    case 'ToolOutput':
      return isLong(inside.content) || isLong(inside.structured ?? null) ? bringerOf(event, 'output') : null;
    case 'AppResponse':
      return isLong(inside.message)
        ? { ...bringerOf(event, 'output'), app: inside.from, tool: inside.functionality }
        : null;
    default:
      return null;
  }
}

/**
 * The names beside a value in the records of an event: what the other fields of an object that has it say in a few words, each text and each
 * run of its words, and the key of the field itself, as `personName` writes them. Empty: no object has the value as the whole of a field.
 *
 * Attack: a mail whose sender is called Dora; a list of names beside a list of addresses; so many fields that a decision takes long.
 */
export function namesBeside(event: EventObject, value: string): ReadonlySet<string> {
  const wanted = personName(value);
  const names = objectsOf(event).flatMap((fields) => {
    const hasIt = fields.map(({ text }) => personName(text) === wanted);
    if (!hasIt.includes(true)) return [];
    return fields.flatMap(({ text, name, isItem }, index) => {
      if (hasIt[index] === true) return [name];
      return isItem ? [] : [text];
    });
  });
  return new Set(names.flatMap(runsOf));
}

/** The fields of each object. Several values of one event are asked about, and each by several rules. */
const OBJECTS = new WeakMap<EventObject, readonly (readonly RecordField[])[]>();

function objectsOf(event: EventObject): readonly (readonly RecordField[])[] {
  const known = OBJECTS.get(event);
  if (known !== undefined) return known;
  const found = outputsOf(event).flatMap((value) => {
    const kept = (fieldsOf(value) ?? []).filter(isKeptTogether);
    return [...Map.groupBy(kept, ({ object }) => object).values()];
  });
  const objects = found.filter(({ length }) => length <= MOST_OF_OBJECT);
  OBJECTS.set(event, objects);
  return objects;
}

/** What has more fields describes nobody. */
const MOST_OF_OBJECT = 200;

/** Each run of the words of a short text. */
function runsOf(text: string): readonly string[] {
  const words = text.length > LONGEST_NAME ? [] : personWords(text);
  if (words.length > MOST_NAME_WORDS) return [];
  return words.flatMap((_, from) =>
    words.slice(from).map((_, more) => words.slice(from, from + more + 1).join(' ')),
  );
}

const LONGEST_NAME = 200;
const MOST_NAME_WORDS = 6;

/** Whether it may bring anything: most actions do not. */
export function isSource({ event }: EventObject): boolean {
  return event.type === 'Message' ? kindOfRole(event.role) !== null : !SILENT.has(event.type);
}

const SILENT: ReadonlySet<EventObject['type']> = new Set(['ToolCall', 'AppRequest', 'Egress', 'Plan']);

function kindOfRole(role: string): Bringer['kind'] | null {
  if (role === 'user') return 'user';
  if (role === 'assistant' || role === 'model') return null;
  return role === 'system' || role === 'developer' ? 'system' : 'output';
}

function bringerOf(event: EventObject, kind: Bringer['kind']): Bringer {
  const isOutput = kind === 'output';
  const labels = event.field('labels') ?? [];
  return {
    kind,
    app: isOutput ? (event.event.app ?? null) : null,
    tool: isOutput ? event.toolName : null,
    labels: isList(labels) ? labels.filter((label) => typeof label === 'string') : [],
  };
}

/** A text, or a field of a record. */
interface Member {
  readonly text: string;
  readonly isInRecord: boolean;
  /** A program filled the field in. */
  readonly isField: boolean;
}

/** What a tool or an app gave: a text that is a record is its fields. */
function given(value: Json): readonly Member[] {
  const fields = fieldsOf(value);
  if (fields === null) return typeof value === 'string' ? [spoken(value)] : [];
  return fields.map(({ text, name }) => ({ text, isInRecord: true, isField: !isWrittenField(name) }));
}

/** Null: it is running text. */
function fieldsOf(value: Json): readonly RecordField[] | null {
  const fields = typeof value === 'string' ? recordFields(value) : jsonFields(value);
  return fields?.flatMap((field) => innerFields(field)) ?? null;
}

/** What an event gives that a tool or an app returned; empty: it is none. */
function outputsOf(event: EventObject): readonly Json[] {
  const inside = event.event;
  switch (inside.type) {
    case 'Message':
      return textsOf(event);
    case 'ToolOutput': {
      const texts = isJsonObject(inside.content) ? [inside.content] : textsOf(event);
      return [...texts, inside.structured ?? null];
    }
    case 'AppResponse':
      return [inside.message];
    case 'DataRelease':
      return inside.items.map(({ value }) => value);
    default:
      return [];
  }
}

/** Each text once, and what it says in an encoding. */
function seenFrom(bringer: Bringer, members: readonly Member[]): readonly SeenText[] {
  /** Whether it stood in a field that a program fills in. */
  const known = new Map<string, boolean>();
  const seen: SeenText[] = [];
  for (const { text, isInRecord, isField } of members) {
    if (known.get(text) === true || (known.has(text) && !isField)) continue;
    known.set(text, isField);
    const place = { bringer, isWhole: false, isInRecord };
    seen.push({ ...place, text, isDecoded: false, isField });
    for (const decoded of decodingsOf(text))
      seen.push({ ...place, text: decoded.text, isDecoded: true, isField: false });
  }
  return seen;
}

function spoken(text: string): Member {
  return { text, isInRecord: false, isField: false };
}
