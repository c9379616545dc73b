/** The store of a configuration: where journal, grants and memories are. */

import type { Configuration } from '@cordon/config';
import { type Fault, failed, fault, type Result } from '@cordon/core';
import { openStore, type Store } from '@cordon/trace';

/** The store; creates the data folder. */
export function openJournal({
  dataFolder,
  readKey,
  readJournalKey,
}: Pick<Configuration, 'dataFolder' | 'readKey' | 'readJournalKey'>): Result<Store, Fault> {
  const key = readKey();
  if (!key.ok) return key;
  const journalKey = readJournalKey();
  if (!journalKey.ok) return journalKey;
  const opened = openStore(dataFolder, Date.now, { key: key.value, journalKey: journalKey.value });
  if (opened.ok) return opened;
  const { message, help } = opened.fault;
  return failed(fault('journal-unavailable', message, help));
}
