/**
 * Scans parts of inputs: reads their lines, examines each, and keeps what is worth telling. Runs in a worker, or in
 * the program itself where there is one job only.
 */

import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { failed } from '@cordon/core';
import type { Asking, Awaited } from '@cordon/detectors';
import { joinPolicies } from '@cordon/policy';
import type { Analysis } from '@cordon/policy-tools';
import { loadedPolicy } from '@cordon/runtime/policies';
import { eachLine, type Line, LineReader, readingFault } from '../parts/line-reader.ts';
import type { LineRecord, Part, PartOutcome, ScanTask, Unit, UnitOutcome } from '../parts/part.ts';
import type { EventCounts } from '../traces/event-counts.ts';
import { analysisLine } from '../traces/findings.ts';
import { type Examination, Examiner } from './examiner.ts';
export class PartScanner {
  readonly #task: ScanTask;
  readonly #examiner: Examiner;
  readonly #reader: LineReader;
  /** By id. */
  readonly #rules: ReadonlyMap<string, number>;

  #awaited: Awaited | undefined;

  /**
   * Throws if a policy does not load: the program has loaded the same texts before.
   * @param asking absent: rules that ask are undecided
   */
  constructor(task: ScanTask, asking?: Asking) {
    const policies = task.policies.map(({ file, text }) => {
      const loaded = loadedPolicy(text, { file, dialect: task.dialect }, asking);
      if (!loaded.ok) throw new Error(`the policy ${file} does not load`);
      return loaded.value;
    });
    const policy = joinPolicies(policies);
    this.#task = task;
    this.#examiner = new Examiner(policy, {
      parameters: task.parameters,
      maxLength: task.maxLine,
      format: task.format,
      dialect: task.dialect,
      labels: task.labels,
    });
    this.#reader = new LineReader(task.maxLine);
    this.#rules = new Map(policy.rules.map(({ id }, index) => [id, index]));
  }

  /**
   * Never throws for what an input holds.
   * @param awaited takes the questions whose answers could change the outcome
   */
  scan(unit: Unit, awaited?: Awaited): UnitOutcome {
    this.#awaited = awaited;
    return { id: unit.id, parts: unit.parts.map((part) => this.#part(part)) };
  }

  close(): void {
    this.#reader.close();
  }

  #part(part: Part): PartOutcome {
    const tally = new Tally(this.#rules.size);
    try {
      switch (part.kind) {
        case 'range':
          tally.lines = this.#reader.lines(part, (line) => this.#line(line, tally));
          break;
        case 'lines': {
          const bytes = Buffer.from(part.bytes.buffer, part.bytes.byteOffset, part.bytes.length);
          tally.lines = this.#lines(bytes, part.position, part.isLast, tally);
          break;
        }
        case 'whole':
          this.#whole(part.path, part.size, tally);
          break;
        case 'too-long':
          tally.lines = 1;
          tally.broken(1, this.#tooLong());
          break;
        default:
          part satisfies never;
      }
    } catch (error) {
      tally.fault = readingFault(error, (code) => `reading it failed${code === '' ? '' : ` (${code})`}`);
    }
    return tally.outcome();
  }

  #lines(bytes: Buffer, position: number, isLast: boolean, tally: Tally): number {
    const options = { from: 0, position, before: 0, isLast, maxLine: this.#task.maxLine };
    return eachLine(bytes, options, (line) => this.#line(line, tally));
  }

  /** One JSON text; but a file of JSON lines may have such a name, too, and then its first line is JSON. */
  #whole(path: string, size: number, tally: Tally): void {
    const bytes = this.#reader.whole(path, size);
    const newline = bytes.indexOf(0x0a);
    const isLines = newline >= 0 && newline < bytes.length - 1 && isJson(bytes.toString('utf8', 0, newline));
    if (isLines) tally.lines = this.#lines(bytes, 0, true, tally);
    else {
      const line = { bytes, start: 0, end: bytes.length, position: 0, number: 0, isUtf8: isUtf8(bytes) };
      this.#line({ ...line, isOpen: false, isTooLong: false }, tally);
    }
  }

  #line(line: Line, tally: Tally): void {
    const { bytes, number } = line;
    const [start, end] = withoutSpace(bytes, line.start, line.end);
    if (line.isTooLong) tally.broken(number, this.#tooLong());
    else if (start === end) return;
    else if (!line.isUtf8) tally.broken(number, 'this is not text in UTF-8');
    else {
      const examined = this.#examine(bytes.toString('utf8', start, end));
      if (examined.ok) {
        tally.isLineOpen = line.isOpen;
        tally.read(examined.value.read);
        this.#trace(number, examined.value.analysis, bytes.subarray(start, end), tally);
      } else if (line.isOpen && this.#task.records.waitsForRest) tally.unfinishedAt = line.position;
      else tally.broken(number, examined.fault);
    }
  }

  /** A catch-all: one trace on which the evaluation fails must not hide what is in the others, and is no clean one. */
  #examine(text: string): Examination {
    try {
      return this.#examiner.examine(text, this.#awaited);
    } catch (error) {
      return failed(`it cannot be evaluated: ${error instanceof Error ? error.message : 'unknown'}`);
    }
  }

  #trace(line: number, analysis: Analysis | null, bytes: Buffer, tally: Tally): void {
    const { hasClean, hasDigest, examples } = this.#task.records;
    tally.traces++;
    const isTold = analysis === null ? hasClean : this.#count(analysis, tally, examples);
    if (!isTold) return;
    const body = bodyOf(analysis ?? NO_FINDINGS);
    if (body === null) return tally.broken(line, 'it has more findings than can be told in one line');
    const digest = hasDigest ? createHash('sha256').update(bytes).digest('hex') : '';
    tally.records.push({ kind: 'trace', line, hasFindings: analysis !== null, body, digest });
  }

  /** Whether it is an example that is still wanted. */
  #count({ errors, undecided }: Analysis, tally: Tally, examples: number | null): boolean {
    tally.violations += errors.length;
    tally.undecided += undecided.length;
    let isWanted = examples === null;
    for (const { rule } of errors) tally.count(this.#rules.get(rule) ?? -1);
    if (examples === null) return true;
    for (const rule of new Set([...errors, ...undecided].map(({ rule }) => rule))) {
      const known = tally.examples.get(rule) ?? 0;
      tally.examples.set(rule, known + 1);
      isWanted ||= known < examples;
    }
    return isWanted;
  }

  #tooLong(): string {
    return `the line is longer than ${this.#task.maxLine} bytes`;
  }
}

const NO_FINDINGS: Analysis = { errors: [], undecided: [] };
const NAMELESS = '{"trace":"",';

/** Far below the longest text that JavaScript has. */
const MOST_BODY = 128 * 1024 * 1024;

/** The line of `cordon analyze` without the name of the trace, which only the scan as a whole knows; null: too long. */
function bodyOf(analysis: Analysis): string | null {
  let body = '';
  for (const piece of analysisLine('', analysis)) {
    body += piece;
    if (body.length > MOST_BODY) return null;
  }
  return body.slice(NAMELESS.length).trimEnd();
}

/** Counts while a part is read. */
class Tally {
  lines = 0;
  traces = 0;
  violations = 0;
  undecided = 0;
  isLineOpen = false;
  unfinishedAt: number | null = null;
  fault: string | null = null;
  readonly records: LineRecord[] = [];
  /** Traces by rule. */
  readonly examples = new Map<string, number>();
  readonly #rules: number[];
  readonly #events: Record<string, number> = {};
  #broken = 0;

  constructor(rules: number) {
    this.#rules = new Array<number>(rules).fill(0);
  }

  count(rule: number): void {
    this.#rules[rule] = (this.#rules[rule] ?? 0) + 1;
  }

  read(events: EventCounts): void {
    for (const kind in events) {
      const count = events[kind] ?? 0;
      if (count > 0) this.#events[kind] = (this.#events[kind] ?? 0) + count;
    }
  }

  broken(line: number, message: string): void {
    this.#broken++;
    this.records.push({ kind: 'broken', line, message });
  }

  outcome(): PartOutcome {
    const { traces, violations, undecided, lines, records, isLineOpen, unfinishedAt, fault } = this;
    return {
      counts: { traces, violations, undecided, broken: this.#broken, events: this.#events },
      // An unfinished line is counted when it is finished.
      lines: unfinishedAt === null ? lines : lines - 1,
      rules: this.#rules,
      records,
      isLineOpen,
      unfinishedAt,
      fault,
    };
  }
}

/** Without the white space of JSON around it, and without a byte order mark. */
function withoutSpace(bytes: Buffer, from: number, to: number): readonly [start: number, end: number] {
  let start = from;
  let end = to;
  if (bytes[start] === 0xef && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf) start += 3;
  while (start < end && isSpace(bytes[start])) start++;
  while (end > start && isSpace(bytes[end - 1])) end--;
  return [Math.min(start, end), end];
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d || byte === 0x0a;
}

function isJson(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object';
  } catch {
    return false;
  }
}
