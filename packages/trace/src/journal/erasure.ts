/**
 * Deleting a session: its journal, its memory, its grants and its questions go together. The journal is append-only for
 * everything that runs; this is the one way out of it, and the user's alone. The chain of every other session stays whole,
 * because each session has its own chain.
 */
import { failed, ok, type Result, type SessionId } from '@cordon/core';
import type { Database } from '../database/database.ts';
import type { Acknowledgements } from './acknowledged.ts';
import { type SessionFault, type SessionRecord, type Sessions, shown, unknown } from './session.ts';

/** Tables whose rows belong to a session, those first that refer to others; a test holds them against the schema. */
export const TABLES_OF_SESSION = ['prompts', 'grants', 'summaries', 'turns', 'events'] as const;

export interface ErasureOptions {
  readonly database: Database;
  readonly sessions: Sessions;
  readonly acknowledgements: Acknowledgements;
}

/** Refused while a living process holds the session, and for one that does not exist. Facts belong to no session and stay. */
export function eraseSession(
  { database, sessions, acknowledgements }: ErasureOptions,
  session: SessionId,
): Result<SessionRecord, SessionFault> {
  const erased: Result<SessionRecord, SessionFault> = database.write(() => {
    const record = sessions.find(session);
    if (record === null) return failed(unknown(session));
    if (record.status === 'running') return failed(inUse(record));
    const key = database.keyOf('sessions', session);
    acknowledgements.erasing(session);
    database.withoutTriggers(['events'], () => {
      const ofSession = 'SELECT g.key FROM grants g WHERE g.session = ?';
      database.run(`DELETE FROM grant_flows WHERE granted IN (${ofSession})`, key);
      for (const table of TABLES_OF_SESSION) database.run(`DELETE FROM ${table} WHERE session = ?`, key);
      database.run('DELETE FROM sessions WHERE key = ?', key);
    });
    return ok(record);
  });
  if (erased.ok) acknowledgements.remove(session);
  return erased;
}

/** The holder may be this process. */
function inUse({ id, holder }: SessionRecord): SessionFault {
  return {
    kind: 'session-held',
    message: `the session ${shown(id)} is in use${holder === null ? '' : ` by the process ${holder}`}`,
    help: 'end the process that uses it first',
  };
}
