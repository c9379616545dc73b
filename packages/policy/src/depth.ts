/**
 * How deep values from outside may be nested. What compares and prints values recurses, so the bound stands where
 * they come in.
 *
 * Ring 0.
 */

/** Nested arrays and objects in one event, or in the parameters of a policy. */
export const MAX_DEPTH = 200;

/** Recursion ends where the limit does. */
export function isShallow(value: unknown, depth: number = MAX_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (depth < 0) return false;
  if (Array.isArray(value)) {
    for (const item of value) if (!isShallow(item, depth - 1)) return false;
    return true;
  }
  for (const key in value) {
    if (!isShallow((value as Readonly<Record<string, unknown>>)[key], depth - 1)) return false;
  }
  return true;
}
