/**
 * Deleting a session: its journal, its memory, its grants and its questions go together. The journal is append-only for
 * everything that runs; this is the one way out of it, and the user's alone. The chain of every other session stays whole,
 * because each session has its own chain.
 *
 * Ring 0.
 */
import { failed, ok, type Result, type SessionId } from '@cordon/core';
import type { Database } from '../database/database.ts';
import { numberOf } from '../database/row.ts';
import type { Acknowledgements } from './acknowledged.ts';
import type { SessionFault, SessionRecord, Sessions } from './session.ts';

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
    if (record === null) return failed(UNKNOWN);
    if (record.status === 'running') return failed(HELD);
    const key = database.first('SELECT key FROM sessions WHERE id = ?', [session], (row) =>
      numberOf(row, 'key'),
    );
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

const UNKNOWN: SessionFault = {
  kind: 'session-unknown',
  message: 'there is no such session',
  help: '`cordon sessions` lists those that exist',
};

const HELD: SessionFault = {
  kind: 'session-held',
  message: 'the session is in use',
  help: 'end the process that uses it first',
};
