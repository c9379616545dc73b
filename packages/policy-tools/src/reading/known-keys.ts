/**
 * Which keys of an element are known. What a reader does not know it must not pass over: a call under a key of another
 * format would be hidden from the rules, and the log would look clean.
 *
 * Recordings are read with it; the hub does not use it.
 */
import { isJsonObject, type Json, type JsonObject } from '@cordon/core';
import { type KnownKeys, knownKeys, misfit, type NoteShape, type Notes } from './note-shape.ts';
import { holdsConversation } from './spoken.ts';

/** Keys that programs which keep logs write beside the words, in every format. */
const NOTES = knownKeys(['context', 'causes'], {
  mark: [
    ...['timestamp', 'created_at', 'createdAt', 'created', 'date', 'time', 'ts', 'updated_at'],
    ...['model', 'status', 'user_id', 'session_id', 'thread_id', 'conversation_id', 'run_id', 'trace_id'],
    ...['span_id', 'request_id', 'message_id', 'parent_id', 'uuid'],
    // Our own, which every element may have.
    'id',
  ],
  figures: ['usage', 'latency', 'duration', 'cost'],
  notes: ['tags', 'metadata'],
});

/** The keys of one kind of element: its own, those that are passed over by their shapes, and notes. */
export function elementKeys(read: readonly string[], notes: Notes = {}): KnownKeys {
  return new Map([...NOTES, ...knownKeys(read, notes)]);
}

/** A key whose value rules would not see. */
export interface StrangeKey {
  /** The key, and the way from it to what is strange. */
  readonly keys: readonly [string, ...string[]];
  /** `unknown`: the key is not known. `shape`: its value is not allowed. `spoken`: it holds a conversation. */
  readonly why: 'unknown' | 'shape' | 'spoken';
}

/** The first key that is not known and whose value says something, or whose value is not as it must be, or null. */
export function strangeKey(element: JsonObject, known: KnownKeys): StrangeKey | null {
  for (const key in element) {
    if (!Object.hasOwn(element, key)) continue;
    const shape = known.get(key);
    if (shape === 'read') continue;
    const value = element[key];
    if (shape !== undefined) {
      const found = misfit(shape, value, key);
      if (found !== null) return { keys: [key, ...found], why: 'shape' };
    } else if (saysSomething(value)) return { keys: [key], why: 'unknown' };
  }
  return null;
}

/** Parameters of requests, what providers say of their answers, and what programs write around a conversation. */
const AROUND = knownKeys([], {
  schema: [
    ...['response_format', 'generationConfig', 'generation_config', 'config', 'output_config'],
    ...['output_format', 'toolConfig', 'tool_config', 'text', 'tools', 'functions'],
  ],
  notes: [
    ...['tool_choice', 'function_call', 'safetySettings', 'safety_settings', 'promptFeedback', 'user'],
    ...['labels', 'environment', 'settings', 'system_fingerprint', 'name', 'suite', 'modelVersion'],
    ...['citationMetadata', 'safetyRatings', 'safety_ratings', 'urlContextMetadata', 'url_context_metadata'],
  ],
  // The texts of attackers, as a benchmark keeps them.
  prose: ['injections'],
  line: ['title', 'task', 'goal', 'description', 'comment', 'notes'],
  short: ['stop', 'stop_sequences', 'stop_sequence', 'stopSequences'],
  sealed: ['thoughtSignature', 'encrypted_content'],
  citations: ['groundingMetadata', 'grounding_metadata', 'citation_metadata', 'search_results', 'citations'],
  odds: ['logprobs', 'logprobsResult', 'logprobs_result'],
  failure: [
    ...['error', 'incomplete_details', 'finishMessage', 'finish_message', 'prompt_feedback'],
    'stop_details',
  ],
  figures: ['usageMetadata', 'usage_metadata'],
});

/** The first key around a conversation whose value could be a part of one, or null. */
export function besideKey(
  around: JsonObject,
  known: KnownKeys,
  told: (text: string) => boolean,
): StrangeKey | null {
  for (const [key, value] of Object.entries(around)) {
    const shape: NoteShape = known.get(key) ?? AROUND.get(key) ?? NOTES.get(key) ?? 'words';
    if (shape === 'read' || (typeof value === 'string' && told(value))) continue;
    if (shape !== 'odds' && holdsConversation(key, value)) return { keys: [key], why: 'spoken' };
    const found = misfit(shape, value, key);
    if (found !== null) return { keys: [key, ...found], why: 'shape' };
  }
  return null;
}

/** A number, a truth and what is empty hold neither words nor calls. */
export function saysSomething(value: Json | undefined): boolean {
  if (typeof value === 'string') return value !== '';
  if (Array.isArray(value)) return value.length > 0;
  return isJsonObject(value) && Object.keys(value).length > 0;
}

/** A word of an untrusted log in a message of one line. Attack: a character that turns the direction of writing. */
export function shownWord(word: string): string {
  const visible = word.slice(0, 40).replace(/(?! )[\p{C}\p{Z}\p{M}]/gu, '\ufffd');
  return `\`${visible}${word.length > 40 ? '…' : ''}\``;
}

/** What is wrong with such a key; `what` is the kind of element, with its article. */
export function strangeKeyMessage({ keys, why }: StrangeKey, what: string): string {
  const [key] = keys;
  const end = 'and rules would not see what it holds: remove it if it is neither words nor a call';
  return why === 'unknown'
    ? `${shownWord(key)} is no known key of ${what}, ${end}`
    : `${shownWord(key)} of ${what} holds more than such a key says, ${end}`;
}

/** Who may speak in a log. A rule about the role `user` would pass over a `human`. */
export const ROLES: ReadonlySet<string> = new Set([
  ...['system', 'developer', 'user', 'assistant', 'model', 'tool', 'function'],
]);

export function strangeRoleMessage(role: string): string {
  return `the role ${shownWord(role)} is not known: write ${[...ROLES].map((name) => `\`${name}\``).join(', ')}`;
}
