/**
 * The trace of a run that has effects to record, or that goes without a layer: its own session in the journal.
 */

import { keySource, readJournalKey, readStoreKey } from '@cordon/config/keys';
import type { Environment } from '@cordon/config/reading';
import { type AppId, type EventBody, type Fault, HUB_LABEL, ok, type Result } from '@cordon/core';
import type { SessionJournal } from '@cordon/trace';
import { openJournal } from './journal.ts';

export interface RunRecord {
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
  environment: Environment,
): Result<RunRecord, Fault> {
  const store = openJournal({
    dataFolder,
    readKey: () => readStoreKey(keySource(environment, null), environment),
    readJournalKey: () => readJournalKey(environment),
  });
  if (!store.ok) return store;
  const { journal, sessions } = store.value;
  const session = sessions.create();
  const record = (of: AppId | null, body: EventBody) =>
    void journal.append(session, null, of, [], HUB_LABEL, body);
  record(null, { kind: 'session.started', isolation: 'spokes', model: 'none', notices });
  return ok({
    journal: journal.of(session),
    started: (milliseconds, layers) => record(app, { kind: 'app.started', milliseconds, layers }),
    ended: (reason) => {
      record(app, { kind: 'app.stopped', reason });
      record(null, { kind: 'session.ended' });
      store.value.close();
    },
  });
}
