/**
 * What a suite's run comes to, as it is kept in `<suite>.json`, told by `--json` and read again by the page, by the
 * comparison and by the documentation.
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
  /** The only part of the suite that was measured. Absent: all of them. */
  readonly part?: string;
  /** Only units whose key contains this were run. Absent: all of them. */
  readonly only?: string;
  /** Of these only about one in so many were run. Absent: each. */
  readonly every?: number;
  /** The model of a provider that played. Absent: the obedient one. */
  readonly model?: string;
  /** Its answers are those that an earlier run kept. */
  readonly isReplay?: boolean;
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

/** Null: it is none, or one of another form: what is shown and compared is looked at once, here. */
function decodeResult(value: Json): SuiteResult | null {
  if (!isJsonObject(value) || value.kind !== 'bench.result') return null;
  const { suite, question, aims, sections, run } = value;
  if (typeof suite !== 'string' || typeof question !== 'string') return null;
  if (!isListOf(aims, (aim) => hasFields(aim, AIM)) || !isListOf(sections, isSection)) return null;
  if (!hasFields(run, RUN) || !isJsonObject(run) || !hasFields(run.machine, MACHINE)) return null;
  if (!isListOf(run.data, (file) => hasFields(file, DATA)) || !isListOf(run.notices, isText)) return null;
  const figures = Object.fromEntries(Object.entries(value).filter(([key]) => !OWN_FIELDS.has(key)));
  return { suite, question, figures, aims, sections, run } as unknown as SuiteResult;
}

type Fields = Readonly<Record<string, 'string' | 'number' | 'boolean'>>;

const AIM: Fields = { what: 'string', measured: 'string', aim: 'string', isMet: 'boolean' };
const DATA: Fields = { name: 'string', sha256: 'string' };
const MACHINE: Fields = {
  cpu: 'string',
  cores: 'number',
  memoryGiB: 'number',
  kernel: 'string',
  distribution: 'string',
  node: 'string',
  load: 'number',
};
const RUN: Fields = {
  isOnOtherData: 'boolean',
  isSample: 'boolean',
  units: 'number',
  measured: 'number',
  isMixed: 'boolean',
  cordon: 'string',
  code: 'string',
  policy: 'string',
  ended: 'string',
  seconds: 'number',
};
const AXIS: Fields = { name: 'string', scale: 'string' };

function hasFields(value: Json | undefined, fields: Fields): boolean {
  return isJsonObject(value) && Object.entries(fields).every(([name, type]) => typeof value[name] === type);
}

function isListOf(value: Json | undefined, isOne: (one: Json) => boolean): boolean {
  return Array.isArray(value) && value.every(isOne);
}

function isText(value: Json): boolean {
  return typeof value === 'string';
}

/** What is no number, such as a share of nothing, is null in JSON. */
function isNumber(value: Json): boolean {
  return typeof value === 'number' || value === null;
}

function isSection(section: Json): boolean {
  if (!isJsonObject(section)) return false;
  const { kind, title, text, note, columns, rows, series, bars, lines, x, y } = section;
  switch (kind) {
    case 'text':
      return (title === null || typeof title === 'string') && typeof text === 'string';
    case 'table':
      return (
        typeof title === 'string' &&
        (note === null || typeof note === 'string') &&
        isListOf(columns, isText) &&
        isListOf(rows, (row) => isListOf(row, isText))
      );
    case 'bars':
      return (
        hasFields(section, { title: 'string', unit: 'string' }) &&
        isListOf(series, isText) &&
        isListOf(bars, isBar)
      );
    case 'lines':
      return typeof title === 'string' && hasFields(x, AXIS) && hasFields(y, AXIS) && isListOf(lines, isLine);
    default:
      return false;
  }
}

function isBar(bar: Json): boolean {
  return hasFields(bar, { name: 'string' }) && isJsonObject(bar) && isListOf(bar.values, isNumber);
}

function isLine(line: Json): boolean {
  return (
    hasFields(line, { name: 'string' }) &&
    isJsonObject(line) &&
    isListOf(line.points, (point) => isListOf(point, isNumber) && Array.isArray(point) && point.length === 2)
  );
}
