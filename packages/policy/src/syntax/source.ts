/**
 * Places in the text of a policy. Spans are offsets in UTF-16 units into the text exactly as it was given, so
 * that a diagnostic always points at what its author wrote, whatever the lexer skipped or joined.
 */
import type { SourceRange } from '@cordon/core';

export interface Span {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

export function joinSpans(a: Span, b: Span): Span {
  return { start: Math.min(a.start, b.start), end: Math.max(a.end, b.end) };
}

/** A text with its name; turns spans into lines and columns, both counted from 1. */
export class Source {
  readonly file: string;
  readonly text: string;
  readonly #lineStarts: readonly number[];

  constructor(file: string, text: string) {
    this.file = file;
    this.text = text;
    this.#lineStarts = lineStarts(text);
  }

  range(span: Span): SourceRange {
    const start = this.#place(span.start);
    const end = this.#place(Math.max(span.start, span.end));
    return { line: start.line, column: start.column, endLine: end.line, endColumn: end.column };
  }

  #place(offset: number): { line: number; column: number } {
    let low = 0;
    let high = this.#lineStarts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#lineStarts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (this.#lineStarts[low] ?? 0) + 1 };
  }
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}
