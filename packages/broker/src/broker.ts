/**
 * Model providers in processes: one for each, which holds the key and the libraries of that provider and reaches its host alone. The
 * hub sends requests, and checks what comes back.
 */
import {
  failed,
  fault,
  type Json,
  type JsonObject,
  type Model,
  type ModelFault,
  type ModelResponse,
  ok,
  type Result,
  type Service,
} from '@cordon/core';
import type { Dial } from '@cordon/dialler';
import { misfit } from '@cordon/protocol';
import type { Sandbox } from '@cordon/sandbox';
import { ProviderProcess } from './provider-process.ts';
import type { Target } from './relay.ts';
import { providerSpec } from './spec.ts';
import { COUNT, exactly, TEXT } from './wire.ts';

export interface BrokerParts {
  readonly sandbox: Sandbox;
  /** Connects to the hosts of providers. */
  readonly dial: Dial;
  /** The folder that holds `packages/` and `node_modules/`. */
  readonly codeRoot: string;
  /** What differs from the usual times, in milliseconds. */
  readonly times?: Partial<Times>;
}

interface Times {
  readonly tickMs: number;
  readonly idleMs: number;
  readonly firstWaitMs: number;
}

const TIMES: Times = { tickMs: 2_500, idleMs: 600_000, firstWaitMs: 250 };

/** What the process of one provider, or of one service, is given, and what it can reach. */
export interface ProviderAccess {
  /** For `@cordon/llm` inside, key included. */
  readonly settings: JsonObject;
  readonly target: Target;
  /** The longest that a call takes, retries included. */
  readonly callMs: number;
}

export interface Broker {
  /** The models of a provider. The process starts with the first call. */
  readonly provider: (name: string, access: ProviderAccess) => Model;
  /** The same for a service that answers questions of rules. */
  readonly service: (name: string, access: ProviderAccess) => Service;
  readonly close: () => Promise<void>;
}

export function openBroker({ sandbox, dial, codeRoot, times }: BrokerParts): Broker {
  const processes = new Map<string, ProviderProcess>();
  let isClosed = false;
  const processOf = (name: string, access: ProviderAccess) => {
    const found = processes.get(name);
    if (found !== undefined) return found;
    const process = new ProviderProcess({
      ...TIMES,
      ...times,
      ...access,
      sandbox,
      dial,
      spec: () => providerSpec(codeRoot),
    });
    processes.set(name, process);
    if (isClosed) void process.close();
    return process;
  };
  return {
    provider: (name, access) => ({
      async complete(request, options) {
        const answer = await processOf(name, access).call(request, options);
        return answer.ok ? readResponse(name, answer.value) : answer;
      },
    }),
    service: (name, access) => ({
      name,
      async answer(question, signal) {
        const answer = await processOf(name, access).call(question, { signal });
        if (answer.ok) return answer;
        const { kind, message } = answer.fault;
        return failed(fault(kind === 'cancelled' ? 'cancelled' : 'model-failure', message));
      },
    }),
    close: async () => {
      isClosed = true;
      await Promise.all([...processes.values()].map((process) => process.close()));
    },
  };
}

const FINISH: Readonly<Record<ModelResponse['finish'], true>> = {
  stop: true,
  'tool-calls': true,
  length: true,
  refusal: true,
  other: true,
};
const RESPONSE = exactly({
  text: TEXT,
  calls: { type: 'array', items: exactly({ id: TEXT, name: TEXT, arguments: { type: 'object' } }) },
  finish: { enum: Object.keys(FINISH) },
  usage: exactly({ inputTokens: COUNT, outputTokens: COUNT }),
});

/** Attack: a count of tokens below zero gives the query a budget without end. */
export function readResponse(name: string, answer: Json): Result<ModelResponse, ModelFault> {
  const problem = misfit(RESPONSE, answer);
  // INVARIANT: the schema describes `ModelResponse`.
  if (problem === null) return ok(answer as unknown as ModelResponse);
  return failed({
    kind: 'invalid-response',
    message: `the process that calls provider \`${name}\` sent no answer of a model: ${problem}`,
    attempts: 1,
  });
}
