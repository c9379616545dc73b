/** How commands are told to read traces. Ring 1. */
import { formatNamed, type TraceOptions } from '../trace-input.ts';
import type { Surroundings } from './surroundings.ts';

export interface TraceReadingOptions {
  /** The name of a format; absent: it is recognised. */
  readonly format?: string;
}

/** Null: there is no such format, and that has been told. */
export function traceReading(
  surroundings: Surroundings,
  { format }: TraceReadingOptions,
): TraceOptions | null {
  const named = formatNamed(format);
  if (named.ok) return { standardInput: process.stdin, format: named.value };
  surroundings.noteDiagnostics([named.fault]);
  return null;
}
