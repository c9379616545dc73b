/**
 * How deep values from outside may be nested. What compares and prints values recurses, so the bound stands where
 * they come in.
 */

/** Nested arrays and objects in one event, or in the parameters of a policy. */
export const MAX_DEPTH = 200;

/** A value with cycles is deep; one with many is also wide, and is not walked to its end. */
const MAX_VALUES = 20_000_000;

/** Whether a value from outside may be compared and printed. Recursion ends where the limit does. */
export function isShallow(value: unknown): boolean {
  return isWithin(value, MAX_DEPTH, { left: MAX_VALUES });
}

function isWithin(value: unknown, depth: number, values: { left: number }): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (depth < 0 || values.left < 0) return false;
  if (Array.isArray(value)) {
    values.left -= value.length;
    for (const item of value) if (!isWithin(item, depth - 1, values)) return false;
    return true;
  }
  for (const key in value) {
    values.left--;
    if (!isWithin((value as Readonly<Record<string, unknown>>)[key], depth - 1, values)) return false;
  }
  return true;
}
