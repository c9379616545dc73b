/** All that is measured: one file a detector in `suites/`. */
import type { Suite } from './suite.ts';
import { HIDDEN_TEXT_SUITE } from './suites/hidden-text.ts';
import { SECRETS_SUITE } from './suites/secrets.ts';

export const SUITES: readonly Suite[] = [SECRETS_SUITE, HIDDEN_TEXT_SUITE];
