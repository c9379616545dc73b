/**
 * Files of unit tests for policies: `mail.test.json` beside `mail.gr`, in JSON with comments. Every case says what it
 * expects; one that says nothing is a mistake, because it could not fail.
 *
 * Ring 1; see docs/policy/testing.md.
 */

import { basename, dirname, isAbsolute, join } from 'node:path';
import { readLabelFile, readLabels } from '@cordon/config/labels';
import {
  ConfigReader,
  type Located,
  type ObjectReader,
  parseJsonFile,
  plainJson,
  quoted,
  readTextFile,
  suggestion,
} from '@cordon/config/reading';
import {
  type Diagnostic,
  failed,
  isJsonObject,
  type JsonObject,
  ok,
  type Result,
  type ToolLabelEntry,
} from '@cordon/core';
import type { Asking } from '@cordon/detectors';
import type { TraceEvent } from '@cordon/policy';
import { TraceLabels } from '@cordon/policy-tools';
import { DIALECTS, type Dialect, type PolicyFiles, readPolicyFiles } from '@cordon/scan/traces';
import type { Expectation, ExpectedFinding, Verdict } from './expectation.ts';
import { readTrace } from './test-trace.ts';
export const TEST_FILE_END = '.test.json';

export interface TestFile {
  readonly file: string;
  readonly policies: PolicyFiles;
  /** Of the policies. */
  readonly dialect: Dialect;
  readonly cases: readonly TestCase[];
  /** What is known of the tools in all traces; null: nothing. */
  readonly labels: TraceLabels | null;
}

export interface TestCase {
  readonly name: string;
  /** Where it is in the file, from 1. */
  readonly line: number;
  readonly parameters: JsonObject;
  /** Events, or the path of a file that has to be read. */
  readonly trace: readonly TraceEvent[] | string;
  readonly expectation: Expectation;
}

/** Reads a file of tests and the policies that it is about; `asking`: who answers what those ask. Fails with everything that is wrong in any of them. */
export function readTestFile(file: string, asking?: Asking): Result<TestFile, readonly Diagnostic[]> {
  const text = readTextFile(file);
  if (!text.ok) return failed([text.fault]);
  const tree = parseJsonFile(file, text.value);
  if (!tree.ok) return failed([tree.fault]);
  const reader = new ConfigReader(file, text.value);
  const root = reader.object({ node: tree.value, path: '' });
  if (root === null) return failed(reader.diagnostics);
  const dialect = readDialect(reader, root);
  const policies = readPolicyFiles(policyFiles(reader, root, file), dialect, asking);
  if (!policies.ok) return failed([...reader.diagnostics, ...policies.fault]);
  const rules = policies.value.policy.rules.map(({ id }) => id);
  const labels = testLabels(reader, root, dirname(file));
  if (labels !== null && !labels.ok) return failed([...reader.diagnostics, ...labels.fault]);
  const cases = new CaseReader(reader, dirname(file), rules, dialect).cases(root);
  root.finish();
  if (reader.hasErrors) return failed(reader.diagnostics);
  return ok({
    file,
    policies: policies.value,
    dialect,
    cases,
    labels: labels === null ? null : new TraceLabels(labels.value),
  });
}

/** The labels themselves, or the name of a file of them; null if there are none. */
function testLabels(
  reader: ConfigReader,
  root: ObjectReader,
  folder: string,
): Result<readonly ToolLabelEntry[], readonly Diagnostic[]> | null {
  const at = root.get('labels');
  if (at === null) return null;
  if (at.node.kind === 'string') return readLabelFile(pathFrom(folder, at.node.value));
  return ok(readLabels(reader, at));
}

/** Those that the file names, relative to it; else the one beside it. */
function policyFiles(reader: ConfigReader, root: ObjectReader, file: string): readonly string[] {
  const at = root.get('policy');
  if (at === null) return [policyBeside(file)];
  const items = at.node.kind === 'array' ? reader.items(at) : [at];
  return items.map((item) => pathFrom(dirname(file), reader.string(item) ?? ''));
}

/** `mail.gr` for `mail.test.json`. */
export function policyBeside(file: string): string {
  const name = basename(file);
  const stem = name.endsWith(TEST_FILE_END)
    ? name.slice(0, -TEST_FILE_END.length)
    : name.replace(/\.[^.]*$/, '');
  return join(dirname(file), `${stem}.gr`);
}

/** Unlike `resolve`, keeps what is relative: reports are easier to read so. */
function pathFrom(folder: string, path: string): string {
  return isAbsolute(path) ? path : join(folder, path);
}

function readDialect(reader: ConfigReader, root: ObjectReader): Dialect {
  const at = root.get('dialect');
  if (at === null) return 'cordon';
  const name = reader.string(at);
  const dialect = DIALECTS.find((known) => known === name);
  if (dialect === undefined) {
    const help = `dialects: ${DIALECTS.join(', ')}`;
    reader.reportAt(at, { code: 'TST001', message: `${quoted(name ?? '')} is no dialect`, help });
  }
  return dialect ?? 'cordon';
}

const VERDICTS: readonly Verdict[] = ['allow', 'deny', 'ask'];
const CLEAN = 'clean';

class CaseReader {
  readonly #reader: ConfigReader;
  readonly #folder: string;
  readonly #rules: readonly string[];
  readonly #dialect: Dialect;

  constructor(reader: ConfigReader, folder: string, rules: readonly string[], dialect: Dialect) {
    this.#reader = reader;
    this.#folder = folder;
    this.#rules = rules;
    this.#dialect = dialect;
  }

  cases(root: ObjectReader): readonly TestCase[] {
    const shared = this.#parameters(root);
    const at = root.required(
      'cases',
      'write `"cases": {"what it shows": {"trace": […], "expect": "clean"}}`',
    );
    if (at === null) return [];
    const entries = this.#reader.entries(at);
    if (entries.length === 0) {
      this.#reader.reportAt(at, { code: 'TST001', message: 'there is no case', help: 'write at least one' });
    }
    return entries.flatMap(({ key, at: inner }) => {
      const object = this.#reader.object(inner);
      return object === null ? [] : [this.#case(key, object, shared)];
    });
  }

  #case(name: string, object: ObjectReader, shared: JsonObject): TestCase {
    const parameters = { ...shared, ...this.#parameters(object) };
    const traceAt = object.required('trace', 'write a list of steps, or the name of a file');
    const trace = traceAt === null ? [] : this.#trace(traceAt);
    const expectation = this.#expectation(object);
    if (expectation.decision !== null && trace.length === 0) {
      const message = 'there is no last event that could be decided';
      this.#reader.reportAt(object.at, { code: 'TST002', message, help: 'give the trace a step' });
    }
    object.finish();
    return { name, line: this.#reader.lineOf(object.at), parameters, trace, expectation };
  }

  #trace(at: Located): readonly TraceEvent[] | string {
    if (at.node.kind === 'string') return pathFrom(this.#folder, at.node.value);
    return readTrace(this.#reader, at, this.#dialect);
  }

  #parameters(object: ObjectReader): JsonObject {
    const at = object.get('parameters');
    if (at === null || this.#reader.object(at) === null) return {};
    const value = plainJson(at.node);
    return isJsonObject(value) ? value : {};
  }

  #expectation(object: ObjectReader): Expectation {
    const expectAt = object.get('expect');
    const decisionAt = object.get('decision');
    if (expectAt === null && decisionAt === null) {
      const help = 'write `"expect": "clean"`, the rules that are violated, or `"decision": "deny"`';
      this.#reader.reportAt(object.at, { code: 'TST002', message: 'the case expects nothing', help });
    }
    return {
      findings: expectAt === null ? null : this.#findings(expectAt),
      decision: decisionAt === null ? null : this.#verdict(decisionAt),
    };
  }

  #verdict(at: Located): Verdict | null {
    const word = this.#reader.string(at);
    const verdict = VERDICTS.find((known) => known === word) ?? null;
    if (verdict === null && word !== null) {
      const help = `decisions: ${VERDICTS.join(', ')}`;
      this.#reader.reportAt(at, { code: 'TST002', message: `${quoted(word)} is no decision`, help });
    }
    return verdict;
  }

  #findings(at: Located): readonly ExpectedFinding[] {
    if (at.node.kind === 'string' && at.node.value === CLEAN) return [];
    const items = at.node.kind === 'array' ? this.#reader.items(at) : [at];
    return items.flatMap((item) => this.#finding(item) ?? []);
  }

  #finding(at: Located): ExpectedFinding | null {
    const any = { kind: 'violation', message: null, events: {}, ranges: [], count: null } as const;
    if (at.node.kind === 'string') return { ...any, rule: this.#rule(at) };
    const object = this.#reader.object(at);
    if (object === null) return null;
    const ruleAt = object.required('rule', 'name the rule');
    const undecidedAt = object.get('undecided');
    const isUndecided = undecidedAt !== null && this.#reader.boolean(undecidedAt) === true;
    const messageAt = object.get(isUndecided ? 'reason' : 'message');
    const countAt = object.get('count');
    const rangesAt = object.get('ranges');
    const finding: ExpectedFinding = {
      rule: ruleAt === null ? '' : this.#rule(ruleAt),
      kind: isUndecided ? 'undecided' : 'violation',
      message: messageAt === null ? null : this.#reader.string(messageAt),
      events: this.#events(object),
      ranges:
        rangesAt === null ? [] : this.#reader.items(rangesAt).map((item) => this.#reader.string(item) ?? ''),
      count: countAt === null ? null : this.#reader.number(countAt),
    };
    object.finish();
    return finding;
  }

  #events(object: ObjectReader): Readonly<Record<string, string>> {
    const at = object.get('events');
    if (at === null) return {};
    const entries = this.#reader.entries(at).map(({ key, at: path }): [string, string] => {
      // `{"call": 3}` is what one writes first.
      return [key, path.node.kind === 'number' ? String(path.node.value) : (this.#reader.string(path) ?? '')];
    });
    return Object.fromEntries(entries);
  }

  /** A misspelt rule would be a test that fails for a reason that nobody sees, or one that cannot fail. */
  #rule(at: Located): string {
    const rule = this.#reader.string(at) ?? '';
    if (rule !== '' && !this.#rules.includes(rule)) {
      const help = suggestion(rule, this.#rules, `rules: ${this.#rules.join(', ')}`);
      this.#reader.reportAt(at, { code: 'TST002', message: `the policy has no rule ${quoted(rule)}`, help });
    }
    return rule;
  }
}
