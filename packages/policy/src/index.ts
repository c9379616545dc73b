/**
 * `@cordon/policy` as programs use it: text to policy, events to findings and verdicts. Each section says for whom its
 * names are; `docs/policy/library.md` shows the first four with examples that are run.
 */

// Policies: from text to rules, and what is wrong with a text.

export type { CompiledRule } from './evaluate/compiled-rule.ts';
export { emptyPolicy, joinPolicies, loadPolicy, Policy, type PolicyOptions } from './policy.ts';
export { CODES, type Code } from './syntax/codes.ts';
export {
  awaiting,
  type Detector,
  type DetectorCall,
  type DetectorSpec,
  defineDetector,
  NEEDS_PARSER,
  type NoAnswer,
  noAnswer,
} from './values/detector.ts';
export { definePredicate, type PredicateSpec } from './values/predicate.ts';

// Events, and what rules find about them.

export type { Finding } from './evaluate/rule-state.ts';
export type {
  CalledTool,
  CarrierEvent,
  Chunk,
  Content,
  Endorsed,
  EventFrame,
  HubEvent,
  MessageEvent,
  Released,
  ToolCallEvent,
  ToolEvent,
  ToolOutputEvent,
  ToolParameter,
  TraceEvent,
} from './events/trace-event.ts';
export { type Evaluation, PolicyMonitor, type Verdict, verdictOf } from './policy-monitor.ts';

// Long texts, which another process looks at.

export { TextWorker } from './evaluate/text-worker.ts';
export {
  type AskedWork,
  TextQuestions,
  type TextWork,
  WORK_FAULTS,
  type WorkFault,
} from './values/text-questions.ts';

// The tree: for programs that look at rules rather than run them.

export type * from './syntax/ast.ts';
export { Source, type Span } from './syntax/source.ts';

// The hub and its monitor.

export { decodingsOf, spokenLink } from './origin/encodings.ts';
export { isWrittenArgument, isWrittenField } from './origin/field-writer.ts';
export { sentenceAt } from './origin/origin.ts';
export { leavesOf, namesPlaceOf } from './origin/pieces.ts';
export { innerFields, type RecordField, recordFields } from './origin/record-text.ts';
export { wordsOf } from './origin/words.ts';

// `@cordon/policy-tools`: analysis, explanations, the linter and the printer. No promise to anybody else.

export { checkTypes, type Types } from './check/checker.ts';
export { freeNames, inCircles, type Named, Names, variablesOf, walk } from './check/scope.ts';
export { compile } from './compile/compiler.ts';
export { eventVariables, innerTypes, quantifierOf } from './compile/past-only.ts';
export { variableName } from './compile/variable-dependencies.ts';
export type { Binding, Body, Step } from './evaluate/body.ts';
export { neededBy } from './evaluate/prefix.ts';
export type { RequiredLiterals } from './evaluate/required-literals.ts';
export { isFirstKept, planRule, type RulePlan, type RuleSearch } from './evaluate/rule-plan.ts';
export { type ReportRule, type RuleProgram, RuleSet } from './evaluate/rule-set.ts';
export type { Report } from './evaluate/rule-state.ts';
export type { SearchPlan } from './evaluate/search.ts';
export { isShallow, MAX_DEPTH } from './events/depth.ts';
export type { FlowPoint, FlowRecord, FlowStep, Place } from './events/provenance.ts';
export { Diagnostics } from './syntax/codes.ts';
export { columnOf, dedent } from './syntax/lexer.ts';
export { parseText, parseTokens, type Reading, type Role } from './syntax/parser.ts';
export type { Token } from './syntax/token.ts';
export { BUILTINS, type Detectors } from './values/builtins.ts';
export { type Path, partAt } from './values/event-object.ts';
export type { Evidence, Located, OriginEvidence } from './values/evidence.ts';
export { METHODS } from './values/methods.ts';
export { PatternCache } from './values/pattern-cache.ts';
export { textOf } from './values/python-str.ts';
export {
  ANY,
  canBe,
  EMPTY_TYPES,
  nearest,
  OBJECT_TYPES,
  PLAIN_TYPES,
  type Type,
  withArticle,
} from './values/types.ts';
export { isContents, isDictionary, isList, isRuleMessage, isTraceObject } from './values/value.ts';

// `@cordon/reference`, the evaluator that the tests compare with: what names, operators and functions mean.

export * as semantics from './semantics.ts';
export { EventObject, type Occurrence, occurrencesIn, occurrencesWithin } from './values/event-object.ts';
export { Trace } from './values/trace.ts';
export type { Value } from './values/value.ts';
export * as values from './values/value.ts';
