/**
 * One text for one value, whatever the order of its keys: what is hashed, compared and shown is the same bytes.
 * The form is that of RFC 8785 for the values that JSON can carry.
 *
 * Ring 0.
 */
import { isJsonObject, type Json, type JsonObject, toJson } from './json.ts';

export function canonicalJson(value: Json): string {
  return written(value);
}

/** As `canonicalJson(toJson(value))`, without the copy: what is `undefined` or a function is not there. */
export function canonicalJsonOf(value: unknown): string {
  return isWritten(value) ? written(value) : 'null';
}

/** Every event and every prompt goes through here: texts are put together, and few of them need the engine's own quoting. */
function written(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return quoted(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      return isJsonObject(value) ? objectText(value) : Array.isArray(value) ? listText(value) : 'null';
    default:
      return JSON.stringify(value);
  }
}

function listText(list: readonly unknown[]): string {
  let text = '[';
  for (let at = 0; at < list.length; at++) {
    const item = list[at];
    text += `${at > 0 ? ',' : ''}${isWritten(item) ? written(item) : 'null'}`;
  }
  return `${text}]`;
}

function objectText(value: JsonObject): string {
  // A date, and whatever else says itself what it is in JSON.
  if (typeof value.toJSON === 'function') return canonicalJsonOf(toJson(value));
  let text = '';
  for (const key of Object.keys(value).sort()) {
    const inner = value[key];
    if (isWritten(inner)) text += `${text === '' ? '{' : ','}${quoted(key)}:${written(inner)}`;
  }
  return text === '' ? '{}' : `${text}}`;
}

function isWritten(value: unknown): boolean {
  return value !== undefined && typeof value !== 'function' && typeof value !== 'symbol';
}

/** Above this the engine's quoting is faster. */
const SHORT = 64;
/** A quote, a backslash, a control character or half of a pair. */
const NEEDS_ESCAPES = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;

function quoted(text: string): string {
  return text.length > SHORT || NEEDS_ESCAPES.test(text) ? JSON.stringify(text) : `"${text}"`;
}
