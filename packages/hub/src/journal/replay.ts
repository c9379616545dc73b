/**
 * A resumed session: the monitor is told again what has happened, from the journal, in the order in which it was told at
 * first. Without this a rule about a flow would forget where the text came from that the history shows again.
 *
 * Ring 0.
 */
import type { Event, EventId, Proposal } from '@cordon/core';
import { type ReferenceMonitor, SessionFacts } from '@cordon/monitor';
import { unfinishedQuery } from './interruption.ts';

/**
 * Tells `monitor` of every effect that was allowed and every message, in the order of the journal.
 * @returns the mapping, for the events that follow
 */
export function replay(
  events: readonly Event[],
  monitor: Pick<ReferenceMonitor, 'record' | 'happened'>,
): SessionFacts {
  const facts = new SessionFacts();
  const unfinished = unfinishedQuery(events)?.said.id;
  let isUnfinished = false;
  for (const event of events) {
    isUnfinished ||= event.id === unfinished;
    for (const told of facts.factsOf(event)) {
      if (told.kind === 'fact') monitor.record(told.fact, told.place);
      else monitor.happened(told.proposal, told.place, isUnfinished);
    }
  }
  return facts;
}

/** The effects that these events say were allowed. */
export function allowedEffects(events: readonly Event[]): ReadonlyMap<EventId, Proposal> {
  const facts = new SessionFacts();
  const told = events.flatMap((event) => facts.factsOf(event));
  return new Map(
    told.flatMap((one) => (one.kind === 'effect' ? [[one.place.event, one.proposal] as const] : [])),
  );
}
