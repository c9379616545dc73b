/** Providers and services of a configuration, each called by a confined process. */
import { platform } from 'node:os';
import type { Broker } from '@cordon/broker';
import type { Configuration } from '@cordon/config';
import { CODE_ROOT } from '@cordon/config/reading';
import type { Endpoint, EndpointKind, Model, RetryLimits, Service } from '@cordon/core';
import { type Dial, HERE } from '@cordon/dialler';
import {
  callsHere,
  createService,
  type Fetch,
  type ProviderRoute,
  providerAccess,
  serviceAccess,
  sleep,
} from '@cordon/llm';
import type { Sandbox } from '@cordon/sandbox';

export interface Providers {
  readonly model: (route: ProviderRoute) => Model;
  /** Answers questions of rules, at an address that the user gave. */
  readonly service: (kind: EndpointKind, endpoint: Endpoint) => Service;
  /** Ends their processes. */
  readonly close: () => Promise<void>;
}

/** Whether this system can confine a process that has a way out. */
export const CONFINES_PROVIDERS = platform() !== 'darwin';

export function openProviders(
  { retries }: Pick<Configuration, 'retries'>,
  sandbox: Sandbox,
  isConfined = CONFINES_PROVIDERS,
  dial: Dial = HERE.dial,
): Providers {
  return isConfined ? confined(retries, sandbox, dial) : inThisProcess(retries);
}

function inThisProcess(limits: RetryLimits): Providers {
  // Not `globalThis.fetch` itself: to read that loads Node's HTTP client, 20 ms before the prompt.
  const here: Fetch = (input, init) => fetch(input, init);
  return {
    model: callsHere({ limits, fetch: here, random: Math.random, clock: Date.now, sleep }),
    service: (kind, endpoint) => createService(kind, endpoint, here),
    close: async () => undefined,
  };
}

/** Nothing is loaded before the first call: the prompt does not wait for it. */
function confined(retries: RetryLimits, sandbox: Sandbox, dial: Dial): Providers {
  let opening: Promise<Opened> | null = null;
  const opened = () => {
    opening ??= open(sandbox, dial);
    return opening;
  };
  return {
    model: (route) => ({
      complete: async (request, options) => {
        const { broker, authorities } = await opened();
        const access = providerAccess(route, retries, authorities);
        return broker.provider(route.name, access).complete(request, options);
      },
    }),
    service: (kind, endpoint) => {
      const name = `endpoint/${kind}`;
      return {
        name,
        answer: async (question, signal) => {
          const { broker, authorities } = await opened();
          return broker.service(name, serviceAccess(kind, endpoint, authorities)).answer(question, signal);
        },
      };
    },
    close: async () => (await opening)?.broker.close(),
  };
}

interface Opened {
  readonly broker: Broker;
  /** What the machine or `NODE_EXTRA_CA_CERTS` adds to the authorities of Node: a confined process sees neither. */
  readonly authorities: readonly string[];
}

async function open(sandbox: Sandbox, dial: Dial): Promise<Opened> {
  const [{ openBroker }, { getCACertificates }] = await Promise.all([
    import('@cordon/broker'),
    import('node:tls'),
  ]);
  const bundled = new Set(getCACertificates('bundled'));
  const authorities = getCACertificates('default').filter((one) => !bundled.has(one));
  return { broker: openBroker({ sandbox, dial, codeRoot: CODE_ROOT }), authorities };
}
