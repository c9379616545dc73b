/**
 * A resumed session: the monitor is told again what has happened, from the journal. Without this a rule about a flow
 * would forget where the text came from that the history shows again.
 *
 * Ring 0.
 */
import { type ContextId, type Event, type EventId, id, type Proposal } from '@cordon/core';
import type { ReferenceMonitor } from '@cordon/monitor';

/** Tells `monitor` of every effect that was allowed and every message, in the order of the journal. */
export function replay(events: readonly Event[], monitor: ReferenceMonitor): void {
  const byId = new Map(events.map((event) => [event.id, event]));
  for (const event of events) {
    const { context, app, causes } = event;
    if (event.kind === 'user.message') {
      monitor.record({ kind: 'carried', context: USER_CONTEXT }, { event: event.id, app: null, causes: [] });
    } else if (event.kind === 'query.delivered' && context !== null) {
      replayHeard(event, context, byId, monitor);
    } else if (event.kind === 'model.message' && context !== null) {
      const { kind, text, calls } = event;
      monitor.record({ kind, context, text, calls }, { event: event.id, app, causes });
    } else if ('verdict' in event && event.verdict === 'allow') {
      const proposed = causes[0] === undefined ? undefined : byId.get(causes[0]);
      const proposal = proposed === undefined ? null : proposalOf(proposed);
      if (proposed !== undefined && proposal !== null) {
        monitor.happened(proposal, { event: proposed.id, app: proposed.app, causes: proposed.causes });
      }
    }
  }
}

/** Where the user's words arise; no context of the hub has this id. */
export const USER_CONTEXT: ContextId = id('user');

function replayHeard(
  { id: event, app, causes, label, text }: Event & { readonly kind: 'query.delivered' },
  context: ContextId,
  byId: ReadonlyMap<EventId, Event>,
  monitor: ReferenceMonitor,
): void {
  const [first] = causes;
  const isUsers = first !== undefined && byId.get(first)?.kind === 'user.message';
  monitor.record(isUsers ? { kind: 'user.message', context, text } : { kind: 'carried', context, label }, {
    event,
    app,
    causes,
  });
}

/** The proposal that the journal's event was made from; null: it is none. The journal is the hub's own. */
function proposalOf(event: Event): Proposal | null {
  const [effect, phase] = event.kind.split('.');
  if (phase !== 'proposed') return null;
  const { id: _id, session: _session, sequence: _sequence, time: _time, causes: _causes, ...fields } = event;
  return { ...fields, effect } as unknown as Proposal;
}
