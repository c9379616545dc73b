/**
 * Formats that are not read, by the keys that only they have: the fault says what such a log is, instead of
 * which of its keys is not known.
 *
 * Recordings are read with it; the hub does not use it.
 */
import { isJsonObject, type Json, type JsonObject } from '@cordon/core';
import { isList, own } from './json.ts';

interface Foreign {
  readonly name: string;
  readonly has: (element: JsonObject) => boolean;
}

const FOREIGN: readonly Foreign[] = [
  { name: 'a run of LangSmith', has: (element) => hasText(element, 'run_type') },
  {
    name: 'a session of Claude Code',
    has: (element) =>
      hasKey(element, 'parentUuid', 'leafUuid') ||
      (hasText(element, 'sessionId') && hasText(element, 'type')) ||
      own(element, 'type') === 'file-history-snapshot',
  },
  {
    name: 'a session of Codex',
    has: (element) =>
      hasText(element, 'record_type') ||
      (isJsonObject(own(element, 'payload')) && isTypeIn(element, CODEX_TYPES)),
  },
  { name: 'a message of the AI SDK', has: isAiSdk },
  {
    name: 'a message of LangChain',
    has: (element) => isTypeIn(element, LANGCHAIN_TYPES) || own(element, 'type') === 'constructor',
  },
  { name: 'an export of ChatGPT', has: (element) => isJsonObject(own(element, 'mapping')) },
  {
    name: 'an observation of Langfuse',
    has: (element) => hasKey(element, 'traceId') && isTypeIn(element, LANGFUSE_TYPES),
  },
];

const CODEX_TYPES: ReadonlySet<string> = new Set([
  ...['session_meta', 'response_item', 'event_msg', 'turn_context', 'compacted'],
]);

const LANGCHAIN_TYPES: ReadonlySet<string> = new Set(['human', 'ai', 'HumanMessage', 'AIMessage']);

const LANGFUSE_TYPES: ReadonlySet<string> = new Set(['GENERATION', 'SPAN', 'EVENT', 'TRACE']);

/** Its parts have types with a hyphen where all others have an underscore; those of Gemini have no type. */
function isAiSdk(element: JsonObject): boolean {
  if (hasKey(element, 'toolInvocations')) return true;
  const parts = own(element, 'parts');
  const blocks = parts ?? own(element, 'content');
  if (!isList(blocks)) return false;
  return blocks.filter(isJsonObject).some((block) => {
    const isTyped = parts !== undefined && hasText(block, 'type') && hasText(block, 'text');
    return isTyped || isAiSdkType(own(block, 'type'));
  });
}

function isAiSdkType(type: Json | undefined): boolean {
  return typeof type === 'string' && /^(tool-|dynamic-tool$|step-start$|source-url$)/.test(type);
}

function isTypeIn(element: JsonObject, types: ReadonlySet<string>): boolean {
  const type = own(element, 'type');
  return typeof type === 'string' && types.has(type);
}

function hasKey(element: JsonObject, ...keys: readonly string[]): boolean {
  return keys.some((key) => Object.hasOwn(element, key));
}

function hasText(element: JsonObject, key: string): boolean {
  return typeof own(element, key) === 'string';
}

/** What one element is that is of no format that can be read, with its article; null: unknown. */
function foreignElement(element: Json): string | null {
  if (!isJsonObject(element)) return null;
  return FOREIGN.find(({ has }) => has(element))?.name ?? null;
}

/** The first element of a log that is foreign, for a log that could not be read; `path` is where reading ended. */
export function foreignIn(
  input: Json,
  path: string,
): { readonly name: string; readonly path: string } | null {
  if (!isList(input)) {
    const name = foreignElement(input);
    if (name !== null) return { name, path: '' };
    const messages = isJsonObject(input) ? own(input, 'messages') : undefined;
    return isList(messages) ? foreignIn(messages, path) : null;
  }
  const index = /^\d+/.exec(path)?.[0] ?? '0';
  const name = foreignElement(input[Number(index)] ?? null);
  return name === null ? null : { name, path: index };
}
