/** All parts of `cordon bench`, in the order in which they are told. */
import { descriptionsSuite } from '../descriptions/suite.ts';
import { detectorsSuite } from '../detectors/evaluation.ts';
import { functionalitySuite } from '../functionality/suite.ts';
import { machineSuite } from '../machine/suite.ts';
import { overheadSuite } from '../overhead/suite.ts';
import { peersSuite } from '../peers/suite.ts';
import { plansSuite } from '../plans/suite.ts';
import { protectionSuite } from '../protection/suite.ts';
import type { Suite } from './suite.ts';

export const SUITES: readonly Suite[] = [
  protectionSuite,
  functionalitySuite,
  plansSuite,
  overheadSuite,
  machineSuite,
  detectorsSuite,
  descriptionsSuite,
  peersSuite,
];
