/** All that is measured: one file a detector in `suites/`. */
import type { Suite } from './suite.ts';
import { CODE_SUITES } from './suites/code.ts';
import { COMPARISON_SUITES } from './suites/comparison.ts';
import { HIDDEN_TEXT_SUITE } from './suites/hidden-text.ts';
import { LIBRARY_SUITES } from './suites/library.ts';
import { LINK_SUITES } from './suites/links.ts';
import { MODERATED_SUITE } from './suites/moderated.ts';
import { PII_SUITE } from './suites/pii.ts';
import { PROMPT_INJECTION_SUITE } from './suites/prompt-injection.ts';
import { SECRETS_SUITE } from './suites/secrets.ts';
import { TOPIC_SUITE } from './suites/topic.ts';

export const SUITES: readonly Suite[] = [
  PII_SUITE,
  SECRETS_SUITE,
  HIDDEN_TEXT_SUITE,
  PROMPT_INJECTION_SUITE,
  ...CODE_SUITES,
  ...LINK_SUITES,
  ...COMPARISON_SUITES,
  ...LIBRARY_SUITES,
  TOPIC_SUITE,
  MODERATED_SUITE,
];
