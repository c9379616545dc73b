/**
 * Apps that run elsewhere: MCP over HTTP, spoken by the hub. Each request is an egress and passes the gate before
 * its bytes leave; it goes to the configured host and nowhere else.
 */
import { type Fault, failed, fault, type InstalledApp, ok, type Result } from '@cordon/core';
import type { Dial } from '@cordon/dialler';
import { type Challenge, challengeIn } from '@cordon/oauth';
import type { Transport } from '@modelcontextprotocol/client';
import { RemoteError } from '../apps/app-faults.ts';
import type { OnChallenge } from '../apps/app-start.ts';
import type { Context } from '../context/context.ts';
import type { Gate } from '../mediation/gate.ts';
import type { AppTokens } from './app-tokens.ts';
import { reasonOf, requestOfHub } from './hub-request.ts';

export interface RemoteAppParts {
  readonly app: InstalledApp;
  readonly gate: Gate;
  readonly context: Context;
  readonly dial: Dial;
  /** Null: the app is reached without a login. */
  readonly tokens: AppTokens | null;
  /** Hears what the app's server asks for where it does not let a request in; absent: no login is under way. */
  readonly onChallenge?: OnChallenge | undefined;
}

/** The user named the URL in the configuration, so the first contact needs no question; the policy still decides. */
export async function connectRemote(parts: RemoteAppParts): Promise<Result<Transport, Fault>> {
  const { app, dial, tokens, onChallenge } = parts;
  if (app.source.kind !== 'url') return failed(fault('app-unavailable', `\`${app.id}\` has no URL`));
  const { url, headers } = app.source;
  const target = new URL(url);
  const [{ StreamableHTTPClientTransport }, { fetchOver }] = await Promise.all([
    import('@modelcontextprotocol/client'),
    import('@cordon/dialler/fetch'),
  ]);
  const fetch = fetchOver(dial, SILENT_MS);
  const wantsLogin = onChallenge !== undefined;
  const once = async (requested: URL, init: RequestInit | undefined, token: string | null): Promise<Sent> => {
    let challenge: Challenge | null = null;
    const result = await requestOfHub(
      { ...parts, method: init?.method ?? 'GET', url: requested, bytes: bodyBytes(init) },
      async () => {
        const sent = await send(app, fetch, requested, withToken(init, token), wantsLogin || token !== null);
        challenge = sent.challenge;
        return sent.result;
      },
    );
    return { result, challenge };
  };
  const guarded = async (input: string | URL, init?: RequestInit): Promise<Response> => {
    const requested = new URL(input);
    // Attack: the token of the app's server goes to another one.
    if (requested.origin !== target.origin) throw new RemoteError(elsewhere(app, target, requested));
    const token = heldToken(await tokens?.current());
    let sent = await once(requested, init, token);
    if (tokens !== null && token !== null && sent.challenge?.lacksScope === false)
      sent = await once(requested, init, heldToken(await tokens.insteadOf(token)));
    if (sent.challenge !== null) onChallenge?.(sent.challenge);
    if (!sent.result.ok) throw new RemoteError(sent.result.fault, sent.challenge !== null);
    return sent.result.value;
  };
  return ok(
    new StreamableHTTPClientTransport(target, { fetch: guarded, requestInit: { headers: { ...headers } } }),
  );
}

/** Null: nobody is logged in. */
function heldToken(held: Result<string | null, Fault> | undefined): string | null {
  if (held?.ok === false) throw new RemoteError(held.fault, true);
  return held?.value ?? null;
}

function withToken(init: RequestInit | undefined, token: string | null): RequestInit | undefined {
  if (token === null) return init;
  const headers = new Headers(init?.headers);
  headers.set('authorization', `Bearer ${token}`);
  return { ...init, headers };
}

/** As `fetch` of Node has it. Attack: a server that never answers keeps the request, and its connection, for ever. */
const SILENT_MS = 300_000;

/** The MCP client sends text. */
function bodyBytes(init: RequestInit | undefined): number | null {
  const body = init?.body ?? '';
  return typeof body === 'string' ? Buffer.byteLength(body) : null;
}

interface Sent {
  readonly result: Result<Response, Fault>;
  /** Null: the server let the request in, or asks for no token. */
  readonly challenge: Challenge | null;
}

/** A redirect would send the request, credentials and all, where the user never pointed: it is reported, not followed. */
async function send(
  app: InstalledApp,
  fetch: typeof globalThis.fetch,
  requested: URL,
  init: RequestInit | undefined,
  hasLogin: boolean,
): Promise<Sent> {
  try {
    const response = await fetch(requested, init);
    const challenge = await challengeOf(response, hasLogin);
    const refusal = refusalOf(app, requested, response, challenge);
    if (refusal === null) return { result: ok(bounded(app, response)), challenge };
    await response.body?.cancel();
    return { result: failed(refusal), challenge };
  } catch (error) {
    return { result: failed(unreachable(app, requested, init, error)), challenge: null };
  }
}

/** A server may say no more than 401; with a login, or on the way to one, that is enough. */
async function challengeOf(response: Response, hasLogin: boolean): Promise<Challenge | null> {
  const said = await challengeIn(response);
  switch (response.status) {
    case 401:
      return said === null && hasLogin ? NO_MORE_THAN_401 : said;
    case 403:
      return said?.lacksScope === true ? said : null;
    default:
      return null;
  }
}

const NO_MORE_THAN_401: Challenge = { resourceMetadata: null, scope: null, lacksScope: false };

function unreachable(
  app: InstalledApp,
  requested: URL,
  init: RequestInit | undefined,
  error: unknown,
): Fault {
  if (init?.signal?.aborted === true) return fault('app-timeout', `the request to \`${app.id}\` was stopped`);
  const message = `\`${app.id}\` cannot be reached at \`${requested.host}\`: ${reasonOf(error)}`;
  return fault('app-unavailable', message, 'check its `url`, the network, and that the server is running');
}

/** Messages of the greatest length that one response may hold. */
const LINES_OF_RESPONSE = 8;

/** A process on this machine is bounded by the lines that it sends; a server that never stops sending is bounded here. */
function bounded(app: InstalledApp, response: Response): Response {
  if (response.body === null) return response;
  const most = app.manifest.limits.lineBytes * LINES_OF_RESPONSE;
  let left = most;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      left -= chunk.length;
      if (left >= 0) controller.enqueue(chunk);
      else
        controller.error(
          new RemoteError(fault('app-protocol', `\`${app.id}\` answered with more than ${most} bytes`)),
        );
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(counter), { status, statusText, headers });
}

/** Statuses that the MCP client would tell in the server's words, or follow; all others are its to understand. */
function refusalOf(
  app: InstalledApp,
  requested: URL,
  { status, headers }: Response,
  challenge: Challenge | null,
): Fault | null {
  if (status >= 300 && status < 400) {
    const location = headers.get('location') ?? '';
    const next = URL.canParse(location, requested.href) ? new URL(location, requested) : requested;
    return elsewhere(app, requested, next);
  }
  const answered = `\`${app.id}\` answered ${status} at \`${requested.host}\``;
  if (status === 403 && challenge?.lacksScope === true) return lacksScope(app, challenge);
  if (status === 401 && challenge !== null)
    return fault('app-unavailable', `you are not logged in to \`${app.id}\``, logInTo(app, null));
  if (status === 401 || status === 403) {
    const help =
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder as people write it
      'add the credentials it needs to `headers`, for example `"Authorization": "Bearer ${env:NAME}"`';
    return fault('app-unavailable', answered, help);
  }
  if (status < 500) return null;
  return fault('app-unavailable', answered, 'its server has a problem; try again later');
}

/** Of another host only its name is shown: the rest of the address is text of the other side. */
function elsewhere(app: InstalledApp, from: URL, next: URL): Fault {
  const shown = next.host === from.host ? `${next.host}${next.pathname}` : next.host;
  return fault(
    'app-unavailable',
    `\`${app.id}\` redirects to another address, \`${shown.slice(0, 100)}\`, which Cordon does not follow`,
    'if you trust that address, write it as the `url` of the app',
  );
}

/** Attack: a server's scope tells the user what to do. It is shown as a word of a command, and whole, or not at all. */
function lacksScope(app: InstalledApp, { scope }: Challenge): Fault {
  const wanted = scope !== null && scope.length <= 120 && /^[\w:./ -]+$/.test(scope) ? scope : null;
  const what = wanted === null ? 'more' : `\`${wanted}\``;
  return fault('app-unavailable', `\`${app.id}\` wants ${what} granted for this`, logInTo(app, wanted));
}

function logInTo({ id }: InstalledApp, scope: string | null): string {
  return `log in: \`cordon apps login ${id}${scope === null ? '' : ` --scope "${scope}"`}\``;
}
