/**
 * Values as text, as Python's `str` and `repr` write them.
 *
 * Ring 0.
 */
import { isList, isTagged, kindOf, type Value } from './value.ts';

/** Python's `str`. */
export function textOf(value: Value): string {
  return typeof value === 'string' ? value : representation(value);
}

function representation(value: Value): string {
  if (value === null) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return value.includes("'") ? `"${value}"` : `'${value}'`;
  if (isList(value)) return `[${value.map(representation).join(', ')}]`;
  if (isTagged(value)) return `<${kindOf(value)}>`;
  return `{${Object.entries(value)
    .map(([key, inner]) => `${representation(key)}: ${representation(inner)}`)
    .join(', ')}}`;
}
