/**
 * A resumed session: the monitor is told again what has happened, from the journal, in the order in which it was told at
 * first. Without this a rule about a flow would forget where the text came from that the history shows again.
 *
 * Ring 0.
 */
import { type ContextId, type Event, type EventId, endorsesValues, id, type Proposal } from '@cordon/core';
import type { MonitorFact, MonitorFrame, ReferenceMonitor } from '@cordon/monitor';
import { unfinishedQuery } from './interruption.ts';

/** Where the user's words arise; no context of the hub has this id. */
export const USER_CONTEXT: ContextId = id('user');

/** The event by which a context recalls what its owner was told in earlier queries. */
export function historyOf(context: ContextId): EventId {
  return id(`history of ${context}`);
}

/** What the monitor was told: the events, each with the proposal that it is the event of, or null for a fact. */
export type Told = ReadonlyMap<EventId, Proposal | null>;

/** What the monitor hears. */
type Listener = Pick<ReferenceMonitor, 'record' | 'happened'>;

/** What a monitor was told of these events, or would have been. */
export function toldOf(events: readonly Event[]): Told {
  return new Replay({ record: () => undefined, happened: () => undefined }).tell(events);
}

/** Tells `monitor` of every effect that was allowed and every message, in the order of the journal. */
export function replay(events: readonly Event[], monitor: ReferenceMonitor): void {
  new Replay(monitor).tell(events);
}

/** Contexts that serve no query of the user: none of them is the one that a plan was made for. */
const NOT_SERVING: ReadonlySet<string> = new Set(['planner', 'errand', 'reader', 'facts', 'inquiry']);

class Replay {
  readonly #monitor: Listener;
  readonly #byId = new Map<EventId, Event>();
  readonly #told = new Map<EventId, Proposal | null>();
  /** A plan is made before the context that serves it exists, and becomes visible there before all else. */
  #plan: Extract<Event, { kind: 'plan.made' }> | null = null;
  /** Whether the events belong to a query that may go on. */
  #isUnfinished = false;

  constructor(monitor: Listener) {
    this.#monitor = monitor;
  }

  tell(events: readonly Event[]): Told {
    const unfinished = unfinishedQuery(events)?.said.id;
    for (const event of events) {
      this.#isUnfinished ||= event.id === unfinished;
      this.#byId.set(event.id, event);
      this.#event(event);
    }
    return this.#told;
  }

  #event(event: Event): void {
    const { context } = event;
    if (event.kind === 'user.message') {
      this.#plan = null;
      this.#fact({ kind: 'carried', context: USER_CONTEXT }, { event: event.id, app: null, causes: [] });
    } else if (event.kind === 'plan.made') this.#planned(event);
    else if (event.kind === 'context.created') this.#created(event);
    else if (event.kind === 'query.delivered' && context !== null) this.#heard(event, context);
    else if (event.kind === 'model.message' && context !== null) {
      const { kind, text, calls, id: said, app, causes } = event;
      this.#fact({ kind, context, text, calls }, { event: said, app, causes });
    } else if (event.kind === 'permission.answered') this.#answered(event);
    else if ('verdict' in event && event.verdict === 'allow') this.#allowed(event.causes[0]);
  }

  /** The yes that `Gate` took as an endorsement, as it was shown. */
  #answered(event: Extract<Event, { kind: 'permission.answered' }>): void {
    const { context, app, allow, by, edits, shown, duration } = event;
    const asked = this.#byId.get(event.prompt);
    const about = asked?.causes[0] === undefined ? undefined : this.#byId.get(asked.causes[0]);
    if (context === null || !allow || by !== 'user' || edits !== undefined || shown === undefined) return;
    if (asked?.kind !== 'permission.asked') return;
    const { data, subject, durations } = asked.prompt;
    // A yes for longer than was offered was none.
    if (duration === null || !durations.includes(duration)) return;
    if (about === undefined || !endorsesValues(about.kind, subject.scope)) return;
    const fact = { kind: 'call.endorsed', context, data, shown: shown.text } as const;
    this.#fact(fact, { event: event.id, app, causes: [] });
  }

  /** A context that was foreseen has the plan at once. */
  #planned(made: Extract<Event, { kind: 'plan.made' }>): void {
    const { kind, context, app, plan, origin, id: event } = made;
    if (context === null) this.#plan = made;
    else this.#fact({ kind, context, plan, origin }, { event, app, causes: [] });
  }

  #created({ of, context, app }: Extract<Event, { kind: 'context.created' }>): void {
    if (this.#plan === null || context === null || NOT_SERVING.has(of)) return;
    const { kind, plan, origin, id: event } = this.#plan;
    this.#plan = null;
    this.#fact({ kind, context, plan, origin }, { event, app, causes: [] });
  }

  /** The user's words, or another context's request, become visible in a context, after what it recalls. */
  #heard(
    { id: event, app, causes, label, text }: Extract<Event, { kind: 'query.delivered' }>,
    context: ContextId,
  ): void {
    const [first, ...recalled] = causes;
    const isUsers = first !== undefined && this.#byId.get(first)?.kind === 'user.message';
    if (!isUsers) return this.#fact({ kind: 'carried', context, label }, { event, app, causes });
    if (recalled.length > 0)
      this.#fact({ kind: 'carried', context }, { event: historyOf(context), app, causes: recalled });
    this.#fact({ kind: 'user.message', context, text }, { event, app, causes: [first] });
  }

  #allowed(proposed: EventId | undefined): void {
    const event = proposed === undefined ? undefined : this.#byId.get(proposed);
    const proposal = event === undefined ? null : proposalOf(event);
    if (event === undefined || proposal === null) return;
    const frame = { event: event.id, app: event.app, causes: event.causes };
    this.#monitor.happened(proposal, frame, this.#isUnfinished);
    this.#told.set(event.id, proposal);
  }

  #fact(fact: MonitorFact, frame: MonitorFrame): void {
    this.#monitor.record(fact, frame);
    this.#told.set(frame.event, null);
  }
}

/** The proposal that the journal's event was made from; null: it is none. The journal is the hub's own. */
export function proposalOf(event: Event): Proposal | null {
  const [effect, phase] = event.kind.split('.');
  if (phase !== 'proposed') return null;
  const { id: _id, session: _session, sequence: _sequence, time: _time, causes: _causes, ...content } = event;
  const { kind: _kind, app, ...fields } = content;
  // The app of others is that of the context in which they arise.
  const own = effect !== undefined && ABOUT_AN_APP.has(effect) ? { app } : {};
  return { ...fields, ...own, effect } as unknown as Proposal;
}

const ABOUT_AN_APP: ReadonlySet<string> = new Set(['tool-call', 'tool-output', 'egress']);
