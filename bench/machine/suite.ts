/** `cordon bench machine`: what Cordon costs the machine that it runs on. */
import type { Suite } from '../evaluation/suite.ts';

export const machineSuite: Suite = {
  id: 'machine',
  question: 'What do starts, round trips, memory, decisions and scans cost on this machine?',
  // Times are measured.
  jobs: 1,
  takes: [],
  prepare: async (request) => (await import('./measurements.ts')).preparedMachine(request),
};
