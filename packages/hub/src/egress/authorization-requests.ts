/**
 * Requests to the servers that an app's login leads to. Each passes the gate; none reaches an address that is not public, unless
 * the user named its host.
 */
import { failed, fault, type InstalledApp, ok } from '@cordon/core';
import type { Dialler } from '@cordon/dialler';
import { checkedDial, type Send, shownHost, usableUrl } from '@cordon/oauth';
import type { Context } from '../context/context.ts';
import type { Gate } from '../mediation/gate.ts';
import { reasonOf, requestOfHub } from './hub-request.ts';

export interface AuthorizationParts {
  readonly app: InstalledApp;
  readonly gate: Gate;
  readonly context: Context;
  readonly dialler: Dialler;
  /** The issuer that the user wrote; null: the app's server names it. */
  readonly issuer: string | null;
}

/** Attack: a server that answers slowly, or without end. */
const ANSWER_MS = 30_000;
const MOST_BYTES = 256 * 1024;

export function authorizationSend({ app, gate, context, dialler, issuer }: AuthorizationParts): Send {
  const named = [app.source.kind === 'url' ? app.source.url : '', issuer ?? '']
    .filter((url) => URL.canParse(url))
    .map((url) => new URL(url).hostname);
  const stopped = (why: string) =>
    failed(fault('app-unavailable', `the login to \`${app.id}\` stops: ${why}`));
  const dial = checkedDial(dialler, new Set(named));
  return async ({ url, method, headers, body }) => {
    const usable = usableUrl(url.href, 'the address of the login');
    if (!usable.ok) return stopped(usable.fault);
    return requestOfHub({ app, gate, context, method, url, bytes: Buffer.byteLength(body) }, async () => {
      const { fetchOver } = await import('@cordon/dialler/fetch');
      const signal = AbortSignal.timeout(ANSWER_MS);
      // Requests are rare, and nobody waits for the next one with the connection of this one.
      const once = { ...headers, connection: 'close' };
      try {
        const response = await fetchOver(dial)(url, { method, headers: once, body, signal });
        return ok(await whole(response));
      } catch (error) {
        const reason = signal.aborted ? 'no answer in time' : wordsOf(reasonOf(error));
        return stopped(`\`${shownHost(url)}\` cannot be reached: ${reason}`);
      }
    });
  };
}

function wordsOf(reason: string): string {
  return reason === 'EPRIVATE' ? 'its address is not public, and you did not name this host' : reason;
}

/** The answer with its body, which is small. */
async function whole(response: Response): Promise<Response> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw new Error('the answer is too long');
    chunks.push(chunk);
  }
  const { status, headers } = response;
  const hasBody = response.body !== null;
  return new Response(hasBody ? Buffer.concat(chunks) : null, { status, headers });
}
