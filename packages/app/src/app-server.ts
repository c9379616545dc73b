/**
 * What an app answers to each MCP message. Keeps nothing between messages but whether its host makes requests for it
 * (every other answer follows from the message alone, as in MCP 2026-07-28), so the order in which a host asks cannot
 * confuse it. No I/O.
 *
 * Source: modelcontextprotocol.io, revisions named in `PROTOCOL_VERSIONS`.
 */
import { Host } from './host.ts';
import { isJsonObject, type Json, type JsonObject } from './json.ts';
import {
  decodeMessage,
  ERROR_CODES,
  errorReply,
  type RequestId,
  type RpcError,
  resultReply,
} from './message.ts';
import type { Tool, ToolOutcome } from './tool.ts';

export interface App {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  /** How to use the app, for the model that uses it. It reaches that model's context and no other. */
  readonly instructions?: string;
  readonly tools: Readonly<Record<string, Tool>>;
}

/** Revisions that begin with `initialize`; newest first. */
export const PROTOCOL_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;
/** The revision without a handshake: each request names its version. */
export const STATELESS_PROTOCOL_VERSION = '2026-07-28';

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const SERVER_KEY = 'io.modelcontextprotocol/serverInfo';
const TOOL_NAME = /^[A-Za-z0-9_.-]{1,128}$/;
/** Messages in one batch (revision 2025-03-26). */
const LONGEST_BATCH = 64;

/** A host that is only asked, and cannot be asked. */
const NOBODY = new Host(
  () => 'there is no host',
  () => undefined,
);

type Answer =
  | { readonly ok: true; readonly result: JsonObject }
  | { readonly ok: false; readonly error: RpcError };

export class AppServer {
  readonly #app: App;
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #log: (line: string) => void;
  readonly #host: Host;

  /** `log` gets one line for each bug of a tool. Throws a `TypeError` if MCP does not allow a tool's name. */
  constructor(app: App, log: (line: string) => void, host: Host = NOBODY) {
    for (const name of Object.keys(app.tools))
      if (!TOOL_NAME.test(name)) throw new TypeError(`not a tool name: ${JSON.stringify(name)}`);
    this.#app = app;
    this.#tools = new Map(Object.entries(app.tools));
    this.#log = log;
    this.#host = host;
  }

  /** The answer to one line's text, or null if none is due. Never rejects, whatever the text is. */
  async answer(text: string): Promise<Json> {
    let value: Json;
    try {
      value = JSON.parse(text);
    } catch {
      return errorReply(null, { code: ERROR_CODES.parse, message: 'the line is not JSON' });
    }
    return Array.isArray(value) ? this.#answerBatch(value) : this.#answerMessage(value);
  }

  async #answerBatch(batch: readonly Json[]): Promise<Json> {
    if (batch.length === 0 || batch.length > LONGEST_BATCH) {
      const message = `a batch must hold 1 to ${LONGEST_BATCH} messages`;
      return errorReply(null, { code: ERROR_CODES.invalidRequest, message });
    }
    const replies: JsonObject[] = [];
    for (const value of batch) {
      const reply = await this.#answerMessage(value);
      if (reply !== null) replies.push(reply);
    }
    return replies.length === 0 ? null : replies;
  }

  async #answerMessage(value: Json): Promise<JsonObject | null> {
    const message = decodeMessage(value);
    switch (message.kind) {
      case 'ignored':
        return null;
      case 'answer':
        this.#host.settle(message.id, message.answer);
        return null;
      case 'invalid':
        return errorReply(message.id, { code: ERROR_CODES.invalidRequest, message: message.problem });
      case 'request':
        return this.#answerRequest(message.id, message.method, message.params);
    }
  }

  async #answerRequest(id: RequestId, method: string, params: JsonObject): Promise<JsonObject> {
    const meta = params._meta;
    const version = isJsonObject(meta) ? meta[VERSION_KEY] : undefined;
    if (version !== undefined && version !== STATELESS_PROTOCOL_VERSION) {
      const data = {
        supported: [STATELESS_PROTOCOL_VERSION],
        requested: typeof version === 'string' ? version : '',
      };
      const message = 'unsupported protocol version';
      return errorReply(id, { code: ERROR_CODES.unsupportedVersion, message, data });
    }
    const answer = await this.#dispatch(method, params);
    if (!answer.ok) return errorReply(id, answer.error);
    return resultReply(
      id,
      version === undefined ? answer.result : { ...answer.result, resultType: 'complete' },
    );
  }

  async #dispatch(method: string, params: JsonObject): Promise<Answer> {
    switch (method) {
      case 'initialize':
        return this.#initialize(params);
      case 'server/discover':
        return result(this.#discovery());
      case 'ping':
        return result({});
      case 'tools/list':
        return this.#listTools(params);
      case 'tools/call':
        return this.#callTool(params);
      default:
        return { ok: false, error: { code: ERROR_CODES.unknownMethod, message: 'unknown method' } };
    }
  }

  /** A version that is not known gets our newest; the client decides whether it can speak that. */
  #initialize(params: JsonObject): Answer {
    const requested = params.protocolVersion;
    if (typeof requested !== 'string') return invalidParams('`protocolVersion` must be a string');
    if (isJsonObject(params.capabilities)) this.#host.greet(params.capabilities);
    const protocolVersion = PROTOCOL_VERSIONS.find((known) => known === requested) ?? PROTOCOL_VERSIONS[0];
    return result({
      protocolVersion,
      capabilities: { tools: {} },
      serverInfo: this.#identity(),
      ...this.#guide(),
    });
  }

  #discovery(): JsonObject {
    return {
      supportedVersions: [STATELESS_PROTOCOL_VERSION],
      capabilities: { tools: {} },
      ...this.#guide(),
      ...NOT_CACHED,
      _meta: { [SERVER_KEY]: this.#identity() },
    };
  }

  #identity(): JsonObject {
    const { name, version, title } = this.#app;
    return title === undefined ? { name, version } : { name, version, title };
  }

  #guide(): JsonObject {
    const { instructions } = this.#app;
    return instructions === undefined ? {} : { instructions };
  }

  #listTools(params: JsonObject): Answer {
    if (params.cursor !== undefined) return invalidParams('there are no further pages');
    const tools = [...this.#tools].map(([name, tool]) => ({
      name,
      description: tool.description,
      inputSchema: toJson(tool.input),
      ...(tool.output === null ? {} : { outputSchema: toJson(tool.output) }),
      annotations: toJson(tool.annotations),
    }));
    return result({ tools, ...NOT_CACHED });
  }

  /** Arguments that do not fit are an answer of the tool (revision 2025-11-25), so that the model can correct them. */
  async #callTool(params: JsonObject): Promise<Answer> {
    const { name, arguments: args = {} } = params;
    if (typeof name !== 'string') return invalidParams('`name` must be a string');
    if (!isJsonObject(args)) return invalidParams('`arguments` must be an object');
    const tool = this.#tools.get(name);
    if (tool === undefined)
      return invalidParams(`unknown tool (known: ${[...this.#tools.keys()].join(', ')})`);
    return result(this.#callResult(name, await tool.call(args, { fetch: this.#host.fetch })));
  }

  #callResult(name: string, outcome: ToolOutcome): JsonObject {
    switch (outcome.kind) {
      case 'structured':
        return { ...textContent(JSON.stringify(outcome.value)), structuredContent: outcome.value };
      case 'text':
        return textContent(outcome.text);
      case 'refused':
        return { ...textContent(outcome.text), isError: true };
      case 'failed': {
        const { error } = outcome;
        this.#log(`${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
        return { ...textContent('the tool failed'), isError: true };
      }
    }
  }
}

/** Revision 2026-07-28 asks how long a listing may be kept; an app that is started again may list differently. */
const NOT_CACHED = { ttlMs: 0, cacheScope: 'private' } as const;

function textContent(text: string): JsonObject {
  return { content: [{ type: 'text', text }] };
}

function result(value: JsonObject): Answer {
  return { ok: true, result: value };
}

function invalidParams(message: string): Answer {
  return { ok: false, error: { code: ERROR_CODES.invalidParams, message } };
}

function toJson(value: object): Json {
  return JSON.parse(JSON.stringify(value));
}
