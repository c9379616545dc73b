export { type App, PROTOCOL_VERSIONS, STATELESS_PROTOCOL_VERSION } from './app-server.ts';
export { type Checked, checkValue } from './check.ts';
export type { Fetched, FetchInit } from './host.ts';
export type { Json, JsonObject } from './json.ts';
export type {
  ArraySchema,
  BooleanSchema,
  Format,
  FromSchema,
  NumberSchema,
  ObjectSchema,
  Schema,
  StringSchema,
} from './schema.ts';
export { DEFAULT_SERVE_LIMITS, type ServeLimits, serve, type Wire } from './serve.ts';
export { openState, type State, type StateOptions } from './state.ts';
export {
  type Refused,
  refuse,
  type Tool,
  type ToolAnnotations,
  type ToolContext,
  type ToolDefinition,
  tool,
} from './tool.ts';
