/**
 * One text for one value, whatever the order of its keys: what is hashed, compared and shown is the same bytes.
 * The form is that of RFC 8785 for the values that JSON can carry.
 *
 * Ring 0.
 */
import type { Json } from './json.ts';

export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonicalJson(inner)}`).join(',')}}`;
  }
  return JSON.stringify(value);
}
