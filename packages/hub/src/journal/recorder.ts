/**
 * One writer for a session: every event gets its place in the journal here, before anything acts on it. The monitor is told
 * what it says, and its context moves to it. While an interrupted query resumes, what the journal has already is given back
 * instead of being appended again: the monitor was told of that when the session was opened.
 */
import {
  type AnyProposal,
  type DecidedBody,
  type Event,
  type EventBody,
  type EventId,
  HUB_LABEL,
  type Label,
  type Proposal,
  type ProposedBody,
  type Reason,
} from '@cordon/core';
import type { ReferenceMonitor, SessionFacts } from '@cordon/monitor';
import type { EventDraft, SessionJournal } from '@cordon/trace';
import type { Context } from '../context/context.ts';
import { replay } from './replay.ts';
import type { ResumeCursor } from './resume-cursor.ts';
import { UnknownOutcomes } from './unknown-outcomes.ts';

/** Where an event arose and what it carries on. */
export interface Provenance {
  readonly causes?: readonly EventId[];
  readonly label?: Label;
}

/** A proposal as it stands in the journal. */
export interface Recorded<P extends AnyProposal> {
  readonly event: EventId;
  readonly proposal: P;
  /** As the journal has them: a resumed query may have come there by another way. */
  readonly causes: readonly EventId[];
  /** What was decided about it before the query was interrupted; null: nothing. */
  readonly decided: DecidedBody | null;
}

/** What the monitor hears. */
type Listener = Pick<ReferenceMonitor, 'record' | 'happened'>;

export class Recorder {
  readonly #journal: SessionJournal;
  readonly #monitor: Listener;
  readonly #facts: SessionFacts;
  readonly #doubts = new UnknownOutcomes();
  readonly #outputs = new Set<EventId>();
  #cursor: ResumeCursor | null = null;
  /** Names of calls in this process, for those that stand in the journal. */
  #callIds = new Map<string, string>();
  /** Goes into the journal before anything else does, in one transaction with what comes next. */
  #held: readonly EventDraft[] = [];

  /** @param past what the journal holds of a resumed session; the monitor learns it */
  constructor(journal: SessionJournal, monitor: Listener, past: readonly Event[] = []) {
    this.#journal = journal;
    this.#monitor = monitor;
    this.#facts = replay(past, monitor);
    for (const event of past) this.#observe(event);
  }

  /** The interrupted query that resumes; null: none. */
  get cursor(): ResumeCursor | null {
    return this.#cursor;
  }

  follow(cursor: ResumeCursor | null): void {
    this.#cursor = cursor;
    this.#callIds = new Map();
  }

  /** Calls that cannot be undone and may have happened. */
  get inDoubt(): UnknownOutcomes['all'] {
    return this.#doubts.all;
  }

  /** `context` null: the operator itself. */
  record(
    context: Context | null,
    body: EventBody,
    { causes = [], label = HUB_LABEL }: Provenance = {},
  ): Event {
    const event = this.#known(context, body, causes) ?? this.#new(context, body, causes, label);
    if (body.kind === 'query.delivered' || body.kind === 'model.message') context?.advanceTo(event.id);
    else advanceToDecided(context, body, causes);
    return event;
  }

  /** A context is over. */
  end(context: Context, reason: string): void {
    this.record(context, { kind: 'context.ended', reason });
  }

  /** What a spoke sent is dropped: nothing comes of it. */
  drop(context: Context, reason: string, bytes = 0): void {
    this.record(context, { kind: 'message.dropped', reason, bytes });
  }

  /** As `record`, together with the next event: for what nobody acts on before that. */
  recordWithNext(context: Context, body: EventBody, { causes = [], label = HUB_LABEL }: Provenance): void {
    if (this.#known(context, body, causes) === null) this.#hold(draftOf(context, body, causes, label));
    advanceToDecided(context, body, causes);
  }

  /** Called where something else than an event comes next: what was held is in the journal then. */
  writeHeld(): void {
    this.#write([]);
  }

  #hold(draft: EventDraft): void {
    this.#held = [...this.#held, draft];
  }

  /** What could not be written stays before whatever is. */
  #write(drafts: readonly EventDraft[]): readonly Event[] {
    const held = this.#held;
    const all = [...held, ...drafts];
    if (all.length === 0) return [];
    // A listener to the events may record others.
    this.#held = [];
    let events: readonly Event[];
    try {
      events = this.#journal.append(all);
    } catch (error) {
      this.#held = held;
      throw error;
    }
    for (const event of events) this.learn(event);
    return events;
  }

  #known(context: Context | null, body: EventBody, causes: readonly EventId[]): Event | null {
    return this.#cursor?.find(context?.id ?? null, body, causes) ?? null;
  }

  #new(context: Context | null, body: EventBody, causes: readonly EventId[], label: Label): Event {
    const event = this.#write([draftOf(context, body, causes, label)]).at(-1);
    if (event === undefined) throw new Error('an appended event is missing');
    return event;
  }

  /** An event that was appended by another way. */
  learn(event: Event): void {
    this.#observe(event);
    for (const told of this.#facts.factsOf(event)) {
      // An effect is in the trace since it was admitted.
      if (told.kind === 'fact') this.#monitor.record(told.fact, told.place);
    }
  }

  #observe(event: Event): void {
    this.#doubts.observe(event);
    if (event.kind === 'tool-output.proposed') this.#outputs.add(event.id);
  }

  /** Whether one of these reasons names an event of the session that brought what an app returned. */
  nameOutput(reasons: readonly Pick<Reason, 'events'>[]): boolean {
    return reasons.some(({ events }) => events.some((event) => this.#outputs.has(event)));
  }

  /**
   * A proposal gets its place, or has it: then it is the one that stands there, if what was decided about it still `holds`.
   * A new one is written with the event that comes next, which is mostly its decision.
   */
  propose<P extends AnyProposal>(
    context: Context,
    given: P,
    { causes = [], label = HUB_LABEL }: Provenance,
    holds: (recorded: Recorded<P>, decided: DecidedBody) => boolean,
  ): Recorded<P> {
    const body = proposedBody(renamed(given, this.#callIds));
    // Of several that were proposed alike, because an earlier one did not hold any more, the one that does.
    for (let known = this.#known(context, body, causes); known !== null; ) {
      const recorded = this.#recorded(given, known, this.#cursor?.decision(known.id) ?? null);
      if (recorded.decided === null || holds(recorded, recorded.decided)) return this.#named(given, recorded);
      known = this.#known(context, body, causes);
    }
    const id = this.#journal.newId();
    this.#hold({ ...draftOf(context, body, causes, label), id });
    return this.#named(given, this.#recorded(given, { ...body, id, causes }, null));
  }

  #recorded<P extends AnyProposal>(
    given: P,
    event: (ProposedBody | Event) & Pick<Event, 'id' | 'causes'>,
    decided: DecidedBody | null,
  ): Recorded<P> {
    const proposal = 'callId' in given && 'callId' in event ? { ...given, callId: event.callId } : given;
    return { event: event.id, causes: event.causes, proposal, decided };
  }

  /** Whatever follows names the call as it stands in the journal. */
  #named<P extends AnyProposal>(given: P, recorded: Recorded<P>): Recorded<P> {
    const { proposal } = recorded;
    if ('callId' in given && 'callId' in proposal) this.#callIds.set(given.callId, proposal.callId);
    return recorded;
  }

  /** What the user has to be told before a call is made that may have happened already; null: nothing. */
  doubtAbout(proposal: Proposal): string | null {
    if (this.#cursor?.isRepetition(proposal) === true)
      return 'Such a call was carried out in this query before it was interrupted.';
    return this.#doubts.about(proposal);
  }
}

/** An effect that is allowed is the newest event of its context from then on. A part of an answer is not in the trace. */
function advanceToDecided(context: Context | null, body: EventBody, [proposed]: readonly EventId[]): void {
  if (body.kind === 'answer-part.decided') return;
  if (proposed !== undefined && 'verdict' in body && body.verdict === 'allow') context?.advanceTo(proposed);
}

function draftOf(
  context: Context | null,
  body: EventBody,
  causes: readonly EventId[],
  label: Label,
): EventDraft {
  return { context: context?.id ?? null, app: context?.app ?? null, causes, label, body };
}

function renamed<P extends AnyProposal>(proposal: P, callIds: ReadonlyMap<string, string>): P {
  const callId = 'callId' in proposal ? callIds.get(proposal.callId) : undefined;
  return callId === undefined ? proposal : { ...proposal, callId };
}

function proposedBody(proposal: AnyProposal): ProposedBody {
  const { context: _, ...fields } = proposal;
  // The union's members differ only in `kind`, which is built from `effect`; the compiler cannot follow that.
  return { ...fields, kind: `${proposal.effect}.proposed` } as ProposedBody;
}
