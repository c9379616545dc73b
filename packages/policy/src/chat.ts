/**
 * Traces in the form of OpenAI chat completions, read from untrusted JSON (specification 4.1 to 4.3).
 *
 * Ring 0.
 */
import { failed, isJsonObject, type Json, type JsonObject, ok, parseJson, type Result } from '@cordon/core';
import type { Chunk, Content, EventFrame, ToolCallEvent, ToolParameter, TraceEvent } from './trace-event.ts';

/** What is wrong with the input, and where: `2.tool_calls.0.function`. */
export interface TraceFault {
  readonly path: string;
  readonly message: string;
}

/** Nested arrays and objects in one event; what compares values recurses. */
const MAX_DEPTH = 200;

/** Turns a list of messages, calls and tool descriptions into events. All or nothing: a part of a trace proves nothing. */
export function decodeChat(input: unknown): Result<readonly TraceEvent[], TraceFault> {
  if (!Array.isArray(input)) return failed({ path: '', message: 'a trace is a list of events' });
  const decoder = new ChatDecoder();
  const events: TraceEvent[] = [];
  for (const [index, element] of input.entries()) {
    const path = String(index);
    if (!isShallow(element))
      return failed({ path, message: `values are nested more than ${MAX_DEPTH} deep` });
    const decoded = decoder.element(element, path);
    if (!decoded.ok) return decoded;
    for (const event of decoded.value) events.push(event);
  }
  return ok(events);
}

type Decoded<T> = Result<T, TraceFault>;

class ChatDecoder {
  /** An output without an id answers the last call. */
  #lastCall: string | null = null;

  element(element: unknown, path: string): Decoded<readonly TraceEvent[]> {
    if (!isJsonObject(element)) return wrong(path, 'an event is an object');
    const frame = frameOf(element, path);
    if (!frame.ok) return frame;
    if (Object.hasOwn(element, 'role')) {
      return element.role === 'tool'
        ? this.#output(element, frame.value, path)
        : this.#message(element, frame.value, path);
    }
    if (Object.hasOwn(element, 'type')) {
      const call = this.#call(element, frame.value, path);
      return call.ok ? ok([call.value]) : call;
    }
    if (Object.hasOwn(element, 'tools')) return tools(element, frame.value, path);
    return wrong(path, 'an event has a `role` (messages, tool outputs), a `type` (calls) or `tools`');
  }

  #message(element: JsonObject, frame: EventFrame, path: string): Decoded<readonly TraceEvent[]> {
    if (typeof element.role !== 'string') return wrong(`${path}.role`, 'the role is a string');
    const content = contentOf(own(element, 'content'), `${path}.content`);
    if (!content.ok) return content;
    const calls = own(element, 'tool_calls') ?? [];
    if (!isList(calls)) return wrong(`${path}.tool_calls`, 'the calls are a list');
    const toolCalls: ToolCallEvent[] = [];
    for (const [index, call] of calls.entries()) {
      const at = `${path}.tool_calls.${index}`;
      const { causes: _, id: __, metadata: ___, ...shared } = frame;
      const decoded = this.#call(call, { ...shared, path: at }, at);
      if (!decoded.ok) return decoded;
      toolCalls.push(decoded.value);
    }
    return ok([{ ...frame, type: 'Message', role: element.role, content: content.value, toolCalls }]);
  }

  #call(element: Json, frame: EventFrame, path: string): Decoded<ToolCallEvent> {
    if (!isJsonObject(element)) return wrong(path, 'a call is an object');
    const callId = own(element, 'id') ?? null;
    if (callId !== null && typeof callId !== 'string') return wrong(`${path}.id`, 'the id is a string');
    const target = own(element, 'function');
    if (!isJsonObject(target)) return wrong(`${path}.function`, 'a call has a `function`');
    if (typeof target.name !== 'string') return wrong(`${path}.function.name`, 'the name is a string');
    const args = argumentsOf(own(target, 'arguments'), `${path}.function.arguments`);
    if (!args.ok) return args;
    this.#lastCall = callId ?? this.#lastCall;
    const kind = typeof element.type === 'string' ? element.type : 'function';
    return ok({ ...frame, type: 'ToolCall', callId, kind, name: target.name, arguments: args.value });
  }

  #output(element: JsonObject, frame: EventFrame, path: string): Decoded<readonly TraceEvent[]> {
    const callId = Object.hasOwn(element, 'tool_call_id') ? (element.tool_call_id ?? null) : this.#lastCall;
    if (callId !== null && typeof callId !== 'string')
      return wrong(`${path}.tool_call_id`, 'the id is a string');
    const content = own(element, 'content');
    if (isJsonObject(content)) return ok([{ ...frame, type: 'ToolOutput', role: 'tool', callId, content }]);
    const decoded = contentOf(content, `${path}.content`);
    if (!decoded.ok) return decoded;
    return ok([{ ...frame, type: 'ToolOutput', role: 'tool', callId, content: decoded.value }]);
  }
}

function wrong(path: string, message: string): Decoded<never> {
  return failed({ path, message });
}

/** `metadata`, and for traces of several agents `context`, `causes` and `id`. */
function frameOf(element: JsonObject, path: string): Decoded<EventFrame> {
  const metadata = own(element, 'metadata') ?? {};
  if (!isJsonObject(metadata)) return wrong(`${path}.metadata`, 'the metadata is an object');
  const context = own(element, 'context');
  if (context !== undefined && typeof context !== 'string')
    return wrong(`${path}.context`, 'the context is a string');
  const causes = own(element, 'causes') ?? [];
  if (!isList(causes)) return wrong(`${path}.causes`, 'the causes are a list');
  const ids: string[] = [];
  for (const cause of causes) {
    if (typeof cause !== 'string') return wrong(`${path}.causes`, 'the causes are ids of events');
    ids.push(cause);
  }
  const event = own(element, 'id');
  return ok({
    path,
    metadata,
    causes: ids,
    ...(context === undefined ? {} : { context }),
    ...(typeof event === 'string' ? { id: event } : {}),
  });
}

function contentOf(content: Json | undefined, path: string): Decoded<Content> {
  if (content === undefined || content === null || typeof content === 'string') return ok(content ?? null);
  if (!isList(content)) return wrong(path, 'the content is a text, a list of chunks or null');
  const chunks: Chunk[] = [];
  for (const [index, chunk] of content.entries()) {
    const decoded = chunkOf(chunk, `${path}.${index}`);
    if (!decoded.ok) return decoded;
    chunks.push(decoded.value);
  }
  return ok(chunks);
}

function chunkOf(chunk: Json, path: string): Decoded<Chunk> {
  if (isJsonObject(chunk)) {
    if (typeof chunk.text === 'string') return ok({ type: 'text', text: chunk.text });
    if (isJsonObject(chunk.image_url)) return ok({ type: 'image_url', image_url: chunk.image_url });
  }
  return wrong(path, 'a chunk has a `text` or an `image_url`');
}

function argumentsOf(args: Json | undefined, path: string): Decoded<JsonObject> {
  if (typeof args !== 'string')
    return isJsonObject(args) ? ok(args) : wrong(path, 'the arguments are an object');
  const parsed = parseJson(args);
  if (!parsed.ok) return wrong(path, 'the arguments are not JSON');
  return isJsonObject(parsed.value) ? ok(parsed.value) : wrong(path, 'the arguments are an object');
}

/** `{"tools": [{"name", "description"?, "inputSchema"}]}`: one event a tool. */
function tools(element: JsonObject, frame: EventFrame, path: string): Decoded<readonly TraceEvent[]> {
  if (!isList(element.tools)) return wrong(`${path}.tools`, 'the tools are a list');
  const events: TraceEvent[] = [];
  for (const [index, tool] of element.tools.entries()) {
    const at = `${path}.tools.${index}`;
    if (!isJsonObject(tool) || typeof tool.name !== 'string') return wrong(at, 'a tool has a `name`');
    const metadata = own(tool, 'metadata');
    const server = isJsonObject(metadata) ? own(metadata, 'server') : undefined;
    events.push({
      ...frame,
      path: at,
      type: 'Tool',
      name: tool.name,
      description: typeof tool.description === 'string' ? tool.description : 'no description available',
      inputSchema: parameters(tool.inputSchema),
      server: typeof server === 'string' ? server : null,
    });
  }
  return ok(events);
}

const TYPE_ALIASES: ReadonlyMap<string, string> = new Map([
  ['int', 'integer'],
  ['long', 'integer'],
  ['float', 'number'],
  ['bool', 'boolean'],
  ['str', 'string'],
  ['dict', 'object'],
  ['list', 'array'],
]);

function parameters(schema: Json | undefined): readonly ToolParameter[] {
  const properties = isJsonObject(schema) ? own(schema, 'properties') : undefined;
  if (!isJsonObject(properties)) return [];
  const required = isJsonObject(schema) ? own(schema, 'required') : undefined;
  return Object.entries(properties).map(([name, property]) => {
    const inner = isJsonObject(property) ? property : {};
    const types = (isList(inner.type) ? inner.type : [inner.type]).filter((type) => typeof type === 'string');
    const named = types.find((type) => type !== 'null') ?? 'string';
    return {
      name,
      type: TYPE_ALIASES.get(named) ?? named,
      description: typeof inner.description === 'string' ? inner.description : 'no description available',
      required: isList(required) && required.includes(name) && !types.includes('null'),
      schema: inner,
    };
  });
}

function own(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** Without recursion: the depth is what is being tested. */
function isShallow(root: unknown): boolean {
  let level: readonly unknown[] = [root];
  for (let depth = 0; depth <= MAX_DEPTH; depth++) {
    level = level.flatMap((value) =>
      typeof value === 'object' && value !== null ? Object.values(value) : [],
    );
    if (level.length === 0) return true;
  }
  return false;
}
