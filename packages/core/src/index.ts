export {
  AGENT_TOOLS,
  EARLIER_OUTCOMES,
  type EarlierOutcome,
  type PlannerAnswer,
  type PlannerInput,
  type PlannerStep,
  REFUSED_TEXT,
} from './agent.ts';
export { canonicalCopyOf, canonicalJson, canonicalJsonOf } from './canonical-json.ts';
export type { Clock } from './clock.ts';
export { closedSchema, mostBits } from './closed-schema.ts';
export {
  DATA_KINDS,
  type DataKind,
  exampleOfData,
  isDataKind,
  labelOfData,
  MOST_DATA_CHARACTERS,
  misfitOfData,
} from './data-kind.ts';
export type { Allowed, Decision, Reason, Ruling } from './decision.ts';
export type { Diagnostic, SourceRange } from './diagnostic.ts';
export type {
  ContextKind,
  DecidedBody,
  Event,
  EventBody,
  EventFrame,
  EventKind,
  ExecutedBody,
  LearntFact,
  ModelToolCallRecord,
  ProposedBody,
  ToolReturn,
} from './event.ts';
export { type Fault, type FaultKind, fault } from './fault.ts';
export {
  type AppId,
  type ContextId,
  type EphemeralId,
  type EventId,
  type FunctionalityName,
  type GrantId,
  type Id,
  id,
  NAME_PATTERN,
  type RuleId,
  type SessionId,
} from './id.ts';
export {
  DEFAULT_JSON_LIMITS,
  isJsonObject,
  type Json,
  type JsonLimits,
  type JsonObject,
  type JsonSchema,
  parseJson,
  type ScannedJson,
  scanJson,
  sizeOfTexts,
  toJson,
} from './json.ts';
export { DEFAULT_LABEL, HUB_LABEL, joinLabels, type Label, labelNames, USER_LABEL } from './label.ts';
export {
  type AppLimits,
  DEFAULT_APP_LIMITS,
  DEFAULT_MEMORY_LIMITS,
  DEFAULT_RETRY_LIMITS,
  DEFAULT_TURN_LIMITS,
  DEFAULT_WARM_LIMITS,
  type MemoryLimits,
  MOST_CALLS_AT_ONCE,
  type ModelPrice,
  type ModelPrices,
  QUERY_LIMITS,
  type QueryLimit,
  type QueryUse,
  type RetryLimits,
  type TurnLimits,
  type WarmLimits,
} from './limits.ts';
export {
  type AppSource,
  type Credential,
  type Functionality,
  type InstalledApp,
  type Manifest,
  NODE_GRANTS,
  type NodeGrant,
  type RememberedValue,
  type SecretSource,
  SILENT_MANIFEST,
} from './manifest.ts';
export type {
  Model,
  ModelCallOptions,
  ModelFault,
  ModelFaultKind,
  ModelMessage,
  ModelRequest,
  ModelResponse,
  ModelTool,
  ModelToolCall,
  Usage,
} from './model.ts';
export { type NamedArgument, namedArguments } from './named-argument.ts';
export type {
  Choice,
  ChoicePrompt,
  Consent,
  DatumSource,
  Grant,
  GrantDuration,
  GrantTerm,
  PermissionAnswer,
  PermissionPrompt,
  PermissionScope,
  PermissionSubject,
  PromptDatum,
  PromptEdit,
} from './permission.ts';
export { endorsesValues, PERMISSION_SCOPES } from './permission.ts';
export {
  dependsOnEachOther,
  type Expectation,
  expects,
  type PlanOrigin,
  type PlanStep,
  primaryApps,
  type StepPlan,
  secondaryApps,
} from './plan.ts';
export type {
  Answer,
  AppRequest,
  AppResponse,
  DataRelease,
  Effect,
  Egress,
  ModelCall,
  Proposal,
  ReleasedItem,
  ToolCall,
  ToolOutput,
} from './proposal.ts';
export {
  type AnswerBook,
  type Question,
  SERVICES,
  type Service,
  type ServiceName,
  type TextJudge,
} from './question.ts';
export { type Failed, failed, type Ok, ok, type Result } from './result.ts';
export { closedFormats, isClosedValue, replaceFreeText, strangersSchema, withoutProse } from './schema.ts';
export { jsonText, settle, settledTexts } from './settled-json.ts';
export {
  type CalledLabels,
  saidOfTool,
  type ToolLabelEntry,
  type ToolLabels,
  toolLabels,
  UNKNOWN_TOOL,
} from './tool-label.ts';
