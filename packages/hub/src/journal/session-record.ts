/**
 * The journal's side of opening a session: its first event, or the claim on an interrupted one. Apart from `hub.ts`,
 * because a chat shows its prompt when this is done, and loads the rest of the hub behind it.
 */
import { type Event, failed, HUB_LABEL, ok, type Result, type SessionId } from '@cordon/core';
import { damagedSession, type Loss, type SessionFault, type Store } from '@cordon/trace';

export interface SessionOptions {
  readonly isolation: 'spokes' | 'none';
  /** Whether the policy holds without isolation, too, to measure what it does alone; absent: it does not. */
  readonly hasPolicy?: boolean;
  /** An interrupted session to resume. */
  readonly resume?: SessionId;
  /** The user knows that acknowledged events are missing, and resumes the session all the same; absent: no. */
  readonly acceptsLoss?: boolean;
  /** Shown at the start and kept in the trace: what is weaker than usual, and why. */
  readonly notices: readonly string[];
}

/** A session that the journal has and this process holds, before anything of it can act. */
export interface SessionRecord {
  readonly id: SessionId;
  readonly isolation: 'spokes' | 'none';
  readonly hasPolicy: boolean;
  /** What the journal holds of a resumed session; empty for a new one. */
  readonly past: readonly Event[];
}

/**
 * Begins a new session, or resumes an interrupted one. Refused when another process holds it, it has ended, its
 * journal was changed, or acknowledged events are missing and the user has not accepted that.
 *
 * @param modelId `provider/model`
 */
export function beginSession(
  store: Store,
  modelId: string,
  options: SessionOptions,
): Result<SessionRecord, SessionFault> {
  const { acceptsLoss = false } = options;
  const loss = options.resume === undefined ? null : store.sessions.loss(options.resume);
  const resumed =
    options.resume === undefined ? null : store.sessions.resume(options.resume, { acceptsLoss });
  if (resumed !== null && !resumed.ok) return failed(resumed.fault);
  const damage = resumed === null ? null : damageOf(store, resumed.value.id, acceptsLoss);
  if (damage !== null) return failed(damage);
  const id = resumed?.value.id ?? store.sessions.create();
  const { isolation, notices, hasPolicy = isolation !== 'none' } = options;
  const record = (body: Parameters<typeof store.journal.append>[5]) =>
    void store.journal.append(id, null, null, [], HUB_LABEL, body);
  if (resumed === null) record({ kind: 'session.started', isolation, model: modelId, notices });
  else record({ kind: 'session.resumed', events: resumed.value.events, notices, ...lostOf(loss) });
  // With `session.resumed`, which may say that events are missing.
  const past = resumed === null ? [] : store.journal.events(id);
  return ok({ id, isolation, hasPolicy, past });
}

/** Ends a session that was begun and in which nothing can happen, because the rest of the hub could not be put together. */
export function endUnused(store: Store, { id }: SessionRecord): void {
  store.journal.append(id, null, null, [], HUB_LABEL, { kind: 'session.ended' });
}

/** A journal that was modified is not evidence of what happened. Null: it holds what was appended. */
function damageOf(store: Store, session: SessionId, acceptsLoss: boolean): SessionFault | null {
  const verification = store.journal.verify(session);
  if (verification.intact) return null;
  // What is there is whole, and the user knows that something is missing.
  if (acceptsLoss && (verification.kind === 'shortened' || verification.kind === 'uncounted')) return null;
  store.sessions.release(session);
  return damagedSession(session, verification.reason);
}

/** INVARIANT (no silent repetition): the journal keeps that something is missing, so that every later hub asks (unknown-outcomes.ts). */
function lostOf(loss: Loss | null): { readonly lost?: number | null } {
  if (loss === null) return {};
  return { lost: loss.acknowledged === null ? null : loss.acknowledged - loss.events };
}
