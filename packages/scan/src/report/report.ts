/**
 * What a scan puts out, whatever the form: a beginning, what was found in the order of the input, and an end.
 */
import type { Input } from '../parts/input.ts';
import type { Counts, LineRecord } from '../parts/part.ts';

export interface ScanResult {
  readonly counts: Counts;
  /** Violations of every rule, by id, in the order of the policies. */
  readonly rules: Readonly<Record<string, number>>;
  readonly inputs: readonly { readonly input: Input; readonly counts: Counts }[];
  /** Inputs that could not be read to their end. */
  readonly unreadable: number;
  /** Lines without an end that are no traces yet. */
  readonly unfinished: number;
  /** Not interrupted. */
  readonly isComplete: boolean;
  readonly seconds: number;
  /** The first lines that are no traces: `log.jsonl:3: this is not JSON: …`. */
  readonly broken: readonly string[];
}

/** Makes texts; who writes them is not its business. */
export abstract class ScanReport {
  /** Whether what a later scan adds to the same output replaces what `end` returned. */
  readonly isReplaced: boolean = false;

  /** Before everything, once for an output. */
  begin(): string {
    return '';
  }

  /** Continues an output that has results already. */
  resume(): void {}

  /** `line` is null where the input as a whole is meant. */
  abstract record(input: Input, line: number | null, record: LineRecord): string;

  /** After everything. */
  abstract end(result: ScanResult): string;
}

/** `log.jsonl:17`. */
export function placeOf(input: Input, line: number | null): string {
  return line === null ? input.name : `${input.name}:${line}`;
}
