/** What the hub gives to the process that calls one provider, or one service, from both ends. */

import type { ProviderAccess } from '@cordon/broker';
import {
  bareAddress,
  type Endpoint,
  type EndpointKind,
  type JsonObject,
  type ProviderConfig,
  portOf,
  type RetryLimits,
} from '@cordon/core';
import type { ProviderRoute } from '../calls/provider-call.ts';
import { addressOf } from '../providers/access.ts';

export type Settings = {
  /** Certificates, in PEM, that are believed beside those that come with Node. */
  readonly authorities: readonly string[];
} & (
  | {
      readonly kind: 'provider';
      /** As the user calls it. */
      readonly name: string;
      readonly config: ProviderConfig;
      readonly limits: RetryLimits;
    }
  | { readonly kind: 'endpoint'; readonly service: EndpointKind; readonly endpoint: Endpoint }
);

/** Who asks a service waits no longer than this, whatever the configuration says. */
const SERVICE_MS = 600_000;

/** INVARIANT: the configuration has passed `ModelBroker.check`, so that its address is one. */
export function providerAccess(
  { name, config }: ProviderRoute,
  limits: RetryLimits,
  authorities: readonly string[] = [],
): ProviderAccess {
  const settings: Settings = { kind: 'provider', name, config, limits, authorities };
  return accessTo(addressOf(config), settings, limits.callSeconds * 1000);
}

export function serviceAccess(
  service: EndpointKind,
  endpoint: Endpoint,
  authorities: readonly string[] = [],
): ProviderAccess {
  return accessTo(endpoint.url, { kind: 'endpoint', service, endpoint, authorities }, SERVICE_MS);
}

/** The hub has built them, by the functions above. */
export function readSettings(settings: JsonObject): Settings {
  return settings as unknown as Settings;
}

function accessTo(address: string, settings: Settings, callMs: number): ProviderAccess {
  const url = new URL(address);
  return {
    // Plain data, which becomes a line of JSON.
    settings: settings as unknown as JsonObject,
    target: { host: bareAddress(url.hostname), port: portOf(url) },
    callMs,
  };
}
