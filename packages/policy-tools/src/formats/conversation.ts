/**
 * Requests and responses of the four providers' interfaces, in all the ways in which they are logged: the list of
 * messages alone, a request, a response, both in one object or as a pair, and a list of pairs, in which each request
 * repeats the conversation so far.
 *
 * Paths begin at the wrapped list of an object (`{"messages": […]}`: `0.content`); what stands beside that list, and
 * all of a list of pairs, has its path from the root.
 *
 * Recordings are read with it; the hub does not use it.
 */
import { isJsonObject, type Json, type JsonObject } from '@cordon/core';
import type { TraceEvent } from '@cordon/policy';
import { History } from '../reading/history.ts';
import { isContainer, isList, own } from '../reading/json.ts';
import { besideKey } from '../reading/known-keys.ts';
import { type KnownKeys, knownKeys } from '../reading/note-shape.ts';
import { join, Reading } from '../reading/reading.ts';
import { readAnthropicMessage, readAnthropicMessages, readAnthropicPreamble } from './anthropic.ts';
import { GeminiReader } from './gemini.ts';
import { readChatList, readChatPreamble, readChatResponse } from './openai-chat.ts';
import { readResponse, readResponsesInput, readResponsesPreamble } from './openai-responses.ts';

export type ConversationFormat = 'openai-chat' | 'openai-responses' | 'anthropic' | 'gemini';

/** Where a request keeps its messages, and a response its answer. */
const PLACES: Readonly<Record<ConversationFormat, { readonly asked: string; readonly answered: string }>> = {
  'openai-chat': { asked: 'messages', answered: 'choices' },
  'openai-responses': { asked: 'input', answered: 'output' },
  anthropic: { asked: 'messages', answered: 'content' },
  gemini: { asked: 'contents', answered: 'candidates' },
};

/** How one provider writes a conversation. */
interface Reader {
  /** What the model gets before all messages. */
  preamble(request: JsonObject, path: string): void;
  messages(value: Json, path: string): void;
  response(value: Json, path: string): void;
}

function readerOf(format: ConversationFormat, reading: Reading): Reader {
  switch (format) {
    case 'openai-chat':
      return {
        preamble: (request, path) => readChatPreamble(reading, request, path),
        messages: (value, path) => readChatList(reading, reading.list(value, path, 'the messages'), path),
        response: (value, path) => readChatResponse(reading, value, path),
      };
    case 'openai-responses':
      return {
        preamble: (request, path) => readResponsesPreamble(reading, request, path),
        messages: (value, path) => readResponsesInput(reading, value, path),
        response: (value, path) => readResponse(reading, value, path),
      };
    case 'anthropic':
      return {
        preamble: (request, path) => readAnthropicPreamble(reading, request, path),
        messages: (value, path) =>
          readAnthropicMessages(reading, reading.list(value, path, 'the messages'), path),
        response: (value, path) => readAnthropicMessage(reading, value, path),
      };
    case 'gemini':
      return new GeminiReader(reading);
  }
}

export function readConversation(format: ConversationFormat, reading: Reading, input: Json): void {
  if (!isList(input)) {
    const log = reading.object(input, '', 'a trace');
    if (!readExchange(format, reading, reading, log, '', ''))
      reading.wrong('', `there are neither \`${PLACES[format].asked}\` nor a response`);
    checkBeside(format, reading, log, '', reading.events);
  } else if (isExchange(format, input[0] ?? null)) readExchanges(format, reading, input);
  else readerOf(format, reading).messages(input, '');
}

/** A pair, or an object that holds the messages of a request. */
function isExchange(format: ConversationFormat, value: Json): value is JsonObject {
  if (!isJsonObject(value)) return false;
  return isPaired(value) || isList(own(value, PLACES[format].asked));
}

function isPaired(value: JsonObject): boolean {
  return isContainer(own(value, 'request')) || isContainer(own(value, 'response'));
}

/**
 * What one object says was asked, and what was answered; false: it says neither. `listPath`: where the paths of its list of
 * messages begin; null: at its own place.
 */
function readExchange(
  format: ConversationFormat,
  asking: Reading,
  answering: Reading,
  exchange: JsonObject,
  path: string,
  listPath: string | null,
): boolean {
  const { asked, answered } = PLACES[format];
  const isPair = isPaired(exchange);
  const at = isPair ? join(path, 'request') : path;
  const request = isPair ? (asking.objectAt(exchange, 'request', path) ?? {}) : exchange;
  const reader = readerOf(format, asking);
  reader.preamble(request, at);
  const messages = own(request, asked);
  const listAt = isList(messages) ? listPath : null;
  if (messages !== undefined) reader.messages(messages, listAt ?? join(at, asked));
  const whole = Object.hasOwn(exchange, answered) ? exchange : null;
  const answer = isPair ? (own(exchange, 'response') ?? null) : whole;
  // One reader knows which calls are open.
  const answerer = answering === asking ? reader : readerOf(format, answering);
  if (answer !== null) answerer.response(answer, isPair ? join(path, 'response') : path);
  return messages !== undefined || answer !== null;
}

/** What is read of a request, of a response, and of an object that is both. */
interface Sides {
  readonly request: KnownKeys;
  readonly response: KnownKeys;
  readonly both: KnownKeys;
}

function sides(request: readonly string[], response: readonly string[]): Sides {
  return {
    request: knownKeys(request),
    response: knownKeys(response),
    both: knownKeys([...request, ...response]),
  };
}

const EXCHANGE_KEYS: Readonly<Record<ConversationFormat, Sides>> = {
  'openai-chat': sides(['messages', 'tools', 'functions'], ['choices']),
  'openai-responses': sides(['input', 'instructions', 'tools'], ['output']),
  anthropic: sides(['messages', 'system', 'tools'], ['role', 'content']),
  gemini: sides(['contents', 'systemInstruction', 'system_instruction', 'tools'], ['candidates']),
};

const PAIR_KEYS = knownKeys(['request', 'response']);

/** Refuses another conversation, or words, beside the one that is read, which is `events`. */
function checkBeside(
  format: ConversationFormat,
  reading: Reading,
  exchange: JsonObject,
  path: string,
  events: readonly TraceEvent[],
): void {
  const known = EXCHANGE_KEYS[format];
  const told = toldIn(events);
  if (!isPaired(exchange)) {
    // What is the whole of a response is read as one; a request beside it has the same keys.
    reading.beside(exchange, known.both, path, told);
    return;
  }
  reading.beside(exchange, PAIR_KEYS, path, told);
  for (const side of ['request', 'response'] as const) {
    const inner = own(exchange, side);
    if (isJsonObject(inner)) reading.beside(inner, known[side], join(path, side), told);
  }
}

/** Whether all that stands beside the `messages` of a chat is known to say nothing, without a look at them. */
export function saysNothingBeside(chat: JsonObject): boolean {
  return besideKey(chat, EXCHANGE_KEYS['openai-chat'].both, () => false) === null;
}

/** Whether a text stands in what was said, one text after the other: libraries join what an answer says. */
function toldIn(events: readonly TraceEvent[]): (text: string) => boolean {
  let all: string | null = null;
  return (text) => {
    all ??= events.map(wordsOf).join('');
    return all.includes(text);
  };
}

function wordsOf(event: TraceEvent): string {
  if (event.type !== 'Message' || event.content === null) return '';
  if (typeof event.content === 'string') return event.content;
  return event.content.map((chunk) => (chunk.type === 'text' ? chunk.text : '')).join('');
}

/** A list of pairs is one conversation, told again by each request. */
function readExchanges(format: ConversationFormat, reading: Reading, exchanges: readonly Json[]): void {
  const history = new History();
  for (const [index, value] of exchanges.entries()) {
    const at = String(index);
    if (!isExchange(format, value)) {
      reading.wrong(at, 'an element is a request, a response or a pair of them, as the others are');
      return;
    }
    const asked = new Reading(reading.dialect);
    const answered = new Reading(reading.dialect);
    readExchange(format, asked, answered, value, at, null);
    for (const event of history.request(asked.events)) reading.emit(event);
    for (const event of history.response(answered.events)) reading.emit(event);
    const { fault } = asked.fault === null ? answered : asked;
    if (fault !== null) {
      reading.wrong(fault.path, fault.message);
      return;
    }
    checkBeside(format, reading, value, at, [...asked.events, ...answered.events]);
  }
}
