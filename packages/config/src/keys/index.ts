export { keyFiles, readJournalKey } from './journal-key.ts';
export { keepSecret, keptSecret, type SecretPlace } from './kept-secrets.ts';
export { keySource, readStoreKey } from './store-key.ts';
