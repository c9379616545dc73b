/** All attempts of the suite, in the order in which they are shown. */
import type { Attempt } from './attempt.ts';
import { DIRECT } from './attempts/direct.ts';
import { EGRESS } from './attempts/egress.ts';
import { JAVASCRIPT } from './attempts/javascript.ts';
import { KERNEL } from './attempts/kernel.ts';
import { PROCESSES } from './attempts/processes.ts';
import { READING } from './attempts/reading.ts';
import { RESOURCES } from './attempts/resources.ts';
import { SOCKETS } from './attempts/sockets.ts';
import { WRITING } from './attempts/writing.ts';

export const ATTEMPTS: readonly Attempt[] = [
  ...READING,
  ...WRITING,
  ...PROCESSES,
  ...KERNEL,
  ...SOCKETS,
  ...RESOURCES,
  ...JAVASCRIPT,
  ...EGRESS,
  ...DIRECT,
];
