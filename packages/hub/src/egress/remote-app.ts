/**
 * Apps that run elsewhere: MCP over HTTP, spoken by the hub. Each request is an egress and passes the gate before
 * its bytes leave; it goes to the configured host and nowhere else.
 */
import {
  DEFAULT_LABEL,
  type Egress,
  type Fault,
  failed,
  fault,
  type InstalledApp,
  ok,
  type Result,
} from '@cordon/core';
import type { Dial } from '@cordon/dialler';
import type { Transport } from '@modelcontextprotocol/client';
import { RemoteError } from '../apps/app-faults.ts';
import type { Context } from '../context/context.ts';
import type { Gate } from '../mediation/gate.ts';

/** The user named the URL in the configuration, so the first contact needs no question; the policy still decides. */
export async function connectRemote(
  app: InstalledApp,
  gate: Gate,
  context: Context,
  dial: Dial,
): Promise<Result<Transport, Fault>> {
  if (app.source.kind !== 'url') return failed(fault('app-unavailable', `\`${app.id}\` has no URL`));
  const { url, headers } = app.source;
  const target = new URL(url);
  const [{ StreamableHTTPClientTransport }, { fetchOver }] = await Promise.all([
    import('@modelcontextprotocol/client'),
    import('@cordon/dialler/fetch'),
  ]);
  const fetch = fetchOver(dial, SILENT_MS);
  const guarded = async (input: string | URL, init?: RequestInit): Promise<Response> => {
    const requested = new URL(input);
    if (requested.origin !== target.origin) throw new RemoteError(elsewhere(app, target, requested));
    const proposal: Egress = {
      effect: 'egress',
      context: context.id,
      app: app.id,
      method: init?.method ?? 'GET',
      host: requested.hostname,
      port: Number(requested.port) || (requested.protocol === 'https:' ? 443 : 80),
      path: requested.pathname,
      bytes: bodyBytes(init),
    };
    // What the request holds may come from anywhere: other apps' words stand in arguments.
    const circumstances = { causes: [], label: DEFAULT_LABEL, requirement: null };
    const sent = await gate.carryOut(context, proposal, circumstances, (allowance) => {
      gate.spend(allowance);
      return send(app, fetch, requested, init);
    });
    if (sent.kind === 'done') return sent.value;
    if (sent.kind === 'failed') throw new RemoteError(sent.fault);
    const reason = sent.reasons[0]?.message ?? 'no reason given';
    // Not a fault of the app: the query is refused, as the policy wants it.
    throw new RemoteError(
      fault('cancelled', `the request of \`${app.id}\` to \`${requested.host}\` was refused: ${reason}`),
    );
  };
  return ok(
    new StreamableHTTPClientTransport(target, { fetch: guarded, requestInit: { headers: { ...headers } } }),
  );
}

/** As `fetch` of Node has it. Attack: a server that never answers keeps the request, and its connection, for ever. */
const SILENT_MS = 300_000;

/** The MCP client sends text. */
function bodyBytes(init: RequestInit | undefined): number | null {
  const body = init?.body ?? '';
  return typeof body === 'string' ? Buffer.byteLength(body) : null;
}

/** A redirect would send the request, credentials and all, where the user never pointed: it is reported, not followed. */
async function send(
  app: InstalledApp,
  fetch: typeof globalThis.fetch,
  requested: URL,
  init: RequestInit | undefined,
): Promise<Result<Response, Fault>> {
  try {
    const response = await fetch(requested, init);
    const refusal = refusalOf(app, requested, response);
    if (refusal === null) return ok(bounded(app, response));
    await response.body?.cancel();
    return failed(refusal);
  } catch (error) {
    if (init?.signal?.aborted === true)
      return failed(fault('app-timeout', `the request to \`${app.id}\` was stopped`));
    const message = `\`${app.id}\` cannot be reached at \`${requested.host}\`: ${reasonOf(error)}`;
    return failed(
      fault('app-unavailable', message, 'check its `url`, the network, and that the server is running'),
    );
  }
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
function refusalOf(app: InstalledApp, requested: URL, { status, headers }: Response): Fault | null {
  if (status >= 300 && status < 400) {
    const location = headers.get('location') ?? '';
    const next = URL.canParse(location, requested.href) ? new URL(location, requested) : requested;
    return elsewhere(app, requested, next);
  }
  const answered = `\`${app.id}\` answered ${status} at \`${requested.host}\``;
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

/** `fetch` says only `fetch failed`; the reason is the cause, and its code is safe to show. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && 'code' in cause ? cause.code : null;
  return typeof code === 'string' && /^\w{1,40}$/.test(code) ? code : 'no connection';
}
