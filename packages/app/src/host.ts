/**
 * What an app asks of its host: HTTP requests that the host makes, with credentials that the app never sees
 * (`cordon/fetch`, docs/apps.md). No I/O.
 */
import { isJsonObject, type JsonObject } from './json.ts';
import type { HostAnswer, RequestId } from './message.ts';

export interface FetchInit {
  /** `GET` if it is not said. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text goes as UTF-8. */
  readonly body?: string | Uint8Array;
  /** The name of a credential in the manifest; the host adds it. */
  readonly credential?: string;
}

export type Fetched =
  | {
      readonly ok: true;
      readonly status: number;
      /** Names in lower case. */
      readonly headers: Readonly<Record<string, string>>;
      readonly body: Uint8Array;
      /** The body as UTF-8. */
      readonly text: string;
    }
  /** Not allowed, not answered, or the host makes no requests. */
  | { readonly ok: false; readonly reason: string };

export const FETCH_METHOD = 'cordon/fetch';

export class Host {
  readonly #send: (message: JsonObject) => string | null;
  readonly #onWaiting: () => void;
  readonly #pending = new Map<RequestId, (answer: HostAnswer) => void>();
  #requests = 0;
  #fetches = false;
  #isGone = false;

  /**
   * @param send passes a message over, or answers why it cannot
   * @param onWaiting told when an answer of the host is waited for, and none was before
   */
  constructor(send: (message: JsonObject) => string | null, onWaiting: () => void) {
    this.#send = send;
    this.#onWaiting = onWaiting;
  }

  /** Whether a call under way cannot continue before the host has answered. */
  get isWaitedFor(): boolean {
    return this.#pending.size > 0;
  }

  /** What the host can do, as it says at the start. */
  greet(capabilities: JsonObject): void {
    const { experimental } = capabilities;
    this.#fetches = isJsonObject(experimental) && isJsonObject(experimental[FETCH_METHOD]);
  }

  /** Never rejects. */
  readonly fetch = async (url: string, init: FetchInit = {}): Promise<Fetched> => {
    if (!this.#fetches || this.#isGone) return { ok: false, reason: NO_FETCH };
    const { body = '', ...rest } = init;
    const text = typeof body === 'string';
    const params = {
      url,
      ...rest,
      body: text ? body : Buffer.from(body).toString('base64'),
      encoding: text ? 'utf8' : 'base64',
    };
    const id = `${FETCH_METHOD}#${++this.#requests}`;
    const answered = new Promise<HostAnswer>((resolve) => this.#pending.set(id, resolve));
    const unsent = this.#send({ jsonrpc: '2.0', id, method: FETCH_METHOD, params });
    if (unsent !== null) this.settle(id, { kind: 'error', message: unsent });
    else if (this.#pending.size === 1) this.#onWaiting();
    return readFetched(await answered);
  };

  settle(id: RequestId, answer: HostAnswer): void {
    this.#pending.get(id)?.(answer);
    this.#pending.delete(id);
  }

  /** No more answers will come. */
  gone(): void {
    this.#isGone = true;
    for (const id of [...this.#pending.keys()])
      this.settle(id, { kind: 'error', message: 'the host is gone' });
  }
}

const NO_FETCH = 'the host makes no requests for this app (is there `network` in its manifest?)';

function readFetched(answer: HostAnswer): Fetched {
  if (answer.kind === 'error') return { ok: false, reason: answer.message };
  const { status, headers, body, encoding } = answer.result;
  if (typeof status !== 'number' || !isJsonObject(headers) || typeof body !== 'string')
    return { ok: false, reason: 'the host’s answer cannot be read' };
  const bytes = Buffer.from(body, encoding === 'base64' ? 'base64' : 'utf8');
  const fields = Object.entries(headers).map(([name, value]) => [name, String(value)] as const);
  return { ok: true, status, headers: Object.fromEntries(fields), body: bytes, text: bytes.toString('utf8') };
}
