export type { Allowed, Decision, Reason, Ruling } from './event/decision.ts';
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
} from './event/event.ts';
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
} from './event/permission.ts';
export { endorsesValues, PERMISSION_SCOPES } from './event/permission.ts';
export {
  dependsOnEachOther,
  type Expectation,
  expects,
  type PlanOrigin,
  type PlanStep,
  primaryApps,
  type StepPlan,
} from './event/plan.ts';
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
} from './event/proposal.ts';
export { canonicalCopyOf, canonicalJson, canonicalJsonOf } from './json/canonical-json.ts';
export { closedSchema, mostBits } from './json/closed-schema.ts';
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
} from './json/json.ts';
export { type NamedArgument, namedArguments } from './json/named-argument.ts';
export {
  closedFormats,
  isClosedValue,
  replaceFreeText,
  strangersSchema,
  withoutProse,
} from './json/schema.ts';
export { jsonText, settle, settledTexts } from './json/settled-json.ts';
export type { FactsMode, HistoryReach, SummaryMode } from './manifest/limits.ts';
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
} from './manifest/limits.ts';
export type { ReadSecret } from './manifest/manifest.ts';
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
} from './manifest/manifest.ts';
export {
  type CalledLabels,
  saidOfTool,
  type ToolLabelEntry,
  type ToolLabels,
  toolLabels,
  UNKNOWN_TOOL,
} from './manifest/tool-label.ts';
export {
  AGENT_TOOLS,
  EARLIER_OUTCOMES,
  type EarlierOutcome,
  type PlannerAnswer,
  type PlannerInput,
  type PlannerStep,
  REFUSED_TEXT,
} from './model/agent.ts';
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
} from './model/model.ts';
export type {
  CompatibleProviderConfig,
  Endpoint,
  EndpointKind,
  HostedKind,
  HostedProviderConfig,
  ProviderConfig,
} from './model/provider-config.ts';
export {
  type AnswerBook,
  type Question,
  SERVICES,
  type Service,
  type ServiceName,
  type TextJudge,
} from './model/question.ts';
export type { Clock } from './values/clock.ts';
export {
  DATA_KINDS,
  type DataKind,
  exampleOfData,
  labelOfData,
  misfitOfData,
} from './values/data-kind.ts';
export type { Diagnostic, SourceRange } from './values/diagnostic.ts';
export { type Fault, type FaultKind, fault } from './values/fault.ts';
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
} from './values/id.ts';
export { DEFAULT_LABEL, HUB_LABEL, joinLabels, type Label, labelNames, USER_LABEL } from './values/label.ts';
export { type Failed, failed, type Ok, ok, type Result } from './values/result.ts';
export {
  firstLines,
  harmlessText,
  textColumns,
  VisibleCharacters,
  visibleLine,
  visibleLines,
  wrap,
} from './values/visible-text.ts';
