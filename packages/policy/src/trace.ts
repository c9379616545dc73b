/**
 * A trace as rules see it: events become objects with fields, each with its place in the flow, tool outputs
 * linked to their calls. Events can be prepared without becoming part of the trace, to ask what they would do.
 *
 * Ring 0.
 */
import {
  DEFAULT_LABEL,
  HUB_LABEL,
  type Json,
  type JsonObject,
  type Label,
  labelNames,
  USER_LABEL,
} from '@cordon/core';
import { type Place, Provenance } from './provenance.ts';
import type {
  CarrierEvent,
  Chunk,
  Content,
  EventFrame,
  MessageEvent,
  ToolCallEvent,
  ToolParameter,
  TraceEvent,
} from './trace-event.ts';
import { OBJECT_TYPES } from './types.ts';
import {
  contents,
  isContents,
  isDictionary,
  isList,
  isTagged,
  isTraceObject,
  kindOf,
  type TraceObject,
  traceObject,
  type Value,
} from './value.ts';

/** One event of the flat order: a message, and behind it each of its calls. */
export interface Entry {
  readonly object: TraceObject;
  /** Its path in the input, else its id, else its number: what reports name it by. */
  readonly reference: string;
  readonly sequence: number;
}

/** A value that a variable can be bound to, and the event that it was found in (null: computed by the rule). */
export interface Occurrence {
  readonly value: Value;
  readonly entry: Entry | null;
}

/** Events that have been given their places and are not part of the trace yet. */
export interface Batch {
  readonly entries: readonly Entry[];
  readonly provenance: Provenance;
  readonly calls: ReadonlyMap<string, TraceObject>;
}

/** Used where a trace has no contexts. */
const ONLY_CONTEXT = 'trace';

/** Owns provenance and the links between calls and outputs; keeps no events itself. */
export class Trace {
  readonly #provenance = new Provenance();
  readonly #calls = new Map<string, TraceObject>();

  /** What the events would be if they came next. Changes nothing. */
  prepare(events: readonly TraceEvent[]): Batch {
    const batch = new BatchBuilder(this.#provenance.fork(), this.#calls);
    for (const event of events) batch.add(event);
    return batch;
  }

  /** Makes a batch part of the trace; it must be the last one that was prepared. */
  commit(batch: Batch): void {
    this.#provenance.adopt(batch.provenance);
    for (const [id, call] of batch.calls) this.#calls.set(id, call);
  }
}

class BatchBuilder implements Batch {
  readonly entries: Entry[] = [];
  readonly provenance: Provenance;
  readonly calls = new Map<string, TraceObject>();
  readonly #known: ReadonlyMap<string, TraceObject>;

  constructor(provenance: Provenance, known: ReadonlyMap<string, TraceObject>) {
    this.provenance = provenance;
    this.#known = known;
  }

  add(event: TraceEvent): void {
    if (event.type === 'Carrier') this.#place(event);
    else if (event.type === 'Message') this.#message(event);
    else if (event.type === 'ToolCall') this.#call(event);
    else this.#event(event, fieldsOf(event), event.type === 'ToolOutput' ? this.#linked(event.callId) : null);
  }

  /** The message stands before its calls, and its object holds theirs. */
  #message(event: MessageEvent): void {
    const calls: Value[] = [];
    const fields = new Map<string, Value>([
      ['role', event.role],
      ['content', contentValue(event.content)],
      ['tool_calls', calls],
    ]);
    this.#event(event, fields, null);
    for (const call of event.toolCalls) calls.push(this.#call(call));
  }

  #call(event: ToolCallEvent): TraceObject {
    const target = traceObject(
      'Function',
      new Map<string, Value>([
        ['name', event.name],
        ['arguments', event.arguments],
      ]),
    );
    const fields = new Map<string, Value>([
      ['id', event.callId],
      ['type', event.kind],
      ['function', target],
      ['name', event.name],
      ['arguments', event.arguments],
      ['irreversible', event.irreversible ?? false],
    ]);
    const call = this.#event(event, fields, null);
    if (event.callId !== null) this.calls.set(event.callId, call);
    return call;
  }

  #linked(callId: string | null): TraceObject | null {
    if (callId === null) return null;
    return this.calls.get(callId) ?? this.#known.get(callId) ?? null;
  }

  #event(event: TraceEvent, fields: Map<string, Value>, call: TraceObject | null): TraceObject {
    const place = this.#place(event);
    addFrame(fields, event, labelOf(event) ?? place.label);
    const object = traceObject(event.type, fields, place, call);
    const reference = event.path ?? event.id ?? String(place.sequence);
    this.entries.push({ object, reference, sequence: place.sequence });
    return object;
  }

  #place(event: TraceEvent): Place {
    return this.provenance.place({
      id: event.id ?? null,
      context: event.context ?? ONLY_CONTEXT,
      causes: event.causes ?? [],
      bornFrom: event.bornFrom ?? null,
      deliveredTo: event.deliveredTo ?? null,
      label: labelOf(event),
    });
  }
}

function addFrame(fields: Map<string, Value>, event: EventFrame, label: Label): void {
  if (!fields.has('id')) fields.set('id', event.id ?? null);
  fields.set('metadata', event.metadata ?? {});
  fields.set('app', event.app ?? null);
  fields.set('context', event.context ?? ONLY_CONTEXT);
  fields.set('labels', labelNames(label));
}

/** What brings text from outside is untrusted and private unless it says otherwise; the rest is as its context. */
function labelOf(event: TraceEvent): Label | null {
  if (event.label !== undefined) return event.label;
  if (event.type === 'Message') {
    if (event.role === 'user') return USER_LABEL;
    return event.role === 'system' ? HUB_LABEL : null;
  }
  const isFromOutside =
    event.type === 'ToolOutput' ||
    event.type === 'AppResponse' ||
    event.type === 'DataRelease' ||
    event.type === 'Tool';
  return isFromOutside ? DEFAULT_LABEL : null;
}

function fieldsOf(
  event: Exclude<TraceEvent, MessageEvent | ToolCallEvent | CarrierEvent>,
): Map<string, Value> {
  switch (event.type) {
    case 'ToolOutput':
      return new Map<string, Value>([
        ['role', event.role],
        ['content', isJsonContent(event.content) ? event.content : contentValue(event.content)],
        ['tool_call_id', event.callId],
        ['error', event.isError ?? false],
        ['structured', event.structured ?? null],
      ]);
    case 'Tool':
      return new Map<string, Value>([
        ['name', event.name],
        ['description', event.description],
        ['inputSchema', event.inputSchema.map(toolParameter)],
        ['server', event.server],
      ]);
    case 'AppRequest':
    case 'AppResponse':
      return new Map<string, Value>([
        ['id', event.callId],
        ['from', event.from],
        ['to', event.to],
        ['functionality', event.functionality],
        ['message', event.message],
      ]);
    case 'DataRelease':
      return new Map<string, Value>([
        ['to', event.to],
        ['items', event.items.map((item) => ({ ...item }))],
      ]);
    case 'Egress':
      return new Map<string, Value>([
        ['method', event.method],
        ['host', event.host],
        ['port', event.port],
        ['path', event.resource],
      ]);
    case 'Plan':
      return new Map<string, Value>([
        ['steps', event.steps],
        ['candidates', event.candidates],
        ['origin', event.origin],
      ]);
  }
}

function isJsonContent(content: Content | JsonObject): content is JsonObject {
  return typeof content === 'object' && content !== null && !Array.isArray(content);
}

function contentValue(content: Content): Value {
  if (content === null || typeof content === 'string') return content;
  return contents(content.map(chunkObject));
}

function chunkObject(chunk: Chunk): TraceObject {
  const fields: [string, Value][] =
    chunk.type === 'text'
      ? [
          ['type', chunk.type],
          ['text', chunk.text],
        ]
      : [
          ['type', chunk.type],
          ['image_url', chunk.image_url],
        ];
  return traceObject(chunk.type === 'text' ? 'TextChunk' : 'Image', new Map(fields));
}

function toolParameter(parameter: ToolParameter): TraceObject {
  const of = (key: string): Json =>
    Object.hasOwn(parameter.schema, key) ? (parameter.schema[key] ?? null) : null;
  return traceObject(
    'ToolParameter',
    new Map<string, Value>([
      ['type', parameter.type],
      ['name', parameter.name],
      ['description', parameter.description],
      ['required', parameter.required],
      ['properties', of('properties')],
      ['additionalProperties', of('additionalProperties')],
      ['items', of('items')],
      ['enum', of('enum')],
    ]),
  );
}

// ── which objects a variable ranges over ──────────────────────────────────────────────────────────────────────

/** The fields that the walk of specification 4.4 enters. Calls of a message are entries of their own. */
const ENTERED: ReadonlyMap<string, readonly string[]> = new Map([
  ['Message', ['content', 'role']],
  ['ToolCall', ['id', 'type']],
  ['ToolOutput', ['role', 'content', 'tool_call_id']],
  ['Tool', ['inputSchema']],
  ['AppRequest', ['message']],
  ['AppResponse', ['message']],
  ['DataRelease', ['items']],
  ['Image', ['image_url']],
  ['TextChunk', ['type', 'text']],
]);

/** The objects of `type` in an event, in the order of the walk. */
export function occurrencesIn(entry: Entry, type: string): readonly Occurrence[] {
  if (OBJECT_TYPES.get(type)?.isEvent === true) {
    return entry.object.type === type ? [{ value: entry.object, entry }] : [];
  }
  const found: Occurrence[] = [];
  walk(entry.object, type, (value) => found.push({ value, entry }));
  return found;
}

/** The objects of `type` in a value, for `(x: type) in value`. */
export function occurrencesWithin(value: Value, type: string): readonly Occurrence[] {
  const found: Occurrence[] = [];
  walk(value, type, (inner) => found.push({ value: inner, entry: null }));
  return found;
}

/** An object is taken when its kind is exactly `type`, and then not entered. Iterative: values can be deep. */
function walk(root: Value, type: string, take: (value: Value) => void): void {
  const open: Value[] = [root];
  while (open.length > 0) {
    const value = open.pop() ?? null;
    if (kindOf(value) === type) take(value);
    else {
      const inner = partsOf(value);
      for (let index = inner.length - 1; index >= 0; index--) open.push(inner[index] ?? null);
    }
  }
}

function partsOf(value: Value): readonly Value[] {
  if (isList(value)) return value;
  if (isContents(value)) return value.chunks;
  if (isTraceObject(value))
    return (ENTERED.get(value.type) ?? []).map((field) => value.fields.get(field) ?? null);
  return isTagged(value) || !isDictionary(value) ? [] : Object.values(value);
}
