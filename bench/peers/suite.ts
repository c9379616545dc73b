/** `cordon bench peers`: policy engines and guards of others beside Cordon. */
import type { Suite } from '../evaluation/suite.ts';

export const peersSuite: Suite = {
  id: 'peers',
  question: 'What do other policy engines make of the same rules and attacks?',
  jobs: 1,
  takes: ['traces', 'labels'],
  // Policies and engines are loaded when they are used.
  prepare: async (request) => (await import('./comparison.ts')).preparedComparison(request),
};
