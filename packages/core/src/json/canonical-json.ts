/**
 * One text for one value, whatever the order of its keys: what is hashed, compared and shown is the same bytes.
 * The form is that of RFC 8785 for the values that JSON can carry.
 */
import { type Json, type JsonObject, toJson } from './json.ts';
import { quoted } from './quoted.ts';
import { settledTexts } from './settled-json.ts';

export function canonicalJson(value: Json): string {
  return written(value);
}

/** As `canonicalJson(toJson(value))`, without the copy: what is `undefined` or a function is not there. */
export function canonicalJsonOf(value: unknown): string {
  return isWritten(value) ? written(value) : 'null';
}

/** As `JSON.parse(canonicalJsonOf(value))`, where no text is read again: what is settled stands in the copy as it is. */
export function canonicalCopyOf(value: unknown): Json {
  if (!isWritten(value) || value === null) return null;
  if (typeof value === 'number') return Number.isFinite(value) ? value + 0 : null;
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  // The engine's own error.
  if (typeof value !== 'object') return JSON.parse(JSON.stringify(value));
  if (settledTexts(value) !== null) return value as Json;
  if (Array.isArray(value)) return Array.from(value, canonicalCopyOf);
  if ('toJSON' in value && typeof value.toJSON === 'function') return canonicalCopyOf(toJson(value));
  const entries = Object.entries(value).filter(([, inner]) => isWritten(inner));
  return Object.fromEntries(entries.sort(byKey).map(([key, inner]) => [key, canonicalCopyOf(inner)]));
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

/** Every event and every prompt goes through here: texts are put together, and few of them need the engine's own quoting. */
function written(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return quoted(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      return value === null ? 'null' : (settledTexts(value)?.canonical ?? newText(value));
    default:
      return JSON.stringify(value);
  }
}

function newText(value: object): string {
  return Array.isArray(value) ? listText(value) : objectText(value as JsonObject);
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
