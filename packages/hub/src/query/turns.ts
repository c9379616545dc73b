/**
 * Runs a context's turn in an agent loop, from its start to its answer.
 *
 * Ring 0.
 */
import { type Fault, failed, type Result } from '@cordon/core';
import type { TurnContext } from '@cordon/protocol';
import type { Query } from '../context/query.ts';
import type { PeerRequests, ServingTask } from '../exchange/serving.ts';
import type { Recorder } from '../journal/recorder.ts';
import type { SpokePool } from '../spokes/spoke-pool.ts';
import type { CatalogueEntry } from './catalogue.ts';
import type { Prepared } from './preparation.ts';
import type { Opening } from './speculative-turn.ts';
import { Turn, type TurnParts } from './turn.ts';

export interface TurnsParts extends Omit<TurnParts, 'peers' | 'opening'> {
  readonly spokes: SpokePool;
  readonly recorder: Recorder;
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
  /** Null: its model was not asked before. */
  readonly opening: Opening | null;
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
    const { context, system, tools, offers, knowsCatalogue } = prepared;
    const spoke = await spokes.take();
    if (!spoke.ok) return spoke;
    const start: TurnContext = {
      system,
      history,
      query: text,
      data,
      tools,
      offers,
      functionalities: knowsCatalogue ? functionalities : [],
      serves: task === null ? null : servedFormats(task),
      maxSteps,
    };
    const turn = new Turn(context, query, start, { ...this.#parts, peers, opening });
    const onDropped = (reason: string, bytes: number) =>
      void recorder.record(context, { kind: 'message.dropped', reason, bytes });
    const answer = await spoke.value.runTurn(
      start,
      (request, over) => turn.serve(request, over),
      onDropped,
      task === null ? query.signal : AbortSignal.any([query.signal, task.signal]),
    );
    spokes.release(spoke.value);
    recorder.record(context, {
      kind: 'context.ended',
      reason: answer.ok ? 'answered' : answer.fault.message,
    });
    if (!answer.ok && answer.fault.kind === 'budget-exceeded')
      return failed(query.budget.exceeded?.fault ?? query.budget.stepsFault(answer.fault));
    return answer;
  }
}

function servedFormats({ message, functionality: { request, response } }: ServingTask) {
  return { message, request, response };
}
