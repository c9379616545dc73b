/** Services of the user's that answer questions of rules, beside the models. Ring 1. */
import type { Service, ServiceName } from '@cordon/core';
import type { Fetch } from './transport.ts';

/** Where a service answers, as the configuration says it. */
export interface Endpoint {
  readonly url: string;
  /** As the server knows it; null: it has one. */
  readonly model: string | null;
  /** Sent as a bearer token; null: none. */
  readonly key: string | null;
}

/** Services behind an address. */
export type EndpointKind = Exclude<ServiceName, 'llm' | 'predicate'>;

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
