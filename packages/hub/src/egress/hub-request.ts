/** A request that the hub itself makes for an app: an egress like any other, decided before it is made. */
import {
  DEFAULT_LABEL,
  type Egress,
  type Fault,
  failed,
  fault,
  type InstalledApp,
  ok,
  portOf,
  type Result,
} from '@cordon/core';
import type { Context } from '../context/context.ts';
import type { Gate } from '../mediation/gate.ts';

export interface HubRequest {
  readonly app: InstalledApp;
  readonly gate: Gate;
  readonly context: Context;
  readonly method: string;
  readonly url: URL;
  /** Of its body; null: unknown. */
  readonly bytes: number | null;
}

/** @param make makes the request, once it is allowed */
export async function requestOfHub(
  { app, gate, context, method, url, bytes }: HubRequest,
  make: () => Promise<Result<Response, Fault>>,
): Promise<Result<Response, Fault>> {
  const proposal: Egress = {
    effect: 'egress',
    context: context.id,
    app: app.id,
    method,
    host: url.hostname,
    port: portOf(url),
    path: url.pathname,
    bytes,
  };
  // What the request holds may come from anywhere: other apps' words stand in arguments.
  const circumstances = { causes: [], label: DEFAULT_LABEL, requirement: null };
  const sent = await gate.carryOut(context, proposal, circumstances, (allowance) => {
    gate.spend(allowance);
    return make();
  });
  if (sent.kind === 'done') return ok(sent.value);
  if (sent.kind === 'failed') return failed(sent.fault);
  const reason = sent.reasons[0]?.message ?? 'no reason given';
  // Not a fault of the app: the query is refused, as the policy wants it.
  return failed(fault('cancelled', `the request of \`${app.id}\` to \`${url.host}\` was refused: ${reason}`));
}

/** `fetch` says only `fetch failed`; the reason is the cause, and its code is safe to show. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && 'code' in cause ? cause.code : null;
  return typeof code === 'string' && /^\w{1,40}$/.test(code) ? code : 'no connection';
}
