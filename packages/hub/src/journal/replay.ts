/**
 * A resumed session: the monitor is told again what has happened, from the journal, in the order in which it was told at
 * first. Without this a rule about a flow would forget where the text came from that the history shows again.
 */
import type { Decision, Event, EventId, Proposal, Question } from '@cordon/core';
import { type ReferenceMonitor, SessionFacts, type Told } from '@cordon/monitor';

type Listener = Pick<ReferenceMonitor, 'record' | 'happened'>;

/**
 * Tells `monitor` of every effect that was allowed and every message, in the order of the journal.
 * @returns the mapping, for the events that follow
 */
export function replay(events: readonly Event[], monitor: Listener): SessionFacts {
  const facts = new SessionFacts();
  for (const event of events) for (const told of facts.factsOf(event)) tell(monitor, told);
  return facts;
}

function tell(monitor: Listener, told: Told): void {
  if (told.kind === 'fact') monitor.record(told.fact, told.place);
  else monitor.happened(told.proposal, told.place);
}

/**
 * What the policy says now of each effect of a query, at the place where it happened.
 * @param said the event that begins the query
 * @param monitor a new one: it hears the whole journal
 * @param settle decides when the texts that rules wait for have been looked at
 */
export async function hindsight(
  past: readonly Event[],
  said: EventId,
  monitor: ReferenceMonitor,
  settle: (decide: (awaited: Map<string, Question>) => Decision) => Promise<Decision>,
): Promise<ReadonlyMap<EventId, Decision>> {
  const known = new Map<EventId, Decision>();
  const begin = past.findIndex(({ id }) => id === said);
  if (begin < 0) return known;
  const facts = replay(past.slice(0, begin), monitor);
  for (const told of past.slice(begin).flatMap((event) => facts.factsOf(event))) {
    if (told.kind === 'effect') {
      const { proposal, place } = told;
      known.set(place.event, await settle((awaited) => monitor.decide(proposal, place, awaited)));
    }
    tell(monitor, told);
  }
  return known;
}

/** The effects that these events say were allowed. */
export function allowedEffects(events: readonly Event[]): ReadonlyMap<EventId, Proposal> {
  const facts = new SessionFacts();
  const told = events.flatMap((event) => facts.factsOf(event));
  return new Map(
    told.flatMap((one) => (one.kind === 'effect' ? [[one.place.event, one.proposal] as const] : [])),
  );
}
