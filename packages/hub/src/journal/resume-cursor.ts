/**
 * How far an interrupted query has come, so that it resumes instead of beginning again. The hub's own code is driven over
 * the same query once more; for each step that the journal has finished it is given what the journal says, and from the
 * first step on that it has not, everything is as for any other query.
 *
 * A step is the same step if it arises in the same context, says exactly the same, and the context's model has said exactly
 * the same so far: a prompt is compared by its digest, which covers all that the context has seen. A context whose model is
 * asked something else has left the journal behind; none of its later steps is taken for a recorded one.
 */
import {
  type AppId,
  type Choice,
  type ContextId,
  type ContextKind,
  canonicalJson,
  type DecidedBody,
  type Decision,
  type EphemeralId,
  type Event,
  type EventBody,
  type EventId,
  type Fault,
  type FunctionalityName,
  failed,
  isJsonObject,
  type ModelResponse,
  ok,
  type PromptEdit,
  type Proposal,
  type Result,
  type ToolReturn,
  toJson,
} from '@cordon/core';
import { isAct } from '../context/query-activity.ts';
import { effectOf, endsEffect, isDecision } from './interruption.ts';
import { keyOf } from './unknown-outcomes.ts';

/** The events of one context, or of the operator, and how far they have been gone through again. */
interface Trail {
  readonly events: Event[];
  /** Where the events begin that follow the last thing that its model said. */
  from: number;
  isLeft: boolean;
}

type ToolCallEvent = Extract<Event, { kind: 'tool-call.proposed' }>;
type ModelMessageEvent = Extract<Event, { kind: 'model.message' }>;
type AskedEvent = Extract<Event, { kind: 'permission.asked' }>;
type OfferEvent = Extract<Event, { kind: 'offer.made' }>;
type AnsweredEvent = Extract<Event, { kind: 'permission.answered' }>;

/** A question to which the user said yes, and what they said. */
export interface Agreed {
  readonly question: AskedEvent['prompt'];
  readonly answer: AnsweredEvent;
}

/** What the user chose. */
export interface Chosen {
  /** Null: none of those that they were asked about. */
  readonly choice: Choice | null;
}

/**
 * Questions and their answers are about a decision that is still to be made: they are never taken for made. Parts of an answer
 * come from a model that is called now.
 */
const NEVER_TAKEN: ReadonlySet<string> = new Set([
  'answer-part.proposed',
  'permission.asked',
  'permission.answered',
  'grant.given',
  'grant.used',
]);

export class ResumeCursor {
  readonly #events: readonly Event[];
  readonly #hindsight: ReadonlyMap<EventId, Decision>;
  readonly #trails = new Map<ContextId | null, Trail>();
  readonly #decisions = new Map<EventId, Event & DecidedBody>();
  readonly #outcomes = new Map<EventId, Event>();
  /** What a model said, by the call that asked it. */
  readonly #words = new Map<EventId, ModelMessageEvent>();
  readonly #choices = new Map<EventId, Chosen>();
  /** Choices of nothing, behind which nothing has been done yet. */
  readonly #declined = new Set<EventId>();
  /** Questions, by the proposal that they were about. */
  readonly #asked = new Map<EventId, AskedEvent[]>();
  /** The user's yes, by the question. */
  readonly #agreed = new Map<EventId, AnsweredEvent>();
  /** Questions with a yes, behind which the user stopped the query. */
  readonly #stopped = new Set<EventId>();
  readonly #taken = new Set<EventId>();
  readonly #answers = new Map<string, ModelResponse[]>();
  readonly #outputs = new Map<string, Result<ToolReturn, Fault>>();
  readonly #offers: OfferEvent[] = [];
  readonly #givenPeers = new Set<EphemeralId>();
  readonly #pinned = new Map<AppId, string>();

  /**
   * @param events of the interrupted query, in order, `user.message` first
   * @param hindsight what the policy says now of each effect that an earlier hub allowed
   */
  constructor(events: readonly Event[], hindsight: ReadonlyMap<EventId, Decision>) {
    this.#events = events;
    this.#hindsight = hindsight;
    for (const event of events) this.#read(event);
    for (const event of events) {
      const answer = event.kind === 'model-call.proposed' ? this.#answerTo(event.id) : null;
      if (event.kind === 'model-call.proposed' && answer !== null) queue(this.#answers, event.digest, answer);
    }
  }

  /**
   * The event that stands in the journal for this one; null: it is to be appended. Called once for each event that arises,
   * with the ids that this gave for earlier ones.
   */
  find(context: ContextId | null, body: EventBody, [cause]: readonly EventId[]): Event | null {
    // An effect has one decision and one outcome, whatever comes of it when it is gone through again.
    if (endsEffect(body)) return (cause === undefined ? undefined : this.#outcomes.get(cause)) ?? null;
    if ('verdict' in body || NEVER_TAKEN.has(body.kind)) return null;
    const trail = this.#trails.get(context);
    if (trail === undefined || trail.isLeft) return null;
    const at = this.#placeIn(trail, body, cause);
    const event = trail.events[at];
    if (event === undefined) {
      trail.isLeft = body.kind === 'model-call.proposed' || body.kind === 'model.message';
      return null;
    }
    this.#taken.add(event.id);
    if (event.kind === 'model.message') trail.from = at + 1;
    if (event.kind === 'tool-call.proposed') this.#takeOutput(event);
    return event;
  }

  /** The id of the context that this one was; null: a new one. Of several, the one that was created first. */
  context(of: ContextKind, app: AppId | null, cause: EventId | undefined): ContextId | null {
    const created = this.#events.find(
      (event) =>
        event.kind === 'context.created' &&
        event.of === of &&
        event.app === app &&
        event.causes[0] === cause &&
        !this.#taken.has(event.id),
    );
    return created?.context ?? null;
  }

  /** The app whose context heard the query while it was planned; null: no context did. */
  speculative(said: EventId): { readonly app: AppId | null } | null {
    const created = this.#events.find(
      (event) => event.kind === 'context.created' && event.causes[0] === said,
    );
    return created === undefined ? null : { app: created.app };
  }

  /** What was decided about a proposal that `find` gave; null: nothing yet. */
  decision(proposed: EventId): DecidedBody | null {
    return this.#decisions.get(proposed) ?? null;
  }

  /** What the policy says now of this effect; null: no earlier hub allowed it. */
  hindsight(proposed: EventId): Decision | null {
    return this.#hindsight.get(proposed) ?? null;
  }

  /** What the user agreed to about a proposal that `find` gave, and has not stopped before it happened. */
  agreed(proposed: EventId): readonly Agreed[] {
    return (this.#asked.get(proposed) ?? []).flatMap(({ id, prompt }) => {
      const answer = this.#agreed.get(id);
      const isForOnce = answer?.duration === 'once' || answer?.edits !== undefined;
      const isVoid = isForOnce && this.#stopped.has(id) && !this.#hasHappened(proposed);
      return answer === undefined || isVoid ? [] : [{ question: prompt, answer }];
    });
  }

  /** Whether it, or what the user made of it, was carried out. What was made of it is proposed right behind the decision. */
  #hasHappened(proposed: EventId): boolean {
    const isDone = (event: EventId) => this.#outcomes.get(event)?.kind.endsWith('.executed') === true;
    const decision = this.#decisions.get(proposed);
    if (decision?.verdict !== 'deny') return isDone(proposed);
    const next = this.#events[this.#events.indexOf(decision) + 1];
    return next !== undefined && effectOf(next) !== null && isDone(next.id);
  }

  /** What the user typed over the data of a proposal; null: nothing. */
  edits(proposed: EventId): readonly PromptEdit[] | null {
    return this.agreed(proposed).findLast(({ answer }) => answer.edits !== undefined)?.answer.edits ?? null;
  }

  /** What the model answered to the prompt of this digest, in a call that `find` gave; each answer once. */
  answer(digest: string): ModelResponse | null {
    return this.#answers.get(digest)?.shift() ?? null;
  }

  /** What came of a tool call that `find` gave; once. */
  output(callId: string): Result<ToolReturn, Fault> | null {
    const output = this.#outputs.get(callId) ?? null;
    this.#outputs.delete(callId);
    return output;
  }

  /**
   * Whether an app had acted when the next plan was made, or it was asked for the next app to install, that nothing has been
   * given for yet; null: there is none. What was decided then is decided as it was, whatever was done afterwards.
   */
  get hadActed(): boolean | null {
    const next = this.#events.findIndex((event) => isOperators(event) && !this.#taken.has(event.id));
    return next < 0 ? null : this.#events.slice(0, next).some(isAct);
  }

  /** What apps were agreed to in it; by app, the digest. */
  get pinned(): ReadonlyMap<AppId, string> {
    return this.#pinned;
  }

  /** What the user chose when they were asked by this event; null: there was no answer while the query ran. */
  choice(asked: EventId): Chosen | null {
    return this.#choices.get(asked) ?? null;
  }

  /**
   * The ephemeral id that a context has for a functionality of an app, each once, in the order in which it got them; null:
   * a new one. Attack: offers are made in another order than before, because an app was added or the query was interrupted
   * while they were made, and what a model says to one app reaches another.
   */
  nextPeer(context: ContextId, to: AppId, functionality: FunctionalityName): EphemeralId | null {
    const offer = this.#offers.find(
      (made) =>
        made.context === context &&
        made.to === to &&
        made.functionality === functionality &&
        !this.#givenPeers.has(made.peer),
    );
    if (offer === undefined) return null;
    this.#givenPeers.add(offer.peer);
    return offer.peer;
  }

  /**
   * Whether a call would repeat one that was carried out in this query and that nothing has been given for: it is not the
   * same step, and it would have its effect twice.
   */
  isRepetition(proposal: Proposal): boolean {
    if (proposal.effect !== 'tool-call' || !proposal.irreversible) return false;
    return this.#events.some(
      (event) =>
        event.kind === 'tool-call.proposed' &&
        event.irreversible &&
        event.app === proposal.app &&
        event.tool === proposal.tool &&
        !this.#taken.has(event.id) &&
        this.#outcomes.get(event.id)?.kind === 'tool-call.executed' &&
        (keyOf(event) === keyOf(proposal) || this.#isAbandoned(event.context)),
    );
  }

  /**
   * Whether what a context did will not be gone through again: its model was asked something else; or whoever it was made by
   * has left the journal behind, and makes another one in its place.
   */
  #isAbandoned(context: ContextId | null): boolean {
    const trail = this.#trails.get(context);
    if (trail === undefined || trail.isLeft) return true;
    const created = trail.events.find(({ kind }) => kind === 'context.created');
    if (created === undefined || this.#taken.has(created.id)) return false;
    const [cause] = created.causes;
    const maker = this.#events.find(({ id }) => id === cause)?.context ?? null;
    return maker === null ? [...this.#trails.values()].some((one) => one.isLeft) : this.#isAbandoned(maker);
  }

  #read(event: Event): void {
    const trail = this.#trails.get(event.context);
    if (trail === undefined) this.#trails.set(event.context, { events: [event], from: 0, isLeft: false });
    else trail.events.push(event);
    // A yes for once to what had not happened when the user stopped the query was taken back with it.
    if (event.kind === 'query.ended' && event.outcome === 'cancelled')
      for (const question of this.#agreed.keys()) this.#stopped.add(question);
    // Where a query ends right behind a question, the question was over and not answered.
    if (event.kind === 'query.ended') for (const question of this.#declined) this.#choices.delete(question);
    if (event.kind === 'query.ended' || effectOf(event) !== null) this.#declined.clear();
    if (event.kind === 'offer.made') this.#offers.push(event);
    if (event.kind === 'app.pinned' && event.app !== null) this.#pinned.set(event.app, event.digest);
    const [cause] = event.causes;
    if (cause === undefined) return;
    if (isDecision(event)) this.#decisions.set(cause, event);
    else if (endsEffect(event)) this.#outcomes.set(cause, event);
    else if (event.kind === 'model.message') this.#words.set(cause, event);
    else if (event.kind === 'choice.answered') this.#readChoice(cause, event);
    else if (event.kind === 'permission.asked') queue(this.#asked, cause, event);
    else if (event.kind === 'permission.answered' && event.allow && event.by === 'user')
      this.#agreed.set(cause, event);
  }

  #readChoice(question: EventId, { choice, term }: Extract<Event, { kind: 'choice.answered' }>): void {
    if (choice === null) this.#declined.add(question);
    const chosen = choice === null ? null : { app: choice, ...(term ?? { duration: 'once' }) };
    this.#choices.set(question, { choice: chosen });
  }

  #placeIn({ events, from }: Trail, body: EventBody, cause: EventId | undefined): number {
    for (let at = from; at < events.length; at++) {
      const event = events[at];
      if (event === undefined) break;
      const isOpen = !this.#taken.has(event.id);
      if (isOpen && event.kind === body.kind && isSame(body, event) && this.#isUsable(event, cause))
        return at;
      // What follows was done in the knowledge of this answer.
      if (isOpen && event.kind === 'model.message') break;
    }
    return -1;
  }

  #isUsable(event: Event, cause: EventId | undefined): boolean {
    if (event.kind === 'context.created') return event.causes[0] === cause;
    // One that was closed and not answered cannot be opened again: it is put anew.
    if (event.kind === 'choice.asked') return this.choice(event.id) !== null;
    const decision = this.#decisions.get(event.id);
    const effect = effectOf(event);
    if (effect === null || decision === undefined || decision.verdict === 'deny') return true;
    if (effect === 'model-call') return this.#answerTo(event.id) !== null;
    if (event.kind === 'tool-call.proposed') return this.#outputOf(event) !== null;
    // Deliveries within the hub died with the process that they were made to, and are made again to its successor.
    return effect !== 'egress';
  }

  #answerTo(proposed: EventId): ModelResponse | null {
    const words = this.#words.get(proposed);
    const outcome = this.#outcomes.get(proposed);
    if (words === undefined || outcome?.kind !== 'model-call.executed') return null;
    const { text, calls, cut } = words;
    const usage = outcome.usage ?? { inputTokens: 0, outputTokens: 0 };
    return { text, calls, finish: cut ?? (calls.length > 0 ? 'tool-calls' : 'stop'), usage };
  }

  /** Null: the call has to be made anew, if at all. */
  #outputOf({ id }: ToolCallEvent): Result<ToolReturn, Fault> | null {
    const outcome = this.#outcomes.get(id);
    if (outcome?.kind === 'tool-call.executed')
      return outcome.output === undefined ? null : ok(outcome.output);
    // The app's own answer. Other failures are of a process that is gone.
    const isAnswer = outcome?.kind === 'tool-call.failed' && outcome.fault.kind === 'app-error';
    return isAnswer ? failed(outcome.fault) : null;
  }

  #takeOutput(event: ToolCallEvent): void {
    const output = this.#outputOf(event);
    if (output !== null) this.#outputs.set(event.callId, output);
  }
}

/** What the operator does according to whether an app has acted. */
function isOperators(event: Event): boolean {
  return (
    event.kind === 'plan.made' ||
    (event.kind === 'choice.asked' && event.installs === true && event.context === null)
  );
}

function queue<K, V>(queues: Map<K, V[]>, key: K, value: V): void {
  const known = queues.get(key);
  if (known === undefined) queues.set(key, [value]);
  else known.push(value);
}

/** Fields that the journal adds or joins, and those that differ each time. */
const FRAME = new Set(['id', 'session', 'sequence', 'time', 'context', 'app', 'causes', 'label']);
const VOLATILE = new Set(['milliseconds', 'usage']);
/** These make a call id; the others name it. */
const NAMING_CALLS: ReadonlySet<string> = new Set(['tool-call.proposed', 'app-request.proposed']);

function isSame(body: EventBody, event: Event): boolean {
  if ('app' in body && body.app !== event.app) return false;
  return contentOf(body) === contentOf(event);
}

function contentOf(value: EventBody | Event): string {
  const json = toJson(value);
  if (!isJsonObject(json)) throw new Error('an event must be a JSON object');
  const isLeftOut = (key: string) =>
    FRAME.has(key) ||
    VOLATILE.has(key) ||
    (key === 'callId' && NAMING_CALLS.has(value.kind)) ||
    // The words are the same whichever model is in use, and older journals do not tell it.
    (key === 'model' && value.kind === 'user.message');
  return canonicalJson(Object.fromEntries(Object.entries(json).filter(([key]) => !isLeftOut(key))));
}
