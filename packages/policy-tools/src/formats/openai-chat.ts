/**
 * OpenAI chat completions: what `chat.ts` decodes, and what providers and their older versions write beside it:
 * `function_call`, outputs of the role `function`, free-text tools, refusals, reasoning, sound and files; responses
 * with `choices`, and responses that were streamed in chunks.
 *
 * Ring 1: recordings are read with it; the hub does not use it.
 */
import { isJsonObject, type Json, type JsonObject } from '@cordon/core';
import type { ToolCallEvent, TraceEvent } from '@cordon/policy';
import { decodeChat } from '../reading/chat.ts';
import { isList, own } from '../reading/json.ts';
import { elementKeys, saysSomething } from '../reading/known-keys.ts';
import { knownKeys } from '../reading/note-shape.ts';
import { OpenCalls } from '../reading/open-calls.ts';
import { join, type Reading, type TraceDialect, wordsIn } from '../reading/reading.ts';
import { emitOpenaiTools, emitTool } from '../reading/tool.ts';
import {
  attachment,
  callEvent,
  dataUrl,
  loneText,
  loneTexts,
  type Piece,
  textChunk,
  withContent,
} from '../reading/turn.ts';

/** Whether a list has nothing in it but what `chat.ts` knows: then it is decoded as it is, in one pass. */
export function isPlainChat(list: readonly Json[], dialect: TraceDialect): boolean {
  for (const element of list) {
    if (!isJsonObject(element)) continue;
    if (typeof own(element, 'role') === 'string' ? isSpecial(element, dialect) : !isPlainElement(element))
      return false;
  }
  return true;
}

/** A call or a list of tools; not a request that has tools beside its messages. */
function isPlainElement(element: JsonObject): boolean {
  if (Object.hasOwn(element, 'function')) return true;
  return Object.hasOwn(element, 'tools') && !Object.hasOwn(element, 'messages');
}

export function readChatPreamble(reading: Reading, request: JsonObject, path: string): void {
  emitOpenaiTools(reading, request, path);
  for (const [index, value] of reading.listAt(request, 'functions', path).entries()) {
    // The older form of `tools`.
    const at = join(path, 'functions', index);
    emitTool(reading, {}, reading.object(value, at, 'a function'), at, ['parameters']);
  }
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
  const messages = reading.listAt(completion, 'choices', path).map((value, index): Placed => {
    const at = join(path, 'choices', index);
    const choice = reading.object(value, at, 'a choice');
    reading.knows(choice, CHOICE_KEYS, at, 'a choice');
    const message = own(choice, 'message');
    if (message === undefined) reading.wrong(at, 'a choice has a `message`');
    return { value: message ?? null, path: join(at, 'message') };
  });
  readElements(reading, messages);
}

// ── messages ──────────────────────────────────────────────────────────────────────────────────────────────────

/** What an element's events get after they have been decoded. */
interface Amendment {
  readonly pieces: readonly Piece[] | null;
  readonly calls: ReadonlyMap<number, Pick<ToolCallEvent, 'path' | 'parts'>>;
}

function readElements(reading: Reading, elements: readonly Placed[]): void {
  if (reading.fault !== null) return;
  const open = new OpenCalls();
  const amendments = new Map<number, Amendment>();
  const plain = elements.map(({ value, path }, index) => {
    const special =
      isJsonObject(value) && isSpecial(value, reading.dialect) ? plainForm(reading, value, path, open) : null;
    if (special === null) return value;
    amendments.set(index, special.amendment);
    return special.element;
  });
  const decoded = decodeChat(plain);
  if (!decoded.ok) {
    const { path, message } = decoded.fault;
    reading.wrong(placed(elements, path), message);
    return;
  }
  for (const event of decoded.value) {
    const index = Number.parseInt(event.path ?? '', 10);
    const moved = movedTo(elements, event);
    const amendment = amendments.get(index);
    if (amendment === undefined) reading.emit(moved);
    else for (const amended of amend(moved, elements[index]?.path ?? '', amendment)) reading.emit(amended);
  }
}

/** `2.content` of the decoded list, as a path of the input. */
function placed(elements: readonly Placed[], path: string): string {
  const end = path.indexOf('.');
  const index = Number.parseInt(path, 10);
  const element = elements[index]?.path ?? '';
  return end < 0 ? element : join(element, path.slice(end + 1));
}

function movedTo(elements: readonly Placed[], event: TraceEvent): TraceEvent {
  const path = placed(elements, event.path ?? '');
  if (path === event.path) return event;
  if (event.type !== 'Message') return { ...event, path };
  const toolCalls = event.toolCalls.map((call) => ({ ...call, path: placed(elements, call.path ?? '') }));
  return { ...event, path, toolCalls };
}

function amend(event: TraceEvent, path: string, { pieces, calls }: Amendment): readonly TraceEvent[] {
  if (event.type !== 'Message' && event.type !== 'ToolOutput') return [event];
  const amended =
    event.type === 'Message'
      ? { ...event, toolCalls: event.toolCalls.map((call, index) => ({ ...call, ...calls.get(index) })) }
      : event;
  const isBare = pieces === null || pieces.length === 0;
  return isBare ? [amended] : withContent(amended, path, pieces);
}

/** Whether an element has what `chat.ts` does not know. */
function isSpecial(element: JsonObject, dialect: TraceDialect): boolean {
  const role = own(element, 'role');
  if (typeof role !== 'string') return false;
  if (role === 'function' && dialect === 'cordon') return true;
  for (const key of SPECIAL_KEYS) if ((own(element, key) ?? null) !== null) return true;
  if (saysSomething(own(element, ERROR))) return true;
  const content = own(element, 'content');
  if (isList(content) && content.some((chunk) => !isPlainChunk(chunk))) return true;
  const calls = own(element, 'tool_calls');
  return isList(calls) && calls.some((call) => isJsonObject(call) && Object.hasOwn(call, 'custom'));
}

/** Where providers put what their models think. */
const THINKING_KEYS = ['reasoning_content', 'reasoning', 'thinking'] as const;

/** Some say the same under two keys. */
function thinkingKey(element: JsonObject): (typeof THINKING_KEYS)[number] | null {
  return THINKING_KEYS.find((key) => (own(element, key) ?? null) !== null) ?? null;
}

/** The same in pieces, which are read where the texts above do not have them. */
const THOUGHT_KEYS = ['reasoning_details', 'thinking_blocks'] as const;

const THOUGHT_PART_KEYS = knownKeys(['text', 'summary', 'thinking'], {
  mark: ['type', 'format', 'id', 'index'],
  sealed: ['signature', 'data'],
});

/** Thinking in pieces that `known` does not hold. */
function thoughtsBeside(
  reading: Reading,
  element: JsonObject,
  path: string,
  known: string,
): readonly Piece[] {
  return THOUGHT_KEYS.flatMap((key) =>
    reading.listAt(element, key, path).flatMap((value, index) => {
      const at = join(path, key, index);
      const part = reading.object(value, at, 'a part of a thought');
      reading.knows(part, THOUGHT_PART_KEYS, at, 'a part of a thought');
      return ['text', 'summary', 'thinking'].flatMap((of) => {
        const text = reading.textAt(part, of, at);
        return text === null || text === '' || known.includes(text)
          ? []
          : [loneText(text, join(at, of), 'thinking')];
      });
    }),
  );
}

const SPECIAL_KEYS = [
  ...(['function_call', 'refusal', 'audio', 'parts'] as const),
  ...[...THINKING_KEYS, ...THOUGHT_KEYS],
] as const;

/** The error of a tool is a word of its output. */
const ERROR = 'error';

/** What is left of an element for `chat.ts`, which knows no special keys and refuses what it does not know. */
function withoutSpecialKeys(element: JsonObject): JsonObject {
  const special = new Set<string>([...SPECIAL_KEYS, ERROR]);
  return Object.fromEntries(Object.entries(element).filter(([key]) => !special.has(key)));
}

const CUSTOM_KEYS = knownKeys(['name', 'input']);
const LEGACY_KEYS = knownKeys(['name', 'arguments']);
const AUDIO_KEYS = knownKeys(['transcript'], { sealed: ['id', 'data'], mark: ['expires_at', 'format'] });

const DELTA_KEYS = elementKeys(
  [
    ...['role', 'content', 'refusal', 'tool_calls', 'function_call', 'audio'],
    ...[...THINKING_KEYS, ...THOUGHT_KEYS],
  ],
  { mark: ['name'], citations: ['annotations'], sealed: ['provider_specific_fields'] },
);

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

function isPlainChunk(chunk: Json): boolean {
  return (
    isJsonObject(chunk) && (typeof own(chunk, 'text') === 'string' || isJsonObject(own(chunk, 'image_url')))
  );
}

/** The element in the form that `chat.ts` knows, and what must be put right afterwards. */
function plainForm(
  reading: Reading,
  element: JsonObject,
  path: string,
  open: OpenCalls,
): { readonly element: JsonObject; readonly amendment: Amendment } {
  reading.refuse(element, ['parts'], path, 'a message');
  const calls = new Map<number, Pick<ToolCallEvent, 'path' | 'parts'>>();
  const toolCalls = reading.listAt(element, 'tool_calls', path).map((call, index) => {
    if (!isJsonObject(call) || !Object.hasOwn(call, 'custom')) return call;
    const at = join(path, 'tool_calls', index);
    const target = join(at, 'custom');
    const custom = reading.object(own(call, 'custom'), target, '`custom`');
    calls.set(index, { path: at, parts: { name: join(target, 'name'), arguments: target } });
    const name = reading.nameAt(custom, 'name', target);
    reading.knows(custom, CUSTOM_KEYS, target, '`custom`');
    const { custom: _, ...rest } = call;
    return { ...rest, function: { name, arguments: { input: reading.nameAt(custom, 'input', target) } } };
  });
  const legacy = reading.objectAt(element, 'function_call', path);
  if (legacy !== null) {
    const at = join(path, 'function_call');
    reading.knows(legacy, LEGACY_KEYS, at, '`function_call`');
    const given = own(legacy, 'arguments');
    const argumentsPath = join(at, 'arguments');
    const parts = {
      name: join(at, 'name'),
      ...(given === undefined ? {} : { arguments: argumentsPath }),
    };
    calls.set(toolCalls.length, { path: at, parts });
    const name = reading.nameAt(legacy, 'name', at);
    const args = reading.argumentsOf(given, argumentsPath);
    open.opened(name, at);
    toolCalls.push({ id: at, type: 'function', function: { name, arguments: args } });
  }
  const pieces = contentPieces(reading, element, path);
  const isOutput = own(element, 'role') === 'function' && reading.dialect === 'cordon';
  const output = isOutput
    ? { role: 'tool', tool_call_id: open.answered(reading.nameAt(element, 'name', path)) }
    : { tool_calls: toolCalls };
  return {
    element: { ...withoutSpecialKeys(element), ...output, ...(pieces === null ? {} : { content: null }) },
    amendment: { pieces, calls },
  };
}

/** Null: the content is an object, or no content at all, as `chat.ts` will say. */
function contentPieces(reading: Reading, element: JsonObject, path: string): readonly Piece[] | null {
  const content = own(element, 'content') ?? null;
  const at = join(path, 'content');
  if (content !== null && typeof content !== 'string' && !isList(content)) return null;
  const pieces: Piece[] = [];
  const thinking = thinkingKey(element);
  const reasoning = thinking === null ? null : reading.textAt(element, thinking, path);
  if (thinking !== null && reasoning !== null)
    pieces.push(loneText(reasoning, join(path, thinking), 'thinking'));
  pieces.push(...thoughtsBeside(reading, element, path, reasoning ?? ''));
  const error = loneTexts(wordsIn(own(element, ERROR) ?? null, join(path, ERROR)), 'error');
  if (typeof content === 'string' && (content !== '' || error.length === 0))
    pieces.push(loneText(content, at));
  else if (isList(content)) {
    for (const [index, chunk] of content.entries()) {
      for (const piece of chunkPieces(reading, chunk, join(at, index))) pieces.push(piece);
    }
  }
  const refusal = reading.textAt(element, 'refusal', path);
  if (refusal !== null) pieces.push(loneText(refusal, join(path, 'refusal'), 'refusal'));
  const audio = own(element, 'audio') ?? null;
  if (audio !== null) {
    const spoken = reading.object(audio, join(path, 'audio'), '`audio`');
    reading.knows(spoken, AUDIO_KEYS, join(path, 'audio'), '`audio`');
    const transcript = reading.textAt(spoken, 'transcript', join(path, 'audio'));
    if (transcript !== null) pieces.push(loneText(transcript, join(path, 'audio', 'transcript')));
  }
  pieces.push(...error);
  return pieces;
}

const OTHER_CHUNKS: ReadonlySet<string> = new Set(['refusal', 'input_audio', 'file']);

/** What a chunk holds; of two, one would be seen. */
const CHUNK_DATA = ['text', 'image_url', 'refusal', 'input_audio', 'file'] as const;

const CHUNK_KEYS = elementKeys(CHUNK_DATA, {
  mark: ['type'],
  notes: ['cache_control'],
  citations: ['annotations', 'citations'],
});

const SOUND_KEYS = knownKeys(['data', 'format']);
const FILE_KEYS = knownKeys(['filename', 'file_data', 'file_id'], { mark: ['format'] });

function chunkPieces(reading: Reading, value: Json, path: string): readonly Piece[] {
  const chunk = reading.object(value, path, 'a chunk');
  const text = own(chunk, 'text');
  const image = own(chunk, 'image_url');
  const type = own(chunk, 'type');
  const isKnown =
    typeof text === 'string' || isJsonObject(image) || (typeof type === 'string' && OTHER_CHUNKS.has(type));
  if (isKnown) reading.knows(chunk, CHUNK_KEYS, path, 'a chunk');
  const [first, second] = CHUNK_DATA.filter((key) => saysSomething(own(chunk, key)));
  if (first !== undefined && second !== undefined)
    reading.wrong(join(path, second), `a chunk holds one thing, and this one has \`${first}\` as well`);
  if (typeof text === 'string' && (text !== '' || first === undefined)) return [textChunk(text, path)];
  if (isJsonObject(image)) return [{ kind: 'attachment', image_url: image, path }];
  switch (type) {
    case 'refusal':
      return [loneText(reading.nameAt(chunk, 'refusal', path), join(path, 'refusal'), 'refusal')];
    case 'input_audio': {
      const sound = reading.objectAt(chunk, 'input_audio', path) ?? {};
      const at = join(path, 'input_audio');
      reading.knows(sound, SOUND_KEYS, at, '`input_audio`');
      const mediaType = `audio/${reading.textAt(sound, 'format', at) ?? 'wav'}`;
      return [attachment(dataUrl(mediaType, reading.nameAt(sound, 'data', at)), mediaType, path)];
    }
    case 'file': {
      const file = reading.objectAt(chunk, 'file', path) ?? {};
      const at = join(path, 'file');
      reading.knows(file, FILE_KEYS, at, '`file`');
      const name = reading.textAt(file, 'filename', at);
      const url = reading.textAt(file, 'file_data', at) ?? reading.textAt(file, 'file_id', at);
      return [...(name === null ? [] : [loneText(name, join(at, 'filename'))]), attachment(url, null, path)];
    }
    default:
      // Blocks of others are calls and outputs; as texts they would be hidden from the rules about those.
      reading.wrong(path, 'a chunk has a `text` or an `image_url`');
      return [];
  }
}

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

/** One choice of one streamed response. */
class StreamedMessage {
  readonly #path: string;
  readonly #content: Joined;
  readonly #refusal: Joined;
  readonly #thinking: Joined;
  readonly #spoken: Joined;
  readonly #calls = new Map<number, StreamedCall>();
  #role = 'assistant';

  constructor(delta: string, path: string) {
    this.#path = path;
    this.#content = new Joined(delta);
    this.#refusal = new Joined(delta);
    this.#thinking = new Joined(delta);
    this.#spoken = new Joined(delta);
  }

  add(reading: Reading, delta: JsonObject, path: string): void {
    reading.knows(delta, DELTA_KEYS, path, 'a delta');
    this.#role = reading.textAt(delta, 'role', path) ?? this.#role;
    reading.role(this.#role, join(path, 'role'));
    this.#content.add(reading.textAt(delta, 'content', path), join(path, 'content'));
    this.#refusal.add(reading.textAt(delta, 'refusal', path), join(path, 'refusal'));
    const thinking = thinkingKey(delta);
    const thought = thinking === null ? null : reading.textAt(delta, thinking, path);
    if (thinking !== null) this.#thinking.add(thought, join(path, thinking));
    for (const piece of thoughtsBeside(reading, delta, path, thought ?? ''))
      if (piece.kind === 'text') this.#thinking.add(piece.text, piece.path);
    const audio = reading.objectAt(delta, 'audio', path);
    if (audio !== null) {
      const sound = join(path, 'audio');
      reading.knows(audio, AUDIO_KEYS, sound, '`audio`');
      this.#spoken.add(reading.textAt(audio, 'transcript', sound), join(sound, 'transcript'));
    }
    for (const [position, value] of reading.listAt(delta, 'tool_calls', path).entries()) {
      const at = join(path, 'tool_calls', position);
      const call = reading.object(value, at, 'a call');
      reading.knows(call, STREAMED_CALL_KEYS, at, 'a call');
      const index = own(call, 'index') ?? position;
      if (typeof index !== 'number') reading.wrong(join(at, 'index'), 'the index is a number');
      else
        this.#call(
          reading,
          index,
          call,
          reading.objectAt(call, 'function', at) ?? {},
          at,
          join(at, 'function'),
        );
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
    reading.knows(target, LEGACY_KEYS, around, 'a called function');
    known.id = reading.textAt(call, 'id', path) ?? known.id;
    known.kind = reading.textAt(call, 'type', path) ?? known.kind;
    known.name.add(reading.textAt(target, 'name', around), join(around, 'name'));
    known.args.add(reading.textAt(target, 'arguments', around), join(around, 'arguments'));
  }

  emit(reading: Reading): void {
    const toolCalls = [...this.#calls.values()].map((call) =>
      callEvent(
        {},
        {
          callId: call.id,
          kind: call.kind,
          name: call.name.text,
          arguments: reading.argumentsOf(call.args.text, call.args.path),
          path: call.path,
          namePath: call.name.path,
          argumentsPath: call.args.path,
        },
      ),
    );
    const message: TraceEvent = {
      type: 'Message',
      path: this.#path,
      role: this.#role,
      content: null,
      toolCalls,
    };
    const pieces = [
      ...(this.#thinking.isEmpty ? [] : [loneText(this.#thinking.text, this.#thinking.path, 'thinking')]),
      ...(this.#content.isEmpty ? [] : [loneText(this.#content.text, this.#content.path)]),
      ...(this.#spoken.isEmpty ? [] : [loneText(this.#spoken.text, this.#spoken.path)]),
      ...(this.#refusal.isEmpty ? [] : [loneText(this.#refusal.text, this.#refusal.path, 'refusal')]),
    ];
    for (const event of pieces.length === 0 ? [message] : withContent(message, this.#path, pieces))
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
    for (const [position, entry] of reading.listAt(chunk, 'choices', path).entries()) {
      const at = join(path, 'choices', position);
      const choice = reading.object(entry, at, 'a choice');
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
