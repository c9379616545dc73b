/**
 * What an app says of itself, as far as a model or the hub acts on it: its instructions and its tools. Every word is
 * untrusted. Its digest is what the user agrees to; docs/apps.md, "The digest", describes the form that is hashed.
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
  saysThatItLooks,
  toJson,
} from '@cordon/core';
import type { Tool } from '@modelcontextprotocol/client';
import type { AppTool } from '../context/app-tool.ts';

export interface AppDescription {
  /** MCP `instructions`; empty where there are none. */
  readonly instructions: string;
  /** By name, each once. */
  readonly tools: readonly DescribedTool[];
  /** What the app said beyond that, and Cordon does not act on; absent where that is nothing. */
  readonly leftOut?: readonly LeftOut[];
}

/** `tool`: its name is invalid; a long name is cut. `instructions`: how many characters behind the last that is used. */
export type LeftOut =
  | { readonly kind: 'tool'; readonly name: string }
  | { readonly kind: 'instructions'; readonly characters: number };

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
const SHOWN_NAME = 128;
/** UTF-16 units of an app's instructions that are used. */
export const INSTRUCTIONS_LENGTH = 20_000;
const FORMAT = 'cordon-description/1';

/**
 * What is acted on of an app's greeting and list. A tool with an invalid name, and what follows the most that is used
 * of the instructions, are left out, and the description says so: the user reviews that too. Refused:
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
  const leftOut = [...unusedInstructions(instructions ?? ''), ...unnamedTools(tools)];
  return ok({
    instructions: (instructions ?? '').slice(0, INSTRUCTIONS_LENGTH),
    tools: described,
    ...(leftOut.length === 0 ? {} : { leftOut }),
  });
}

function unusedInstructions({ length }: string): readonly LeftOut[] {
  const characters = length - INSTRUCTIONS_LENGTH;
  return characters > 0 ? [{ kind: 'instructions', characters }] : [];
}

/** Sorted, because the order in which an app lists its tools is no part of the digest. */
function unnamedTools(tools: readonly Tool[]): readonly LeftOut[] {
  const names = tools.filter(({ name }) => !TOOL_NAME.test(name)).map(({ name }) => name);
  return names.sort().map((name) => ({
    kind: 'tool',
    name: name.length > SHOWN_NAME ? `${name.slice(0, SHOWN_NAME)}…` : name,
  }));
}

/** The instructions as a model reads them: it has to know that there was more. */
export function toldInstructions({ instructions, leftOut = [] }: AppDescription): string {
  const cut = leftOut.find((left) => left.kind === 'instructions');
  if (cut === undefined) return instructions;
  return `${instructions}\n[Cordon left out the last ${cut.characters} characters of these instructions.]`;
}

function describeTool(tool: Tool): DescribedTool {
  return {
    name: tool.name,
    title: tool.title ?? null,
    description: tool.description ?? null,
    input: objectOrNull(toJson(tool.inputSchema)) ?? { type: 'object' },
    output: objectOrNull(toJson(tool.outputSchema)),
    annotations: objectOrNull(toJson(tool.annotations)),
  };
}

/** By code units: the same everywhere. */
function byName(a: DescribedTool, b: DescribedTool): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

function objectOrNull(value: Json): JsonObject | null {
  return isJsonObject(value) ? value : null;
}

/** For the store: as the app said it, so that its schemas keep the order in which they were shown. */
export function descriptionJson({ instructions, tools, leftOut }: AppDescription): JsonObject {
  return {
    format: FORMAT,
    instructions,
    ...(leftOut === undefined ? {} : { leftOut: leftOut.map((left) => ({ ...left })) }),
    tools: tools.map((tool) => ({ ...tool })),
  };
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
  const { instructions, tools, leftOut } = value;
  if (typeof instructions !== 'string' || !Array.isArray(tools)) return null;
  const whole = allOf(tools.map(readTool));
  if (whole === null) return null;
  if (leftOut === undefined) return { instructions, tools: whole };
  const left = Array.isArray(leftOut) ? allOf(leftOut.map(readLeftOut)) : null;
  return left === null ? null : { instructions, tools: whole, leftOut: left };
}

/** Null: one of them could not be read. */
function allOf<T>(read: readonly (T | null)[]): readonly T[] | null {
  const whole = read.filter((one) => one !== null);
  return whole.length === read.length ? whole : null;
}

function readLeftOut(value: Json): LeftOut | null {
  if (!isJsonObject(value)) return null;
  const { kind, name, characters } = value;
  if (kind === 'tool' && typeof name === 'string') return { kind, name };
  return kind === 'instructions' && typeof characters === 'number' ? { kind, characters } : null;
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
  return tools.map((tool) => {
    const { name, description, input, output, annotations } = tool;
    const saysThatItActs = annotations?.readOnlyHint === false || annotations?.destructiveHint === true;
    return {
      name,
      description: description ?? '',
      input,
      output,
      readOnlyHint: annotations?.readOnlyHint === true,
      destructiveHint: annotations?.destructiveHint === true,
      looksByWords: !saysThatItActs && saysThatItLooks(tool, tools),
    };
  });
}

/** What grants are bound to: this program, by this command and manifest, saying this of itself. */
export function appDigest(app: AppId, place: string, configured: Json, description: AppDescription): string {
  return digestOf({ app, place, configured, description: descriptionDigest(description) });
}
