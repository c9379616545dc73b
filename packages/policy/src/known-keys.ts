/**
 * Which keys of an element are known. What a reader does not know it must not pass over: a call under a key of another
 * format would be hidden from the rules, and the log would look clean.
 *
 * Ring 0.
 */
import { isJsonObject, type JsonObject } from '@cordon/core';

/** Keys that programs which keep logs write beside the words, in every format. */
const NOTES: readonly string[] = [
  ...['timestamp', 'created_at', 'createdAt', 'created', 'date', 'time', 'ts', 'updated_at'],
  ...[
    'model',
    'usage',
    'status',
    'latency',
    'duration',
    'cost',
    'tags',
    'user_id',
    'session_id',
    'thread_id',
  ],
  ...['conversation_id', 'run_id', 'trace_id', 'span_id', 'request_id', 'message_id', 'parent_id', 'uuid'],
  // Our own, which every element may have.
  ...['id', 'context', 'causes', 'metadata'],
];

/** The keys of one kind of element: its own, and notes. */
export function elementKeys(...own: readonly string[]): ReadonlySet<string> {
  return new Set([...NOTES, ...own]);
}

/** The first key that is not known and whose value says something; null: there is none. */
export function strangeKey(element: JsonObject, known: ReadonlySet<string>): string | null {
  for (const key in element) {
    if (!known.has(key) && Object.hasOwn(element, key) && saysSomething(element[key])) return key;
  }
  return null;
}

/** A number, a truth and what is empty hold neither words nor calls. */
function saysSomething(value: unknown): boolean {
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
export function strangeKeyMessage(key: string, what: string): string {
  return `${shownWord(key)} is no known key of ${what}, and rules would not see what it holds: remove it if it is neither words nor a call`;
}

/** Who may speak in a log. A rule about the role `user` would pass over a `human`. */
export const ROLES: ReadonlySet<string> = new Set([
  ...['system', 'developer', 'user', 'assistant', 'model', 'tool', 'function'],
]);

export function strangeRoleMessage(role: string): string {
  return `the role ${shownWord(role)} is not known: write ${[...ROLES].map((name) => `\`${name}\``).join(', ')}`;
}
