/**
 * Reading columns, and text as it goes into columns. A column of the wrong type means a damaged file.
 *
 * Text that others may have written is kept as a JSON string: SQLite's UTF-8 would turn every lone surrogate
 * into U+FFFD, so that two different names would become one, and a grant for the one would serve the other.
 */
import type { SQLInputValue, SQLOutputValue } from 'node:sqlite';

export type Row = Record<string, SQLOutputValue>;

/** A row that is to be inserted, by the names of its columns. */
export type NewRow = Readonly<Record<string, SQLInputValue>>;

/** The row does not have the shape that the schema promises; the database turns it into the fault `corrupt`. */
export class MalformedRow extends Error {
  override readonly name = 'MalformedRow';
}

export function textOf(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== 'string') throw new MalformedRow(`column \`${column}\` is not text`);
  return value;
}

export function textOrNull(row: Row, column: string): string | null {
  return row[column] === null ? null : textOf(row, column);
}

export function numberOf(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== 'number') throw new MalformedRow(`column \`${column}\` is not a number`);
  return value;
}

export function numberOrNull(row: Row, column: string): number | null {
  return row[column] === null ? null : numberOf(row, column);
}

export function bytesOf(row: Row, column: string): Uint8Array {
  const value = row[column];
  if (!(value instanceof Uint8Array)) throw new MalformedRow(`column \`${column}\` is not bytes`);
  return value;
}

/** One of a closed set of words. */
export function wordOf<const W extends string>(row: Row, column: string, words: readonly W[]): W {
  const value = row[column];
  const word = words.find((candidate) => candidate === value);
  if (word === undefined) throw new MalformedRow(`column \`${column}\` is none of ${words.join(', ')}`);
  return word;
}

/** Injective, printable, and free of NUL and lone surrogates. */
export function quoteText(text: string): string {
  return JSON.stringify(text);
}

export function unquoteText(quoted: string): string {
  const value = parseStored(quoted);
  if (typeof value !== 'string') throw new MalformedRow('a stored text is not a JSON string');
  return value;
}

export function parseStored(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new MalformedRow('a stored value is not JSON');
  }
}
