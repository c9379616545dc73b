/**
 * Model calls: the hub is the only holder of provider keys, and a call is an effect like any other.
 *
 * The models behind the port are ring 1.
 */
import {
  type Allowed,
  canonicalJsonOf,
  type EventId,
  type Fault,
  failed,
  fault,
  type JsonSchema,
  MOST_CALLS_AT_ONCE,
  type Model,
  type ModelCall,
  type ModelCallOptions,
  type ModelFault,
  type ModelMessage,
  type ModelRequest,
  type ModelResponse,
  type ModelTool,
  ok,
  type Reason,
  type Result,
  type Usage,
} from '@cordon/core';
import { frozenCopy } from '@cordon/monitor';
import type { Context } from '../context/context.ts';
import { yieldIfLong } from '../context/event-loop-turn.ts';
import type { Query } from '../context/query.ts';
import type { Recorder } from '../journal/recorder.ts';
import { abortable } from './abortable.ts';
import type { Gate } from './gate.ts';

export interface Prompt {
  readonly role: ModelRequest['role'];
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  readonly answerSchema?: JsonSchema;
}

/** Whose budget a call counts for, and whose end ends it. */
export type Spending = Pick<Query, 'reserve' | 'signal'>;

/** `refused` is the policy's no; a fault is the provider's. */
export type ModelFailure =
  | { readonly kind: 'refused'; readonly reasons: readonly Reason[] }
  | { readonly kind: 'fault'; readonly fault: Fault };

/** Hears the text of a message while the model writes it. */
export type OnText = NonNullable<ModelCallOptions['onText']>;

/** What a model answered, and the call that asked it. */
export interface Asked {
  readonly response: ModelResponse;
  readonly event: EventId;
}

export interface ModelCallsParts {
  readonly model: Model;
  readonly gate: Gate;
  readonly recorder: Recorder;
  /** SHA-256 in hexadecimal. */
  readonly digest: (text: string) => string;
}

export class ModelCalls {
  readonly #parts: ModelCallsParts;

  constructor(parts: ModelCallsParts) {
    this.#parts = parts;
  }

  async complete(
    context: Context,
    query: Spending,
    prompt: Prompt,
    onText?: OnText,
  ): Promise<Result<ModelResponse, ModelFailure>> {
    const asked = await this.ask(context, query, prompt, onText);
    return asked.ok ? ok(this.heard(context, asked.value)) : asked;
  }

  /** What was asked becomes a message of its context: the model's words, no more trustworthy than what it had seen. */
  heard(context: Context, { response, event }: Asked): ModelResponse {
    const { text, calls, finish } = response;
    const cut = finish === 'length' || finish === 'refusal' ? { cut: finish } : {};
    const message = { kind: 'model.message', text, calls, ...cut } as const;
    this.#parts.recorder.record(context, message, { causes: [event], label: context.label });
    return response;
  }

  /** What the model says becomes no message of the context: nothing in the trace follows from it. */
  async ask(
    context: Context,
    query: Spending,
    prompt: Prompt,
    onText?: OnText,
  ): Promise<Result<Asked, ModelFailure>> {
    // What was digested, and decided, is what goes out, however long that takes.
    const request = frozenCopy({ ...prompt, model: context.model });
    const shown = canonicalJsonOf(request);
    const reserved = query.reserve(context.model, shown.length);
    if (!reserved.ok) return failed({ kind: 'fault', fault: reserved.fault });
    let usage: Usage | null = null;
    try {
      await yieldIfLong(shown.length);
      const proposal: ModelCall = {
        effect: 'model-call',
        context: context.id,
        model: context.model,
        messages: request.messages.length,
        tools: request.tools.map(({ name }) => name),
        digest: this.#parts.digest(shown),
      };
      const { causes, label } = context;
      const carried = await this.#parts.gate.carryOut(
        context,
        proposal,
        { causes, label, requirement: null },
        (allowance) =>
          this.#ask(allowance, request, proposal.digest, { signal: query.signal, ...(onText && { onText }) }),
        (response) => ({ usage: response.usage }),
      );
      if (carried.kind === 'refused') return failed(carried);
      if (carried.kind === 'failed') return failed({ kind: 'fault', fault: carried.fault });
      usage = carried.value.usage;
      return ok({ response: carried.value, event: carried.event });
    } finally {
      reserved.value.settle(usage);
    }
  }

  /** The effect: the prompt goes to the model that was allowed, if it is the prompt that was decided. */
  async #ask(
    allowance: Allowed<ModelCall>,
    request: ModelRequest,
    digest: string,
    options: ModelCallOptions,
  ): Promise<Result<ModelResponse, Fault>> {
    const decided = this.#parts.gate.spend(allowance);
    if (digest !== decided.digest) throw new Error('another prompt was decided');
    const answer = await this.#complete({ ...request, model: decided.model }, options);
    if (!answer.ok) return failed(modelFault(answer.fault));
    const { length } = answer.value.calls;
    return length > MOST_CALLS_AT_ONCE ? failed(tooManyCalls(length)) : answer;
  }

  /** Models are outside of what the hub trusts: one that throws has failed, and the hub does not wait for one that does not stop. */
  async #complete(request: ModelRequest, options: ModelCallOptions): ReturnType<Model['complete']> {
    try {
      return await abortable(
        () => this.#parts.model.complete(request, options),
        options.signal,
        failed(STOPPED),
      );
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'no reason given';
      return failed({ kind: 'invalid-response', message: `the model broke: ${reason}`, attempts: 1 });
    }
  }
}

/** The broker refuses such an answer and asks again; this is for models that stand behind no broker. */
function tooManyCalls(calls: number): Fault {
  const help = 'use a model that is better at calling tools (`--model`)';
  const message = `the model asked for ${calls} tool calls at once; ${MOST_CALLS_AT_ONCE} are the most`;
  return fault('model-failure', message, help);
}

const STOPPED: ModelFault = { kind: 'cancelled', message: 'the query was stopped', attempts: 1 };

function modelFault({ kind, message, help, attempts }: ModelFault): Fault {
  if (kind === 'cancelled') return fault('cancelled', 'the query was stopped');
  const tried = attempts > 1 ? ` (tried ${attempts} times)` : '';
  return fault('model-failure', `${message}${tried}`, help);
}
