/** Sessions that were left in the middle of a query, for lists and for `cordon resume`. */

import { type Configuration, modelInUse, OBEDIENT_MODEL } from '@cordon/config';
import { type Event, type Fault, fault, type SessionId } from '@cordon/core';
import {
  modelOfQuery,
  type UnfinishedQuery,
  unfinishedQuery,
  unknownOutcomes,
} from '@cordon/hub/interruption';
import { type Loss, type SessionRecord, type Store, StoreFailure, type TellBroken } from '@cordon/trace';

export interface LeftQuery {
  readonly session: SessionId;
  readonly query: UnfinishedQuery;
  /** Calls that cannot be undone and may or may not have taken effect. */
  readonly inDoubt: number;
}

/** A session as a list shows it; `left` as `leftQuery` has it. */
export type ListedSession = SessionRecord & {
  readonly left: LeftQuery | 'unreadable' | null;
  /** Acknowledged events are missing; null: none are, as far as their number tells. */
  readonly loss: Loss | null;
};

const PIECE = 200;

/** The newest sessions, newest first. Costs what reading the end of each takes, some milliseconds a long one. */
export function newestSessions(
  store: Store,
  most: number,
  tell: TellBroken | null = null,
): readonly ListedSession[] {
  return store.sessions.list(most, tell).map((session) => ({
    ...session,
    left: leftQuery(store, session),
    loss: store.sessions.loss(session.id),
  }));
}

/**
 * What a session was at; null: nothing, or it still runs. `unreadable`: its journal was changed, and the others
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

/** What a query that was left was begun with; the model: that in use when it was interrupted. */
export interface BegunWith {
  readonly apps: ReadonlySet<string>;
  readonly model: string;
}

/** Null: nothing was left in this session. */
export function begunWith(store: Store, session: SessionId): BegunWith | null {
  const record = store.sessions.find(session);
  const left = record === null ? null : leftQuery(store, record);
  if (left === null || left === 'unreadable') return null;
  const model = modelOfQuery(left.query) ?? modelAtStart(store, session);
  return { apps: appsOf(left.query.events), model };
}

/** For journals of before queries told their model. */
function modelAtStart(store: Store, session: SessionId): string {
  const [started] = store.journal.events(session, 0, 1);
  return started?.kind === 'session.started' ? started.model : OBEDIENT_MODEL;
}

/**
 * What a query that was left was begun with and `configuration` does not have: without it, it would become another
 * query, come to some answer, and could not be resumed any longer. Null: nothing is missing.
 */
export function missingFor({ apps, model }: BegunWith, configuration: Configuration): Fault | null {
  const installed = new Set<string>(configuration.apps.map(({ id }) => id));
  const missing = [...apps].filter((app) => !installed.has(app));
  if (missing.length > 0) {
    const names = missing.map((app) => `\`${app}\``).join(', ');
    const help = 'name the configuration that it was begun with, by `--config FILE`';
    return fault('usage', `the query was begun with ${names}, which this configuration does not have`, help);
  }
  if (model === OBEDIENT_MODEL || modelInUse(configuration) !== OBEDIENT_MODEL) return null;
  const help = `name one: \`--model ${model}\`, with \`--base-url\` if it needs one`;
  return fault('usage', `the query used the model \`${model}\`, and none is configured here`, help);
}

/** Those that took part or that the plan names. */
function appsOf(events: readonly Event[]): ReadonlySet<string> {
  const planned = events.flatMap((event) =>
    event.kind === 'plan.made' ? event.plan.steps.map(({ app }) => app) : [],
  );
  const named = [...events.map(({ app }) => app), ...planned];
  return new Set(named.filter((app) => app !== null));
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
