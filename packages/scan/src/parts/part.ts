/**
 * What is scanned at a time and what came of it: the messages between the scan and its workers. Plain data, because
 * it crosses threads.
 */

import type { JsonObject, ToolLabelEntry } from '@cordon/core';
import type { TraceFormat } from '@cordon/policy-tools';
import type { Dialect } from '../policies/policy-files.ts';
import { addEvents, type EventCounts, NO_EVENTS } from '../traces/event-counts.ts';
/** A piece of one input. */
export type Part =
  /** The lines that start in `[start, end)`; who works on it reads them itself. */
  | {
      readonly kind: 'range';
      readonly path: string;
      readonly start: number;
      /** Exclusive. */
      readonly end: number;
      /** Of the file, when the scan began; what was appended since is not looked at. */
      readonly size: number;
      /** Whether a line starts at `start`, whatever stands before it. */
      readonly startsLine: boolean;
    }
  /** Whole lines. */
  | {
      readonly kind: 'lines';
      readonly bytes: Uint8Array<ArrayBuffer>;
      /** Whether the input ends with them. */
      readonly isLast: boolean;
      /** Of the first byte in the input. */
      readonly position: number;
    }
  /** One JSON text, or lines after all. */
  | { readonly kind: 'whole'; readonly path: string; readonly size: number }
  /** A line of a stream that was too long to keep. */
  | { readonly kind: 'too-long'; readonly bytes: number };

export interface Unit {
  readonly id: number;
  readonly parts: readonly Part[];
}

/** What is reported about one trace or line. */
export type LineRecord =
  | {
      readonly kind: 'trace';
      /** From 1, within the part; 0: the part is one trace, or the rest of a line that was counted before. */
      readonly line: number;
      readonly hasFindings: boolean;
      /** JSON: `"errors":[…],"undecided":[…]}`, to be put behind the name of the trace. */
      readonly body: string;
      /** Of the line's bytes, in hexadecimal; empty where nothing needs it. */
      readonly digest: string;
    }
  | { readonly kind: 'broken'; readonly line: number; readonly message: string };

export interface Counts {
  readonly traces: number;
  /** Lines that are no trace. */
  readonly broken: number;
  readonly violations: number;
  readonly undecided: number;
  readonly bytes: number;
  /** That were read of the traces. */
  readonly events: EventCounts;
}

export interface PartOutcome {
  /** Without the bytes: what is new of them, the scan as a whole knows. */
  readonly counts: Omit<Counts, 'bytes'>;
  /** Lines that start in the part. */
  readonly lines: number;
  /** Violations by index of the rule. */
  readonly rules: readonly number[];
  readonly records: readonly LineRecord[];
  /** The last line has no line end and is a trace as it stands. */
  readonly isLineOpen: boolean;
  /** The last line has no line end and is no trace: where it starts. It may still be being written. */
  readonly unfinishedAt: number | null;
  /** The input could not be read. */
  readonly fault: string | null;
}

export interface UnitOutcome {
  readonly id: number;
  readonly parts: readonly PartOutcome[];
}

/** What a worker needs to know; texts instead of paths, so that all look at the same rules. */
export interface ScanTask {
  readonly policies: readonly { readonly file: string; readonly text: string }[];
  readonly dialect: Dialect;
  readonly parameters: JsonObject;
  /** Absent: it is recognised. */
  readonly format?: TraceFormat | undefined;
  /** What the user says of the tools; null: nothing. */
  readonly labels: readonly ToolLabelEntry[] | null;
  /** Bytes of a line. */
  readonly maxLine: number;
  readonly records: RecordOptions;
}

export interface RecordOptions {
  /** Also reports traces without findings. */
  readonly hasClean: boolean;
  readonly hasDigest: boolean;
  /** Whether a last line that is no trace and has no line end waits for the rest. */
  readonly waitsForRest: boolean;
  /** How many traces of each rule and part are reported, the others are only counted; null: all. */
  readonly examples: number | null;
}

export const NO_COUNTS: Counts = {
  traces: 0,
  broken: 0,
  violations: 0,
  undecided: 0,
  bytes: 0,
  events: NO_EVENTS,
};

export function addCounts(a: Counts, b: Counts): Counts {
  return {
    traces: a.traces + b.traces,
    broken: a.broken + b.broken,
    violations: a.violations + b.violations,
    undecided: a.undecided + b.undecided,
    bytes: a.bytes + b.bytes,
    events: addEvents(a.events, b.events),
  };
}
