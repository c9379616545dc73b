export { keyFiles, readJournalKey } from './journal-key.ts';
export { forgetSecret, keepSecret, keptSecret, keptSecretNames, type SecretPlace } from './kept-secrets.ts';
export { keySource, readStoreKey } from './store-key.ts';
