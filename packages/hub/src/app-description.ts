/**
 * What an app says of itself, as far as a model or the hub acts on it: its instructions and its tools. Every word is
 * untrusted. Its digest is what the user agrees to; docs/apps.md, "The digest", describes the form that is hashed.
 *
 * Ring 0.
 */
import { createHash } from 'node:crypto';
import {
  type AppId,
  canonicalJson,
  failed,
  isJsonObject,
  type Json,
  type JsonObject,
  type JsonSchema,
  ok,
  type Result,
  toJson,
} from '@cordon/core';
import type { Tool } from '@modelcontextprotocol/client';
import type { AppTool } from './app-tool.ts';

export interface AppDescription {
  /** MCP `instructions`; empty where there are none. */
  readonly instructions: string;
  /** By name, each once. */
  readonly tools: readonly DescribedTool[];
}

/** A tool as its app declares it. Null: the app says nothing. */
export interface DescribedTool {
  readonly name: string;
  readonly title: string | null;
  readonly description: string | null;
  readonly input: JsonSchema;
  readonly output: JsonSchema | null;
  readonly annotations: JsonObject | null;
}

/** More than any server is known to have; what is agreed to has to be read by somebody. */
const MOST_TOOLS = 1_024;
/**
 * What MCP says that names should be. Attack: a name that is a sentence, or so long that the question that shows it
 * never comes to its end, "This cannot be undone".
 */
const TOOL_NAME = /^[A-Za-z0-9_./:-]{1,128}$/;
const INSTRUCTIONS_LENGTH = 20_000;
const FORMAT = 'cordon-description/1';

/**
 * What is acted on of an app's greeting and list. Tools with names that are none are not there for anybody. Refused:
 * two tools of one name, as which of them a caller means would depend on their order, and the order is not part of the
 * digest; and more tools than the limit, as what is left out would be agreed to unseen or be missing without a word.
 */
export function describeApp(
  instructions: string | undefined,
  tools: readonly Tool[],
): Result<AppDescription, string> {
  if (tools.length > MOST_TOOLS)
    return failed(`it lists ${tools.length} tools, and ${MOST_TOOLS} are the most that an app may have`);
  const named = tools.filter(({ name }) => TOOL_NAME.test(name));
  const described = named.map(describeTool).sort(byName);
  const twice = described.find(({ name }, index) => described[index + 1]?.name === name);
  if (twice !== undefined) return failed(`it lists the tool \`${twice.name}\` twice`);
  return ok({ instructions: (instructions ?? '').slice(0, INSTRUCTIONS_LENGTH), tools: described });
}

function describeTool({
  name,
  title,
  description,
  inputSchema,
  outputSchema,
  annotations,
}: Tool): DescribedTool {
  const input = toJson(inputSchema);
  return {
    name,
    title: title ?? null,
    description: description ?? null,
    input: isJsonObject(input) ? input : { type: 'object' },
    output: objectOrNull(toJson(outputSchema)),
    annotations: objectOrNull(toJson(annotations)),
  };
}

/** By code units: the same everywhere. */
function byName(a: DescribedTool, b: DescribedTool): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

function objectOrNull(value: Json): JsonObject | null {
  return isJsonObject(value) ? value : null;
}

/** An app that is nothing but a text of the user's file. */
export function describeInstructions(instructions: string): AppDescription {
  return { instructions, tools: [] };
}

/** For the store: as the app said it, so that its schemas keep the order in which they were shown. */
export function descriptionJson({ instructions, tools }: AppDescription): JsonObject {
  return { format: FORMAT, instructions, tools: tools.map((tool) => ({ ...tool })) };
}

/** `sha256:…` of the canonical form: the order of tools and of keys is no part of it, every character is. */
export function descriptionDigest(description: AppDescription): string {
  return digestOf(descriptionJson(description));
}

export function digestOf(value: Json): string {
  return `sha256:${createHash('sha256').update(canonicalJson(value)).digest('hex')}`;
}

/** From the store; null for what no version of this program has written. */
export function readDescription(value: Json): AppDescription | null {
  if (!isJsonObject(value) || value.format !== FORMAT) return null;
  const { instructions, tools } = value;
  if (typeof instructions !== 'string' || !Array.isArray(tools)) return null;
  const read = tools.map(readTool);
  const whole = read.filter((tool) => tool !== null);
  return whole.length === read.length ? { instructions, tools: whole } : null;
}

function readTool(value: Json): DescribedTool | null {
  if (!isJsonObject(value)) return null;
  const { name, title = null, description = null, input, output = null, annotations = null } = value;
  if (typeof name !== 'string' || !isTextOrNull(title) || !isTextOrNull(description)) return null;
  if (!isJsonObject(input) || !isObjectOrNull(output) || !isObjectOrNull(annotations)) return null;
  return { name, title, description, input, output, annotations };
}

function isTextOrNull(value: Json): value is string | null {
  return value === null || typeof value === 'string';
}

function isObjectOrNull(value: Json): value is JsonObject | null {
  return value === null || isJsonObject(value);
}

/** What the hub acts on. */
export function appTools({ tools }: AppDescription): readonly AppTool[] {
  return tools.map(({ name, description, input, output, annotations }) => ({
    name,
    description: description ?? '',
    input,
    output,
    readOnlyHint: annotations?.readOnlyHint === true,
    destructiveHint: annotations?.destructiveHint === true,
  }));
}

/** What grants are bound to: this program, by this command and manifest, saying this of itself. */
export function appDigest(app: AppId, place: string, configured: Json, description: AppDescription): string {
  return digestOf({ app, place, configured, description: descriptionDigest(description) });
}
