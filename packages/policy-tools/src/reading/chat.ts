/**
 * Traces in the form of OpenAI chat completions, read from untrusted JSON (specification 4.1 to 4.3).
 *
 * Ring 1: recordings are read with it; the hub does not use it.
 */
import {
  canonicalJson,
  failed,
  isJsonObject,
  type Json,
  type JsonObject,
  ok,
  parseJson,
  type Result,
} from '@cordon/core';
import {
  type Chunk,
  type Content,
  type EventFrame,
  isShallow,
  MAX_DEPTH,
  type ToolCallEvent,
  type TraceEvent,
} from '@cordon/policy';
import { isList, own } from './json.ts';
import { elementKeys, ROLES, strangeKey, strangeKeyMessage, strangeRoleMessage } from './known-keys.ts';
import { type KnownKeys, knownKeys } from './note-shape.ts';
import { NO_DESCRIPTION, toolParameters } from './tool-parameter.ts';

/** What is wrong with an input that is no trace. */
export interface TraceFault {
  /** Where, e.g. `2.tool_calls.0.function`; empty: the whole. */
  readonly path: string;
  /** One sentence, lower-case start, no full stop. */
  readonly message: string;
}

/**
 * Turns a list of messages, calls and tool descriptions into events. All or nothing: a part of a trace proves nothing.
 *
 * @param lastCall the id of the last call before `input`, which an output without an id answers; null: that call has
 *   no id, or there is none.
 */
export function decodeChat(
  input: unknown,
  lastCall: string | null = null,
): Result<readonly TraceEvent[], TraceFault> {
  if (!Array.isArray(input)) return failed({ path: '', message: 'a trace is a list of events' });
  const decoder = new ChatDecoder(lastCall);
  const events: TraceEvent[] = [];
  for (const [index, element] of input.entries()) {
    const path = String(index);
    if (!isShallow(element))
      return failed({ path, message: `values are nested more than ${MAX_DEPTH} deep` });
    const fault = decoder.element(element, path, events);
    if (fault !== null) return failed({ path: fault.path, message: fault.message });
  }
  return ok(events);
}

/** A class, so that nothing an input holds can be taken for it. */
class Wrong implements TraceFault {
  readonly path: string;
  readonly message: string;

  constructor(path: string, message: string) {
    this.path = path;
    this.message = message;
  }
}

class ChatDecoder {
  /** An output without an id answers the last call; null: that has none either. */
  #lastCall: string | null;
  /** Those that outputs may tell again. */
  readonly #calls: { readonly callId: string | null; readonly name: string; readonly args: JsonObject }[] =
    [];
  /** What of them has been told, by id, name and arguments; as far as someone asked. */
  readonly #told = new Set<string>();
  #toldOf = 0;

  constructor(lastCall: string | null) {
    this.#lastCall = lastCall;
  }

  /** Appends the events of an element to `events`. */
  element(element: unknown, path: string, events: TraceEvent[]): Wrong | null {
    if (!isJsonObject(element)) return new Wrong(path, 'an event is an object');
    const frame = frameOf(element, path);
    if (frame instanceof Wrong) return frame;
    if (Object.hasOwn(element, 'role')) {
      return element.role === 'tool'
        ? this.#output(element, frame, events)
        : this.#message(element, frame, events);
    }
    if (Object.hasOwn(element, 'type')) {
      const call = this.#call(element, frame);
      if (call instanceof Wrong) return call;
      events.push(call);
      return null;
    }
    if (Object.hasOwn(element, 'tools')) return tools(element, frame, events);
    return new Wrong(path, 'an event has a `role` (messages, tool outputs), a `type` (calls) or `tools`');
  }

  #message(element: JsonObject, frame: Frame, events: TraceEvent[]): Wrong | null {
    const { path } = frame;
    const { role } = element;
    if (typeof role !== 'string') return new Wrong(`${path}.role`, 'the role is a string');
    if (!ROLES.has(role)) return new Wrong(`${path}.role`, strangeRoleMessage(role));
    const strange = strangeIn(element, MESSAGE_KEYS, path, 'a message');
    if (strange !== null) return strange;
    const content = contentOf(own(element, 'content'), path);
    if (content instanceof Wrong) return content;
    const listed = own(element, 'tool_calls') ?? NONE;
    if (!isList(listed)) return new Wrong(`${path}.tool_calls`, 'the calls are a list');
    const toolCalls: ToolCallEvent[] = [];
    for (let index = 0; index < listed.length; index++) {
      const at = `${path}.tool_calls.${index}`;
      const decoded = this.#call(listed[index] ?? null, callFrame(frame, at));
      if (decoded instanceof Wrong) return decoded;
      toolCalls.push(decoded);
    }
    events.push(
      isBare(frame)
        ? { path, type: 'Message', role, content, toolCalls }
        : { ...frame, type: 'Message', role, content, toolCalls },
    );
    return null;
  }

  #call(element: Json, frame: Frame): ToolCallEvent | Wrong {
    const { path } = frame;
    if (!isJsonObject(element)) return new Wrong(path, 'a call is an object');
    const callId = own(element, 'id') ?? null;
    if (callId !== null && typeof callId !== 'string') return new Wrong(`${path}.id`, 'the id is a string');
    const target = own(element, 'function');
    if (!isJsonObject(target)) return new Wrong(`${path}.function`, 'a call has a `function`');
    const { name } = target;
    if (typeof name !== 'string') return new Wrong(`${path}.function.name`, 'the name is a string');
    const strange =
      strangeIn(element, CALL_KEYS, path, 'a call') ??
      strangeIn(target, FUNCTION_KEYS, `${path}.function`, 'a called function');
    if (strange !== null) return strange;
    const args = argumentsOf(own(target, 'arguments'));
    if (typeof args === 'string') return new Wrong(`${path}.function.arguments`, args);
    const again = own(target, 'parsed_arguments') ?? null;
    if (again !== null && canonicalJson(again) !== canonicalJson(args))
      return new Wrong(
        `${path}.function.parsed_arguments`,
        'these are other arguments than those of the call',
      );
    this.#lastCall = callId;
    const kind = typeof element.type === 'string' ? element.type : 'function';
    this.#calls.push({ callId, name, args });
    return isBare(frame)
      ? { path, type: 'ToolCall', callId, kind, name, arguments: args }
      : { ...frame, type: 'ToolCall', callId, kind, name, arguments: args };
  }

  /** A call that an output repeats: with the same id, name and arguments. Attack: another one, in a place that nobody reads. */
  #wasTold(again: Json): boolean {
    if (!isJsonObject(again) || strangeKey(again, AGAIN_KEYS) !== null) return false;
    for (; this.#toldOf < this.#calls.length; this.#toldOf++) {
      const call = this.#calls[this.#toldOf];
      if (call !== undefined) this.#told.add(canonicalJson([call.callId, call.name, call.args]));
    }
    const called = own(again, 'function') ?? null;
    const target = isJsonObject(called) ? called : { name: called, arguments: own(again, 'args') ?? {} };
    if (isJsonObject(called) && strangeKey(called, FUNCTION_KEYS) !== null) return false;
    const args = argumentsOf(own(target, 'arguments'));
    if (typeof args === 'string') return false;
    return this.#told.has(canonicalJson([own(again, 'id') ?? null, own(target, 'name') ?? null, args]));
  }

  #output(element: JsonObject, frame: Frame, events: TraceEvent[]): Wrong | null {
    const { path } = frame;
    const callId = Object.hasOwn(element, 'tool_call_id') ? (element.tool_call_id ?? null) : this.#lastCall;
    if (callId !== null && typeof callId !== 'string')
      return new Wrong(`${path}.tool_call_id`, 'the id is a string');
    const strange = strangeIn(element, OUTPUT_KEYS, path, 'a tool output');
    if (strange !== null) return strange;
    const again = own(element, 'tool_call') ?? null;
    if (again !== null && !this.#wasTold(again))
      return new Wrong(`${path}.tool_call`, 'this repeats no earlier call, so rules would not see it');
    const given = own(element, 'content');
    const content = isJsonObject(given) ? given : contentOf(given, path);
    if (content instanceof Wrong) return content;
    events.push(
      isBare(frame)
        ? { path, type: 'ToolOutput', role: 'tool', callId, content }
        : { ...frame, type: 'ToolOutput', role: 'tool', callId, content },
    );
    return null;
  }
}

/** What an element says besides its content. Chat logs rarely say anything, so only what is there is a key. */
type Frame = EventFrame & { readonly path: string };

/** Whether it holds a path and nothing else, as in nearly all logs: then there is nothing to copy. */
function isBare({ context, id, metadata, causes }: Frame): boolean {
  return context === undefined && id === undefined && metadata === undefined && causes === undefined;
}

const NONE: readonly Json[] = [];

/** A call stands where its message stands; only id and metadata are its own. */
function callFrame(message: Frame, path: string): Frame {
  return message.context === undefined ? { path } : { path, context: message.context };
}

/** `metadata`, and for traces of several agents `context`, `causes` and `id`. */
function frameOf(element: JsonObject, path: string): Frame | Wrong {
  const metadata = own(element, 'metadata');
  const context = own(element, 'context');
  const causes = own(element, 'causes');
  const id = own(element, 'id');
  if (metadata === undefined && context === undefined && causes === undefined && id === undefined)
    return { path };
  if (metadata !== undefined && metadata !== null && !isJsonObject(metadata))
    return new Wrong(`${path}.metadata`, 'the metadata is an object');
  if (context !== undefined && typeof context !== 'string')
    return new Wrong(`${path}.context`, 'the context is a string');
  if (causes !== undefined && !isList(causes)) return new Wrong(`${path}.causes`, 'the causes are a list');
  const ids: string[] = [];
  for (const cause of causes ?? NONE) {
    if (typeof cause !== 'string') return new Wrong(`${path}.causes`, 'the causes are ids of events');
    ids.push(cause);
  }
  return {
    path,
    ...(isJsonObject(metadata) ? { metadata } : {}),
    ...(ids.length > 0 ? { causes: ids } : {}),
    ...(context === undefined ? {} : { context }),
    ...(typeof id === 'string' ? { id } : {}),
  };
}

/**
 * Beside the words: of providers (`annotations` repeat what is linked in the text) and of programs that keep logs. Rules see
 * `metadata`.
 */
const SPOKEN_NOTES = {
  data: ['metadata'],
  mark: ['name', 'type', 'index', 'weight', 'prefix', 'finish_reason', 'stop_reason', 'error'],
  notes: ['cache_control'],
  citations: ['annotations'],
  odds: ['logprobs'],
  sealed: ['provider_specific_fields'],
} as const;

const MESSAGE_KEYS = elementKeys(['role', 'content', 'tool_calls'], SPOKEN_NOTES);

/** `tool_call`: the call that is answered, once more. */
const OUTPUT_KEYS = elementKeys(['role', 'content', 'tool_call_id', 'tool_call'], SPOKEN_NOTES);

const CALL_KEYS = elementKeys(['function'], {
  data: ['metadata'],
  mark: ['type', 'index'],
  sealed: ['extra_content', 'provider_specific_fields'],
});

/** `placeholder_args`: what the arguments were made from. */
const AGAIN_KEYS = knownKeys(['id', 'function', 'args'], {
  mark: ['type', 'index'],
  notes: ['placeholder_args'],
});

/** `parsed_arguments`: the arguments once more. */
const FUNCTION_KEYS = knownKeys(['name', 'arguments', 'parsed_arguments'], { line: ['description'] });

const CHUNK_KEYS = elementKeys(['text', 'image_url'], {
  mark: ['type'],
  notes: ['cache_control'],
  citations: ['annotations', 'citations'],
});

const TOOL_LIST_KEYS = elementKeys(['tools'], { data: ['metadata'], mark: ['type', 'server'] });

const TOOL_KEYS = elementKeys(['name', 'description', 'inputSchema'], {
  data: ['metadata', 'outputSchema', 'annotations', '_meta', 'icons'],
  line: ['title'],
  mark: ['type', 'server', 'strict'],
});

function strangeIn(element: JsonObject, known: KnownKeys, path: string, what: string): Wrong | null {
  const strange = strangeKey(element, known);
  return strange === null
    ? null
    : new Wrong(`${path}.${strange.keys.join('.')}`, strangeKeyMessage(strange, what));
}

function contentOf(content: Json | undefined, path: string): Content | Wrong {
  if (content === undefined || content === null || typeof content === 'string') return content ?? null;
  if (!isList(content))
    return new Wrong(`${path}.content`, 'the content is a text, a list of chunks or null');
  const chunks: Chunk[] = [];
  for (const [index, chunk] of content.entries()) {
    const decoded = chunkOf(chunk);
    if (decoded === null || !isJsonObject(chunk))
      return new Wrong(`${path}.content.${index}`, 'a chunk has a `text` or an `image_url`');
    const strange = strangeIn(chunk, CHUNK_KEYS, `${path}.content.${index}`, 'a chunk');
    if (strange !== null) return strange;
    chunks.push(decoded);
  }
  return chunks;
}

function chunkOf(chunk: Json): Chunk | null {
  if (!isJsonObject(chunk)) return null;
  // Of two, one would be seen.
  if (chunk.text !== undefined && chunk.text !== '' && isJsonObject(chunk.image_url)) return null;
  if (typeof chunk.text === 'string' && !isJsonObject(chunk.image_url))
    return { type: 'text', text: chunk.text };
  return isJsonObject(chunk.image_url) ? { type: 'image_url', image_url: chunk.image_url } : null;
}

/** As large as a trace may have them, as deep as an event may be. */
const ARGUMENT_LIMITS = { length: 64 * 1024 * 1024, depth: MAX_DEPTH, elements: 10_000_000 };

/** A text is what is wrong. */
function argumentsOf(args: Json | undefined): JsonObject | string {
  if (typeof args !== 'string') return isJsonObject(args) ? args : 'the arguments are an object';
  const parsed = parseJson(args, ARGUMENT_LIMITS);
  if (!parsed.ok) return 'the arguments are not JSON that can be read';
  return isJsonObject(parsed.value) ? parsed.value : 'the arguments are an object';
}

/** `{"tools": [{"name", "description"?, "inputSchema"}]}`: one event a tool. */
function tools(element: JsonObject, frame: Frame, events: TraceEvent[]): Wrong | null {
  const { path } = frame;
  if (!isList(element.tools)) return new Wrong(`${path}.tools`, 'the tools are a list');
  const strange = strangeIn(element, TOOL_LIST_KEYS, path, 'a list of tools');
  if (strange !== null) return strange;
  for (const [index, tool] of element.tools.entries()) {
    const at = `${path}.tools.${index}`;
    if (!isJsonObject(tool) || typeof tool.name !== 'string') return new Wrong(at, 'a tool has a `name`');
    const strangeInTool = strangeIn(tool, TOOL_KEYS, at, 'a tool');
    if (strangeInTool !== null) return strangeInTool;
    const metadata = own(tool, 'metadata');
    const server = isJsonObject(metadata) ? own(metadata, 'server') : undefined;
    events.push({
      ...frame,
      path: at,
      type: 'Tool',
      name: tool.name,
      description: typeof tool.description === 'string' ? tool.description : NO_DESCRIPTION,
      inputSchema: toolParameters(tool.inputSchema),
      server: typeof server === 'string' ? server : null,
    });
  }
  return null;
}
