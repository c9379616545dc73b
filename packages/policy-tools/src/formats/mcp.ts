/**
 * Logs of the Model Context Protocol: JSON-RPC messages, batches of them, and entries that wrap one and say when,
 * from which server and in which direction it went.
 *
 * What goes to a server is a call (a sink), what comes from one is an output (a source), whatever the method: so a
 * server's log lines, prompts and instructions are as visible to rules as the results of its tools.
 *
 * Recordings are read with it; the hub does not use it.
 */
import { DEFAULT_LABEL, isJsonObject, type Json, type JsonObject, parseJson } from '@cordon/core';
import type { EventFrame } from '@cordon/policy';
import { isList, own } from '../reading/json.ts';
import { elementKeys, saysSomething } from '../reading/known-keys.ts';
import { type KnownKeys, knownKeys } from '../reading/note-shape.ts';
import { Frames, join, type Reading, wordsIn } from '../reading/reading.ts';
import { emitTools } from '../reading/tool.ts';
import {
  attachment,
  type CallParts,
  callEvent,
  dataUrl,
  emitOutput,
  loneText,
  loneTexts,
  namedCall,
  type Piece,
  Turn,
  textChunk,
} from '../reading/turn.ts';

/** From the client's side, which is the agent's. */
type Direction = 'to-server' | 'to-client';

/** What stands around a message. */
interface Entry {
  readonly frames: Frames;
  readonly server: string | null;
  readonly direction: Direction | null;
}

/** A request that has no answer yet. */
interface Pending {
  readonly method: string;
  readonly direction: Direction;
  /** Where it stood: unique, where ids are reused and those of two servers are alike. */
  readonly callId: string;
}

/** The keys under which loggers put the message. */
const WRAPPED: readonly string[] = [
  ...['message', 'payload', 'msg', 'data', 'body', 'rpc', 'request', 'response'],
];

/** The JSON-RPC message or batch in an entry of a log, with its key, or null. */
export function wrappedMessage(entry: JsonObject): { readonly key: string; readonly value: Json } | null {
  for (const key of WRAPPED) {
    const inner = own(entry, key);
    const value = typeof inner === 'string' && inner.includes('jsonrpc') ? parsed(inner) : inner;
    if (value !== undefined && isMessage(isList(value) ? (value[0] ?? null) : value)) return { key, value };
  }
  return null;
}

export function isMessage(value: Json): value is JsonObject {
  return isJsonObject(value) && Object.hasOwn(value, 'jsonrpc');
}

function parsed(text: string): Json | undefined {
  const value = parseJson(text);
  return value.ok ? value.value : undefined;
}

/** The methods that ask for nothing that a rule could want to see. */
const HOUSEKEEPING: ReadonlySet<string> = new Set([
  ...['initialize', 'ping', 'tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'],
  ...['roots/list', 'tasks/list', 'tasks/get', 'tasks/result', 'logging/setLevel'],
]);

/** What a server asks of the client. */
const FROM_SERVER: ReadonlySet<string> = new Set([
  'sampling/createMessage',
  'elicitation/create',
  'roots/list',
]);

/** Notices of the client; all others are the server's. */
const FROM_CLIENT: ReadonlySet<string> = new Set([
  'notifications/initialized',
  'notifications/roots/list_changed',
]);

/** Around a message: from whom, to whom and how. */
const ENTRY_NOTES = {
  notes: [
    ...['server', 'serverName', 'server_name', 'serverLabel', 'server_label', 'client', 'clientName'],
    ...['session', 'from', 'to', 'source', 'target', 'headers'],
  ],
  mark: [
    ...['type', 'kind', 'method', 'level', 'transport', 'sessionId', 'seq', 'sequence'],
    ...['logger', 'pid', 'stream'],
  ],
  // An arrow, in some logs.
  short: ['direction', 'dir'],
} as const;

const ENTRY_KEYS = elementKeys([], ENTRY_NOTES);

/** Some loggers write their own keys into the message. */
const MESSAGE_KEYS = elementKeys(['jsonrpc', 'id', 'method', 'params', 'result', 'error'], ENTRY_NOTES);

/** What stands beside everything that is sent. */
const META = { notes: ['_meta', 'annotations'] } as const;

const CALL_KEYS = knownKeys(['name', 'arguments'], { notes: ['_meta', 'task'] });
const HOUSEKEEPING_KEYS: KnownKeys = knownKeys([], {
  notes: ['_meta', 'protocolVersion', 'capabilities', 'cursor', 'level', 'taskId'],
  data: ['clientInfo'],
});
const SAMPLING_KEYS = knownKeys(['systemPrompt', 'messages'], {
  notes: ['_meta', 'modelPreferences', 'includeContext', 'metadata', 'task', 'toolChoice'],
  mark: ['maxTokens', 'temperature'],
  short: ['stopSequences'],
});
const TOOL_RESULT_KEYS = knownKeys(['content', 'structuredContent', 'isError'], META);
const INITIALIZE_KEYS = knownKeys(['instructions'], {
  notes: ['_meta', 'protocolVersion', 'capabilities'],
  data: ['serverInfo'],
});
const TOOLS_KEYS = knownKeys(['tools'], { notes: ['_meta', 'nextCursor', 'ttl'] });
const PROMPT_KEYS = knownKeys(['description', 'messages'], META);
const CONTENTS_KEYS = knownKeys(['contents'], META);
const SAID_KEYS = knownKeys(['role', 'content'], { notes: ['_meta'], mark: ['model', 'stopReason'] });
const FORM_KEYS = knownKeys(['content'], { notes: ['_meta'], mark: ['action'] });
const CALL_BLOCK_KEYS = knownKeys(['id', 'name', 'input'], { notes: ['_meta'], mark: ['type'] });
const RESULT_BLOCK_KEYS = knownKeys(['toolUseId', 'content', 'structuredContent', 'isError'], {
  notes: ['_meta'],
  mark: ['type'],
});
const TEXT_KEYS = knownKeys(['text'], { ...META, mark: ['type'] });
const BYTES_KEYS = knownKeys(['data', 'mimeType'], { ...META, mark: ['type'] });
const EMBEDDED_KEYS = knownKeys(['resource'], { ...META, mark: ['type'] });
const RESOURCE_KEYS = knownKeys(['text', 'blob', 'mimeType', 'uri'], { ...META, line: ['name', 'title'] });

export class McpReader {
  readonly #reading: Reading;
  readonly #pending = new Map<string, Pending[]>();

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  entries(entries: readonly Json[], path: string): void {
    this.#reading.each(entries, path, (entry, at) => this.entry(entry, at));
  }

  /** A message, a batch, or an entry around one of them. */
  entry(value: Json, path: string): void {
    if (isList(value)) {
      this.#messages(value, path, { frames: Frames.none(), server: null, direction: null });
      return;
    }
    const entry = this.#reading.object(value, path, 'an entry');
    const wrapped = isMessage(entry) ? null : wrappedMessage(entry);
    this.#checkKeys(entry, wrapped?.key ?? null, path);
    const server = serverOf(entry);
    const around = { frames: this.#frames(entry, path), server, direction: directionOf(entry) };
    if (wrapped === null) this.#message(entry, path, around);
    else if (isList(wrapped.value)) this.#messages(wrapped.value, join(path, wrapped.key), around);
    else this.#message(wrapped.value, join(path, wrapped.key), around);
  }

  #checkKeys(entry: JsonObject, wrapped: string | null, path: string): void {
    // An entry without one is the message itself, whose keys are looked at there.
    if (wrapped === null) return;
    const { [wrapped]: _, ...rest } = entry;
    this.#reading.knows(rest, ENTRY_KEYS, path, 'an entry');
  }

  #frames(entry: JsonObject, path: string): Frames {
    // The id of a JSON-RPC message is no event's.
    const { id: _, ...said } = entry;
    return Frames.of(this.#reading, said, path);
  }

  #messages(messages: readonly Json[], path: string, entry: Entry): void {
    this.#reading.each(messages, path, (message, at) => this.#message(message, at, entry));
  }

  #message(value: Json, path: string, entry: Entry): void {
    const message = this.#reading.object(value, path, 'a message');
    this.#reading.knows(message, MESSAGE_KEYS, path, 'a message');
    const method = this.#reading.textAt(message, 'method', path);
    const id = own(message, 'id') ?? null;
    if (id !== null && typeof id !== 'string' && typeof id !== 'number') {
      this.#reading.wrong(join(path, 'id'), 'the id is a text or a number');
    } else if (method !== null && ['result', 'error'].some((key) => saysSomething(own(message, key)))) {
      this.#reading.wrong(path, 'a message asks or answers, not both');
    } else if (method === null) {
      if (own(message, 'result') === undefined && own(message, 'error') === undefined)
        this.#reading.wrong(path, 'a message has a `method`, a `result` or an `error`');
      else this.#answer(message, id, path, entry);
    } else if (id === null) this.#notice(message, method, path, entry);
    else this.#request(message, method, id, path, entry);
  }

  #request(message: JsonObject, method: string, id: string | number, path: string, entry: Entry): void {
    const direction = entry.direction ?? (FROM_SERVER.has(method) ? 'to-client' : 'to-server');
    const params = this.#reading.objectAt(message, 'params', path) ?? {};
    const at = join(path, 'params');
    const key = pendingKey(entry.server, direction, id);
    const open = this.#pending.get(key) ?? [];
    open.push({ method, direction, callId: path });
    this.#pending.set(key, open);
    if (HOUSEKEEPING.has(method)) this.#reading.knows(params, HOUSEKEEPING_KEYS, at, 'this request');
    if (direction === 'to-client') {
      if (method === 'sampling/createMessage') this.#sampling(params, at, entry);
      else if (!HOUSEKEEPING.has(method)) this.#output(entry, null, path, loneTexts(wordsIn(params, at)));
    } else if (method === 'tools/call') {
      this.#reading.knows(params, CALL_KEYS, at, 'a call');
      const named = namedCall(this.#reading, params, at, 'arguments');
      this.#call(entry, { ...named, callId: path, path });
    } else if (!HOUSEKEEPING.has(method))
      this.#methodCall(entry, method, params, own(message, 'params') === undefined ? null : at, path);
  }

  /** A request or notice of the client that is no call of a tool. */
  #methodCall(entry: Entry, method: string, params: JsonObject, at: string | null, path: string): void {
    const places = { path, namePath: join(path, 'method'), argumentsPath: at };
    this.#call(entry, { callId: path, name: method, arguments: params, ...places });
  }

  #notice(message: JsonObject, method: string, path: string, entry: Entry): void {
    const params = this.#reading.objectAt(message, 'params', path) ?? {};
    const isClients = entry.direction === null ? FROM_CLIENT.has(method) : entry.direction === 'to-server';
    const level = join(path, 'params', 'level');
    const words = wordsIn(params, join(path, 'params')).filter((word) => word.path !== level);
    if (words.length === 0) return;
    if (isClients) this.#methodCall(entry, method, params, join(path, 'params'), path);
    else this.#output(entry, null, path, loneTexts(words));
  }

  #answer(message: JsonObject, id: string | number | null, path: string, entry: Entry): void {
    const error = this.#reading.objectAt(message, 'error', path);
    const result = own(message, 'result') ?? null;
    if (error !== null && saysSomething(result))
      this.#reading.wrong(join(path, 'result'), 'an answer is a result or an error, not both');
    const asked = id === null ? null : this.#take(entry.server, id, entry.direction, result);
    const callId = asked?.direction === 'to-server' && !HOUSEKEEPING.has(asked.method) ? asked.callId : null;
    if (error !== null) {
      const pieces = loneTexts(wordsIn(error, join(path, 'error')));
      const isServers = asked === null || asked.direction === 'to-server';
      if (isServers) this.#output(entry, callId, path, pieces, { isError: true });
      else this.#told(entry, asked, error, path, join(path, 'error'));
      return;
    }
    const at = join(path, 'result');
    if (asked?.direction === 'to-client' || (asked === null && entry.direction === 'to-server')) {
      this.#clientAnswer(entry, asked, result, at, path);
    } else this.#serverAnswer(entry, asked?.method ?? null, callId, result, at, path);
  }

  /** What the client answers, or says of its error, goes to the server. It is the request that says what is answered. */
  #told(entry: Entry, asked: Pending | null, said: JsonObject, path: string, argumentsPath: string): void {
    const namePath = asked === null ? path : join(asked.callId, 'method');
    const places = { path, namePath, argumentsPath };
    this.#call(entry, { callId: null, name: asked?.method ?? 'response', arguments: said, ...places });
  }

  /** The newest open request with this id that the answer can belong to. */
  #take(
    server: string | null,
    id: string | number,
    direction: Direction | null,
    result: Json,
  ): Pending | null {
    const take = (asked: Direction) => this.#pending.get(pendingKey(server, asked, id))?.pop() ?? null;
    if (direction !== null) return take(direction === 'to-server' ? 'to-client' : 'to-server');
    if (isClientResult(result)) return take('to-client') ?? take('to-server');
    // Any side can send an error; a client gives no other result.
    return take('to-server') ?? (result === null ? take('to-client') : null);
  }

  #serverAnswer(
    entry: Entry,
    method: string | null,
    callId: string | null,
    value: Json,
    at: string,
    path: string,
  ): void {
    if (!isJsonObject(value)) {
      this.#output(entry, callId, path, value === null ? [] : loneTexts(wordsIn(value, at)));
      return;
    }
    if (method === 'initialize') {
      this.#reading.knows(value, INITIALIZE_KEYS, at, 'an answer to `initialize`');
      const instructions = this.#reading.textAt(value, 'instructions', at);
      const said = join(at, 'instructions');
      if (instructions !== null) this.#output(entry, null, path, [loneText(instructions, said)]);
    } else if (isList(own(value, 'tools')) && (method === null || method === 'tools/list')) {
      this.#reading.knows(value, TOOLS_KEYS, at, 'a list of tools');
      this.#tools(entry, value, at);
    } else if (method === 'prompts/get') this.#prompt(entry, value, at);
    else if (isList(own(value, 'content')) || Object.hasOwn(value, 'structuredContent'))
      this.#toolResult(entry, callId, value, at, path);
    else if (isList(own(value, 'contents'))) {
      this.#reading.knows(value, CONTENTS_KEYS, at, 'a list of contents');
      const contents = this.#reading.listAt(value, 'contents', at);
      const pieces = contents.flatMap((content, index) =>
        this.#resource(content, join(at, 'contents', index)),
      );
      this.#output(entry, callId, path, pieces);
    } else {
      // What lists of prompts and resources say of them.
      const pieces = loneTexts(wordsIn(value, at));
      if (callId !== null || pieces.length > 0) this.#output(entry, callId, path, pieces);
    }
  }

  #toolResult(entry: Entry, callId: string | null, result: JsonObject, at: string, path: string): void {
    this.#reading.knows(result, TOOL_RESULT_KEYS, at, 'the result of a tool');
    const isError = own(result, 'isError') ?? false;
    if (typeof isError !== 'boolean') this.#reading.wrong(join(at, 'isError'), '`isError` is true or false');
    const structured = structuredIn(result, at);
    this.#output(entry, callId, path, this.#blocks(result, at), { isError: isError === true, ...structured });
  }

  #tools(entry: Entry, result: JsonObject, at: string): void {
    const frames = entry.frames.with(bornFrom(entry.server));
    emitTools(this.#reading, result, 'tools', at, ['inputSchema'], frames, entry.server);
  }

  /** Messages that the server wrote, whatever their role says. */
  #prompt(entry: Entry, result: JsonObject, at: string): void {
    this.#reading.knows(result, PROMPT_KEYS, at, 'a prompt');
    const description = this.#reading.textAt(result, 'description', at);
    if (description !== null)
      this.#output(entry, null, join(at, 'description'), [loneText(description, join(at, 'description'))]);
    this.#conversation(entry, result, at, null);
  }

  #sampling(params: JsonObject, at: string, entry: Entry): void {
    const { tools: _, ...said } = params;
    this.#reading.knows(said, SAMPLING_KEYS, at, 'a request for a message');
    if (isList(own(params, 'tools'))) this.#tools(entry, params, at);
    const system = this.#reading.textAt(params, 'systemPrompt', at);
    this.#conversation(entry, params, at, system);
  }

  #conversation(entry: Entry, from: JsonObject, at: string, system: string | null): void {
    const frames = entry.frames.with({ ...bornFrom(entry.server), label: DEFAULT_LABEL });
    if (system !== null) {
      const path = join(at, 'systemPrompt');
      const turn = new Turn(this.#reading, frames, 'system', path);
      turn.say(loneText(system, path));
      turn.end();
    }
    for (const [message, path] of this.#reading.objectsAt(from, 'messages', at, 'a message'))
      this.#said(frames, message, path, null);
  }

  /** `{role, content}`, where the content is a block or a list of blocks. */
  #said(frames: Frames, message: JsonObject, path: string, usualRole: string | null): void {
    this.#reading.knows(message, SAID_KEYS, path, 'a message');
    const role = this.#reading.textAt(message, 'role', path) ?? usualRole;
    if (role === null) this.#reading.wrong(path, '`role` is missing');
    const turn = new Turn(this.#reading, frames, role ?? '', path);
    const content = own(message, 'content') ?? null;
    const at = join(path, 'content');
    const blocks = isList(content) ? content : content === null ? [] : [content];
    for (const [index, value] of blocks.entries()) {
      this.#saidBlock(turn, value, isList(content) ? join(at, index) : at);
    }
    turn.end();
  }

  #saidBlock(turn: Turn, value: Json, path: string): void {
    const block = this.#reading.object(value, path, 'a block');
    if (own(block, 'type') === 'tool_use') {
      this.#reading.knows(block, CALL_BLOCK_KEYS, path, 'a call');
      const named = namedCall(this.#reading, block, path, 'input');
      turn.call({ ...named, callId: this.#reading.textAt(block, 'id', path), kind: 'function' });
    } else if (own(block, 'type') === 'tool_result') {
      this.#reading.knows(block, RESULT_BLOCK_KEYS, path, 'an output');
      turn.output({
        callId: this.#reading.textAt(block, 'toolUseId', path),
        path,
        pieces: this.#blocks(block, path),
        ...structuredIn(block, path),
        isError: own(block, 'isError') === true,
      });
    } else for (const piece of this.#block(block, path)) turn.say(piece);
  }

  /** Words of the client's model, of its user, or names of its folders. */
  #clientAnswer(entry: Entry, asked: Pending | null, value: Json, at: string, path: string): void {
    const result = isJsonObject(value) ? value : {};
    if (asked?.method === 'sampling/createMessage') {
      const frames = entry.frames.with(deliveredTo(entry.server));
      this.#said(frames, this.#reading.object(value, at, 'a result'), at, 'assistant');
      return;
    }
    const given = own(result, 'content');
    const isForm = isJsonObject(given);
    if (isForm) this.#reading.knows(result, FORM_KEYS, at, 'an answer');
    const params = isForm ? given : result;
    if (Object.keys(params).length > 0)
      this.#told(entry, asked, params, path, isForm ? join(at, 'content') : at);
  }

  #blocks(from: JsonObject, path: string): readonly Piece[] {
    const blocks = this.#reading.objectsAt(from, 'content', path, 'a block');
    return blocks.flatMap(([block, at]) => this.#block(block, at));
  }

  #block(block: JsonObject, path: string): readonly Piece[] {
    switch (own(block, 'type')) {
      case 'text':
        this.#reading.knows(block, TEXT_KEYS, path, 'a block');
        return [textChunk(this.#reading.nameAt(block, 'text', path), path)];
      case 'image':
      case 'audio': {
        this.#reading.knows(block, BYTES_KEYS, path, 'a block');
        const mediaType = this.#reading.textAt(block, 'mimeType', path);
        return [attachment(dataUrl(mediaType, this.#reading.nameAt(block, 'data', path)), mediaType, path)];
      }
      case 'resource':
        this.#reading.knows(block, EMBEDDED_KEYS, path, 'a block');
        return this.#resource(own(block, 'resource') ?? null, join(path, 'resource'));
      default:
        return loneTexts(wordsIn(block, path));
    }
  }

  /** `{uri, mimeType?, text | blob}` */
  #resource(value: Json, path: string): readonly Piece[] {
    const resource = this.#reading.object(value, path, 'a resource');
    this.#reading.knows(resource, RESOURCE_KEYS, path, 'a resource');
    const text = this.#reading.textAt(resource, 'text', path);
    const blob = this.#reading.textAt(resource, 'blob', path);
    if (text !== null) {
      if (blob !== null) this.#reading.wrong(path, 'a resource has a `text` or a `blob`, not both');
      return [textChunk(text, path)];
    }
    const mediaType = this.#reading.textAt(resource, 'mimeType', path);
    const url = blob === null ? this.#reading.textAt(resource, 'uri', path) : dataUrl(mediaType, blob);
    return [attachment(url, mediaType, path)];
  }

  #call(entry: Entry, parts: Omit<CallParts, 'kind'>): void {
    const { frames, server } = entry;
    this.#reading.emit(callEvent(frames.with(deliveredTo(server)).next(), { ...parts, kind: 'mcp', server }));
  }

  #output(
    entry: Entry,
    callId: string | null,
    path: string,
    pieces: readonly Piece[],
    more: { readonly isError?: boolean; readonly structured?: Json; readonly structuredPath?: string } = {},
  ): void {
    const { server } = entry;
    const frames = entry.frames.with(bornFrom(server));
    emitOutput(this.#reading, frames, { callId, path, pieces, server, ...more });
  }
}

function structuredIn(
  result: JsonObject,
  path: string,
): { readonly structured?: Json; readonly structuredPath?: string } {
  const structured = own(result, 'structuredContent');
  return structured === undefined ? {} : { structured, structuredPath: join(path, 'structuredContent') };
}

/** Ids of two servers, and of both sides of one, are alike; and `1` is not `"1"`. */
function pendingKey(server: string | null, direction: Direction, id: string | number): string {
  return JSON.stringify([server, direction, id]);
}

/** What only a client answers: the words of its model, or of its user. */
function isClientResult(result: Json): boolean {
  return isJsonObject(result) && ['role', 'action', 'roots'].some((key) => Object.hasOwn(result, key));
}

/** As in the hub: the server's process is a separate context, into which calls go and out of which outputs come. */
function processOf(server: string): string {
  return `app:${server}`;
}

function bornFrom(server: string | null): EventFrame {
  return server === null ? {} : { bornFrom: processOf(server) };
}

function deliveredTo(server: string | null): EventFrame {
  return server === null ? {} : { deliveredTo: processOf(server) };
}

function serverOf(entry: JsonObject): string | null {
  for (const key of ['server', 'serverName', 'server_name', 'serverLabel', 'server_label']) {
    const server = own(entry, key);
    if (typeof server === 'string') return server;
    const name = isJsonObject(server) ? own(server, 'name') : undefined;
    if (typeof name === 'string') return name;
  }
  return null;
}

const TO_SERVER: ReadonlySet<string> = new Set([
  ...['client_to_server', 'client-to-server', 'client->server', 'to-server', 'to_server', 'outgoing'],
  ...['outbound', 'out', 'send', 'sent', 'request', 'c2s', 'client'],
]);

const TO_CLIENT: ReadonlySet<string> = new Set([
  ...['server_to_client', 'server-to-client', 'server->client', 'to-client', 'to_client', 'incoming'],
  ...['inbound', 'in', 'receive', 'recv', 'received', 'response', 's2c', 'server'],
]);

/** Of loggers on the client's side; what says nothing known is found out from the methods. */
function directionOf(entry: JsonObject): Direction | null {
  for (const key of ['direction', 'dir']) {
    const text = own(entry, key);
    if (typeof text !== 'string') continue;
    if (TO_SERVER.has(text.toLowerCase())) return 'to-server';
    if (TO_CLIENT.has(text.toLowerCase())) return 'to-client';
  }
  return null;
}
