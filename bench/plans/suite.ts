/** `cordon bench plans`: what plans are worth where nobody has written a manifest. */
import type { Suite } from '../evaluation/suite.ts';

export const plansSuite: Suite = {
  id: 'plans',
  question: 'Does a plan mean as much for apps without a manifest?',
  jobs: 2,
  takes: [],
  // Hub and sandbox are loaded when they are used.
  prepare: async (request) => (await import('./playing.ts')).preparedPlans(request),
};
