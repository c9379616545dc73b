/**
 * What a suite's run comes to, as it is kept in `<suite>.json`, told by `--json` and read again by the page, by the
 * comparison and by the documentation.
 *
 * Ring 2.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Fault,
  failed,
  fault,
  isJsonObject,
  type Json,
  type JsonObject,
  ok,
  parseJson,
  type Result,
} from '@cordon/core';
import type { Machine } from '../machine.ts';
import type { Aim, DataFile, Section, SuiteId } from './suite.ts';

export interface SuiteResult {
  readonly suite: SuiteId;
  readonly question: string;
  /** The suite's own figures. */
  readonly figures: JsonObject;
  readonly aims: readonly Aim[];
  readonly sections: readonly Section[];
  readonly run: RunFacts;
}

/** What a reader must know of the run to judge its figures. */
export interface RunFacts {
  /** Traces, labels or pairs were named that are not those of the repository. */
  readonly isOnOtherData: boolean;
  /** Only a sample of the units was run. */
  readonly isSample: boolean;
  /** Units that there are, and those that have a record; fewer: the run was interrupted, or some could not be measured. */
  readonly units: number;
  readonly measured: number;
  /** Records of several versions of the code are among them. */
  readonly isMixed: boolean;
  readonly notices: readonly string[];
  readonly cordon: string;
  readonly code: string;
  readonly policy: string;
  readonly machine: Machine;
  readonly data: readonly DataFile[];
  /** ISO 8601. */
  readonly ended: string;
  /** How long this run worked on it; what was there already is not in it. */
  readonly seconds: number;
}

/** The last line of `--json`: figures first, as others rely on them; sections are in the file only. */
export function resultLine({ suite, figures, aims, run }: SuiteResult): object {
  return { kind: 'bench.result', ...figures, suite, aims, run };
}

/** As the file holds it. */
export function resultFile(result: SuiteResult): object {
  return { ...resultLine(result), question: result.question, sections: result.sections };
}

const LIMITS = { length: 64 * 1024 * 1024, depth: 64, elements: 2_000_000 };
const OWN_FIELDS = new Set(['kind', 'suite', 'question', 'aims', 'run', 'sections']);

/** The results of a folder, or of one file; refused where there is none, or one is of no form that we know. */
export function readResults(path: string): Result<readonly SuiteResult[], Fault> {
  if (!existsSync(path)) return failed(fault('usage', `there is no ${path}`));
  const files = statSync(path).isDirectory()
    ? readdirSync(path)
        .filter((name) => /^[a-z]+\.json$/.test(name) && name !== 'run.json')
        .sort()
        .map((name) => join(path, name))
    : [path];
  if (files.length === 0)
    return failed(
      fault('usage', `there is no result in ${path}`, 'name the folder of a run, or a file of one'),
    );
  const results: SuiteResult[] = [];
  for (const file of files) {
    const parsed = parseJson(readFileSync(file, 'utf8'), LIMITS);
    const result = parsed.ok ? decodeResult(parsed.value) : null;
    if (result === null) return failed(fault('usage', `${file} is no result of a benchmark`));
    results.push(result);
  }
  return ok(results);
}

/**
 * Null: it is none. What is inside was written by this program: its outline is checked, so that a foreign file is told
 * from a result, and the rest is taken as it was written.
 */
function decodeResult(value: Json): SuiteResult | null {
  if (!isJsonObject(value) || value.kind !== 'bench.result') return null;
  const { suite, question, aims, sections, run } = value;
  const isWhole =
    typeof suite === 'string' && Array.isArray(aims) && Array.isArray(sections) && isJsonObject(run);
  if (!isWhole || !isJsonObject(run.machine) || !Array.isArray(run.data) || !Array.isArray(run.notices))
    return null;
  const figures = Object.fromEntries(Object.entries(value).filter(([key]) => !OWN_FIELDS.has(key)));
  return { suite, question: question ?? '', figures, aims, sections, run } as unknown as SuiteResult;
}
