/**
 * Runs a context's turn in an agent loop, from its start to its answer, and serves what its spoke asks meanwhile. Identity comes
 * from here, from whose link the message arrived on: nothing that a spoke writes says who it is.
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
  type Result,
} from '@cordon/core';
import { offeredTools, type SpokeRequest, type TurnContext } from '@cordon/protocol';
import type { Context } from '../context/context.ts';
import type { Query } from '../context/query.ts';
import type { Probes } from '../exchange/probes.ts';
import type { PeerRequests, ServingTask } from '../exchange/serving.ts';
import type { Recorder } from '../journal/recorder.ts';
import type { Gate } from '../mediation/gate.ts';
import type { ModelCalls } from '../mediation/model-calls.ts';
import type { ToolCalls } from '../mediation/tool-calls.ts';
import type { Served } from '../spokes/spoke-link.ts';
import type { SpokePool } from '../spokes/spoke-pool.ts';
import { AnswerStream } from './answer-stream.ts';
import type { CatalogueEntry } from './catalogue.ts';
import type { DataRequests } from './data-requests.ts';
import type { Prepared } from './preparation.ts';
import type { Opening } from './speculative-turn.ts';

export interface TurnsParts {
  readonly spokes: SpokePool;
  readonly gate: Gate;
  readonly recorder: Recorder;
  readonly models: ModelCalls;
  readonly calls: ToolCalls;
  readonly probes: Probes;
  readonly dataRequests: DataRequests;
  readonly maxSteps: number;
  readonly functionalities: readonly CatalogueEntry[];
}

/** What a turn begins with, besides what its context is made of. */
export interface TurnStart {
  /** The query, or the request that is served. */
  readonly text: string;
  readonly data: TurnContext['data'];
  readonly history: TurnContext['history'];
  /** Null: the turn answers the user. */
  readonly task: ServingTask | null;
  /** What the model of this context was asked before the turn; null: nothing. */
  readonly opening: Opening | null;
}

/** A turn while it runs. */
interface Turn {
  readonly context: Context;
  readonly query: Query;
  /** For what the context asks of others. */
  readonly peers: PeerRequests;
  readonly start: TurnContext;
  readonly opening: Opening | null;
  /** Whether the user sees what its model writes while it writes it. */
  readonly streams: boolean;
  modelCalls: number;
}

export class Turns {
  readonly #parts: TurnsParts;

  constructor(parts: TurnsParts) {
    this.#parts = parts;
  }

  /** `peers`: for what the context asks of others. */
  async run(
    query: Query,
    prepared: Prepared,
    { text, data, history, task, opening }: TurnStart,
    peers: PeerRequests,
  ): Promise<Result<string, Fault>> {
    const { spokes, recorder, maxSteps, functionalities } = this.#parts;
    const { context, owner, system, tools, offers } = prepared;
    const spoke = await spokes.take();
    if (!spoke.ok) return spoke;
    const start: TurnContext = {
      system,
      history,
      query: text,
      data,
      tools,
      offers,
      // In the baseline there is nobody to ask.
      functionalities: owner.kind === 'shared' ? [] : functionalities,
      serves: task === null ? null : servedFormats(task),
      maxSteps,
    };
    const streams = query.streams && task === null;
    const turn: Turn = { context, query, peers, start, opening, streams, modelCalls: 0 };
    const onDropped = (reason: string, bytes: number) => recorder.drop(context, reason, bytes);
    const answer = await spoke.value.runTurn(
      start,
      (request, over) => this.#serve(turn, request, over),
      onDropped,
      task === null ? query.signal : AbortSignal.any([query.signal, task.signal]),
    );
    spokes.release(spoke.value);
    recorder.end(context, answer.ok ? 'answered' : answer.fault.message);
    if (!answer.ok && answer.fault.kind === 'budget-exceeded')
      return failed(query.budget.exceeded?.fault ?? query.budget.stepsFault(answer.fault));
    return answer;
  }

  /** `signal` aborts when the turn is over: what it began ends with it. */
  #serve(turn: Turn, request: SpokeRequest, signal: AbortSignal): Promise<Served> {
    const { probes, dataRequests } = this.#parts;
    const { context, query, peers, start } = turn;
    switch (request.type) {
      case 'model':
        return this.#model(turn, request.messages);
      case 'tool':
        return this.#tool(turn, request.name, request.arguments, signal);
      case 'probe':
        return probes.probe(context, query, request.functionality);
      case 'request':
        return peers.request(context, query, request, signal);
      case 'open':
        return peers.open(context, query, request.reference);
      case 'read':
        return peers.read(context, query, request.reference, request.schema);
      case 'need':
        return dataRequests.ask(context, query, start, request);
      default:
        request satisfies never;
        return Promise.resolve(failed(UNKNOWN));
    }
  }

  async #model(turn: Turn, messages: readonly ModelMessage[]): Promise<Served> {
    const { context, query, start } = turn;
    // The loop counts too; this is for one that does not.
    if (++turn.modelCalls > start.maxSteps) return failed(TOO_MANY_STEPS);
    const { app, peers, references } = context;
    const tools = offeredTools(start, {
      // The peers of the plan have separate tools.
      hasPeer: peers.size > start.offers.length,
      hasReference: references.isHolding,
      mayNeed: app !== null,
    });
    const opened = turn.modelCalls === 1 ? await this.#opened(turn, messages, tools) : null;
    if (opened !== null) return ok({ type: 'reply', text: opened.text, calls: opened.calls });
    const stream = this.#streamFor(turn);
    const prompt = { role: 'agent', messages, tools } as const;
    const answer = await this.#parts.models.complete(context, query, prompt, stream?.hear);
    stream?.end(!answer.ok || answer.value.calls.length === 0);
    if (answer.ok) return ok({ type: 'reply', text: answer.value.text, calls: answer.value.calls });
    if (answer.fault.kind === 'fault') return failed(answer.fault.fault);
    query.refused(answer.fault.reasons, true);
    const reason = answer.fault.reasons[0]?.message ?? 'no reason';
    return failed(fault('cancelled', `the policy forbids the model call: ${reason}`));
  }

  /** What the model said before the turn began; null: nothing that holds for it. */
  async #opened(
    turn: Turn,
    messages: readonly ModelMessage[],
    tools: readonly ModelTool[],
  ): Promise<ModelResponse | null> {
    const { context, opening } = turn;
    const stream = this.#streamFor(turn);
    const asked = (await opening?.answerTo(messages, tools, stream?.hear)) ?? null;
    stream?.end(asked === null || asked.response.calls.length === 0);
    if (opening === null || asked === null) return null;
    // Recorded also where it does not hold: a resumed query finds in the journal what its model was asked.
    const response = this.#parts.models.heard(context, asked);
    return opening.holdsFor(asked, tools) ? response : null;
  }

  /** For one message of a turn that answers the user; null: nobody sees it before it is complete. */
  #streamFor({ context, streams }: Turn): AnswerStream | null {
    return streams ? new AnswerStream(this.#parts.gate, context) : null;
  }

  async #tool(
    { context, query }: Turn,
    name: string,
    args: JsonObject,
    signal: AbortSignal,
  ): Promise<Served> {
    const called = await this.#parts.calls.callOwn(context, query, name, args, signal);
    return called.ok ? ok({ type: 'output', ...called.value }) : called;
  }
}

function servedFormats({ message, functionality: { request, response } }: ServingTask) {
  return { message, request, response };
}

const TOO_MANY_STEPS: Fault = fault('budget-exceeded', 'the turn reached its limit of model calls');
const UNKNOWN: Fault = fault('spoke-protocol', 'an unknown request');
