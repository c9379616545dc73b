/**
 * Descriptions of tools, as OpenAI, Anthropic, Gemini and MCP write them, read into one form for the linter. They come
 * from apps: names and texts in them are data.
 *
 * No decision depends on it. Never throws.
 */
import {
  failed,
  isJsonObject,
  type Json,
  type JsonObject,
  type JsonSchema,
  ok,
  type Result,
} from '@cordon/core';

export interface ToolSchema {
  readonly name: string;
  /** Of the arguments object; null if unknown; then arguments are not checked. */
  readonly parameters: JsonSchema | null;
  /** The installed apps that have it; absent: not known. */
  readonly apps?: readonly string[];
}

/** More are no toolbox, but an attack on the time of anyone who looks at them. */
const MAX_TOOLS = 10_000;

/**
 * Reads a list of tools, or an object that holds one under `tools` (also inside `result`, as MCP answers `tools/list`).
 * An entry is `{name, parameters | inputSchema | input_schema}`, the same under `function`, or Gemini's
 * `{functionDeclarations: […]}`. Fails with a sentence that names the invalid entry.
 */
export function parseTools(value: Json): Result<readonly ToolSchema[], string> {
  const list = listIn(value);
  if (list === null) return failed('this is no list of tools, and no object with one under `tools`');
  const entries = list.flatMap((entry) => {
    const declared = isJsonObject(entry)
      ? (entry.functionDeclarations ?? entry.function_declarations)
      : undefined;
    return isArray(declared) ? declared : [entry];
  });
  if (entries.length > MAX_TOOLS) return failed(`there are more than ${MAX_TOOLS} tools`);
  const tools: ToolSchema[] = [];
  for (const [index, entry] of entries.entries()) {
    const tool = toolIn(entry);
    if (tool === null) return failed(`entry ${index} of the list is no tool: it has no \`name\``);
    tools.push(tool);
  }
  return ok(tools);
}

function listIn(value: Json): readonly Json[] | null {
  if (isArray(value)) return value;
  if (!isJsonObject(value)) return null;
  if (isArray(value.tools)) return value.tools;
  const { result } = value;
  return isJsonObject(result) && isArray(result.tools) ? result.tools : null;
}

function toolIn(entry: Json): ToolSchema | null {
  if (!isJsonObject(entry)) return null;
  const described: JsonObject = isJsonObject(entry.function) ? entry.function : entry;
  const { name } = described;
  if (typeof name !== 'string' || name === '') return null;
  const schema = described.parameters ?? described.inputSchema ?? described.input_schema;
  return { name, parameters: isJsonObject(schema) ? schema : null };
}

/** Whether a value is a list. */
export function isArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}
