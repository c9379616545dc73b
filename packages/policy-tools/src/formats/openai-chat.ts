/**
 * OpenAI chat completions: lists of messages, requests with `tools` and `functions`, responses with `choices`, and
 * responses that were streamed in chunks. The messages are read by `chat.ts`.
 *
 * Recordings are read with it; the hub does not use it.
 */
import { isJsonObject, type Json, type JsonObject } from '@cordon/core';
import { ChatReader, OLDER_CALL_KEYS } from '../reading/chat.ts';
import { thoughtsIn, transcriptIn, WORD_KEYS } from '../reading/chat-content.ts';
import { isList, own } from '../reading/json.ts';
import { elementKeys } from '../reading/known-keys.ts';
import { knownKeys } from '../reading/note-shape.ts';
import { join, type Reading } from '../reading/reading.ts';
import { emitOpenaiTools, emitTools } from '../reading/tool.ts';
import { callEvent, loneText, withContent } from '../reading/turn.ts';

export function readChatPreamble(reading: Reading, request: JsonObject, path: string): void {
  emitOpenaiTools(reading, request, path);
  // The older form of `tools`.
  emitTools(reading, request, 'functions', path, ['parameters']);
}

/** A list of messages, calls, tool lists, completions and chunks at `path`. */
export function readChatList(reading: Reading, list: readonly Json[], path: string): void {
  let start = 0;
  while (start < list.length && reading.fault === null) {
    const kind = kindOf(list[start] ?? null);
    let end = start + 1;
    while (end < list.length && kindOf(list[end] ?? null) === kind) end++;
    const run = list
      .slice(start, end)
      .map((value, index): Placed => ({ value, path: join(path, start + index) }));
    if (kind === 'element') readElements(reading, run);
    else if (kind === 'chunk') readChunks(reading, run);
    else
      for (const { value, path: at } of run) {
        if (!isJsonObject(value)) continue;
        reading.beside(value, CHOICES, at);
        readCompletion(reading, value, at);
      }
    start = end;
  }
}

/** A response: its `choices`, or the chunks it was streamed in. */
export function readChatResponse(reading: Reading, response: Json, path: string): void {
  if (isList(response)) readChatList(reading, response, path);
  else if (kindOf(response) === 'chunk') readChunks(reading, [{ value: response, path }]);
  else readCompletion(reading, reading.object(response, path, 'a response'), path);
}

/** What is read of a completion and of a chunk; the rest stands beside it. */
const CHOICES = knownKeys(['choices']);

interface Placed {
  readonly value: Json;
  readonly path: string;
}

function kindOf(value: Json): 'element' | 'completion' | 'chunk' {
  const choices = isJsonObject(value) ? own(value, 'choices') : undefined;
  if (!isJsonObject(value) || !isList(choices)) return 'element';
  const [first] = choices;
  const isChunk =
    own(value, 'object') === 'chat.completion.chunk' ||
    (isJsonObject(first) && Object.hasOwn(first, 'delta'));
  return isChunk ? 'chunk' : 'completion';
}

function readCompletion(reading: Reading, completion: JsonObject, path: string): void {
  reading.answers(completion, ['choices', 'error'], path);
  const messages = reading.objectsAt(completion, 'choices', path, 'a choice').map(([choice, at]): Placed => {
    reading.knows(choice, CHOICE_KEYS, at, 'a choice');
    const message = own(choice, 'message');
    if (message === undefined) reading.wrong(at, 'a choice has a `message`');
    return { value: message ?? null, path: join(at, 'message') };
  });
  readElements(reading, messages);
}

function readElements(reading: Reading, elements: readonly Placed[]): void {
  const chat = new ChatReader(reading, 'all');
  for (const { value, path } of elements) if (reading.fault === null) chat.element(value, path);
}

const DELTA_KEYS = elementKeys(['role', 'content', 'tool_calls', 'function_call', ...WORD_KEYS], {
  mark: ['name'],
  citations: ['annotations'],
  sealed: ['provider_specific_fields'],
});

const STREAMED_CALL_KEYS = elementKeys(['function'], {
  mark: ['index', 'type'],
  sealed: ['extra_content', 'provider_specific_fields'],
});

const CHOICE_NOTES = {
  mark: ['index', 'finish_reason', 'native_finish_reason'],
  short: ['stop_reason'],
  odds: ['logprobs'],
  notes: ['content_filter_results', 'content_filter_offsets'],
  sealed: ['provider_specific_fields'],
} as const;

const CHOICE_KEYS = elementKeys(['message'], CHOICE_NOTES);
const CHUNK_CHOICE_KEYS = elementKeys(['delta'], CHOICE_NOTES);

// ── streams ───────────────────────────────────────────────────────────────────────────────────────────────────

/** A text in fragments. Joined from several, it stands nowhere in the input: its place is `around`. */
class Joined {
  readonly #texts: string[] = [];
  readonly #around: string;
  #path: string;

  constructor(around: string) {
    this.#around = around;
    this.#path = around;
  }

  add(text: string | null, path: string): void {
    if (text === null || text === '') return;
    this.#texts.push(text);
    this.#path = this.#texts.length === 1 ? path : this.#around;
  }

  get text(): string {
    return this.#texts.join('');
  }

  get isEmpty(): boolean {
    return this.#texts.length === 0;
  }

  get path(): string {
    return this.#path;
  }
}

interface StreamedCall {
  readonly path: string;
  readonly name: Joined;
  readonly args: Joined;
  id: string | null;
  kind: string;
}

/** What a streamed message says, in the order in which it is told, and what that is if it is no plain text. */
const PARTS = { thinking: 'thinking', content: undefined, spoken: undefined, refusal: 'refusal' } as const;

/** One choice of one streamed response. */
class StreamedMessage {
  readonly #path: string;
  readonly #said: Readonly<Record<keyof typeof PARTS, Joined>>;
  readonly #calls = new Map<number, StreamedCall>();
  #role = 'assistant';

  constructor(delta: string, path: string) {
    this.#path = path;
    this.#said = {
      thinking: new Joined(delta),
      content: new Joined(delta),
      spoken: new Joined(delta),
      refusal: new Joined(delta),
    };
  }

  add(reading: Reading, delta: JsonObject, path: string): void {
    const { thinking, content, spoken, refusal } = this.#said;
    reading.knows(delta, DELTA_KEYS, path, 'a delta');
    this.#role = reading.roleAt(delta, path, this.#role);
    content.add(reading.textAt(delta, 'content', path), join(path, 'content'));
    refusal.add(reading.textAt(delta, 'refusal', path), join(path, 'refusal'));
    for (const thought of thoughtsIn(reading, delta, path)) thinking.add(thought.text, thought.path);
    spoken.add(transcriptIn(reading, delta, path), join(path, 'audio', 'transcript'));
    for (const [position, [call, at]] of reading.objectsAt(delta, 'tool_calls', path, 'a call').entries()) {
      reading.knows(call, STREAMED_CALL_KEYS, at, 'a call');
      const index = own(call, 'index') ?? position;
      const target = reading.objectAt(call, 'function', at) ?? {};
      if (typeof index !== 'number') reading.wrong(join(at, 'index'), 'the index is a number');
      else this.#call(reading, index, call, target, at, join(at, 'function'));
    }
    const legacy = reading.objectAt(delta, 'function_call', path);
    const at = join(path, 'function_call');
    if (legacy !== null)
      this.#call(reading, LEGACY, { id: join(this.#path, 'function_call') }, legacy, at, at);
  }

  #call(
    reading: Reading,
    index: number,
    call: JsonObject,
    target: JsonObject,
    path: string,
    around: string,
  ): void {
    let known = this.#calls.get(index);
    if (known === undefined) {
      known = { path, name: new Joined(path), args: new Joined(path), id: null, kind: 'function' };
      this.#calls.set(index, known);
    }
    reading.knows(target, OLDER_CALL_KEYS, around, 'a called function');
    known.id = reading.textAt(call, 'id', path) ?? known.id;
    known.kind = reading.textAt(call, 'type', path) ?? known.kind;
    known.name.add(reading.textAt(target, 'name', around), join(around, 'name'));
    known.args.add(reading.textAt(target, 'arguments', around), join(around, 'arguments'));
  }

  emit(reading: Reading): void {
    const toolCalls = [...this.#calls.values()].map((call) => {
      const args = reading.argumentsOf(call.args.text, call.args.path);
      const places = { path: call.path, namePath: call.name.path, argumentsPath: call.args.path };
      return callEvent(
        {},
        { callId: call.id, kind: call.kind, name: call.name.text, arguments: args, ...places },
      );
    });
    const pieces = (Object.keys(PARTS) as (keyof typeof PARTS)[]).flatMap((part) => {
      const said = this.#said[part];
      return said.isEmpty ? [] : [loneText(said.text, said.path, PARTS[part])];
    });
    const frame = { type: 'Message', path: this.#path, role: this.#role } as const;
    for (const event of withContent({ ...frame, content: null, toolCalls }, this.#path, pieces))
      reading.emit(event);
  }
}

/** The one call of the older form has no index. */
const LEGACY = -1;

function readChunks(reading: Reading, chunks: readonly Placed[]): void {
  const messages = new Map<string, StreamedMessage>();
  for (const { value, path } of chunks) {
    const chunk = reading.object(value, path, 'a chunk');
    reading.beside(chunk, CHOICES, path);
    const id = reading.textAt(chunk, 'id', path);
    for (const [position, [choice, at]] of reading.objectsAt(chunk, 'choices', path, 'a choice').entries()) {
      reading.knows(choice, CHUNK_CHOICE_KEYS, at, 'a choice of a chunk');
      const delta = reading.objectAt(choice, 'delta', at);
      if (delta === null) continue;
      const key = JSON.stringify([id, own(choice, 'index') ?? position]);
      const message = messages.get(key) ?? new StreamedMessage(join(at, 'delta'), at);
      messages.set(key, message);
      message.add(reading, delta, join(at, 'delta'));
    }
    if (reading.fault !== null) return;
  }
  for (const message of messages.values()) message.emit(reading);
}
