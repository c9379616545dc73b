/**
 * Chats in the form of OpenAI chat completions, read from untrusted JSON (specification 4.1 to 4.3), and what providers
 * and their older versions write in such messages besides: `function_call`, outputs of the role `function`, free-text
 * tools, refusals, reasoning, sound and files (`chat-content.ts`).
 *
 * Recordings are read with it; the hub does not use it.
 */
import { canonicalJson, failed, isJsonObject, type Json, type JsonObject, type Result } from '@cordon/core';
import type { EventFrame, ToolCallEvent, TraceEvent } from '@cordon/policy';
import { BESIDE_CONTENT, chatPieces, hasWordsBeside, plainContent } from './chat-content.ts';
import { isList, own } from './json.ts';
import { elementKeys, strangeKey } from './known-keys.ts';
import { type KnownKeys, knownKeys } from './note-shape.ts';
import { OpenCalls } from './open-calls.ts';
import { Frames, join, parsedArguments, Reading, type TraceFault } from './reading.ts';
import { NO_DESCRIPTION, toolParameters } from './tool-parameter.ts';
import { callEvent, namedCall, type Piece, withContent } from './turn.ts';

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
  if (!isList(input)) return failed({ path: '', message: 'a trace is a list of events' });
  const reading = new Reading();
  const chat = new ChatReader(reading, 'plain', lastCall);
  if (reading.checkDepth(input)) {
    for (let index = 0; index < input.length && reading.fault === null; index++)
      chat.element(input[index] ?? null, String(index));
  }
  return reading.result;
}

/** Which keys an element may have; `plain` is the form of the language's specification, `all` that of all providers. */
export type ChatForms = 'plain' | 'all';

/** Reads one chat, element by element. */
export class ChatReader {
  readonly #reading: Reading;
  readonly #forms: ChatForms;
  /** An output without an id answers the last call; null: that has none either. */
  #lastCall: string | null;
  /** Those that outputs may tell again. */
  readonly #calls: ToolCallEvent[] = [];
  /** What of them has been told, by id, name and arguments; as far as someone asked. */
  readonly #told = new Set<string>();
  #toldOf = 0;
  /** Calls of the older form, whose outputs name the function. */
  readonly #open = new OpenCalls();

  constructor(reading: Reading, forms: ChatForms, lastCall: string | null = null) {
    this.#reading = reading;
    this.#forms = forms;
    this.#lastCall = lastCall;
  }

  /** Emits the events of an element, or reports what is wrong with it. */
  element(value: Json, path: string): void {
    const reading = this.#reading;
    const element = reading.object(value, path, 'an event');
    const frames = Frames.of(reading, element, path);
    const metadata = reading.objectAt(element, 'metadata', path);
    const frame = metadata === null ? frames.next() : { ...frames.next(), metadata };
    if (Object.hasOwn(element, 'role')) {
      const role = reading.roleAt(element, path);
      const isOlderOutput = role === 'function' && this.#forms === 'all' && reading.dialect === 'cordon';
      if (role === 'tool' || isOlderOutput) this.#output(element, path, frame, role, frames.inner);
      else this.#message(element, path, frame, role, frames.inner);
    } else if (Object.hasOwn(element, 'type')) reading.emit(this.#call(element, path, frame));
    else if (Object.hasOwn(element, 'tools')) readTools(reading, element, path, frame);
    else reading.wrong(path, 'an event has a `role` (messages, tool outputs), a `type` (calls) or `tools`');
  }

  /** A call stands where its message stands; `inner` is all that it has of the message's frame. */
  #message(element: JsonObject, path: string, frame: EventFrame, role: string, inner: EventFrame): void {
    const reading = this.#reading;
    reading.knows(element, MESSAGE_KEYS[this.#forms], path, 'a message');
    const toolCalls = reading
      .listAt(element, 'tool_calls', path)
      .map((call, index) => this.#call(call, join(path, 'tool_calls', index), inner));
    const older = this.#forms === 'all' ? reading.objectAt(element, 'function_call', path) : null;
    if (older !== null) toolCalls.push(this.#olderCall(older, join(path, 'function_call'), inner));
    const pieces = this.#pieces(element, own(element, 'content') ?? null, path);
    const content = pieces === null ? plainContent(reading, element, path) : null;
    const message = { ...frame, type: 'Message', path, role, content, toolCalls } as const;
    if (pieces === null) reading.emit(message);
    else for (const event of withContent(message, path, pieces)) reading.emit(event);
  }

  #output(element: JsonObject, path: string, frame: EventFrame, role: string, inner: EventFrame): void {
    const reading = this.#reading;
    reading.knows(element, OUTPUT_KEYS[this.#forms], path, 'a tool output');
    const again = own(element, 'tool_call') ?? null;
    if (again !== null && !this.#wasTold(again))
      reading.wrong(join(path, 'tool_call'), 'this repeats no earlier call, so rules would not see it');
    const callId = this.#answered(element, path, role);
    const output = { type: 'ToolOutput', path, role: 'tool', callId } as const;
    const given = own(element, 'content') ?? null;
    const pieces = this.#pieces(element, isJsonObject(given) ? null : given, path);
    if (isJsonObject(given)) {
      reading.emit({ ...frame, ...output, content: given });
      // What is said beside the object is an event behind it.
      if (pieces === null || pieces.length === 0) return;
      for (const event of withContent({ ...inner, ...output, content: null }, path, pieces))
        reading.emit(event);
      return;
    }
    const content = pieces === null ? plainContent(reading, element, path) : null;
    for (const event of withContent({ ...frame, ...output, content }, path, pieces ?? []))
      reading.emit(event);
  }

  /** The call that an output answers. */
  #answered(output: JsonObject, path: string, role: string): string | null {
    if (role === 'function') return this.#open.answered(this.#reading.nameAt(output, 'name', path));
    if (!Object.hasOwn(output, 'tool_call_id')) return this.#lastCall;
    return this.#reading.textAt(output, 'tool_call_id', path);
  }

  /** Null: the content stands alone, and is plain. */
  #pieces(element: JsonObject, content: Json, path: string): readonly Piece[] | null {
    const hasPieces = this.#forms === 'all' && hasWordsBeside(element);
    return hasPieces ? chatPieces(this.#reading, element, content, path) : null;
  }

  #call(value: Json, path: string, frame: EventFrame): ToolCallEvent {
    const reading = this.#reading;
    const call = reading.object(value, path, 'a call');
    const callId = reading.textAt(call, 'id', path);
    const type = own(call, 'type');
    const kind = typeof type === 'string' ? type : 'function';
    if (this.#forms === 'all' && Object.hasOwn(call, 'custom')) {
      reading.knows(call, CUSTOM_CALL_KEYS, path, 'a call');
      return this.#remembered(this.#customCall(call, callId, kind, path, frame));
    }
    reading.knows(call, CALL_KEYS, path, 'a call');
    const at = join(path, 'function');
    const target = reading.object(own(call, 'function'), at, 'the `function` of a call');
    const name = reading.textAt(target, 'name', at);
    if (name === null) reading.wrong(join(at, 'name'), '`name` is missing');
    reading.knows(target, FUNCTION_KEYS, at, 'a called function');
    const given = own(target, 'arguments') ?? '';
    if (given === '') reading.wrong(join(at, 'arguments'), 'a call has `arguments`');
    const args = reading.argumentsOf(given, join(at, 'arguments'));
    const again = own(target, 'parsed_arguments') ?? null;
    if (again !== null && canonicalJson(again) !== canonicalJson(args))
      reading.wrong(join(at, 'parsed_arguments'), 'these are other arguments than those of the call');
    const called = { callId, kind, name: name ?? '', arguments: args };
    return this.#remembered({ ...frame, type: 'ToolCall', path, ...called });
  }

  /** A tool with free text. */
  #customCall(
    call: JsonObject,
    callId: string | null,
    kind: string,
    path: string,
    frame: EventFrame,
  ): ToolCallEvent {
    const at = join(path, 'custom');
    const custom = this.#reading.object(own(call, 'custom'), at, '`custom`');
    this.#reading.knows(custom, CUSTOM_KEYS, at, '`custom`');
    const name = this.#reading.nameAt(custom, 'name', at);
    const input = this.#reading.nameAt(custom, 'input', at);
    const places = { path, namePath: join(at, 'name'), argumentsPath: at };
    return callEvent(frame, { callId, kind, name, arguments: { input }, ...places });
  }

  /** The one call of the older form, which has no id. */
  #olderCall(call: JsonObject, path: string, frame: EventFrame): ToolCallEvent {
    this.#reading.knows(call, OLDER_CALL_KEYS, path, '`function_call`');
    const named = namedCall(this.#reading, call, path, 'arguments');
    this.#open.opened(named.name, path);
    return this.#remembered(callEvent(frame, { ...named, callId: path, kind: 'function' }));
  }

  #remembered(call: ToolCallEvent): ToolCallEvent {
    this.#lastCall = call.callId;
    this.#calls.push(call);
    return call;
  }

  /** A call that an output repeats: with the same id, name and arguments. Attack: another one, in a place that nobody reads. */
  #wasTold(again: Json): boolean {
    if (!isJsonObject(again) || strangeKey(again, AGAIN_KEYS) !== null) return false;
    for (; this.#toldOf < this.#calls.length; this.#toldOf++) {
      const call = this.#calls[this.#toldOf];
      if (call !== undefined) this.#told.add(canonicalJson([call.callId, call.name, call.arguments]));
    }
    const called = own(again, 'function') ?? null;
    const target = isJsonObject(called) ? called : { name: called, arguments: own(again, 'args') ?? {} };
    if (isJsonObject(called) && strangeKey(called, FUNCTION_KEYS) !== null) return false;
    const args = parsedArguments(own(target, 'arguments'));
    if (args === null) return false;
    return this.#told.has(canonicalJson([own(again, 'id') ?? null, own(target, 'name') ?? null, args]));
  }
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

type KeysOfForms = Readonly<Record<ChatForms, KnownKeys>>;

const MESSAGE = ['role', 'content', 'tool_calls'] as const;
const MESSAGE_KEYS: KeysOfForms = {
  plain: elementKeys(MESSAGE, SPOKEN_NOTES),
  all: elementKeys([...MESSAGE, ...BESIDE_CONTENT, 'function_call'], SPOKEN_NOTES),
};

/** `tool_call`: the call that is answered, once more. */
const OUTPUT = ['role', 'content', 'tool_call_id', 'tool_call'] as const;
const OUTPUT_KEYS: KeysOfForms = {
  plain: elementKeys(OUTPUT, SPOKEN_NOTES),
  all: elementKeys([...OUTPUT, ...BESIDE_CONTENT], SPOKEN_NOTES),
};

const CALL_NOTES = {
  data: ['metadata'],
  mark: ['type', 'index'],
  sealed: ['extra_content', 'provider_specific_fields'],
} as const;
const CALL_KEYS = elementKeys(['function'], CALL_NOTES);
const CUSTOM_CALL_KEYS = elementKeys(['custom'], CALL_NOTES);
const CUSTOM_KEYS = knownKeys(['name', 'input']);

/** What is called in a `function_call`, and in a call of which only a part was streamed. */
export const OLDER_CALL_KEYS = knownKeys(['name', 'arguments']);

/** `placeholder_args`: what the arguments were made from. */
const AGAIN_KEYS = knownKeys(['id', 'function', 'args'], {
  mark: ['type', 'index'],
  notes: ['placeholder_args'],
});

/** `parsed_arguments`: the arguments once more. */
const FUNCTION_KEYS = knownKeys(['name', 'arguments', 'parsed_arguments'], { line: ['description'] });

const TOOL_LIST_KEYS = elementKeys(['tools'], { data: ['metadata'], mark: ['type', 'server'] });

const TOOL_KEYS = elementKeys(['name', 'description', 'inputSchema'], {
  data: ['metadata', 'outputSchema', 'annotations', '_meta', 'icons'],
  line: ['title'],
  mark: ['type', 'server', 'strict'],
});

/** `{"tools": [{"name", "description"?, "inputSchema"}]}`: one event a tool. */
function readTools(reading: Reading, element: JsonObject, path: string, frame: EventFrame): void {
  reading.knows(element, TOOL_LIST_KEYS, path, 'a list of tools');
  for (const [tool, at] of reading.objectsAt(element, 'tools', path, 'a tool')) {
    reading.knows(tool, TOOL_KEYS, at, 'a tool');
    const metadata = own(tool, 'metadata');
    const server = isJsonObject(metadata) ? own(metadata, 'server') : undefined;
    reading.emit({
      ...frame,
      path: at,
      type: 'Tool',
      name: reading.nameAt(tool, 'name', at),
      description: typeof tool.description === 'string' ? tool.description : NO_DESCRIPTION,
      inputSchema: toolParameters(tool.inputSchema),
      server: typeof server === 'string' ? server : null,
    });
  }
}
