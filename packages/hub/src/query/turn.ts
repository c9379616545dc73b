/**
 * Serves what one spoke asks during one turn. Identity comes from here, from whose link the message arrived on:
 * nothing that a spoke writes says who it is.
 *
 * Ring 0.
 */
import {
  type Fault,
  failed,
  fault,
  type JsonObject,
  type ModelMessage,
  type ModelResponse,
  type ModelTool,
  ok,
} from '@cordon/core';
import { offeredTools, type SpokeRequest, type TurnContext } from '@cordon/protocol';
import type { Context } from '../context/context.ts';
import type { Query } from '../context/query.ts';
import type { Probes } from '../exchange/probes.ts';
import type { PeerRequests } from '../exchange/serving.ts';
import type { ModelCalls } from '../mediation/model-calls.ts';
import type { ToolCalls } from '../mediation/tool-calls.ts';
import type { Served } from '../spokes/spoke-link.ts';
import type { DataRequests } from './data-requests.ts';
import type { Opening } from './speculative-turn.ts';

export interface TurnParts {
  readonly models: ModelCalls;
  readonly calls: ToolCalls;
  readonly probes: Probes;
  readonly peers: PeerRequests;
  readonly dataRequests: DataRequests;
  /** What the model of this context was asked before the turn; null: nothing. */
  readonly opening: Opening | null;
}

export class Turn {
  readonly #context: Context;
  readonly #query: Query;
  readonly #start: TurnContext;
  readonly #parts: TurnParts;
  #modelCalls = 0;

  constructor(context: Context, query: Query, start: TurnContext, parts: TurnParts) {
    this.#context = context;
    this.#query = query;
    this.#start = start;
    this.#parts = parts;
  }

  /** `signal` aborts when the turn is over: what it began ends with it. */
  serve(request: SpokeRequest, signal: AbortSignal): Promise<Served> {
    const { probes, peers, dataRequests } = this.#parts;
    switch (request.type) {
      case 'model':
        return this.#model(request.messages);
      case 'tool':
        return this.#tool(request.name, request.arguments, signal);
      case 'probe':
        return probes.probe(this.#context, this.#query, request.functionality);
      case 'request':
        return peers.request(this.#context, this.#query, request, signal);
      case 'open':
        return peers.open(this.#context, this.#query, request.reference);
      case 'read':
        return peers.read(this.#context, this.#query, request.reference, request.schema);
      case 'need':
        return dataRequests.ask(this.#context, this.#query, this.#start, request);
      default:
        request satisfies never;
        return Promise.resolve(failed(UNKNOWN));
    }
  }

  async #model(messages: Extract<SpokeRequest, { type: 'model' }>['messages']): Promise<Served> {
    const { models } = this.#parts;
    // The loop counts too; this is for one that does not.
    if (++this.#modelCalls > this.#start.maxSteps) return failed(TOO_MANY_STEPS);
    const { app, peers, references } = this.#context;
    const tools = offeredTools(this.#start, {
      // The peers of the plan have separate tools.
      hasPeer: peers.size > this.#start.offers.length,
      hasReference: references.isHolding,
      mayNeed: app !== null,
    });
    const opened = this.#modelCalls === 1 ? await this.#opened(messages, tools) : null;
    if (opened !== null) return ok({ type: 'reply', text: opened.text, calls: opened.calls });
    const answer = await models.complete(this.#context, this.#query, {
      role: 'agent',
      messages,
      tools,
    });
    if (answer.ok) return ok({ type: 'reply', text: answer.value.text, calls: answer.value.calls });
    if (answer.fault.kind === 'fault') return failed(answer.fault.fault);
    this.#query.refused(answer.fault.reasons, true);
    return failed(
      fault(
        'cancelled',
        `the policy forbids the model call: ${answer.fault.reasons[0]?.message ?? 'no reason'}`,
      ),
    );
  }

  /** What the model said before the turn began; null: nothing that holds for it. */
  async #opened(
    messages: readonly ModelMessage[],
    tools: readonly ModelTool[],
  ): Promise<ModelResponse | null> {
    const { opening, models } = this.#parts;
    const asked = (await opening?.answerTo(messages)) ?? null;
    if (opening === null || asked === null) return null;
    // Recorded also where it does not hold: a resumed query finds in the journal what its model was asked.
    const response = models.heard(this.#context, asked);
    return opening.holdsFor(asked, tools) ? response : null;
  }

  async #tool(name: string, args: JsonObject, signal: AbortSignal): Promise<Served> {
    const called = await this.#parts.calls.callOwn(this.#context, this.#query, name, args, signal);
    return called.ok ? ok({ type: 'output', ...called.value }) : called;
  }
}

const TOO_MANY_STEPS: Fault = fault('budget-exceeded', 'the turn reached its limit of model calls');
const UNKNOWN: Fault = fault('spoke-protocol', 'an unknown request');
