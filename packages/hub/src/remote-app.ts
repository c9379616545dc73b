/**
 * Apps that run elsewhere: MCP over HTTP, spoken by the hub. Each request is an egress and passes the gate before
 * its bytes leave; it goes to the configured host and nowhere else.
 *
 * Ring 0.
 */
import {
  type Egress,
  type Fault,
  failed,
  fault,
  HUB_LABEL,
  type InstalledApp,
  ok,
  type Result,
} from '@cordon/core';
import type { Transport } from '@modelcontextprotocol/client';
import type { Context } from './context.ts';
import type { Gate } from './gate.ts';

/** The user named the URL in the configuration, so the first contact needs no question; the policy still decides. */
export async function connectRemote(
  app: InstalledApp,
  gate: Gate,
  context: Context,
): Promise<Result<Transport, Fault>> {
  if (app.source.kind !== 'url') return failed(fault('app-unavailable', `\`${app.id}\` has no URL`));
  const { url, headers } = app.source;
  const target = new URL(url);
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const guarded = async (input: string | URL, init?: RequestInit): Promise<Response> => {
    const requested = new URL(input);
    if (requested.origin !== target.origin) throw new Error(`\`${app.id}\` may not lead to another host`);
    const proposal: Egress = {
      effect: 'egress',
      context: context.id,
      app: app.id,
      method: init?.method ?? 'GET',
      host: requested.hostname,
      port: Number(requested.port) || (requested.protocol === 'https:' ? 443 : 80),
      path: requested.pathname,
    };
    const sent = await gate.carryOut(
      context,
      proposal,
      { causes: [], label: HUB_LABEL, need: null },
      async (allowance) => {
        gate.spend(allowance);
        // A redirect would send the request, credentials and all, where the user never pointed.
        return ok(await fetch(requested, { ...init, redirect: 'error' }));
      },
    );
    if (sent.kind === 'done') return sent.value;
    throw new Error(sent.kind === 'refused' ? 'the policy forbids the request' : sent.fault.message);
  };
  return ok(
    new StreamableHTTPClientTransport(target, { fetch: guarded, requestInit: { headers: { ...headers } } }),
  );
}
