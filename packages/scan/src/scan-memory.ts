/**
 * Going on where an earlier scan stopped: what it did is recalled if policies, parameters, output and inputs are
 * still those, and what this one does is saved. A scan that was interrupted is resumed as one scan; behind one that
 * came to its end a new one begins.
 *
 * See docs/cli.md.
 */
import { createHash } from 'node:crypto';
import { type Diagnostic, failed, ok, type Result } from '@cordon/core';
import type { Input } from './parts/input.ts';
import { NO_COUNTS } from './parts/part.ts';
import type { ScanSoFar, StartedInput } from './scan.ts';
import {
  canKeepState,
  keyOf,
  type Likeness,
  likenessLength,
  likenessOf,
  mismatch,
  NO_PROGRESS,
  readState,
  type ScanState,
  type SeenInput,
  type TaskPrint,
  writeState,
} from './scan-state.ts';

/** Where a scan begins. */
export interface Beginning {
  readonly inputs: readonly StartedInput[];
  /** What an earlier scan that was interrupted had counted. */
  readonly before: { readonly rules: Readonly<Record<string, number>>; readonly broken: readonly string[] };
  /** Bytes of the output file that are kept. */
  readonly outputLength: number;
}

export function freshBeginning(inputs: readonly Input[]): Beginning {
  return {
    inputs: inputs.map((input) => ({ input, progress: NO_PROGRESS })),
    before: { rules: {}, broken: [] },
    outputLength: 0,
  };
}

export class ScanMemory {
  readonly #file: string;
  readonly #task: TaskPrint;
  readonly #likenesses = new Map<string, Likeness>();
  /** Inputs that this scan does not look at stay remembered. */
  readonly #others = new Map<string, SeenInput>();

  constructor(file: string, task: TaskPrint) {
    this.#file = file;
    this.#task = task;
  }

  recall(inputs: readonly Input[]): Result<Beginning, readonly Diagnostic[]> {
    const read = readState(this.#file);
    if (!read.ok) return failed([this.#refusal(this.#file, read.fault)]);
    // Said before hours are spent, and not when the first state is kept.
    if (!canKeepState(this.#file)) return failed([unwritable(this.#file)]);
    const state = read.value;
    if (state === null) return ok(freshBeginning(inputs));
    const problems = [...this.#changes(state), ...this.#mismatches(state, inputs)];
    if (problems.length > 0) return failed(problems);
    for (const [key, seen] of state.inputs) this.#others.set(key, seen);
    return ok({
      inputs: inputs.map((input) => ({ input, progress: progressIn(state, input) })),
      before: state.isComplete ? { rules: {}, broken: [] } : { rules: state.rules, broken: state.broken },
      outputLength: state.outputLength ?? 0,
    });
  }

  /** Throws what reading the inputs or writing the file throws. */
  save(soFar: ScanSoFar, outputLength: number | null, isComplete: boolean): void {
    const inputs = new Map(this.#others);
    for (const { input, progress } of soFar.inputs) {
      if (progress.bytes === 0 && !progress.isComplete) continue;
      inputs.set(keyOf(input), {
        progress,
        likeness: this.#likeness(input, likenessLength(input, progress)),
      });
    }
    const { rules, broken } = soFar;
    writeState(this.#file, { task: this.#task, isComplete, outputLength, rules, broken, inputs });
  }

  #likeness(input: Input, length: number): Likeness {
    const key = keyOf(input);
    const known = this.#likenesses.get(key);
    if (known?.length === length) return known;
    const likeness = likenessOf(input, length);
    this.#likenesses.set(key, likeness);
    return likeness;
  }

  #changes({ task }: ScanState): Diagnostic[] {
    const changed = (what: string): Diagnostic => this.#refusal(this.#file, `${what} since the earlier scan`);
    return [
      ...(task.policy === this.#task.policy ? [] : [changed('a policy has changed')]),
      ...(task.parameters === this.#task.parameters ? [] : [changed('the parameters have changed')]),
      ...(task.output === this.#task.output ? [] : [changed('the form or place of the output has changed')]),
    ];
  }

  #mismatches(state: ScanState, inputs: readonly Input[]): Diagnostic[] {
    return inputs.flatMap((input) => {
      const seen = state.inputs.get(keyOf(input));
      const reason = seen === undefined ? null : mismatch(input, seen);
      return reason === null ? [] : [this.#refusal(input.name, reason)];
    });
  }

  #refusal(file: string, reason: string): Diagnostic {
    const help = `to begin anew, remove ${this.#file} or name another file with \`--resume\``;
    return {
      code: 'SCN003',
      severity: 'error',
      file,
      message: `this scan cannot be resumed: ${reason}`,
      help,
    };
  }
}

function progressIn(state: ScanState, input: Input): StartedInput['progress'] {
  const seen = state.inputs.get(keyOf(input));
  if (seen === undefined) return NO_PROGRESS;
  const { progress, likeness } = seen;
  const isComplete = progress.isComplete && likeness.size === input.size;
  return { ...progress, isComplete, counts: state.isComplete ? NO_COUNTS : progress.counts };
}

export function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

function unwritable(file: string): Diagnostic {
  const message = 'the state of the scan cannot be kept: its folder does not exist or cannot be written';
  const help = 'name a file in a folder that you may write to';
  return { code: 'SCN003', severity: 'error', file, message, help };
}
