/**
 * The journal's side of opening a session: its first event, or the claim on an interrupted one. Apart from `hub.ts`,
 * because a chat shows its prompt when this is done, and loads the rest of the hub behind it.
 *
 * Ring 0.
 */
import { type Event, failed, HUB_LABEL, ok, type Result, type SessionId } from '@cordon/core';
import { damagedSession, type SessionFault, type Store } from '@cordon/trace';

export interface SessionOptions {
  readonly isolation: 'spokes' | 'none';
  /** Whether the policy holds without isolation, too, to measure what it does alone; absent: it does not. */
  readonly hasPolicy?: boolean;
  /** An interrupted session to go on with. */
  readonly resume?: SessionId;
  /** Shown at the start and kept in the trace: what is weaker than usual, and why. */
  readonly notices: readonly string[];
}

/** A session that the journal has and this process holds, before anything of it can act. */
export interface BegunSession {
  readonly id: SessionId;
  readonly isolation: 'spokes' | 'none';
  readonly hasPolicy: boolean;
  /** What the journal holds of a session that goes on; empty for a new one. */
  readonly past: readonly Event[];
}

/**
 * Begins a new session, or goes on with an interrupted one. Refused when another process holds it, it has ended, or its
 * journal was changed.
 *
 * @param modelId `provider/model`
 */
export function beginSession(
  store: Store,
  modelId: string,
  options: SessionOptions,
): Result<BegunSession, SessionFault> {
  const resumed = options.resume === undefined ? null : store.sessions.resume(options.resume);
  if (resumed !== null && !resumed.ok) return failed(resumed.fault);
  const damage = resumed === null ? null : damageOf(store, resumed.value.id);
  if (damage !== null) return failed(damage);
  const id = resumed?.value.id ?? store.sessions.create();
  const { isolation, notices, hasPolicy = isolation !== 'none' } = options;
  const past = resumed === null ? [] : store.journal.events(id);
  const record = (body: Parameters<typeof store.journal.append>[5]) =>
    void store.journal.append(id, null, null, [], HUB_LABEL, body);
  if (resumed === null) record({ kind: 'session.started', isolation, model: modelId, notices });
  else record({ kind: 'session.resumed', events: resumed.value.events, notices });
  return ok({ id, isolation, hasPolicy, past });
}

/** Ends a session that was begun and in which nothing can happen, because the rest of the hub could not be put together. */
export function endUnused(store: Store, { id }: BegunSession): void {
  store.journal.append(id, null, null, [], HUB_LABEL, { kind: 'session.ended' });
}

/** What a changed journal says happened is no ground to go on from. Null: it is what was appended. */
function damageOf(store: Store, session: SessionId): SessionFault | null {
  const verification = store.journal.verify(session);
  if (verification.intact) return null;
  store.sessions.release(session);
  return damagedSession(session, verification.reason);
}
