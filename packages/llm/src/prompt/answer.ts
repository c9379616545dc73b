/**
 * The parts of a provider's stream, gathered into a response of the port. Everything here was written by a model or
 * by another that answers in its place.
 */
import type {
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import {
  failed,
  isJsonObject,
  type JsonObject,
  MOST_CALLS_AT_ONCE,
  type ModelRequest,
  type ModelResponse,
  type ModelToolCall,
  ok,
  parseJson,
  type Result,
  type Usage,
} from '@cordon/core';
import {
  type Failure,
  failure,
  type ProviderIdentity,
  providerFailure,
  quote,
  redact,
  statusFailure,
} from '../transport/failure.ts';
import { cutFailure } from '../transport/transport.ts';
import type { ToolNames } from './tool-names.ts';

const ACCEPTED_ID = /^[\w.:-]{1,128}$/;
const LONGEST_NAME = 256;
/** A shorter one is a word that a server on this machine takes for a key: `ollama`. */
const LEAST_KEY = 16;
const OTHER_MODEL = 'use a model that is better at calling tools (`--model`)';

export interface Gathered {
  readonly response: ModelResponse;
  readonly signatures: readonly {
    readonly call: ModelToolCall;
    readonly signature: SharedV4ProviderMetadata;
  }[];
}

/** Fed with the parts of one stream, in order; asked once at its end. */
export class AnswerReader {
  readonly #who: ProviderIdentity;
  readonly #names: ToolNames;
  readonly #onText: (delta: string) => void;
  readonly #calls: LanguageModelV4ToolCall[] = [];
  #text = '';
  #finish: { readonly reason: LanguageModelV4FinishReason; readonly usage: LanguageModelV4Usage } | null =
    null;
  #error: Failure | null = null;

  constructor(who: ProviderIdentity, names: ToolNames, onText: (delta: string) => void) {
    this.#who = who;
    this.#names = names;
    this.#onText = onText;
  }

  /** What the stream itself said went wrong; nothing that follows it counts. */
  get failure(): Failure | null {
    return this.#error;
  }

  take(part: LanguageModelV4StreamPart): void {
    // Only what the port knows; reasoning, sources, files and what a provider ran on its own side are left out.
    if (part.type === 'text-delta') {
      this.#text += part.delta;
      if (part.delta !== '') this.#onText(part.delta);
    } else if (part.type === 'tool-call' && part.providerExecuted !== true) this.#calls.push(part);
    else if (part.type === 'finish') this.#finish = { reason: part.finishReason, usage: part.usage };
    else if (part.type === 'error') this.#error ??= streamFailure(this.#who, part.error);
  }

  /** A stream without a finish reason was cut, whatever came before: half an answer is no answer. */
  end(request: ModelRequest): Result<Gathered, Failure> {
    if (this.#finish === null || this.#finish.reason.unified === 'interrupted') {
      return failed(cutFailure(this.#who));
    }
    const finish = finishOf(this.#finish.reason);
    if (finish === null) return failed(this.#invalid('stopped because of an error of its own', true));
    const calls = this.#parsedCalls(finish);
    if (!calls.ok) return calls;
    if (this.#holdsKey(calls.value.map(({ call }) => call)))
      return failed(this.#invalid('answered with the key that it was sent', false, 'do not use this server'));
    const silence = calls.value.length === 0 ? this.#silence(finish, request) : null;
    if (silence !== null)
      return failed(this.#invalid(silence, true, 'ask again, or use another model (`--model`)'));
    const response: ModelResponse = {
      text: this.#text,
      calls: calls.value.map(({ call }) => call),
      finish: finish === 'stop' && calls.value.length > 0 ? 'tool-calls' : finish,
      usage: usageOf(this.#finish.usage, request, this.#text, this.#calls),
    };
    const signatures = calls.value.flatMap(({ call, signature }) =>
      signature === undefined ? [] : [{ call, signature }],
    );
    return ok({ response, signatures });
  }

  /** Attack: what a server is sent comes back as its answer, and is in the journal and in an app's context. */
  #holdsKey(calls: readonly ModelToolCall[]): boolean {
    const secrets = this.#who.secrets.filter(({ length }) => length >= LEAST_KEY);
    if (secrets.length === 0) return false;
    const said = [this.#text, ...calls.map((call) => JSON.stringify(call))];
    return said.some((text) => redact(text, secrets) !== text);
  }

  #parsedCalls(
    finish: ModelResponse['finish'],
  ): Result<{ call: ModelToolCall; signature: SharedV4ProviderMetadata | undefined }[], Failure> {
    if (this.#calls.length > MOST_CALLS_AT_ONCE) {
      return failed(this.#invalid(`asked for more than ${MOST_CALLS_AT_ONCE} tool calls at once`, true));
    }
    const out = [];
    const ids = new Set<string>();
    for (const part of this.#calls) {
      const parsed = parseArguments(part.input);
      const name = this.#names.in(part.toolName);
      if (name.length > LONGEST_NAME)
        return failed(this.#invalid('named a tool at unreasonable length', true));
      if (!parsed.ok) return failed(this.#badArguments(name, parsed.fault, finish));
      const id = uniqueId(part.toolCallId, ids);
      ids.add(id);
      out.push({ call: { id, name, arguments: parsed.value }, signature: part.providerMetadata });
    }
    return ok(out);
  }

  /** What is wrong with an answer without calls; null: nothing. Behind results of tools a model may have nothing to add. */
  #silence(finish: ModelResponse['finish'], { messages }: ModelRequest): string | null {
    if (finish === 'tool-calls') return 'said that it calls a tool, and named none';
    const isAsked = messages.at(-1)?.role === 'user';
    return isAsked && finish === 'stop' && this.#text.trim() === '' ? 'gave an empty answer' : null;
  }

  #badArguments(name: string, why: string, finish: ModelResponse['finish']): Failure {
    const tool = quote(name, this.#who.secrets) || 'a tool';
    // Asking again cannot help where the answer ran into the length limit.
    return finish === 'length'
      ? this.#invalid(`ran into its length limit inside the arguments of ${tool}`, false)
      : this.#invalid(`called ${tool} with arguments that are no JSON object: ${why}`, true);
  }

  #invalid(what: string, passing: boolean, help = OTHER_MODEL): Failure {
    return failure('invalid-response', `the model of provider \`${this.#who.name}\` ${what}`, {
      help,
      passing,
    });
  }
}

/** Strictly a JSON object within core's limits. Tools without parameters are often called with an empty text. */
function parseArguments(input: string): Result<JsonObject, string> {
  if (input.trim() === '') return ok({});
  const parsed = parseJson(input);
  // The parser's own message quotes the text.
  if (!parsed.ok) return failed(/^(the|there|values|a) /.test(parsed.fault) ? parsed.fault : 'not JSON');
  return isJsonObject(parsed.value) ? ok(parsed.value) : failed('not an object');
}

/** Results are paired with calls by id, so one id must not name two calls, nor carry text. */
function uniqueId(id: string, taken: ReadonlySet<string>): string {
  const base = ACCEPTED_ID.test(id) ? id : 'call';
  let chosen = base;
  for (let number = 2; taken.has(chosen); number++) chosen = `${base.slice(0, 120)}-${number}`;
  return chosen;
}

function finishOf(reason: LanguageModelV4FinishReason): ModelResponse['finish'] | null {
  switch (reason.unified) {
    case 'stop':
    case 'tool-calls':
    case 'length':
    case 'other':
      return reason.unified;
    case 'content-filter':
      return 'refusal';
    case 'error':
    case 'interrupted':
      return null;
    default:
      return reason.unified satisfies never;
  }
}

/**
 * Servers that report no usage must not be free: the budget of a turn counts tokens. Four characters a token is
 * the usual estimate.
 */
function usageOf(
  usage: LanguageModelV4Usage,
  request: ModelRequest,
  text: string,
  calls: readonly LanguageModelV4ToolCall[],
): Usage {
  const asked = () => JSON.stringify([request.messages, request.tools]).length;
  const said = () => calls.reduce((sum, call) => sum + call.toolName.length + call.input.length, text.length);
  return {
    inputTokens: countOf(usage.inputTokens.total) ?? Math.ceil(asked() / 4),
    outputTokens: countOf(usage.outputTokens.total) ?? Math.ceil(said() / 4),
  };
}

function countOf(value: number | undefined): number | null {
  return value !== undefined && Number.isSafeInteger(value) && value > 0 ? value : null;
}

/** An error inside a stream, or one that a library threw over an answer it could not read. */
export function streamFailure(who: ProviderIdentity, error: unknown): Failure {
  const name = error instanceof Error ? error.name : '';
  // What @ai-sdk/openai-compatible says of a stream that ends without a finish reason.
  if (name === 'AI_InvalidResponseDataError') return cutFailure(who);
  const status = statusOf(error);
  const message = textField(error, 'message') ?? '';
  if (status !== null && status >= 400) return statusFailure(who, status, message, null);
  const said = quote(message, who.secrets);
  if (error instanceof Error) {
    const help = 'check the base URL and that the server speaks this provider’s protocol';
    return providerFailure(who, 'invalid-response', 'did not answer in its protocol', help);
  }
  const help = `\`${who.name}\` has a passing problem; try again later`;
  return providerFailure(who, 'unavailable', `broke off with an error${said && `: ${said}`}`, help);
}

/** A library could not be loaded, or could not put the request into its provider's form: nothing has been sent. */
export function unaskedFailure(who: ProviderIdentity, error: unknown): Failure {
  const said = quote(textField(error, 'message') ?? '', who.secrets);
  const message = `no request to provider \`${who.name}\` could be made${said && `: ${said}`}`;
  const help = 'a tool’s schema may be at fault, or the installation: run `npm ci` again';
  return failure('bad-request', message, { help });
}

function statusOf(error: unknown): number | null {
  for (const key of ['statusCode', 'code', 'status']) {
    const value = field(error, key);
    if (typeof value === 'number' && value >= 300 && value <= 599) return value;
  }
  return null;
}

function textField(error: unknown, key: string): string | null {
  const value = field(error, key);
  return typeof value === 'string' ? value : null;
}

function field(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}
