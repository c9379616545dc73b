/**
 * What is begun while the planner still plans: the context that will most likely serve the query hears it and asks its
 * model for the first time. If the plan says so too, the answer is there by then, and planning has cost no time; if not, what
 * was begun is dropped, and nothing has come of it.
 *
 * INVARIANT (no effect before the plan): a speculative context makes one model call, which is decided like every other, and
 * nothing else: no tool, no request, no data of others. The hub starts its app but does not use it, so the app has no way
 * out and receives nothing, and the user gets no question about it. The call goes to the model that the planner asks too: an app with
 * a separate model never gets one, or its provider would hear queries that are not for it. And it takes nothing of a
 * budget that the query itself may need.
 *
 * The guess is ring 1, as every plan is, and stands with those in `explicit-plan`.
 */
import { type AppId, canonicalJsonOf, type EventId, type ModelMessage, type ModelTool } from '@cordon/core';
import { offeredTools } from '@cordon/protocol';
import type { Context } from '../context/context.ts';
import { ownerOf } from '../context/owner.ts';
import type { Query } from '../context/query.ts';
import type { Recorder } from '../journal/recorder.ts';
import type { Asked, ModelCalls, OnText } from '../mediation/model-calls.ts';
import type { RememberedTurns, StoredMemory } from '../memory/stored-memory.ts';
import type { Planning } from '../planning/planning.ts';
import type { Route } from '../planning/route.ts';
import { NOT_NEEDED } from '../planning/tool-planning.ts';
import { OverheardText } from './answer-stream.ts';
import type { CatalogueEntry } from './catalogue.ts';
import type { Preparation, Prepared } from './preparation.ts';
import { hearQuery } from './recall.ts';

export interface SpeculationParts {
  readonly preparation: Preparation;
  readonly models: ModelCalls;
  readonly recorder: Recorder;
  readonly memory: Pick<StoredMemory, 'carried' | 'turns'>;
  readonly functionalities: readonly CatalogueEntry[];
  readonly planning: Pick<Planning, 'likely'>;
}

/** A context that has heard the query. */
export interface Listening {
  readonly prepared: Prepared;
  readonly earlier: RememberedTurns;
  /** What its model was asked; it may still be about to answer. */
  readonly opening: Opening;
}

/** Begins with what the query will most likely lead to; null: nothing is likely. */
export function speculate(parts: SpeculationParts, query: Query, said: EventId): SpeculativeTurn | null {
  const { cursor } = parts.recorder;
  // A resumed query begins with what it began with before.
  const guess = cursor === null ? parts.planning.likely(query) : cursor.speculative(said);
  return guess === null ? null : new SpeculativeTurn(parts, query, said, guess.app, cursor !== null);
}

export class SpeculativeTurn {
  readonly #parts: SpeculationParts;
  readonly #app: AppId | null;
  readonly #dropped = new AbortController();
  readonly #begun: Promise<Listening | null>;
  /** What has to be ended if it is dropped. */
  #context: Context | null = null;
  #isTaken = false;

  constructor(parts: SpeculationParts, query: Query, said: EventId, app: AppId | null, isCertain: boolean) {
    this.#parts = parts;
    this.#app = app;
    this.#begun = this.#begin(query, said, isCertain);
    // `take` rejects if it breaks; one that nobody takes may break.
    this.#begun.catch(() => undefined);
  }

  /** What was begun, if the plan leads there; null: it leads elsewhere, and this is over. */
  async take(query: Query, route: Route): Promise<Listening | null> {
    const begun = this.#leadsTo(route) && !wantsFacts(query, this.#app) ? await this.#begun : null;
    const helpers = route.kind === 'app' ? route.helpers : [];
    const prepared =
      begun === null ? null : await this.#parts.preparation.adopt(query, begun.prepared, helpers);
    if (begun === null || prepared === null) {
      this.drop();
      return null;
    }
    this.#isTaken = true;
    return { ...begun, prepared };
  }

  /** Ends what was begun, unless it was taken. Neither its model nor its app is waited for. */
  drop(): void {
    if (this.#isTaken || this.#dropped.signal.aborted) return;
    this.#dropped.abort();
    if (this.#context !== null) this.#parts.recorder.end(this.#context, NOT_NEEDED);
  }

  #leadsTo(route: Route): boolean {
    if (route.kind === 'app') return route.app === this.#app;
    return route.kind === 'vanilla' && this.#app === null;
  }

  /** Null: the app cannot be had without asking somebody, or nobody wants it any more. */
  async #begin(query: Query, said: EventId, isCertain: boolean): Promise<Listening | null> {
    const { preparation, models, memory, functionalities } = this.#parts;
    // What is shown of earlier sessions is released, and about that a rule may ask the user.
    if (!query.isPrivate && memory.carried(ownerOf(this.#app), said) !== null) return null;
    const prepared =
      this.#app === null
        ? preparation.vanilla(said)
        : await preparation.speculative(this.#app, said, isCertain, this.#dropped.signal);
    if (prepared === null) return null;
    const { context, system, tools } = prepared;
    if (this.#dropped.signal.aborted) {
      this.#parts.recorder.end(context, NOT_NEEDED);
      return null;
    }
    this.#context = context;
    const earlier = hearQuery(this.#parts, query, said, prepared);
    const messages: readonly ModelMessage[] = [
      { role: 'system', text: system },
      ...earlier.messages,
      { role: 'user', text: query.text },
    ];
    const shown = offeredTools(
      { tools, offers: [], functionalities },
      { hasPeer: false, hasReference: false, mayNeed: context.app !== null },
    );
    const spending = query.spare(AbortSignal.any([query.signal, this.#dropped.signal]));
    const prompt = { role: 'agent', messages, tools: shown } as const;
    const overheard = query.streams ? new OverheardText() : null;
    const answer = models.ask(context, spending, prompt, overheard?.hear);
    return { prepared, earlier, opening: new Opening(messages, shown, overheard, answer) };
  }
}

/** The first answer of a context that was asked before its loop was. */
export class Opening {
  readonly #messages: string;
  readonly #tools: readonly ModelTool[];
  readonly #overheard: OverheardText | null;
  readonly #answer: Promise<Asked | null>;

  constructor(
    messages: readonly ModelMessage[],
    tools: readonly ModelTool[],
    overheard: OverheardText | null,
    answer: ReturnType<ModelCalls['ask']>,
  ) {
    this.#messages = canonicalJsonOf(messages);
    this.#tools = tools;
    this.#overheard = overheard;
    this.#answer = answer.then(
      (result) => (result.ok ? result.value : null),
      () => null,
    );
  }

  /**
   * The answer, if it is one to exactly these messages; null: there is none. `onText` hears it while it is written, if it holds
   * for a model with these tools whatever it says.
   */
  async answerTo(
    messages: readonly ModelMessage[],
    tools: readonly ModelTool[],
    onText?: OnText,
  ): Promise<Asked | null> {
    if (canonicalJsonOf(messages) !== this.#messages) return null;
    if (onText !== undefined && this.#knew(tools)) this.#overheard?.passTo(onText);
    return await this.#answer;
  }

  #knew(tools: readonly ModelTool[]): boolean {
    return canonicalJsonOf(tools) === canonicalJsonOf(this.#tools);
  }

  /**
   * Whether it may stand for an answer of a model that was shown these tools. Where the plan gives the context tools besides
   * those that the model was shown, a call of one that it was shown is as good; an answer without a call may be for want of
   * them.
   */
  holdsFor({ response: { calls } }: Asked, tools: readonly ModelTool[]): boolean {
    if (this.#knew(tools)) return true;
    const own = new Set(this.#tools.map(({ name }) => name));
    return calls.length > 0 && calls.every(({ name }) => own.has(name));
  }
}

/** What the user stated elsewhere becomes part of the first prompt: then another one was asked. */
function wantsFacts({ plan }: Query, app: AppId | null): boolean {
  return plan.steps.some((step) => step.app === app && step.needs.length > 0);
}
