/**
 * What is wrong with a text that should be JSON, in words for people. The platform's own words have the place in them,
 * counted in the text alone, which is misleading for one line of a file.
 */

export interface JsonFault {
  /** Stands behind "this" or "the line": `is not JSON: …`, `cannot be used: …`. */
  readonly predicate: string;
  /** In the text that was parsed, from 1; null: the platform does not say where. */
  readonly place: { readonly line: number; readonly column: number } | null;
}

const PLACE = / at position \d+(?: \(line (\d+) column (\d+)\))?$/;

/** `reason` is the fault of core's `parseJson`: a message of `JSON.parse`, or a limit that the text is beyond. */
export function jsonFault(reason: string): JsonFault {
  // Every message of `JSON.parse` has the word; a limit speaks of texts and values, and what is beyond it may be JSON.
  if (!/\bJSON\b/.test(reason)) return { predicate: `cannot be used: ${reason}`, place: null };
  const [, line, column] = PLACE.exec(reason) ?? [];
  const words = reason.replace(PLACE, '').replace(/ in JSON$| is not valid JSON$/, '');
  return {
    predicate: `is not JSON: ${words.charAt(0).toLowerCase()}${words.slice(1)}`,
    place: line === undefined || column === undefined ? null : { line: Number(line), column: Number(column) },
  };
}

/** `is not JSON: … (column 29)`, about one line of a file. */
export function jsonFaultOfLine(reason: string): string {
  const { predicate, place } = jsonFault(reason);
  return place === null ? predicate : `${predicate} (column ${place.column})`;
}
