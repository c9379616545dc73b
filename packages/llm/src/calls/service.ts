/** Services of the user's that answer questions of rules, beside the models. */

import type { Endpoint, EndpointKind, Service } from '@cordon/core';
import type { Fetch } from '../transport/transport.ts';
/** Tried once: a rule waits for it, and is decided again later if it has to be. Nothing is loaded before the first question. */
export function createService(kind: EndpointKind, endpoint: Endpoint, fetch: Fetch): Service {
  return {
    name: `endpoint/${kind}`,
    async answer(question, signal) {
      const { answered } = await import('./service-call.ts');
      return answered(kind, endpoint, fetch, question, signal);
    },
  };
}
