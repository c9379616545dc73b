/**
 * Messages of the Anthropic API: requests with `system`, `tools` and `messages`, responses, and lists of messages.
 *
 * Recordings are read with it; the hub does not use it.
 */
import { isJsonObject, type Json, type JsonObject } from '@cordon/core';
import { isList, own } from '../reading/json.ts';
import { elementKeys, shownWord } from '../reading/known-keys.ts';
import { type KnownKeys, knownKeys, type Notes } from '../reading/note-shape.ts';
import { Frames, join, type Reading, wordsIn } from '../reading/reading.ts';
import { emitTools } from '../reading/tool.ts';
import {
  attachment,
  contentPieces,
  dataUrl,
  loneText,
  loneTexts,
  namedCall,
  type Piece,
  Turn,
  textChunk,
} from '../reading/turn.ts';

/** `system` and `tools` of a request, in that order: what the model gets first. */
export function readAnthropicPreamble(reading: Reading, request: JsonObject, path: string): void {
  const system = own(request, 'system') ?? null;
  if (system !== null) {
    const at = join(path, 'system');
    const turn = new Turn(reading, Frames.none(), 'system', at);
    for (const piece of pieces(reading, system, at)) turn.say(piece);
    turn.end();
  }
  emitTools(reading, request, 'tools', path, ['input_schema']);
}

/** The elements of `messages`; `path` is that of the list. */
export function readAnthropicMessages(reading: Reading, messages: readonly Json[], path: string): void {
  reading.each(messages, path, (message, at) => readAnthropicMessage(reading, message, at));
}

/** A message, or a response, which is one. */
export function readAnthropicMessage(reading: Reading, value: Json, path: string): void {
  const message = reading.object(value, path, 'a message');
  const role = reading.roleAt(message, path);
  reading.refuse(message, ['tool_calls', 'tool_call_id', 'function_call', 'parts'], path, 'a message');
  if (role === 'tool' || role === 'function') reading.wrong(join(path, 'role'), 'outputs are blocks here');
  // A response may stand beside its request, whose keys are looked at there.
  if (path !== '') reading.knows(message, MESSAGE_KEYS, path, 'a message');
  const turn = new Turn(reading, Frames.of(reading, message, path), role, path);
  const content = own(message, 'content') ?? null;
  const at = join(path, 'content');
  if (typeof content === 'string') turn.say(loneText(content, at));
  else if (isList(content)) {
    for (const [index, block] of content.entries()) readBlock(reading, turn, block, join(at, index));
  } else if (content !== null) reading.wrong(at, 'the content is a text or a list of blocks');
  turn.end();
}

const MESSAGE_KEYS = elementKeys(['role', 'content'], {
  mark: ['type', 'stop_reason'],
  short: ['stop_sequence'],
  notes: ['container', 'context_management', 'cache_control'],
  failure: ['stop_details'],
});

const BLOCK_KEYS: ReadonlyMap<string, KnownKeys> = new Map([
  ['text', blockKeys(['text'], { citations: ['citations'] })],
  ['thinking', blockKeys(['thinking'], { sealed: ['signature'] })],
  // What was thought is encrypted.
  ['redacted_thinking', blockKeys([], { sealed: ['data'] })],
  ['image', blockKeys(['source', 'title', 'context'])],
  ['document', blockKeys(['source', 'title', 'context'], { notes: ['citations'] })],
  ['search_result', blockKeys(['source', 'title', 'content', 'citations'])],
  ['container_upload', blockKeys(['file_id'])],
  ['tool_reference', blockKeys(['tool_name'])],
  ['tool_use', blockKeys(['name', 'input'])],
  ['server_tool_use', blockKeys(['name', 'input'])],
  ['mcp_tool_use', blockKeys(['name', 'input', 'server_name'])],
]);

/** Of all results, also those of tools of the provider that do not exist yet. */
const RESULT_KEYS = blockKeys(['tool_use_id', 'content', 'is_error']);

function blockKeys(read: readonly string[], notes: Notes = {}): KnownKeys {
  return knownKeys(read, {
    ...notes,
    mark: ['type', 'id'],
    notes: ['cache_control', 'caller', ...(notes.notes ?? [])],
  });
}

/** By its type, where its words or bytes stand. */
const SOURCE_DATA: ReadonlyMap<string, KnownKeys> = new Map(
  (['base64:data', 'url:url', 'text:data', 'content:content'] as const).map((kind) => {
    const [type = '', key = ''] = kind.split(':');
    return [type, knownKeys(['type', 'media_type', key])];
  }),
);

/** The type of a block that is known, with keys that are. */
function typeOf(reading: Reading, block: JsonObject, path: string): string {
  const type = reading.nameAt(block, 'type', path);
  const known = BLOCK_KEYS.get(type) ?? (type.endsWith('tool_result') ? RESULT_KEYS : undefined);
  if (known !== undefined) reading.knows(block, known, path, `a block ${shownWord(type)}`);
  else if (type !== '') reading.wrong(join(path, 'type'), unknownBlock(type));
  return type;
}

/** Its words must not be taken for what a user or a model said, nor a call for words. */
function unknownBlock(type: string): string {
  return `a block ${shownWord(type)} is not known, so nobody knows whether it is a call, an output or words`;
}

function readBlock(reading: Reading, turn: Turn, value: Json, path: string): void {
  if (reading.fault !== null) return;
  const block = reading.object(value, path, 'a block');
  const type = typeOf(reading, block, path);
  switch (type) {
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use':
      turn.call({
        ...namedCall(reading, block, path, 'input'),
        callId: reading.textAt(block, 'id', path),
        kind: type === 'tool_use' ? 'function' : type === 'mcp_tool_use' ? 'mcp' : 'server',
        server: type === 'mcp_tool_use' ? reading.textAt(block, 'server_name', path) : null,
      });
      return;
    default:
      if (type.endsWith('tool_result')) readResult(reading, turn, block, path, type);
      else for (const piece of blockPieces(reading, block, path, type)) turn.say(piece);
  }
}

/** `tool_result`, `mcp_tool_result`, and those of the provider's own tools (`web_search_tool_result`, …). */
function readResult(reading: Reading, turn: Turn, block: JsonObject, path: string, type: string): void {
  const content = own(block, 'content') ?? null;
  const at = join(path, 'content');
  const isOwn = type === 'tool_result' || type === 'mcp_tool_result';
  const isError = own(block, 'is_error') ?? null;
  if (isError !== null && typeof isError !== 'boolean')
    reading.wrong(join(path, 'is_error'), '`is_error` is true or false');
  const kind = isJsonObject(content) ? own(content, 'type') : undefined;
  const ownError = typeof kind === 'string' && kind.endsWith('_error');
  turn.output({
    callId: reading.textAt(block, 'tool_use_id', path),
    path,
    pieces: isOwn ? pieces(reading, content, at) : loneTexts(wordsIn(content, at)),
    isError: isError === true || ownError,
  });
}

/** A content that is a text or a list of blocks. */
function pieces(reading: Reading, content: Json, path: string): readonly Piece[] {
  return contentPieces(reading, content, path, 'blocks', (value, at) => {
    const block = reading.object(value, at, 'a block');
    return blockPieces(reading, block, at, typeOf(reading, block, at));
  });
}

function blockPieces(reading: Reading, block: JsonObject, path: string, type: string): readonly Piece[] {
  switch (type) {
    case 'text':
      return [textChunk(reading.nameAt(block, 'text', path), path)];
    case 'thinking':
      return [loneText(reading.nameAt(block, 'thinking', path), join(path, 'thinking'), 'thinking', path)];
    case 'redacted_thinking':
      return [];
    case 'image':
    case 'document':
      return [...titles(reading, block, path), ...sourcePieces(reading, block, path)];
    default:
      return loneTexts(wordsIn(block, path), type);
  }
}

/** What stands beside a document's text. */
function titles(reading: Reading, block: JsonObject, path: string): readonly Piece[] {
  return ['title', 'context'].flatMap((key) => {
    // `context` names an agent's context only on elements, never on blocks.
    const text = reading.textAt(block, key, path);
    return text === null ? [] : [loneText(text, join(path, key))];
  });
}

function sourcePieces(reading: Reading, block: JsonObject, path: string): readonly Piece[] {
  const at = join(path, 'source');
  const source = reading.objectAt(block, 'source', path);
  if (source === null) return [];
  const mediaType = reading.textAt(source, 'media_type', at);
  const type = own(source, 'type');
  const said = typeof type === 'string' ? SOURCE_DATA.get(type) : undefined;
  if (said !== undefined) reading.knows(source, said, at, 'a source');
  switch (type) {
    case 'base64':
      return [attachment(dataUrl(mediaType, reading.nameAt(source, 'data', at)), mediaType, path)];
    case 'url':
      return [attachment(reading.nameAt(source, 'url', at), mediaType, path)];
    case 'text':
      return [loneText(reading.nameAt(source, 'data', at), join(at, 'data'))];
    case 'content':
      return pieces(reading, own(source, 'content') ?? null, join(at, 'content'));
    default:
      return [attachment(null, mediaType, path), ...loneTexts(wordsIn(source, at))];
  }
}
