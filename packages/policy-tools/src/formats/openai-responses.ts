/**
 * Items of the OpenAI Responses API: requests with `instructions`, `tools` and `input`, responses with `output`,
 * and lists of items.
 *
 * The interface gains kinds of items faster than any list of them: what ends in `_call` is a call, what ends in
 * `_call_output` an output, and of anything else every text becomes a message.
 *
 * Recordings are read with it; the hub does not use it.
 */
import { isJsonObject, type Json, type JsonObject } from '@cordon/core';
import { isList, own } from '../reading/json.ts';
import { elementKeys, saysSomething, shownWord } from '../reading/known-keys.ts';
import { type KnownKeys, knownKeys, type Notes } from '../reading/note-shape.ts';
import { Frames, join, type Reading, wordsIn } from '../reading/reading.ts';
import { emitOpenaiTools, emitTools } from '../reading/tool.ts';
import {
  attachment,
  type CallParts,
  callEvent,
  contentPieces,
  dataUrl,
  emitOutput,
  loneText,
  loneTexts,
  namedCall,
  openaiSound,
  type Piece,
  Turn,
  textChunk,
} from '../reading/turn.ts';

/** `instructions` and `tools` of a request. */
export function readResponsesPreamble(reading: Reading, request: JsonObject, path: string): void {
  const instructions = own(request, 'instructions') ?? null;
  const at = join(path, 'instructions');
  if (typeof instructions === 'string') {
    const turn = new Turn(reading, Frames.none(), 'system', at);
    turn.say(loneText(instructions, at));
    turn.end();
  } else if (isList(instructions)) readItems(reading, instructions, at);
  else if (instructions !== null) reading.wrong(at, 'the instructions are a text or a list of items');
  emitOpenaiTools(reading, request, path);
}

/** `input`: a text of the user, or items at `path`. */
export function readResponsesInput(reading: Reading, input: Json, path: string): void {
  if (isList(input)) readItems(reading, input, path);
  else if (typeof input === 'string') {
    const turn = new Turn(reading, Frames.none(), 'user', path);
    turn.say(loneText(input, path));
    turn.end();
  } else reading.wrong(path, 'the input is a text or a list of items');
}

export function readResponse(reading: Reading, value: Json, path: string): void {
  const response = reading.object(value, path, 'a response');
  reading.answers(response, ['output', 'error'], path);
  readItems(reading, reading.listAt(response, 'output', path), join(path, 'output'));
}

function readItems(reading: Reading, items: readonly Json[], path: string): void {
  reading.each(items, path, (item, at) => readItem(reading, item, at));
}

function readItem(reading: Reading, value: Json, path: string): void {
  const item = reading.object(value, path, 'an item');
  const frames = Frames.of(reading, item, path);
  const type = reading.textAt(item, 'type', path) ?? 'message';
  reading.refuse(item, ['tool_calls', 'tool_call_id', 'function', 'parts'], path, 'an item');
  const known = ITEM_KEYS.get(type) ?? (type.endsWith('_output') ? OUTPUT_KEYS : null);
  if (known !== null) reading.knows(item, known, path, `an item ${shownWord(type)}`);
  switch (type) {
    case 'message':
      readMessage(reading, frames, item, path);
      return;
    case 'reasoning':
      readReasoning(reading, frames, item, path);
      return;
    case 'mcp_list_tools':
      readTools(reading, frames, item, path);
      return;
    case 'function_call':
    case 'mcp_call':
    case 'custom_tool_call':
      readNamedCall(reading, frames, item, path, type);
      return;
    case 'mcp_approval_request':
    case 'mcp_approval_response':
      readWords(reading, frames, item, path, type);
      return;
    case 'item_reference':
    case 'compaction':
      // An id, and what only the provider can read.
      return;
    default:
      if (type.endsWith('_call')) readBuiltInCall(reading, frames, item, path, type);
      else if (type.endsWith('_output')) readOutput(reading, frames, item, path);
      else reading.wrong(join(path, 'type'), unknownItem(type));
  }
}

function unknownItem(type: string): string {
  return `an item ${shownWord(type)} is not known, so nobody knows whether it is a call, an output or words`;
}

function itemKeys(read: readonly string[], notes: Notes = {}): KnownKeys {
  return elementKeys(read, {
    ...notes,
    mark: ['type', 'call_id', 'created_by', 'object', ...(notes.mark ?? [])],
  });
}

const ITEM_KEYS: ReadonlyMap<string, KnownKeys> = new Map([
  ['message', itemKeys(['role', 'content'], { mark: ['phase', 'name'] })],
  ['reasoning', itemKeys(['summary', 'content'], { sealed: ['encrypted_content'] })],
  ['mcp_list_tools', itemKeys(['server_label', 'tools'], { failure: ['error'] })],
  ['function_call', itemKeys(['name', 'arguments'], { mark: ['namespace'], notes: ['caller'] })],
  ['custom_tool_call', itemKeys(['name', 'input'], { mark: ['namespace'], notes: ['caller'] })],
  [
    'mcp_call',
    itemKeys(['name', 'arguments', 'server_label', 'output', 'error'], { mark: ['approval_request_id'] }),
  ],
  ['mcp_approval_request', itemKeys(['name', 'arguments', 'server_label'])],
  ['mcp_approval_response', itemKeys(['approval_request_id', 'approve', 'reason'])],
  ['item_reference', itemKeys([])],
  ['compaction', itemKeys([], { sealed: ['encrypted_content'] })],
]);

const OUTPUT_KEYS = itemKeys(['output', 'tools'], {
  mark: ['name', 'max_output_length', 'execution'],
  notes: ['caller'],
  failure: ['acknowledged_safety_checks'],
});

const CALL_DATA = ['action', 'operation', 'queries', 'actions'] as const;

/** Beside what is called. */
const BUILT_IN_KEYS = itemKeys([...CALL_DATA, 'result', 'results', 'outputs'], {
  mark: ['max_output_length', 'execution'],
  notes: ['environment', 'caller'],
  failure: ['pending_safety_checks'],
});

function readMessage(reading: Reading, frames: Frames, item: JsonObject, path: string): void {
  const role = reading.roleAt(item, path);
  if (role === 'tool' || role === 'function') reading.wrong(join(path, 'role'), 'outputs are items here');
  const turn = new Turn(reading, frames, role, path);
  for (const piece of pieces(reading, own(item, 'content') ?? null, join(path, 'content'))) turn.say(piece);
  turn.end();
}

function readReasoning(reading: Reading, frames: Frames, item: JsonObject, path: string): void {
  const turn = new Turn(reading, frames, 'assistant', path);
  for (const key of ['summary', 'content']) {
    for (const piece of pieces(reading, own(item, key) ?? null, join(path, key))) {
      turn.say(piece.kind === 'text' ? { ...piece, part: 'thinking' } : piece);
    }
  }
  turn.end();
}

function readTools(reading: Reading, frames: Frames, item: JsonObject, path: string): void {
  const server = reading.textAt(item, 'server_label', path);
  emitTools(reading, item, 'tools', path, ['input_schema'], frames, server);
}

/** Calls that say which tool: the program's functions, its tools with free text, and tools of servers. */
function readNamedCall(
  reading: Reading,
  frames: Frames,
  item: JsonObject,
  path: string,
  type: 'function_call' | 'mcp_call' | 'custom_tool_call',
): void {
  const isMcp = type === 'mcp_call';
  const callId = reading.textAt(item, reading.keyIn(item, 'call_id', 'id'), path);
  const server = isMcp ? reading.textAt(item, 'server_label', path) : null;
  const named = { ...namedCall(reading, item, path, 'arguments'), callId, server };
  if (type === 'custom_tool_call') {
    // The one argument is the item's own field, so that ranges in it lead there.
    const input = reading.nameAt(item, 'input', path);
    emitCall(reading, frames, { ...named, kind: 'custom', arguments: { input }, argumentsPath: path });
    return;
  }
  emitCall(reading, frames, { ...named, kind: isMcp ? 'mcp' : 'function' });
  if (isMcp) readMcpOutcome(reading, frames, item, path, callId, server);
}

/** The item of a server's call holds its output too. */
function readMcpOutcome(
  reading: Reading,
  frames: Frames,
  item: JsonObject,
  path: string,
  callId: string | null,
  server: string | null,
): void {
  const error = own(item, 'error') ?? null;
  const output = reading.textAt(item, 'output', path);
  if (error === null && output === null) return;
  const outputs = output === null ? [] : [loneText(output, join(path, 'output'))];
  const errors = error === null ? [] : loneTexts(wordsIn(error, join(path, 'error')));
  emitOutput(reading, frames, {
    callId,
    path,
    pieces: [...outputs, ...errors],
    isError: error !== null,
    server,
  });
}

/** `web_search_call`, `computer_call`, `shell_call` and their like: the tool is the kind. */
function readBuiltInCall(
  reading: Reading,
  frames: Frames,
  item: JsonObject,
  path: string,
  type: string,
): void {
  const callId = reading.textAt(item, reading.keyIn(item, 'call_id', 'id'), path);
  const [only, second] = CALL_DATA.filter((key) => saysSomething(own(item, key)));
  const isOne = only !== undefined && second === undefined && isJsonObject(own(item, only));
  const what = isOne ? only : undefined;
  // Without one of them that says it all, whatever the item holds is an argument.
  reading.knows({ status: own(item, 'status') ?? null }, BUILT_IN_KEYS, path, `an item ${shownWord(type)}`);
  if (what !== undefined) reading.knows(item, BUILT_IN_KEYS, path, `an item ${shownWord(type)}`);
  const details = what === undefined ? withoutMarks(item) : reading.object(item[what], path, 'an action');
  emitCall(reading, frames, {
    callId,
    kind: 'server',
    name: type.slice(0, -'_call'.length),
    arguments: details,
    path,
    namePath: join(path, 'type'),
    argumentsPath: what === undefined ? path : join(path, what),
  });
  const found = builtInResults(reading, item, path);
  if (found.length > 0) emitOutput(reading, frames, { callId, path, pieces: found });
}

/** What came of a built-in call, where it is in the call's own item. */
function builtInResults(reading: Reading, item: JsonObject, path: string): readonly Piece[] {
  const result = own(item, 'result') ?? null;
  const image =
    typeof result === 'string'
      ? [attachment(dataUrl('image/png', result), 'image/png', join(path, 'result'))]
      : loneTexts(wordsIn(result, join(path, 'result')));
  const found = ['results', 'outputs'].flatMap((key) => {
    const at = join(path, key);
    return reading.listAt(item, key, path).flatMap((entry, index): readonly Piece[] => {
      const place = join(at, index);
      const url = isJsonObject(entry) && own(entry, 'type') === 'image' ? own(entry, 'url') : undefined;
      if (typeof url === 'string') return [attachment(url, null, place)];
      return loneTexts(wordsIn(entry, place));
    });
  });
  return [...image, ...found];
}

/** The fields that say what is called; results are outputs. */
const NO_ARGUMENTS: ReadonlySet<string> = new Set([
  ...['id', 'call_id', 'type', 'status', 'result', 'results', 'outputs', 'context', 'causes'],
]);

function withoutMarks(item: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(item).filter(([key]) => !NO_ARGUMENTS.has(key)));
}

function readOutput(reading: Reading, frames: Frames, item: JsonObject, path: string): void {
  const callId = reading.textAt(item, reading.keyIn(item, 'call_id', 'id'), path);
  const key = reading.keyIn(item, 'output', 'tools');
  if (key === 'output' && saysSomething(own(item, 'tools')))
    reading.wrong(join(path, 'tools'), 'an item has an `output` or `tools`, not both');
  const output = own(item, key) ?? null;
  const at = join(path, key);
  if (isJsonObject(output)) {
    const image = own(output, 'image_url');
    if (typeof image === 'string')
      emitOutput(reading, frames, { callId, path, pieces: [attachment(image, null, at)] });
    else emitOutput(reading, frames, { callId, path, object: { content: output, path: at } });
    return;
  }
  emitOutput(reading, frames, { callId, path, pieces: outputPieces(reading, output, at) });
}

/** What a tool gave back: parts of a content, or data of whatever form. */
function outputPieces(reading: Reading, output: Json, path: string): readonly Piece[] {
  if (!isList(output)) return pieces(reading, output, path);
  return output.flatMap((value, index) => {
    const at = join(path, index);
    const type = isJsonObject(value) ? own(value, 'type') : undefined;
    return typeof type === 'string' && PART_KEYS.has(type)
      ? partPieces(reading, value, at)
      : loneTexts(wordsIn(value, at));
  });
}

/** Every text of an item is a word of the conversation. */
function readWords(reading: Reading, frames: Frames, item: JsonObject, path: string, type: string): void {
  const turn = new Turn(reading, frames, type.endsWith('_response') ? 'user' : 'assistant', path);
  turn.sayAll(item, path, type);
  turn.end();
}

function emitCall(reading: Reading, frames: Frames, parts: CallParts): void {
  reading.emit(callEvent(frames.next(), parts));
}

/** A content that is a text or a list of its parts. */
function pieces(reading: Reading, content: Json, path: string): readonly Piece[] {
  return contentPieces(reading, content, path, 'parts', (part, at) => partPieces(reading, part, at));
}

function partPieces(reading: Reading, value: Json, path: string): readonly Piece[] {
  const part = reading.object(value, path, 'a part');
  const type = own(part, 'type');
  const known = typeof type === 'string' ? PART_KEYS.get(type) : undefined;
  if (known !== undefined) reading.knows(part, known, path, 'a part');
  switch (type) {
    case 'input_text':
    case 'output_text':
    case 'summary_text':
    case 'reasoning_text':
    case 'text':
      return [textChunk(reading.nameAt(part, 'text', path), path)];
    case 'refusal':
      return [loneText(reading.nameAt(part, 'refusal', path), join(path, 'refusal'), 'refusal', path)];
    case 'input_image':
    case 'computer_screenshot': {
      const url = reading.textAt(part, 'image_url', path) ?? reading.textAt(part, 'file_id', path);
      return [attachment(url, null, path)];
    }
    case 'input_file': {
      const name = reading.textAt(part, 'filename', path);
      const keys = ['file_data', 'file_url', 'file_id'];
      const url = keys.map((key) => reading.textAt(part, key, path)).find((text) => text !== null) ?? null;
      const named = name === null ? [] : [loneText(name, join(path, 'filename'))];
      return [...named, attachment(url, null, path)];
    }
    case 'input_audio':
      return [openaiSound(reading, part, path)];
    default:
      reading.wrong(path, 'a part of another interface');
      return [];
  }
}

const PART_NOTES = {
  mark: ['type', 'detail'],
  citations: ['annotations'],
  odds: ['logprobs'],
} as const;
const TEXT_KEYS = knownKeys(['text'], PART_NOTES);
const IMAGE_KEYS = knownKeys(['image_url', 'file_id'], PART_NOTES);

/** Where a part of each type keeps what it is. */
const PART_KEYS: ReadonlyMap<string, KnownKeys> = new Map([
  ...['input_text', 'output_text', 'summary_text', 'reasoning_text', 'text'].map(
    (type): [string, KnownKeys] => [type, TEXT_KEYS],
  ),
  ['refusal', knownKeys(['refusal'], PART_NOTES)],
  ['input_image', IMAGE_KEYS],
  ['computer_screenshot', IMAGE_KEYS],
  ['input_file', knownKeys(['filename', 'file_data', 'file_url', 'file_id'], PART_NOTES)],
  ['input_audio', knownKeys(['input_audio'], PART_NOTES)],
]);
