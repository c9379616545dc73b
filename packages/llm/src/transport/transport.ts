/**
 * The HTTP side of one attempt, given to a provider's library as its `fetch`: no redirects, bounded bodies, and a
 * record of what failed on the wire, because the libraries wrap, translate and sometimes lose errors.
 */
import { type Clock, parseJson } from '@cordon/core';
import {
  type Failure,
  failure,
  type ProviderIdentity,
  providerFailure,
  quote,
  statusFailure,
} from './failure.ts';
import { completionToEvents } from './plain-completion.ts';
import { requestedWait } from './retry.ts';

export type Fetch = typeof globalThis.fetch;

/** Of an answer. */
const ANSWER_BYTES = 16 * 1024 * 1024;
/** What is read of an error's body. */
const ERROR_BYTES = 64 * 1024;

/** One attempt's connection. Not reused: `failure` belongs to one request. */
export class Transport {
  readonly #fetch: Fetch;
  readonly #who: ProviderIdentity;
  readonly #clock: Clock;
  #failure: Failure | null = null;
  #asked = false;

  constructor(fetch: Fetch, who: ProviderIdentity, clock: Clock) {
    this.#fetch = fetch;
    this.#who = who;
    this.#clock = clock;
  }

  /** The first thing that failed on the wire; whatever the library threw later is a consequence of it. */
  get failure(): Failure | null {
    return this.#failure;
  }

  /** Whether the library got as far as asking. */
  get asked(): boolean {
    return this.#asked;
  }

  readonly fetch: Fetch = async (input, init) => {
    this.#asked = true;
    const response = await this.#request(input, init);
    if (!response.ok) throw this.#fail(await this.#refusal(response));
    const contentType = response.headers.get('content-type') ?? '';
    if (contentType.toLowerCase().startsWith('text/event-stream')) return this.#bounded(response);
    return this.#whole(response);
  };

  async #request(input: Parameters<Fetch>[0], init: RequestInit | undefined): Promise<Response> {
    try {
      // A redirect would carry `x-api-key` to wherever it points: browsers and undici drop `authorization` only.
      return await this.#fetch(input, { ...init, redirect: 'manual' });
    } catch (error) {
      throw this.#fail(this.#unreachable(error));
    }
  }

  #unreachable(error: unknown): Failure {
    const reason = quote(reasonOf(error), this.#who.secrets);
    const what = `cannot be reached${reason && `: ${reason}`}`;
    const help = 'check the network, the base URL, and that the server is running';
    return providerFailure(this.#who, 'unavailable', what, help);
  }

  async #refusal(response: Response): Promise<Failure> {
    const body = await readText(response, ERROR_BYTES);
    const waitMs = requestedWait(response.headers, this.#clock());
    return statusFailure(this.#who, response.status, body.text, waitMs);
  }

  /**
   * An answer that is no event stream though one was asked for: some servers ignore `stream`, and some do not
   * label their streams. A complete chat completion becomes the events it would have been.
   */
  async #whole(response: Response): Promise<Response> {
    const body = await readText(response, ANSWER_BYTES);
    if (body.end === 'limit') throw this.#fail(this.#tooLarge());
    if (body.end === 'cut') throw this.#fail(this.#cut());
    if (/^(data|event|id|retry)?:/m.test(body.text.slice(0, 4096))) return eventStream(body.text);
    const parsed = parseJson(body.text);
    const events = parsed.ok ? completionToEvents(parsed.value) : null;
    if (events === null) throw this.#fail(this.#garbage(body.text));
    return eventStream(events);
  }

  #bounded(response: Response): Response {
    const reader = response.body?.getReader();
    if (reader === undefined) throw this.#fail(this.#cut());
    let bytes = 0;
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
      const chunk = await reader.read().catch(() => null);
      if (chunk === null) return controller.error(this.#fail(this.#cut()));
      if (chunk.done) return controller.close();
      bytes += chunk.value.byteLength;
      if (bytes <= ANSWER_BYTES) return controller.enqueue(chunk.value);
      controller.error(this.#fail(this.#tooLarge()));
      await reader.cancel().catch(() => undefined);
    };
    const cancel = () => reader.cancel().catch(() => undefined);
    return new Response(new ReadableStream({ pull, cancel }), {
      status: response.status,
      headers: response.headers,
    });
  }

  #cut(): Failure {
    return cutFailure(this.#who);
  }

  #tooLarge(): Failure {
    const message = `the answer of provider \`${this.#who.name}\` is longer than ${ANSWER_BYTES} bytes`;
    return failure('invalid-response', message, { help: 'use another model' });
  }

  #garbage(body: string): Failure {
    const said = quote(body, this.#who.secrets) || 'nothing';
    const help = 'check the base URL (it usually ends in `/v1`); a proxy may answer in its place';
    return providerFailure(this.#who, 'invalid-response', `did not answer in its protocol: ${said}`, help);
  }

  #fail(first: Failure): TransportError {
    this.#failure ??= first;
    return new TransportError(this.#failure);
  }
}

/** Carries nothing of the request: the libraries' own errors hold bodies and headers. */
class TransportError extends Error {
  constructor(failure: Failure) {
    super(failure.message);
    this.name = 'TransportError';
  }
}

export function cutFailure(who: ProviderIdentity): Failure {
  return failure('cut-stream', `the answer of provider \`${who.name}\` broke off before its end`, {
    help: `\`${who.name}\` or the network to it is unstable; try again`,
    passing: true,
  });
}

/** `fetch` says only `fetch failed`; the reason (ECONNREFUSED, ENOTFOUND, a certificate) is the cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const cause = error.cause;
  if (!(cause instanceof Error)) return error.message;
  // Connecting to `localhost` tries two addresses, and the error of both has no message.
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
  return cause.message === '' ? code : cause.message;
}

export interface BodyText {
  readonly text: string;
  readonly end: 'complete' | 'limit' | 'cut';
}

/** At most so many bytes of a body, and whether that is all. Never throws. */
export async function readText(response: Response, limit: number): Promise<BodyText> {
  const reader = response.body?.getReader();
  if (reader === undefined) return { text: '', end: 'complete' };
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (;;) {
    const chunk = await reader.read().catch(() => null);
    if (chunk === null) return { text, end: 'cut' };
    if (chunk.done) return { text: text + decoder.decode(), end: 'complete' };
    text += decoder.decode(chunk.value, { stream: true });
    bytes += chunk.value.byteLength;
    if (bytes > limit) {
      await reader.cancel().catch(() => undefined);
      return { text, end: 'limit' };
    }
  }
}

function eventStream(text: string): Response {
  return new Response(text, { headers: { 'content-type': 'text/event-stream' } });
}
