export { keyFiles, readJournalKey } from './journal-key.ts';
export { keySource, readStoreKey } from './store-key.ts';
