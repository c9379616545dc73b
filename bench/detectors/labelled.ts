/**
 * Labelled texts: what detectors are judged by. One file a detector, one text a line, written by the `generate-….ts`
 * beside it. A third is *held out*: nobody looks at it while a detector is worked on.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Labelled {
  readonly text: string;
  /** Offsets in UTF-16 units. None: a hard negative. */
  readonly findings: readonly Label[];
  /** Where such a text comes from, or what makes it hard. */
  readonly note: string;
}

interface Line extends Labelled {
  readonly heldOut: boolean;
}

export interface Label {
  readonly kind: string;
  readonly start: number;
  readonly end: number;
}

export interface LabelledSet {
  readonly tuning: readonly Labelled[];
  readonly heldOut: readonly Labelled[];
}

export function readLabelled(detector: string): LabelledSet {
  const lines = readFileSync(labelledFile(detector), 'utf8').split('\n').filter(Boolean);
  const all = lines.map(lineOf);
  return {
    tuning: all.filter(({ heldOut }) => !heldOut),
    heldOut: all.filter(({ heldOut }) => heldOut),
  };
}

/**
 * Every third group is held out, as a whole: texts out of one frame, or with one kind of value, are so much alike that one
 * of them in the tuned part would give away the others. Shuffle the groups before.
 */
export function writeLabelled(detector: string, groups: readonly (readonly Labelled[])[]): void {
  const lines = groups.flatMap((group, index) =>
    group.map((one): Line => ({ ...one, heldOut: index % 3 === 2 })),
  );
  writeFileSync(labelledFile(detector), lines.map((one) => `${JSON.stringify(one)}\n`).join(''));
}

/** Its texts. */
export function labelledFile(detector: string): string {
  return join(import.meta.dirname, 'texts', `${detector}.jsonl`);
}

function lineOf(line: string): Line {
  const value: unknown = JSON.parse(line);
  if (!isLine(value)) throw new Error(`no labelled text: ${line.slice(0, 80)}`);
  return value;
}

function isLine(value: unknown): value is Line {
  if (typeof value !== 'object' || value === null) return false;
  return (
    'heldOut' in value &&
    'text' in value &&
    typeof value.text === 'string' &&
    'findings' in value &&
    Array.isArray(value.findings)
  );
}
