/**
 * Facts of a history that a program around a policy engine can keep for it: which tools answered, what the user wrote,
 * which fields records had. Facts only; what follows from them is the policy's to say.
 */

import type { Json } from '@cordon/core';
import { recordFields, type ToolCallEvent, type TraceEvent } from '@cordon/policy';

/** So many words in a row of what the user wrote are kept as one value. */
const MOST_WORDS = 6;

export class History {
  readonly toolsThatAnswered = new Set<string>();
  readonly hostsVisited = new Set<string>();
  /** In small letters. */
  readonly userPhrases = new Set<string>();
  /** In small letters; of all that tools returned as records. */
  readonly recordFields = new Set<string>();
  readonly #calls = new Map<string, ToolCallEvent>();
  #outputs = 0;

  get outputs(): number {
    return this.#outputs;
  }

  hear(event: TraceEvent): void {
    if (event.type === 'ToolCall' && event.callId !== null) this.#calls.set(event.callId, event);
    else if (event.type === 'Message' && event.role === 'user') this.#hearUser(textOf(event));
    else if (event.type === 'ToolOutput') this.#hearOutput(event.callId, textOf(event));
  }

  #hearUser(text: string): void {
    const words = text.toLowerCase().split(/\s+/).map(bare).filter(Boolean);
    for (let start = 0; start < words.length; start++)
      for (let end = start + 1; end <= Math.min(words.length, start + MOST_WORDS); end++)
        this.userPhrases.add(words.slice(start, end).join(' '));
  }

  #hearOutput(callId: string | null, text: string): void {
    this.#outputs++;
    const call = this.#calls.get(callId ?? '');
    if (call !== undefined) this.toolsThatAnswered.add(call.name);
    const host = hostOf(call?.arguments.url);
    if (host !== null) this.hostsVisited.add(host);
    for (const field of recordFields(text) ?? []) this.recordFields.add(field.text.toLowerCase());
  }
}

/** The text of an event, its parts one after the other. */
export function textOf(event: TraceEvent): string {
  if (event.type !== 'Message' && event.type !== 'ToolOutput') return '';
  const { content } = event;
  if (typeof content === 'string') return content;
  if (content === null) return '';
  if (Array.isArray(content)) return content.map((part) => scalarsOf(part.text ?? null).join(' ')).join('\n');
  return scalarsOf(content).join('\n');
}

/** Texts and numbers within a value, as texts. */
export function scalarsOf(value: Json | undefined): readonly string[] {
  if (value === undefined || value === null || typeof value === 'boolean') return [];
  if (typeof value !== 'object') return [String(value)];
  return Object.values(value).flatMap(scalarsOf);
}

/** Whom or what a call acts upon: the values of its identifying arguments. */
export function identifyingValues(call: ToolCallEvent): readonly string[] {
  return identifyingNames(call).flatMap((name) => scalarsOf(call.arguments[name]));
}

/** Of a tool that nobody speaks of every argument identifies something. */
export function identifyingNames(call: ToolCallEvent): readonly string[] {
  const names = call.tool?.identifying ?? Object.keys(call.arguments);
  return names.filter((name) => Object.hasOwn(call.arguments, name));
}

export function isWrite(call: ToolCallEvent): boolean {
  return call.tool?.readOnly !== true;
}

function bare(word: string): string {
  return word.replace(/^[^\p{L}\p{N}]{1,4}|[^\p{L}\p{N}]{1,4}$/gu, '');
}

function hostOf(url: Json | undefined): string | null {
  if (typeof url !== 'string') return null;
  const parsed = URL.parse(url) ?? URL.parse(`https://${url}`);
  return parsed?.host ?? null;
}
