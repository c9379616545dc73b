/**
 * `@cordon/policy/rules`: from a text to rules, and rules asked about what happens, for programs in which a start counts.
 * Without the linter, the formatter and the readers of recorded traces, which are as much again to load.
 *
 * Ring 0.
 */

export type { Analysis } from './analyze.ts';
export {
  awaiting,
  type Detector,
  type DetectorCall,
  type DetectorSpec,
  defineDetector,
  NEEDS_PARSER,
  type NoAnswer,
  noAnswer,
} from './detector.ts';
export { factEvent, type HubFact, proposalEvent } from './formats/cordon-event.ts';
export { SessionFacts } from './formats/session-facts.ts';
export { type AskedWork, LongTexts, type TextWork, WORK_FAULTS, type WorkFault } from './long-texts.ts';
export { spokenLink } from './origin/encodings.ts';
export { emptyPolicy, joinPolicies, loadPolicy, Policy, type PolicyOptions } from './policy.ts';
export { type Evaluation, PolicyMonitor, verdictOf } from './policy-monitor.ts';
export { definePredicate, type PredicateSpec } from './predicate.ts';
export type { Finding } from './rule-state.ts';
