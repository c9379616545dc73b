/**
 * OpenTelemetry spans of generative AI: exports in OTLP's JSON, and lists of spans as SDKs print them.
 *
 * Each run of an agent (`invoke_agent`) is a separate context; what its parent had seen flows into it, and what it
 * had seen flows back when it ends; linked spans likewise. Every span repeats the conversation so far, so a message
 * becomes an event where it first appears; where another context learns of it, its next event names it as a cause.
 *
 * Recordings are read with it; the hub does not use it.
 */
import { canonicalJson, isJsonObject, type Json, parseJson } from '@cordon/core';
import type { MessageEvent, ToolCallEvent, ToolOutputEvent, TraceEvent } from '@cordon/policy';
import { called, eventKey, Occurrences, outputSaid } from '../reading/history.ts';
import { own } from '../reading/json.ts';
import { knownKeys } from '../reading/note-shape.ts';
import { OpenCalls } from '../reading/open-calls.ts';
import { Frames, join, Reading } from '../reading/reading.ts';
import { emitTool } from '../reading/tool.ts';
import { callEvent, emitOutput, type OutputParts } from '../reading/turn.ts';
import { attributesAsObject, attributesOf, Located } from './located.ts';
import {
  argumentsFrom,
  checkKeys,
  instructionEvents,
  messageEvents,
  NO_ARGUMENTS,
  readOutput,
  textOf,
} from './otel-message.ts';
import { isWithin, type Span } from './span.ts';
import { checkSpan, DETAILS, isSilentValue, isToolSpan, LISTS, ROLES } from './span-keys.ts';
import { momentsOf } from './span-tree.ts';

export function readSpans(reading: Reading, input: Json): void {
  const reader = new SpanReader(reading);
  for (const { span, isEnd } of momentsOf(reading, input)) {
    if (reading.fault !== null) return;
    if (isEnd) reader.end(span);
    else {
      checkSpan(reading, span);
      reader.begin(span);
    }
  }
}

/** What one context has been told, in order. */
interface Context {
  readonly name: string;
  readonly told: Occurrences<Told>;
  /** Its newest event. */
  last: string | null;
  /** What its next event carries on from other contexts. */
  readonly arriving: Set<string>;
  /** Only the first request of a context can be a copy of another's conversation. */
  hasAsked: boolean;
}

interface Told {
  readonly id: string;
  readonly context: Context;
}

/** Contexts whose spans belong together: of one conversation, else of one trace. */
interface Group {
  readonly told: Occurrences<Told>;
  /** By id: what was called, by name and arguments, with the name. */
  readonly calls: Map<string, Map<string, string>>;
  /** Calls that no span has executed yet, by name and arguments. */
  readonly proposed: OpenCalls;
  /** What spans put out, newest last. */
  readonly produced: Map<string, Span[]>;
}

/** The id of no event: what names it as a cause has seen everything. One is enough, however many links lead nowhere. */
const NOWHERE = 'span:nowhere';

type Kind = 'agent' | 'tool' | 'model';

class SpanReader {
  readonly #reading: Reading;
  readonly #contexts = new Map<string, Context>();
  readonly #groups = new Map<string, Group>();
  readonly #agents = new Map<Span, string | null>();
  readonly #conversations = new Map<Span, string | null>();
  readonly #spans = new Map<string, Span>();
  readonly #lastOfSpan = new Map<Span, string>();
  /** Of executed calls, for their outputs. */
  readonly #callIds = new Map<Span, string>();
  #count = 0;

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  begin(span: Span): void {
    if (span.id !== null && !this.#spans.has(span.id)) this.#spans.set(span.id, span);
    const context = this.#contextOf(span);
    for (const link of span.links) this.#linked(span, context, link);
    const kind = kindOf(span);
    if (kind === 'agent') this.#enter(span, context);
    if (kind === 'tool') this.#beginTool(span, context);
    else this.#request(span, context);
  }

  end(span: Span): void {
    const kind = kindOf(span);
    const context = this.#contextOf(span);
    if (kind === 'tool') this.#endTool(span, context);
    else this.#response(span, context);
    if (kind === 'agent') this.#leave(span, context);
  }

  // ── contexts ────────────────────────────────────────────────────────────────────────────────────────────────

  #contextOf(span: Span): Context {
    const agent = inherited(this.#agents, span, (one) =>
      kindOf(one) === 'agent' ? agentContext(one) : null,
    );
    return this.#context(agent ?? this.#groupName(span));
  }

  /** What a span stands in: its parent's context, and without a parent that of its trace. */
  #around(span: Span): Context {
    return span.parent === null ? this.#context(this.#groupName(span)) : this.#contextOf(span.parent);
  }

  #context(name: string): Context {
    let context = this.#contexts.get(name);
    if (context === undefined) {
      context = { name, told: new Occurrences(), last: null, arriving: new Set(), hasAsked: false };
      this.#contexts.set(name, context);
    }
    return context;
  }

  #groupName(span: Span): string {
    const conversation = inherited(this.#conversations, span, (one) => {
      const id = one.attributes.get('gen_ai.conversation.id')?.text ?? null;
      return id === null ? null : `conversation:${id}`;
    });
    return conversation ?? (span.traceId === null ? 'trace' : `trace:${span.traceId}`);
  }

  #groupOf(span: Span): Group {
    const name = this.#groupName(span);
    let group = this.#groups.get(name);
    if (group === undefined) {
      group = {
        told: new Occurrences(),
        calls: new Map(),
        proposed: new OpenCalls(),
        produced: new Map(),
      };
      this.#groups.set(name, group);
    }
    return group;
  }

  /** An agent begins with what is known where it was started, … */
  #enter(span: Span, context: Context): void {
    const known = this.#newest(span, this.#around(span));
    if (known !== null) context.arriving.add(known);
  }

  /** … and what it knows at its end is known there from then on. */
  #leave(span: Span, context: Context): void {
    const known = this.#newest(span, context);
    if (known !== null) this.#around(span).arriving.add(known);
  }

  /** An event that has seen all that has arrived in a context; null: nothing has. */
  #newest(span: Span, context: Context): string | null {
    if (context.arriving.size > 0) this.#emit(span, context, { type: 'Carrier', path: span.path });
    return context.last;
  }

  /** What the linked span had said, else what its context had seen; of a span that is nowhere, everything. */
  #linked(span: Span, context: Context, id: string): void {
    const source = this.#spans.get(id);
    if (source === undefined) {
      context.arriving.add(NOWHERE);
      return;
    }
    const place = this.#contextOf(source);
    if (place === context) return;
    const known = this.#lastOfSpan.get(source) ?? this.#newest(span, place);
    if (known !== null) context.arriving.add(known);
  }

  /** `event` as the next one of its context; the id of what knows it, and its calls, and all before. */
  #emit(span: Span, context: Context, event: TraceEvent): string {
    const id = `${span.id ?? span.path}:${this.#count++}`;
    const causes = [...context.arriving];
    context.arriving.clear();
    const frame = { id, context: context.name, ...(causes.length === 0 ? {} : { causes }) };
    let last = id;
    if (event.type !== 'Message') this.#reading.emit({ ...event, ...frame });
    else {
      const toolCalls = event.toolCalls.map((call, index) => {
        last = `${id}.${index}`;
        return { ...call, context: context.name, id: last };
      });
      this.#reading.emit({ ...event, ...frame, toolCalls });
    }
    context.last = last;
    this.#lastOfSpan.set(span, last);
    return last;
  }

  // ── conversations ───────────────────────────────────────────────────────────────────────────────────────────

  /** What a model or agent was given. */
  #request(span: Span, context: Context): void {
    const group = this.#groupOf(span);
    const events = requestEvents(this.#reading, span);
    if (this.#reading.fault !== null) return;
    const bounds = { own: context.told.size, all: group.told.size };
    const isFirst = !context.hasAsked;
    let ownFrom = 0;
    let allFrom = 0;
    for (const event of events) {
      const key = toldKey(event);
      const known = key === null ? null : context.told.next(key, ownFrom, bounds.own);
      ownFrom = known?.behind ?? ownFrom;
      // Only the first request of a context can be a copy of another's conversation.
      const copied =
        key === null || known !== null || !isFirst ? null : group.told.next(key, allFrom, bounds.all);
      allFrom = copied?.behind ?? allFrom;
      if (copied !== null && key !== null) this.#carry(context, copied.item, key);
      const isTold = known !== null || copied !== null;
      const fresh = freshPart(this.#withoutKnownCalls(group, event, isTold), isTold);
      if (fresh === null) continue;
      this.#tell(group, context, key, this.#emit(span, context, fresh));
    }
    if (events.length > 0) context.hasAsked = true;
  }

  /** Another context's event becomes visible here. */
  #carry(context: Context, told: Told, key: string): void {
    if (told.context !== context) context.arriving.add(told.id);
    context.told.add(key, { id: told.id, context });
  }

  #tell(group: Group, context: Context, key: string | null, id: string): void {
    if (key === null) return;
    context.told.add(key, { id, context });
    group.told.add(key, { id, context });
  }

  /** What a model said is new, unless a span within this one has said that it was said. */
  #response(span: Span, context: Context): void {
    const group = this.#groupOf(span);
    for (const event of responseEvents(this.#reading, span)) {
      const said = eventKey(event);
      const produced = group.produced.get(said) ?? [];
      const isRepeated = produced.slice(-MOST_COMPARED).some((inner) => isWithin(inner, span));
      produced.push(span);
      group.produced.set(said, produced);
      const fresh = isRepeated ? null : this.#withoutKnownCalls(group, event, false);
      if (fresh !== null) this.#tell(group, context, toldKey(event), this.#emit(span, context, fresh));
    }
  }

  /**
   * Calls are known by their ids, wherever they were told first; the new ones are remembered. Those without an id are
   * new if their message is (`isTold`), and get one, for the span that executes them.
   */
  #withoutKnownCalls(group: Group, event: TraceEvent, isTold: boolean): TraceEvent {
    if (event.type !== 'Message') return event;
    const named = event.toolCalls.flatMap((call) => {
      if (call.callId !== null) return [call];
      return isTold ? [] : [{ ...call, callId: call.path ?? null }];
    });
    return { ...event, toolCalls: named.filter((call) => isNewCall(group, call)) };
  }

  // ── tools ───────────────────────────────────────────────────────────────────────────────────────────────────

  #beginTool(span: Span, context: Context): void {
    const group = this.#groupOf(span);
    const call = executedCall(this.#reading, span);
    if (this.#reading.fault !== null) return;
    if (!hasArguments(span)) {
      // Where its arguments were not recorded, its id says which call it is.
      if (isTold(group, call)) this.#callIds.set(span, call.callId ?? span.path);
      else this.#reading.wrong(span.path, NO_ARGUMENTS);
      return;
    }
    if (call.callId === null) {
      const proposed = group.proposed.answered(callKey(call));
      this.#callIds.set(span, proposed ?? span.path);
      if (proposed === null) this.#emit(span, context, { ...call, callId: span.path });
      return;
    }
    this.#callIds.set(span, call.callId);
    if (isNewCall(group, call)) this.#emit(span, context, call);
  }

  #endTool(span: Span, context: Context): void {
    const group = this.#groupOf(span);
    for (const event of executedOutput(this.#reading, span, this.#callIds.get(span) ?? span.path)) {
      this.#tell(group, context, toldKey(event), this.#emit(span, context, event));
    }
  }
}

/** Equal outputs of spans within spans that are looked at: what nests deeper becomes two events, and hides nothing. */
const MOST_COMPARED = 8;

function callKey(call: ToolCallEvent): string {
  return canonicalJson(called(call));
}

/** Whether no call with this id, name and arguments has been told; it now has. */
function isNewCall(group: Group, call: ToolCallEvent): boolean {
  if (call.callId === null) return true;
  const key = callKey(call);
  const known = group.calls.get(call.callId) ?? new Map<string, string>();
  if (known.has(key)) return false;
  known.set(key, call.name);
  group.calls.set(call.callId, known);
  group.proposed.opened(key, call.callId);
  return true;
}

/** Whether a call of this tool with this id has been told, with its arguments. */
function isTold(group: Group, { callId, name }: ToolCallEvent): boolean {
  const known = callId === null ? undefined : group.calls.get(callId);
  return known !== undefined && [...known.values()].includes(name);
}

/** What of an event is new, when its words may have been told before; null: nothing. */
function freshPart(event: TraceEvent, isTold: boolean): TraceEvent | null {
  if (event.type !== 'Message') return isTold ? null : event;
  if (!isTold) return isSilent(event) && event.toolCalls.length === 0 ? null : event;
  return event.toolCalls.length === 0 ? null : { ...event, content: null };
}

function isSilent(event: MessageEvent): boolean {
  return event.content === null || event.content.length === 0;
}

/** The words of an event, and its calls that have no ids; null: it has neither. */
function toldKey(event: TraceEvent): string | null {
  if (event.type === 'Message') {
    const toolCalls = event.toolCalls.filter(({ callId }) => callId === null);
    return isSilent(event) && toolCalls.length === 0 ? null : eventKey({ ...event, toolCalls });
  }
  if (event.type === 'ToolOutput') return canonicalJson(['o', event.callId, answered(event)]);
  return eventKey(event);
}

/** Some record a result as JSON in a text, and tell the model the value. */
function answered({ content }: ToolOutputEvent): Json {
  if (typeof content !== 'string' || !/^\s*[[{"]/.test(content)) return outputSaid(content);
  const parsed = parseJson(content);
  if (!parsed.ok) return [content];
  return typeof parsed.value === 'string' ? [parsed.value] : parsed.value;
}

// ── what spans say ────────────────────────────────────────────────────────────────────────────────────────────

function kindOf(span: Span): Kind {
  if (isToolSpan(span)) return 'tool';
  return span.attributes.get('gen_ai.operation.name')?.text === 'invoke_agent' ? 'agent' : 'model';
}

function agentContext(span: Span): string {
  const { attributes } = span;
  const name =
    attributes.get('gen_ai.agent.name')?.text ?? attributes.get('gen_ai.agent.id')?.text ?? 'agent';
  return `${name}#${span.id ?? span.path}`;
}

/** What the nearest of a span and those around it says; each is asked once. */
function inherited(
  known: Map<Span, string | null>,
  span: Span,
  ask: (span: Span) => string | null,
): string | null {
  const asked: Span[] = [];
  let found: string | null = null;
  for (let at: Span | null = span; at !== null; at = at.parent) {
    const before = known.get(at);
    found = before === undefined ? ask(at) : before;
    if (before !== undefined) break;
    asked.push(at);
    if (found !== null) break;
  }
  for (const one of asked) known.set(one, found);
  return found;
}

/** What was told before the model spoke: instructions, tools, the conversation so far. */
function requestEvents(reading: Reading, span: Span): readonly TraceEvent[] {
  return [
    ...toldIn(reading, span.attributes),
    ...spanEvents(reading, span).flatMap(({ name, body }) => {
      const role = ROLES.get(name);
      if (role !== undefined) return messageEvents(reading, body, role);
      if (name === 'gen_ai.content.prompt') return messageLists(reading, body.get('gen_ai.prompt'), 'user');
      return name === DETAILS ? toldIn(reading, body) : [];
    }),
  ];
}

/** Of the attributes of a span, or of an event that has them in its body. */
function toldIn(
  reading: Reading,
  attributes: { get(key: string): Located | null | undefined },
): readonly TraceEvent[] {
  const instructions = attributes.get('gen_ai.system_instructions') ?? null;
  return [
    ...(instructions === null ? [] : instructionEvents(reading, instructions)),
    ...toolEvents(reading, attributes.get('gen_ai.tool.definitions')),
    ...messageLists(reading, attributes.get('gen_ai.input.messages'), 'user'),
  ];
}

function responseEvents(reading: Reading, span: Span): readonly TraceEvent[] {
  return [
    ...messageLists(reading, span.attributes.get('gen_ai.output.messages'), 'assistant'),
    ...spanEvents(reading, span).flatMap(({ name, body }) => {
      if (name === 'gen_ai.choice') {
        const message = body.get('message')?.opened();
        if (message?.isObject !== true) return messageEvents(reading, body, 'assistant');
        checkKeys(reading, body, CHOICE_KEYS, 'a choice');
        return messageEvents(reading, message, 'assistant');
      }
      if (name === 'gen_ai.content.completion')
        return messageLists(reading, body.get('gen_ai.completion'), 'assistant');
      return name === DETAILS ? messageLists(reading, body.get('gen_ai.output.messages'), 'assistant') : [];
    }),
  ];
}

/** Around the message of a choice. */
const CHOICE_KEYS = knownKeys(['message'], { mark: ['index', 'finish_reason', 'role', 'id'] });

function messageLists(
  reading: Reading,
  list: Located | null | undefined,
  role: string,
): readonly TraceEvent[] {
  if (list === null || list === undefined) return [];
  const items = list.opened().items();
  if (items === null) reading.wrong(list.path, 'the messages are a list, or the JSON text of one');
  return (items ?? []).flatMap((message) => messageEvents(reading, message, role));
}

function toolEvents(reading: Reading, list: Located | null | undefined): readonly TraceEvent[] {
  if (list === null || list === undefined) return [];
  const items = list.opened().items();
  if (items === null) reading.wrong(list.path, 'the tools are a list, or the JSON text of one');
  const read = new Reading();
  for (const item of items ?? []) {
    const tool = item.opened().plain();
    emitTool(read, {}, read.object(tool, item.path, 'a tool'), item.path, ['parameters', 'inputSchema']);
  }
  if (read.fault !== null) reading.wrong(list.path, read.fault.message);
  return read.events;
}

interface SpanEvent {
  readonly name: string;
  readonly body: Located;
}

/** Events of older conventions: their body is a JSON text in one attribute, or the attributes themselves. */
function spanEvents(reading: Reading, span: Span): readonly SpanEvent[] {
  return reading.listAt(span.value, 'events', span.path).flatMap((value, index): readonly SpanEvent[] => {
    const path = join(span.path, 'events', index);
    const event = reading.object(value, path, 'an event');
    const name = own(event, 'name');
    if (typeof name !== 'string' || !name.startsWith('gen_ai.')) return [];
    const attributes = attributesAsObject(event, path);
    const content = attributes?.get('gen_ai.event.content') ?? null;
    const said = own(event, 'body') ?? null;
    const body = said === null ? null : new Located(said, join(path, 'body'), 'plain');
    const found = content?.opened() ?? body ?? attributes;
    if (content !== null && body !== null) reading.wrong(body.path, TWO_BODIES);
    // What is no body stands beside it.
    const beside = found === attributes ? [] : [...attributesOf(event, path)];
    for (const [key, located] of beside)
      if (key !== 'gen_ai.event.content' && !isSilentValue(key, located))
        reading.wrong(located.path, TWO_BODIES);
    const lists = LISTS.get(name);
    for (const [key, located] of lists === undefined || found === null ? [] : found.fields())
      if (lists?.has(key) !== true && !isSilentValue(key, located)) reading.wrong(located.path, TWO_BODIES);
    return found === null ? [] : [{ name, body: found }];
  });
}

const TWO_BODIES = 'this is beside the body of the event, where no rule reads it';

function hasArguments(span: Span): boolean {
  return span.attributes.has('gen_ai.tool.call.arguments');
}

function executedCall(reading: Reading, span: Span): ToolCallEvent {
  const name = span.attributes.get('gen_ai.tool.name');
  const args = span.attributes.get('gen_ai.tool.call.arguments');
  return callEvent(
    {},
    {
      callId: textOf(reading, span.attributes.get('gen_ai.tool.call.id')),
      kind: 'function',
      name: textOf(reading, name) ?? span.name.replace(/^execute_tool /, ''),
      arguments: args === undefined ? {} : argumentsFrom(reading, args),
      path: span.path,
      namePath: name?.path ?? span.path,
      argumentsPath: args?.path ?? null,
    },
  );
}

function executedOutput(reading: Reading, span: Span, callId: string): readonly TraceEvent[] {
  const read = new Reading();
  const frames = Frames.none();
  const result = span.attributes.get('gen_ai.tool.call.result') ?? null;
  const failure = failureOf(span);
  const turn = { output: (output: OutputParts) => emitOutput(read, frames, output) };
  readOutput(turn, callId, result ?? failure.message, span.path, failure.isError);
  if (read.fault !== null) reading.wrong(read.fault.path, read.fault.message);
  return read.events;
}

/** A span's status, as a number or a name, and its words. */
function failureOf(span: Span): { readonly isError: boolean; readonly message: Located | null } {
  const status = own(span.value, 'status');
  const code = isJsonObject(status) ? (own(status, 'code') ?? own(status, 'status_code')) : undefined;
  const isError =
    code === 2 || (typeof code === 'string' && code.endsWith('ERROR')) || span.attributes.has('error.type');
  if (!isError || !isJsonObject(status)) return { isError, message: null };
  const key = Object.hasOwn(status, 'message') ? 'message' : 'description';
  const message = own(status, key);
  const isSaid = typeof message === 'string' && message !== '';
  return { isError, message: isSaid ? new Located(message, join(span.path, 'status', key), 'plain') : null };
}
