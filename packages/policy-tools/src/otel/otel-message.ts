/**
 * Messages as OpenTelemetry's conventions for generative AI write them: `{role, parts}`, and the older form of
 * events (`{role, content, tool_calls}`), as events without a frame.
 *
 * Recordings are read with it; the hub does not use it.
 */
import { isJsonObject } from '@cordon/core';
import type { TraceEvent } from '@cordon/policy';
import {
  elementKeys,
  saysSomething,
  shownWord,
  strangeKey,
  strangeKeyMessage,
} from '../reading/known-keys.ts';
import { type KnownKeys, knownKeys } from '../reading/note-shape.ts';
import { Frames, join, Reading, wordsIn } from '../reading/reading.ts';
import { attachment, dataUrl, loneText, loneTexts, type Piece, Turn } from '../reading/turn.ts';
import type { Located } from './located.ts';

/** The events of one message; the reading keeps what is wrong with it. */
export function messageEvents(reading: Reading, message: Located, usualRole: string): readonly TraceEvent[] {
  const read = new Reading();
  const said = message.opened();
  if (!said.isObject) read.wrong(said.path, 'a message is an object');
  else checkKeys(read, said, MESSAGE_KEYS, 'a message');
  const role = roleOf(said) ?? usualRole;
  read.role(role, said.path);
  const turn = new Turn(read, Frames.none(), role, said.path);
  const parts = said.get('parts')?.opened() ?? null;
  const content = said.get('content');
  if (parts !== null && content !== null && saysSomething(content.plain()))
    read.wrong(content.path, 'a message has `parts` or a `content`, not both');
  if (parts !== null) readParts(read, turn, parts);
  else if (role === 'tool') readToolMessage(read, turn, said, content);
  else if (content !== null) readContent(read, turn, content.opened());
  readCalls(read, turn, said.get('tool_calls')?.opened() ?? null);
  turn.end();
  if (read.fault !== null) reading.wrong(read.fault.path, read.fault.message);
  return read.events;
}

/** `gen_ai.system_instructions`: parts without a message around them. */
export function instructionEvents(reading: Reading, instructions: Located): readonly TraceEvent[] {
  const read = new Reading();
  const said = instructions.opened();
  const turn = new Turn(read, Frames.none(), 'system', said.path);
  if (said.text !== null) turn.say(loneText(said.text, said.path));
  else readParts(read, turn, said);
  turn.end();
  if (read.fault !== null) reading.wrong(read.fault.path, read.fault.message);
  return read.events;
}

function roleOf(message: Located): string | null {
  const role = message.get('role')?.text ?? null;
  return role === 'model' ? 'assistant' : role;
}

function readParts(reading: Reading, turn: Turn, parts: Located): void {
  const items = parts.items();
  if (items === null) reading.wrong(parts.path, 'the parts are a list');
  for (const part of items ?? []) readPart(reading, turn, part);
}

function readPart(reading: Reading, turn: Turn, part: Located): void {
  if (part.text !== null) {
    turn.say(loneText(part.text, part.path));
    return;
  }
  if (!part.isObject) {
    reading.wrong(part.path, 'a part is an object');
    return;
  }
  const type = part.get('type')?.text ?? '';
  const known = PART_KEYS.get(type);
  if (known !== undefined) checkKeys(reading, part, known, `a part ${shownWord(type)}`);
  const content = part.get('content');
  switch (type) {
    case 'text':
    case 'reasoning':
      if (content?.text == null) reading.wrong(part.path, 'its `content` is a text');
      else
        turn.say(loneText(content.text, content.path, type === 'text' ? undefined : 'thinking', part.path));
      return;
    case 'tool_call':
      readCall(reading, turn, part, part, 'function', 'arguments');
      return;
    case 'server_tool_call':
      readCall(reading, turn, part, part, 'server', 'server_tool_call');
      return;
    case 'tool_call_response':
    case 'server_tool_call_response': {
      const given = ['response', 'result', 'server_tool_call_response'].flatMap((key) => part.get(key) ?? []);
      const [response = null, second] = given;
      if (second !== undefined) reading.wrong(second.path, 'a part has one response');
      readOutput(turn, textOf(reading, part.get('id')), response, part.path, false);
      return;
    }
    case 'blob':
    case 'uri':
    case 'file':
      readAttachment(turn, part, type);
      return;
    default:
      reading.wrong(
        part.path,
        `a part ${shownWord(type)} is not known, so nobody knows whether it is a call, an output or words`,
      );
  }
}

/** A part or message with keys that are known; where it stands as typed values, they are put together first. */
export function checkKeys(reading: Reading, located: Located, known: KnownKeys, what: string): void {
  const value = located.plain();
  const strange = isJsonObject(value) ? strangeKey(value, known) : null;
  if (strange === null) return;
  const isHere = isJsonObject(located.raw) && Object.hasOwn(located.raw, strange.keys[0]);
  reading.wrong(
    isHere ? join(located.path, ...strange.keys) : located.path,
    strangeKeyMessage(strange, what),
  );
}

const MESSAGE_KEYS = elementKeys(['role', 'parts', 'content', 'tool_calls', 'tool_call_id'], {
  mark: ['finish_reason', 'name', 'index'],
});

const SAID_KEYS = knownKeys(['type', 'content'], { mark: ['id'] });
const RESPONSE_KEYS = knownKeys(['type', 'id', 'response', 'result', 'server_tool_call_response'], {
  mark: ['name'],
});
const ATTACHMENT_NOTES = { mark: ['id', 'name'] } as const;
const ATTACHED = ['type', 'modality', 'mime_type', 'transcript'] as const;

/** Where a part of each type keeps what it says. */
const PART_KEYS: ReadonlyMap<string, KnownKeys> = new Map([
  ['text', SAID_KEYS],
  ['reasoning', SAID_KEYS],
  ['tool_call', knownKeys(['type', 'id', 'name', 'arguments'])],
  ['server_tool_call', knownKeys(['type', 'id', 'name', 'server_tool_call'])],
  ['tool_call_response', RESPONSE_KEYS],
  ['server_tool_call_response', RESPONSE_KEYS],
  ['blob', knownKeys([...ATTACHED, 'content'], ATTACHMENT_NOTES)],
  ['uri', knownKeys([...ATTACHED, 'uri'], ATTACHMENT_NOTES)],
  ['file', knownKeys([...ATTACHED, 'file_id'], ATTACHMENT_NOTES)],
]);

/** Of a content in the older form. */
const TEXT_KEYS = knownKeys(['text'], { mark: ['type'] });

const CALL_KEYS = elementKeys(['function'], { mark: ['type', 'index'] });
const FLAT_CALL_KEYS = elementKeys(['name', 'arguments'], { mark: ['type', 'index'] });
const FUNCTION_KEYS = knownKeys(['name', 'arguments']);

function readAttachment(turn: Turn, part: Located, type: 'blob' | 'uri' | 'file'): void {
  const mediaType = part.get('mime_type')?.text ?? part.get('modality')?.text ?? null;
  const bytes = part.get(type === 'blob' ? 'content' : type === 'uri' ? 'uri' : 'file_id')?.text ?? null;
  const url = bytes !== null && type === 'blob' ? dataUrl(mediaType, bytes) : bytes;
  turn.say(attachment(url, mediaType, part.path));
  const transcript = part.get('transcript');
  if (transcript?.text != null) turn.say(loneText(transcript.text, transcript.path));
}

/** Without them a rule about arguments would find nothing wrong with the call. */
export const NO_ARGUMENTS =
  'the call of a tool was recorded without its arguments: let the instrumentation capture their contents';

function readCall(
  reading: Reading,
  turn: Turn,
  call: Located,
  target: Located,
  kind: string,
  argumentsKey: string,
): void {
  const name = target.get('name');
  if (name?.text == null) {
    reading.wrong(target.path, '`name` is missing');
    return;
  }
  const args = target.get(argumentsKey);
  if (args === null) {
    reading.wrong(call.path, NO_ARGUMENTS);
    return;
  }
  turn.call({
    callId: textOf(reading, call.get('id')),
    kind,
    name: name.text,
    arguments: argumentsFrom(reading, args),
    path: call.path,
    namePath: name.path,
    argumentsPath: args.path,
  });
}

/** The text at `located`, or null. An id that is no text links nothing, so it is refused. */
export function textOf(reading: Reading, located: Located | null | undefined): string | null {
  if (located === null || located === undefined) return null;
  if (located.text === null) reading.wrong(located.path, 'it is a text');
  return located.text;
}

/** An object, or the text of one. */
export function argumentsFrom(reading: Reading, args: Located): ReturnType<Reading['argumentsOf']> {
  return reading.argumentsOf(args.opened().plain(), args.path);
}

function readCalls(reading: Reading, turn: Turn, calls: Located | null): void {
  if (calls === null) return;
  const items = calls.items();
  if (items === null) reading.wrong(calls.path, 'the calls are a list');
  for (const call of items ?? []) {
    const called = call.get('function')?.opened() ?? null;
    const target = called ?? call;
    checkKeys(reading, call, called === null ? FLAT_CALL_KEYS : CALL_KEYS, 'a call');
    if (called !== null) checkKeys(reading, called, FUNCTION_KEYS, 'a called function');
    readCall(reading, turn, call, target, 'function', 'arguments');
  }
}

/** A message of the role `tool`, in the older form. */
function readToolMessage(reading: Reading, turn: Turn, message: Located, content: Located | null): void {
  const id = textOf(reading, message.get('id')) ?? textOf(reading, message.get('tool_call_id'));
  if (!message.isObject) reading.wrong(message.path, 'a message is an object');
  readOutput(turn, id, content, message.path, false);
}

/** What a tool answered: a text, an object, or a list of whatever kind. */
export function readOutput(
  turn: Pick<Turn, 'output'>,
  callId: string | null,
  response: Located | null,
  path: string,
  isError: boolean,
): void {
  const error = isError ? { isError } : {};
  const content = response?.isObject === true ? response.plain() : null;
  if (response !== null && isJsonObject(content))
    turn.output({ callId, path, object: { content, path: response.path }, ...error });
  else turn.output({ callId, path, pieces: response === null ? [] : outputPieces(response), ...error });
}

function outputPieces(response: Located): readonly Piece[] {
  if (response.text !== null) return [loneText(response.text, response.path)];
  return loneTexts(wordsIn(response.raw, response.path));
}

function readContent(reading: Reading, turn: Turn, content: Located): void {
  if (content.text !== null) {
    turn.say(loneText(content.text, content.path));
    return;
  }
  const items = content.items();
  if (items === null) reading.wrong(content.path, 'the content is a text or a list of parts');
  for (const item of items ?? []) {
    const text = item.get('text');
    if (text?.text != null) {
      checkKeys(reading, item, TEXT_KEYS, 'a part');
      turn.say(loneText(text.text, text.path));
    } else readPart(reading, turn, item);
  }
}
