/**
 * What can be seen of a trace at a glance: which kinds of events and which tools it has, and where the first and the
 * last of each stand. Rules that need something else cannot fire, and most traces need no rule at all.
 */

import { isJsonObject } from '@cordon/core';
import { isMark, saysNothingBeside } from '@cordon/policy-tools';
import type { EventCounts } from '../traces/event-counts.ts';
/** Features that every table has. */
export const FEATURE = {
  message: 0,
  toolCall: 1,
  toolOutput: 2,
  elsewhere: 3,
  emptyMessage: 4,
  emptyOutput: 5,
  /** Whose content is neither a text nor missing. */
  listMessage: 6,
  listOutput: 7,
} as const;
const FIRST_NAME = 8;

/** Names of tools from untrusted traces are kept up to here. */
const MOST_NAMES = 10_000;

/** The features that rules ask for, by number. */
export class FeatureTable {
  readonly #exact = new Map<string, number>();
  readonly #globs: { readonly feature: number; readonly prefix: string; readonly suffix: string }[] = [];
  readonly #known = new Map<string, readonly number[]>();
  #size = FIRST_NAME;

  get size(): number {
    return this.#size;
  }

  /** The feature "a call of a tool with this name"; `*` stands for any characters. Null: no feature stands for it. */
  tool(name: string): number | null {
    if (!/^[\w.\-/:*]+$/.test(name)) return null;
    const known = this.#exact.get(name);
    if (known !== undefined) return known;
    const feature = this.#size++;
    this.#exact.set(name, feature);
    const star = name.indexOf('*');
    if (star >= 0) {
      const suffix = name.slice(name.lastIndexOf('*') + 1);
      this.#globs.push({ feature, prefix: name.slice(0, star), suffix });
    }
    this.#known.clear();
    return feature;
  }

  /** The features that a call of this tool has; rather one too many than one too few. */
  ofTool(name: string): readonly number[] {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    // Specification 7: a name with a line end behind it may match as well.
    const plain = name.trimEnd();
    const exact = this.#exact.get(plain);
    const features = this.#globs
      .filter(({ prefix, suffix }) => plain.startsWith(prefix) && plain.endsWith(suffix))
      .map(({ feature }) => feature);
    if (exact !== undefined && !features.includes(exact)) features.push(exact);
    if (this.#known.size >= MOST_NAMES) this.#known.clear();
    this.#known.set(name, features);
    return features;
  }
}

/** Where the features of a trace stand, by number: in the flat order of messages and their calls; -1: nowhere. */
export interface Positions {
  readonly first: Int32Array;
  readonly last: Int32Array;
}

/** Looks at lists of chat messages; the positions are those of the last one. */
export class Survey implements Positions {
  readonly #table: FeatureTable;
  readonly first: Int32Array;
  readonly last: Int32Array;
  #at = 0;
  #messages = 0;
  #calls = 0;
  #outputs = 0;

  /** The table must be complete. */
  constructor(table: FeatureTable) {
    this.#table = table;
    this.first = new Int32Array(table.size);
    this.last = new Int32Array(table.size);
  }

  /**
   * Whether the trace is a plain chat that the decoder of chats is sure to accept: no contexts, causes or ids, nothing
   * unusual. False says nothing about the trace. The messages must be tame.
   */
  isPlainChat(messages: readonly unknown[]): boolean {
    this.first.fill(-1);
    this.last.fill(-1);
    this.#at = 0;
    this.#messages = 0;
    this.#calls = 0;
    this.#outputs = 0;
    for (let index = 0; index < messages.length; index++) {
      const message = messages[index];
      if (!isJsonObject(message) || !this.#isPlain(message)) return false;
    }
    return true;
  }

  /** Of the trace that was looked at last. */
  counts(): EventCounts {
    return { Message: this.#messages, ToolCall: this.#calls, ToolOutput: this.#outputs };
  }

  #isPlain(message: Readonly<Record<string, unknown>>): boolean {
    const { role, content } = message;
    if (typeof role !== 'string' || !PLAIN_ROLES.has(role) || !isPlainFrame(message)) return false;
    if (typeof content !== 'string') {
      const isOutput = role === 'tool';
      if (content === null || content === undefined)
        this.#mark(isOutput ? FEATURE.emptyOutput : FEATURE.emptyMessage);
      else if (!isPlainContent(content)) return false;
      else this.#mark(isOutput ? FEATURE.listOutput : FEATURE.listMessage);
    }
    if (role === 'tool') {
      const id = message.tool_call_id;
      this.#mark(FEATURE.toolOutput);
      this.#outputs++;
      this.#at++;
      return typeof id === 'string' || id === null || id === undefined;
    }
    this.#mark(FEATURE.message);
    this.#messages++;
    this.#at++;
    const calls = message.tool_calls;
    if (calls === undefined || calls === null) return true;
    if (!Array.isArray(calls)) return false;
    for (let index = 0; index < calls.length; index++) if (!this.#isPlainCall(calls[index])) return false;
    return true;
  }

  #isPlainCall(call: unknown): boolean {
    if (!isJsonObject(call)) return false;
    const { id, function: target } = call;
    for (const key in call) if (key !== 'id' && key !== 'type' && key !== 'function') return false;
    if (id !== undefined && id !== null && typeof id !== 'string') return false;
    if (!isJsonObject(target) || typeof target.name !== 'string') return false;
    for (const key in target) if (key !== 'name' && key !== 'arguments') return false;
    if (!arePlainArguments(target.arguments)) return false;
    this.#mark(FEATURE.toolCall);
    this.#calls++;
    const features = this.#table.ofTool(target.name);
    for (let index = 0; index < features.length; index++) this.#mark(features[index] ?? 0);
    this.#at++;
    return true;
  }

  #mark(feature: number): void {
    if ((this.first[feature] ?? 0) < 0) this.first[feature] = this.#at;
    this.last[feature] = this.#at;
  }
}

/**
 * Only keys that every reader of chats reads alike. Others can give an event another place in the flow (`causes`), more
 * events (`function_call`), or mean that this is no chat of OpenAI's form at all (`parts`).
 */
function isPlainFrame(message: Readonly<Record<string, unknown>>): boolean {
  for (const key in message) {
    switch (key) {
      case 'role':
      case 'content':
      case 'tool_calls':
      case 'tool_call_id':
        break;
      // Common, and without meaning for rules, if they have the usual form.
      case 'name':
      case 'timestamp':
      case 'created_at':
        if (!isNote(message[key])) return false;
        break;
      default:
        if (message[key] !== null) return false;
    }
  }
  return message.role !== 'function';
}

function isNote(value: unknown): boolean {
  if (typeof value === 'string') return isMark(value);
  return typeof value !== 'object' || value === null;
}

const PLAIN_ROLES: ReadonlySet<string> = new Set(['system', 'developer', 'user', 'assistant', 'tool']);

/** Keys beside `messages` that bring their own events, or another format. */
const OTHER_KEYS: ReadonlySet<string> = new Set([
  ...['resourceSpans', 'resource_spans', 'scopeSpans', 'spans', 'contents', 'candidates', 'choices'],
  ...['system', 'anthropic_version', 'stop_sequences', 'tools', 'functions', 'request', 'response', 'output'],
  ...['input', 'role', 'type', 'content', 'parts', 'method', 'jsonrpc'],
]);

/** The messages of what can only be one chat: a list, or an object around one. Null: it takes a closer look. */
export function plainMessagesOf(document: unknown): readonly unknown[] | null {
  if (Array.isArray(document)) return document;
  if (!isJsonObject(document)) return null;
  for (const key in document) {
    if (OTHER_KEYS.has(key)) return null;
  }
  // What stands beside the messages may be a second conversation.
  if (!saysNothingBeside(document)) return null;
  const messages: unknown = Object.hasOwn(document, 'messages') ? document.messages : null;
  return Array.isArray(messages) ? messages : null;
}

/** Far below what the decoder allows. */
const MOST_DEPTH = 40;

/** Whether a value from `JSON.parse` is not deep and has no key that reaches for a prototype. */
export function isTame(value: unknown, depth = MOST_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (depth === 0) return false;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const inner: unknown = value[index];
      if (typeof inner === 'object' && inner !== null && !isTame(inner, depth - 1)) return false;
    }
    return true;
  }
  for (const key in value) {
    if (key === '__proto__') return false;
    const inner: unknown = Reflect.get(value, key);
    if (typeof inner === 'object' && inner !== null && !isTame(inner, depth - 1)) return false;
  }
  return true;
}

/** Texts only: other blocks are not alike in all formats. */
function isPlainContent(content: unknown): boolean {
  return Array.isArray(content) && content.every(isPlainChunk);
}

function isPlainChunk(chunk: unknown): boolean {
  if (!isJsonObject(chunk) || chunk.type !== 'text' || typeof chunk.text !== 'string') return false;
  return Object.keys(chunk).length === 2;
}

/** Texts up to here have no chance to exceed a limit of the decoder. */
const MOST_ARGUMENTS = 100_000;

function arePlainArguments(args: unknown): boolean {
  if (typeof args !== 'string') return isJsonObject(args);
  if (args.length > MOST_ARGUMENTS) return false;
  try {
    const parsed: unknown = JSON.parse(args);
    return isJsonObject(parsed) && isTame(parsed);
  } catch {
    return false;
  }
}
