/**
 * What an app says of itself and what its tools answer, as the hub reads it: every word of it is untrusted.
 *
 * Ring 0.
 */
import { type AppId, isJsonObject, type Json, type JsonSchema, toJson } from '@cordon/core';
import type { CallToolResult, Client, Tool } from '@modelcontextprotocol/client';

/** A tool as its app declares it. */
export interface AppTool {
  readonly name: string;
  readonly description: string;
  readonly input: JsonSchema;
  readonly output: JsonSchema | null;
  /** Annotations of an untrusted party (MCP, "tool annotations are hints"). */
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
}

export interface ToolResult {
  readonly text: string;
  readonly structured: Json;
  readonly isError: boolean;
}

export interface RunningApp {
  readonly id: AppId;
  readonly tools: readonly AppTool[];
  /** The app's own words about itself; shown in its own context only. */
  readonly instructions: string;
  readonly layers: readonly string[];
  /** From the need of it until it was ready. */
  readonly milliseconds: number;
}

const MAX_TOOLS = 256;
/**
 * What MCP says that names should be. Attack: a name that is a sentence, or so long that the question that shows it
 * never comes to its end, "This cannot be undone".
 */
const TOOL_NAME = /^[A-Za-z0-9_./:-]{1,128}$/;
const INSTRUCTIONS_LENGTH = 20_000;
const OUTPUT_LENGTH = 1024 * 1024;

export function readTools(tools: readonly Tool[]): readonly AppTool[] {
  return tools
    .filter(({ name }) => TOOL_NAME.test(name))
    .slice(0, MAX_TOOLS)
    .map(readTool);
}

export function readInstructions(client: Client): string {
  return (client.getInstructions() ?? '').slice(0, INSTRUCTIONS_LENGTH);
}

function readTool(tool: Tool): AppTool {
  const input = toJson(tool.inputSchema);
  const output = toJson(tool.outputSchema);
  return {
    name: tool.name,
    description: tool.description ?? '',
    input: isJsonObject(input) ? input : { type: 'object' },
    output: isJsonObject(output) ? output : null,
    readOnlyHint: tool.annotations?.readOnlyHint === true,
    destructiveHint: tool.annotations?.destructiveHint === true,
  };
}

/** Everything but text becomes a note: images and links of an app are not loaded for it. */
export function readToolResult(result: CallToolResult): ToolResult {
  const parts = (result.content ?? []).map((block) =>
    block.type === 'text' ? block.text : `[${block.type} not shown]`,
  );
  const text = parts.join('\n');
  const cut =
    text.length > OUTPUT_LENGTH
      ? `${text.slice(0, OUTPUT_LENGTH)}\n[cut after ${OUTPUT_LENGTH} characters]`
      : text;
  return { text: cut, structured: toJson(result.structuredContent), isError: result.isError === true };
}
