/**
 * Events as values of rules: which fields each has, and which objects `(x: T)` finds in them (specification 4.2
 * and 4.4, with the additions for the hub-and-spoke world).
 */
import {
  type ArgumentSource,
  DEFAULT_LABEL,
  HUB_LABEL,
  type Json,
  type JsonObject,
  type Label,
  labelNames,
  memberNames,
  personName,
  saysNothing,
  UNKNOWN_TOOL,
  USER_LABEL,
} from '@cordon/core';
import { ONLY_CONTEXT, type Place } from '../events/provenance.ts';
import type { CarrierEvent, Chunk, Content, ToolParameter, TraceEvent } from '../events/trace-event.ts';
import { OBJECT_TYPES } from './types.ts';
import {
  Contents,
  isContents,
  isDictionary,
  isList,
  isTraceObject,
  kindOf,
  TraceObject,
  type Value,
} from './value.ts';

export type VisibleEvent = Exclude<TraceEvent, CarrierEvent>;

/** One event of the flat order: a message, and behind it each of its calls. */
export class EventObject extends TraceObject {
  readonly event: VisibleEvent;
  /** Its position among the events; a call in a message has that of its message. */
  readonly #position: number;
  readonly #place: Place;
  readonly #call: EventObject | null;
  /** The calls of a message, each a separate event; filled as they are placed. */
  readonly toolCalls: EventObject[] = [];
  /** What is made from the event is made once: rules compare parts by identity. */
  #content: Value | undefined = undefined;
  #names: readonly string[] | undefined = undefined;
  #planned: readonly Value[] | undefined = undefined;
  #target: TraceObject | null = null;

  constructor(event: VisibleEvent, position: number, place: Place, call: EventObject | null) {
    super();
    this.event = event;
    this.#position = position;
    this.#place = place;
    this.#call = call;
  }

  get type(): VisibleEvent['type'] {
    return this.event.type;
  }

  override get place(): Place {
    return this.#place;
  }

  override get call(): EventObject | null {
    return this.#call;
  }

  /** Its path in the input, else its id, else its number: what reports name it by. */
  get reference(): string {
    return this.event.path ?? this.event.id ?? String(this.#place.sequence);
  }

  get sequence(): number {
    return this.#place.sequence;
  }

  /** The tool that a call, or the call behind an output, names; null: there is no call. */
  get toolName(): string | null {
    if (this.event.type === 'ToolCall') return this.event.name;
    return this.#call === null ? null : this.#call.toolName;
  }

  field(name: string): Value | undefined {
    const own = this.#own(name);
    return own === undefined ? this.#shared(name) : own;
  }

  #shared(name: string): Value | undefined {
    switch (name) {
      case 'id':
        return this.event.id ?? null;
      case 'metadata':
        return { ...this.event.metadata, trace_idx: this.#position };
      case 'app':
        return this.event.app ?? null;
      case 'context':
        return this.event.context ?? ONLY_CONTEXT;
      case 'labels':
        return labelNames(labelOf(this.event) ?? this.#place.label);
      default:
        return undefined;
    }
  }

  #own(name: string): Value | undefined {
    const { event } = this;
    switch (event.type) {
      case 'Message':
        if (name === 'role') return event.role;
        if (name === 'content') return this.#contentOf(event.content);
        return name === 'tool_calls' ? this.toolCalls : undefined;
      case 'ToolCall':
        return this.#ofCall(event, name);
      case 'ToolOutput':
        return this.#ofOutput(event, name);
      case 'Tool':
        if (name === 'name') return event.name;
        if (name === 'description') return event.description;
        if (name === 'inputSchema') return this.#once(() => event.inputSchema.map(toolParameter));
        return name === 'server' ? event.server : undefined;
      case 'AppRequest':
      case 'AppResponse':
        if (name === 'id') return event.callId;
        if (name === 'from') return event.from;
        if (name === 'to') return event.to;
        if (name === 'functionality') return event.functionality;
        return name === 'message' ? event.message : undefined;
      case 'DataRelease':
        if (name === 'to') return event.to;
        return name === 'items' ? this.#once(() => event.items.map((item) => ({ ...item }))) : undefined;
      case 'Endorsement':
        return name === 'values' ? this.#once(() => event.values.map((one) => ({ ...one }))) : undefined;
      case 'Egress':
        if (name === 'method') return event.method;
        if (name === 'host') return event.host;
        if (name === 'port') return event.port;
        if (name === 'path') return event.resource;
        if (name === 'own_only') return event.holdsOwnOnly ?? false;
        return name === 'bytes' ? event.bytes : undefined;
      case 'Plan':
        if (name === 'steps') return event.steps;
        if (name === 'candidates') return event.candidates;
        return name === 'origin' ? event.origin : undefined;
    }
  }

  #ofCall(event: Extract<VisibleEvent, { type: 'ToolCall' }>, name: string): Value | undefined {
    switch (name) {
      case 'id':
        return event.callId;
      case 'type':
        return event.kind;
      case 'function':
        this.#target ??= new Part('Function', { name: event.name, arguments: event.arguments });
        return this.#target;
      case 'name':
        return event.name;
      case 'arguments':
        return event.arguments;
      case 'irreversible':
        return event.irreversible ?? false;
      case 'off_plan':
        return event.isOffPlan ?? false;
      case 'plan':
        return event.isOffPlan === undefined ? 'unknown' : event.isOffPlan ? 'outside' : 'inside';
      case 'planned':
        this.#planned ??= plannedArguments(event);
        return this.#planned;
      case 'read_only':
        return event.tool?.readOnly ?? UNKNOWN_TOOL.readOnly;
      case 'outward':
        return event.tool?.outward ?? UNKNOWN_TOOL.outward;
      case 'identifying':
        return this.#once(() => identifyingArguments(event));
      case 'identified':
        return (event.tool?.identifying ?? UNKNOWN_TOOL.identifying) !== null;
      case 'may_leave':
        return event.tool?.mayLeave ?? event.tool?.outward ?? UNKNOWN_TOOL.outward;
      case 'names':
        this.#names ??= memberNames(event.arguments);
        return this.#names;
      default:
        return undefined;
    }
  }

  #ofOutput(event: Extract<VisibleEvent, { type: 'ToolOutput' }>, name: string): Value | undefined {
    switch (name) {
      case 'role':
        return event.role;
      case 'content':
        return isJsonContent(event.content) ? event.content : this.#contentOf(event.content);
      case 'tool_call_id':
        return event.callId;
      case 'error':
        return event.isError ?? false;
      case 'structured':
        return event.structured ?? null;
      default:
        return undefined;
    }
  }

  #contentOf(content: Content): Value {
    if (content === null || typeof content === 'string') return content;
    return this.#once(() => new Contents(content.map(chunkObject)));
  }

  #once(make: () => Value): Value {
    this.#content ??= make();
    return this.#content;
  }
}

/** A part of an event that has fields: `Function`, `TextChunk`, `Image`, `ToolParameter`. */
class Part extends TraceObject {
  readonly type: string;
  readonly #fields: Readonly<Record<string, Value>>;

  constructor(type: string, fields: Readonly<Record<string, Value>>) {
    super();
    this.type = type;
    this.#fields = fields;
  }

  field(name: string): Value | undefined {
    return Object.hasOwn(this.#fields, name) ? this.#fields[name] : undefined;
  }
}

/** The arguments that are there and say whom or what the call acts upon, by name. */
function identifyingArguments({
  arguments: given,
  tool,
}: Extract<VisibleEvent, { type: 'ToolCall' }>): Readonly<Record<string, Value>> {
  const names = tool === undefined ? UNKNOWN_TOOL.identifying : tool.identifying;
  const named = Object.entries(given).filter(([name]) => names === null || names.includes(name));
  const present = named.flatMap(([name, value]): [string, Json][] =>
    value === undefined || value === null ? [] : [[name, value]],
  );
  const said = present.filter(([, value]) => !isLeftOut(value));
  // Attack: an account that is called `null`.
  return Object.fromEntries(said.length > 0 ? said : present);
}

/** The identifying arguments with their sources by the plan; empty where it names none for the call. */
function plannedArguments(event: Extract<VisibleEvent, { type: 'ToolCall' }>): readonly Value[] {
  const { sources } = event;
  if (sources === undefined) return [];
  return Object.entries(identifyingArguments(event)).map(([argument, value]) => {
    const planned = Object.hasOwn(sources, argument) ? (sources[argument] ?? []) : [];
    return { argument, values: leavesOf(value), sources: planned.map(sourceOf) };
  });
}

/** A rule compares the name with those beside a value. */
function sourceOf(source: ArgumentSource): Value {
  if (source.kind !== 'result') return { ...source };
  return { ...source, named: source.named === undefined ? null : personName(source.named) };
}

/** The texts and numbers in a value, wherever they stand. */
function leavesOf(value: Value): readonly Value[] {
  if (isList(value)) return value.flatMap(leavesOf);
  if (isDictionary(value)) return Object.values(value).flatMap(leavesOf);
  return typeof value === 'string' || typeof value === 'number' ? [value] : [];
}

/** What a model writes where it gives nothing: `cc: "None"`. */
function isLeftOut(value: Json): boolean {
  if (typeof value === 'string') return saysNothing(value);
  return value === null || (Array.isArray(value) && value.every(isLeftOut));
}

/** What brings text from outside is untrusted and private unless it says otherwise; the rest is as its context. */
export function labelOf(event: TraceEvent): Label | null {
  if (event.label !== undefined) return event.label;
  switch (event.type) {
    case 'Message':
      if (event.role === 'user') return USER_LABEL;
      return event.role === 'system' ? HUB_LABEL : null;
    case 'Endorsement':
      return USER_LABEL;
    case 'ToolOutput':
    case 'AppResponse':
    case 'DataRelease':
    case 'Tool':
      return DEFAULT_LABEL;
    default:
      return null;
  }
}

function isJsonContent(content: Content | JsonObject): content is JsonObject {
  return typeof content === 'object' && content !== null && !Array.isArray(content);
}

function chunkObject(chunk: Chunk): TraceObject {
  return chunk.type === 'text'
    ? new Part('TextChunk', { type: chunk.type, text: chunk.text })
    : new Part('Image', { type: chunk.type, image_url: chunk.image_url });
}

function toolParameter(parameter: ToolParameter): TraceObject {
  const of = (key: string): Json =>
    Object.hasOwn(parameter.schema, key) ? (parameter.schema[key] ?? null) : null;
  return new Part('ToolParameter', {
    type: parameter.type,
    name: parameter.name,
    description: parameter.description,
    required: parameter.required,
    properties: of('properties'),
    additionalProperties: of('additionalProperties'),
    items: of('items'),
    enum: of('enum'),
  });
}

// ── which objects a variable ranges over ──────────────────────────────────────────────────────────────────────

/** Keys from an event, or from a value, to one of its parts. */
export type Path = readonly (string | number)[];

/** A value that a variable can be bound to, and where it was found. */
export interface Occurrence {
  readonly value: Value;
  /** The event that it was found in; null: in a value that the rule names. */
  readonly entry: EventObject | null;
  /** From the event or the value to it. */
  readonly path: Path;
}

/** The fields that the walk of specification 4.4 enters. In the trace, calls of a message are separate entries. */
const ENTERED: ReadonlyMap<string, readonly string[]> = new Map([
  ['Message', ['content', 'role']],
  ['ToolCall', ['id', 'type', 'function']],
  ['ToolOutput', ['role', 'content', 'tool_call_id']],
  ['Tool', ['inputSchema']],
  ['AppRequest', ['message']],
  ['AppResponse', ['message']],
  ['DataRelease', ['items']],
  ['Endorsement', ['values']],
  ['Image', ['image_url']],
  ['TextChunk', ['text']],
]);

/** Of messages that stand in a value of a rule. */
const CALLS_OF_MESSAGES: readonly string[] = ['tool_calls'];
const NO_FIELDS: readonly string[] = [];

const WHOLE: Path = [];

/** The objects of `type` in an event, in the order of the walk. */
export function occurrencesIn(entry: EventObject, type: string): readonly Occurrence[] {
  if (OBJECT_TYPES.get(type)?.isEvent === true) {
    return entry.type === type ? [{ value: entry, entry, path: WHOLE }] : [];
  }
  return walk(entry, type, entry);
}

/** The objects of `type` in a value, for `(x: type) in value`. */
export function occurrencesWithin(value: Value, type: string): readonly Occurrence[] {
  return walk(value, type, null);
}

interface Visit {
  readonly value: Value;
  readonly from: Visit | null;
  readonly key: string | number;
}

/** An object is taken when its kind is exactly `type`, and then not entered. Iterative: values can be deep. */
function walk(root: Value, type: string, entry: EventObject | null): readonly Occurrence[] {
  const found: Occurrence[] = [];
  const open: Visit[] = [{ value: root, from: null, key: '' }];
  for (let visit = open.pop(); visit !== undefined; visit = open.pop()) {
    if (kindOf(visit.value) === type) found.push({ value: visit.value, entry, path: pathTo(visit) });
    else {
      const inner = partsOf(visit, entry === null ? CALLS_OF_MESSAGES : NO_FIELDS);
      for (let index = inner.length - 1; index >= 0; index--) {
        const part = inner[index];
        if (part !== undefined) open.push(part);
      }
    }
  }
  return found;
}

function pathTo(visit: Visit): Path {
  if (visit.from === null) return WHOLE;
  const path: (string | number)[] = [];
  for (let at = visit; at.from !== null; at = at.from) path.push(at.key);
  return path.reverse();
}

/** `ofMessages`: fields of messages that are entered besides. */
function partsOf(from: Visit, ofMessages: readonly string[]): readonly Visit[] {
  const { value } = from;
  if (isList(value)) return value.map((item, key) => ({ value: item, from, key }));
  if (isContents(value)) return value.chunks.map((item, key) => ({ value: item, from, key }));
  if (isTraceObject(value)) {
    const entered = ENTERED.get(value.type) ?? NO_FIELDS;
    const fields = value.type === 'Message' && ofMessages.length > 0 ? [...entered, ...ofMessages] : entered;
    return fields.map((key) => ({ value: value.field(key) ?? null, from, key }));
  }
  return isDictionary(value) ? Object.entries(value).map(([key, item]) => ({ value: item, from, key })) : [];
}

/** One step from a value to a part of it; None where there is none. */
export function partAt(container: Value, key: string | number): Value {
  if (isTraceObject(container)) return container.field(String(key)) ?? null;
  if (isContents(container)) return container.chunks[Number(key)] ?? null;
  if (isList(container)) return container[Number(key)] ?? null;
  return isDictionary(container) && Object.hasOwn(container, key) ? (container[key] ?? null) : null;
}
