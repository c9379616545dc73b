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
      const { bodyWithin, fetchOver } = await import('@cordon/dialler/fetch');
      const signal = AbortSignal.timeout(ANSWER_MS);
      // Requests are rare, and nobody waits for the next one with the connection of this one.
      const once = { ...headers, connection: 'close' };
      try {
        const response = await fetchOver(dial)(url, { method, headers: once, body, signal });
        const answer = await bodyWithin(MOST_BYTES, response);
        if (answer === null) return stopped(`\`${shownHost(url)}\` sends too much`);
        const { status, headers: said } = response;
        return ok(new Response(response.body === null ? null : answer, { status, headers: said }));
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
