/**
 * What a message, a call or an output looks like, in the formats that are read and in others.
 *
 * Recordings are read with it; the hub does not use it.
 */
import { isJsonObject, type Json, type JsonObject } from '@cordon/core';
import { isContainer, isList, own } from './json.ts';

/** Keys that messages, calls, outputs and lists of them have, in the formats that are read and in others. */
const SPOKEN_LISTS: ReadonlySet<string> = new Set([
  ...['messages', 'parts', 'choices', 'tool_calls', 'toolCalls', 'toolInvocations'],
]);
const SPOKEN_OBJECTS: ReadonlySet<string> = new Set([
  ...['functionCall', 'functionResponse', 'toolUse', 'toolResult'],
]);
const SPOKEN_TEXTS: ReadonlySet<string> = new Set([
  ...['role', 'jsonrpc', 'run_type', 'tool_call_id', 'toolCallId', 'tool_use_id', 'toolUseId', 'call_id'],
]);

/**
 * Looks at any depth: logs keep calls in lists of steps, of turns, of attempts. It recurses as deep as a trace may be,
 * see `checkDepth`.
 */
export function holdsConversation(key: string, value: Json | undefined): boolean {
  if (isSpoken(key, value)) return true;
  if (isList(value)) return value.some((element) => holdsConversation('', element));
  if (!isJsonObject(value)) return false;
  return isCall(value) || Object.entries(value).some(([inner, child]) => holdsConversation(inner, child));
}

/** In a schema such a key may be the name of a property: then its value is of another kind. */
function isSpoken(key: string, value: Json | undefined): boolean {
  if (SPOKEN_TEXTS.has(key)) return typeof value === 'string';
  if (SPOKEN_LISTS.has(key)) return isList(value) && value.every(isContainer);
  return SPOKEN_OBJECTS.has(key) && isJsonObject(value) && !Object.hasOwn(value, 'type');
}

const CALL_TYPE = /^\w*tool_(use|result)$|_call(_output)?$/;

/** `{"name": "pay", "arguments": …}` and its like. A tool without arguments may be one that can be called. */
function isCall(value: JsonObject): boolean {
  const type = own(value, 'type');
  if (typeof type === 'string' && CALL_TYPE.test(type)) return true;
  const hasText = (...keys: readonly string[]) => keys.some((key) => typeof own(value, key) === 'string');
  const has = (...keys: readonly string[]) =>
    keys.some((key) => hasText(key) || isJsonObject(own(value, key)));
  const isOfTool = hasText('tool', 'tool_name', 'toolName');
  return isOfTool
    ? has('arguments', 'args', 'input', 'tool_input', 'output', 'result', 'content', 'observation')
    : hasText('name', 'action', 'function') && has('arguments', 'args');
}
