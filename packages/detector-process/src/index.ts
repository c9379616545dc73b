/** The hub's end of the confined processes that look at texts for rules. */
export { ConfinedDetectors, type LaunchFor, type Work } from './confined-detectors.ts';
export { type DetectorFault, DetectorProcess, FAULTS, type Launch } from './detector-process.ts';
