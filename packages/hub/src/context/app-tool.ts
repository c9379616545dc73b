/** A running app, its tools as the hub acts on them, and what they answer: every word of it is untrusted. */
import { type AppId, type Json, type JsonSchema, settle, sizeOfTexts, toJson } from '@cordon/core';
import type { CallResult } from './call-result.ts';
import { eventLoopTurn, LONG, yieldIfLong } from './event-loop-turn.ts';

/** A tool as its app declares it. */
export interface AppTool {
  readonly name: string;
  readonly description: string;
  readonly input: JsonSchema;
  readonly output: JsonSchema | null;
  /** Annotations of an untrusted party (MCP, "tool annotations are hints"). */
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  /** Name, title, description and arguments say that it only looks, and no annotation says that it does not. */
  readonly looksByWords: boolean;
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

const OUTPUT_LENGTH = 1024 * 1024;

/** UTF-16 units, as far as anybody has to know: what is longer than a step may be is long. */
export function lengthOf({ text, structured }: ToolResult): number {
  return text.length + sizeOfTexts(structured, OUTPUT_LENGTH, 1);
}

/** Everything but text becomes a note: images and links of an app are not loaded for it. */
export function readToolResult(result: CallResult): ToolResult {
  const parts = result.content.map((block) =>
    block.type === 'text' ? block.text : `[${block.type} not shown]`,
  );
  const text = cutOutput(parts.join('\n'));
  return { text, structured: jsonOf(result.structuredContent), isError: result.isError };
}

/** An object or list was made by the client for this answer alone, out of JSON: nobody else has it. */
function jsonOf(content: unknown): Json {
  return typeof content === 'object' ? (content as Json) : toJson(content);
}

/** Freezes and writes a long result once, in pieces: each step through the hub would do so for itself. */
export async function settleResult(result: ToolResult): Promise<void> {
  const length = lengthOf(result);
  await yieldIfLong(length);
  const { structured } = result;
  if (length > LONG && typeof structured === 'object' && structured !== null)
    await settle(structured, eventLoopTurn);
}

/** What the model and the rules read of an output. */
export function cutOutput(text: string): string {
  return text.length > OUTPUT_LENGTH
    ? `${text.slice(0, OUTPUT_LENGTH)}\n[cut after ${OUTPUT_LENGTH} characters]`
    : text;
}
