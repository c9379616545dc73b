/** Options that say how to read traces. */

import { readLabelFile } from '@cordon/config/labels';
import { TraceLabels } from '@cordon/policy-tools';
import { type Dialect, formatNamed, type TraceOptions } from '@cordon/scan/traces';
import type { CommandContext } from './command-context.ts';
export interface TraceReadingOptions {
  /** The name of a format; absent: it is recognised. */
  readonly format?: string;
  readonly dialect: Dialect;
  /** A file that says what the tools of the traces do. */
  readonly labels?: string;
}

/** Null: there is no such format, or the labels cannot be used, and the reason is reported. */
export function traceReading(
  context: CommandContext,
  { format, dialect, labels: file }: TraceReadingOptions,
): TraceOptions | null {
  const named = formatNamed(format);
  const labels = file === undefined ? null : readLabelFile(file);
  if (!named.ok || labels?.ok === false) {
    context.noteDiagnostics([
      ...(named.ok ? [] : [named.fault]),
      ...(labels?.ok === false ? labels.fault : []),
    ]);
    return null;
  }
  return {
    standardInput: process.stdin,
    format: named.value,
    dialect,
    labels: labels === null ? undefined : new TraceLabels(labels.value),
  };
}
