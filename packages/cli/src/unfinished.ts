/**
 * Sessions that were left in the middle of a query, for lists and for `cordon resume`. Ring 1.
 */
import type { Event, SessionId } from '@cordon/core';
import { type UnfinishedQuery, unfinishedQuery, unknownOutcomes } from '@cordon/hub/interruption';
import { type SessionRecord, type Store, StoreFailure } from '@cordon/trace';

export interface LeftQuery {
  readonly session: SessionId;
  readonly query: UnfinishedQuery;
  /** Calls that cannot be undone and may or may not have taken effect. */
  readonly inDoubt: number;
}

/** What is told of a session; `left` as `leftQuery` has it. */
export type ListedSession = SessionRecord & { readonly left: LeftQuery | 'unreadable' | null };

const PIECE = 200;

/** The newest sessions, newest first. Costs what reading the end of each takes, some milliseconds a long one. */
export function newestSessions(store: Store, most: number): readonly ListedSession[] {
  return store.sessions.list(most).map((session) => ({ ...session, left: leftQuery(store, session) }));
}

/**
 * What a session was at; null: nothing, or somebody still is at it. `unreadable`: its journal was changed, and the others
 * are listed all the same.
 */
export function leftQuery(store: Store, record: SessionRecord): LeftQuery | 'unreadable' | null {
  if (record.status !== 'interrupted') return null;
  try {
    return queryOf(store, record);
  } catch (error) {
    if (error instanceof StoreFailure && error.fault.kind === 'corrupt') return 'unreadable';
    throw error;
  }
}

function queryOf(store: Store, { id: session, events }: SessionRecord): LeftQuery | null {
  const query = unfinishedQuery(newestQuery(store, session, events));
  if (query === null) return null;
  const isInDoubt = ({ kind }: { readonly kind: string }) => kind === 'tool-call.in-doubt';
  const unknown = unknownOutcomes(query.events).filter(({ body }) => isInDoubt(body)).length;
  return { session, query, inDoubt: query.events.filter(isInDoubt).length + unknown };
}

/** The events from the last words of the user on, read from the end: a session may be long. */
function newestQuery(store: Store, session: SessionId, count: number): readonly Event[] {
  let tail: readonly Event[] = [];
  for (let from = count; from > 0; ) {
    const start = Math.max(0, from - PIECE);
    tail = [...store.journal.events(session, start, from - start), ...tail];
    if (tail.some(({ kind }) => kind === 'user.message')) break;
    from = start;
  }
  return tail;
}
