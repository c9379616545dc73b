/**
 * The trace of a run that has effects to record, or that goes without a layer: its own session in the journal.
 *
 * Ring 0.
 */

import { keySource, readJournalKey, readStoreKey } from '@cordon/config/keys';
import type { Environment } from '@cordon/config/reading';
import {
  type AppId,
  type EventBody,
  type Fault,
  failed,
  fault,
  HUB_LABEL,
  ok,
  type Result,
  type SessionId,
} from '@cordon/core';
import { openStore, type SessionJournal } from '@cordon/trace';

export interface RunRecord {
  readonly session: SessionId;
  readonly journal: SessionJournal;
  readonly started: (milliseconds: number, layers: readonly string[]) => void;
  /** Ends the session and lets go of the store. */
  readonly ended: (reason: string) => void;
}

/** Refused where the data folder cannot be used: what cannot be recorded does not happen. */
export function openRecord(
  dataFolder: string,
  app: AppId,
  notices: readonly string[],
  clock: () => number,
  environment: Environment,
): Result<RunRecord, Fault> {
  const key = readStoreKey(keySource(environment, null), environment);
  if (!key.ok) return key;
  const journalKey = readJournalKey(environment);
  if (!journalKey.ok) return journalKey;
  const store = openStore(dataFolder, clock, { key: key.value, journalKey: journalKey.value });
  if (!store.ok) return failed(fault('journal-unavailable', store.fault.message, store.fault.help));
  const { journal, sessions } = store.value;
  const session = sessions.create();
  const record = (of: AppId | null, body: EventBody) =>
    void journal.append(session, null, of, [], HUB_LABEL, body);
  record(null, { kind: 'session.started', isolation: 'spokes', model: 'none', notices });
  return ok({
    session,
    journal: journal.of(session),
    started: (milliseconds, layers) => record(app, { kind: 'app.started', milliseconds, layers }),
    ended: (reason) => {
      record(app, { kind: 'app.stopped', reason });
      record(null, { kind: 'session.ended' });
      store.value.close();
    },
  });
}
