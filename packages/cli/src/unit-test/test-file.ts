/**
 * Files of unit tests for policies: `mail.test.json` beside `mail.gr`, in JSON with comments. Every case says what it
 * expects; one that says nothing is a mistake, because it could not fail.
 *
 * See docs/policy/testing.md.
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
  const root = reader.root(tree.value).object();
  if (root === null) return failed(reader.diagnostics);
  const dialect = root.read('dialect', readDialect) ?? 'cordon';
  const policies = readPolicyFiles(policyFiles(root, file), dialect, asking);
  if (!policies.ok) return failed([...reader.diagnostics, ...policies.fault]);
  const rules = policies.value.policy.rules.map(({ id }) => id);
  const labels = root.read('labels', (at) => testLabels(at, dirname(file)));
  if (labels !== null && !labels.ok) return failed([...reader.diagnostics, ...labels.fault]);
  const cases = readCases(root, { folder: dirname(file), rules, dialect });
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

/** The labels themselves, or the name of a file of them. */
function testLabels(at: Located, folder: string): Result<readonly ToolLabelEntry[], readonly Diagnostic[]> {
  if (at.node.kind === 'string') return readLabelFile(pathFrom(folder, at.node.value));
  return ok(readLabels(at));
}

/** Those that the file names, relative to it; else the one beside it. */
function policyFiles(root: ObjectReader, file: string): readonly string[] {
  const named = root.read('policy', oneOrMany);
  if (named === null) return [policyBeside(file)];
  return named.map((item) => pathFrom(dirname(file), item.string() ?? ''));
}

function oneOrMany(at: Located): readonly Located[] {
  return at.node.kind === 'array' ? at.items() : [at];
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

function readDialect(at: Located): Dialect | null {
  return at.word(DIALECTS, (name) => ({
    code: 'TST001',
    message: `${quoted(name)} is no dialect`,
    help: `dialects: ${DIALECTS.join(', ')}`,
  }));
}

const VERDICTS: readonly Verdict[] = ['allow', 'deny', 'ask'];
const CLEAN = 'clean';

/** What the cases of one file are about. */
interface CasePlace {
  /** Of the file. */
  readonly folder: string;
  /** The names of the policies' rules. */
  readonly rules: readonly string[];
  readonly dialect: Dialect;
}

function readCases(root: ObjectReader, place: CasePlace): readonly TestCase[] {
  const shared = readParameters(root);
  const help = 'write `"cases": {"what it shows": {"trace": […], "expect": "clean"}}`';
  const at = root.required('cases', help);
  if (at === null) return [];
  const entries = at.entries();
  if (entries.length === 0) {
    at.report({ code: 'TST001', message: 'there is no case', help: 'write at least one' });
  }
  return entries.flatMap(([name, inner]) => {
    const object = inner.object();
    return object === null ? [] : [readCase(name, object, shared, place)];
  });
}

function readCase(name: string, object: ObjectReader, shared: JsonObject, place: CasePlace): TestCase {
  const parameters = { ...shared, ...readParameters(object) };
  const traceAt = object.required('trace', 'write a list of steps, or the name of a file');
  const trace = traceAt === null ? [] : readSteps(traceAt, place);
  const expectation = readExpectation(object, place);
  if (expectation.decision !== null && trace.length === 0) {
    const message = 'there is no last event that could be decided';
    object.at.report({ code: 'TST002', message, help: 'give the trace a step' });
  }
  object.finish();
  return { name, line: object.at.place.range.line, parameters, trace, expectation };
}

function readSteps(at: Located, { folder, dialect }: CasePlace): readonly TraceEvent[] | string {
  return at.node.kind === 'string' ? pathFrom(folder, at.node.value) : readTrace(at, dialect);
}

function readParameters(object: ObjectReader): JsonObject {
  const at = object.get('parameters');
  const value = at === null || at.object() === null ? null : plainJson(at.node);
  return isJsonObject(value) ? value : {};
}

function readExpectation(object: ObjectReader, place: CasePlace): Expectation {
  if (object.get('expect') === null && object.get('decision') === null) {
    const help = 'write `"expect": "clean"`, the rules that are violated, or `"decision": "deny"`';
    object.at.report({ code: 'TST002', message: 'the case expects nothing', help });
  }
  return {
    findings: object.read('expect', (at) => readFindings(at, place)),
    decision: object.read('decision', readVerdict),
  };
}

function readVerdict(at: Located): Verdict | null {
  return at.word(VERDICTS, (word) => ({
    code: 'TST002',
    message: `${quoted(word)} is no decision`,
    help: `decisions: ${VERDICTS.join(', ')}`,
  }));
}

function readFindings(at: Located, place: CasePlace): readonly ExpectedFinding[] {
  if (at.node.kind === 'string' && at.node.value === CLEAN) return [];
  return oneOrMany(at).flatMap((item) => readFinding(item, place) ?? []);
}

function readFinding(at: Located, { rules }: CasePlace): ExpectedFinding | null {
  const any = { kind: 'violation', message: null, events: {}, ranges: [], count: null } as const;
  if (at.node.kind === 'string') return { ...any, rule: readRule(at, rules) };
  const object = at.object();
  if (object === null) return null;
  const rule = object.required('rule', 'name the rule');
  const isUndecided = object.boolean('undecided') === true;
  const finding: ExpectedFinding = {
    rule: rule === null ? '' : readRule(rule, rules),
    kind: isUndecided ? 'undecided' : 'violation',
    message: object.string(isUndecided ? 'reason' : 'message'),
    events: object.read('events', readEvents) ?? {},
    ranges: object.read('ranges', (all) => all.items().map((item) => item.string() ?? '')) ?? [],
    count: object.read('count', (count) => count.number()),
  };
  object.finish();
  return finding;
}

function readEvents(at: Located): Readonly<Record<string, string>> {
  const entries = at.entries().map(([key, path]): [string, string] => {
    // `{"call": 3}` is what one writes first.
    return [key, path.node.kind === 'number' ? String(path.node.value) : (path.string() ?? '')];
  });
  return Object.fromEntries(entries);
}

/** A misspelt rule would be a test that fails for a reason that nobody sees, or one that cannot fail. */
function readRule(at: Located, rules: readonly string[]): string {
  const rule = at.string() ?? '';
  if (rule !== '' && !rules.includes(rule)) {
    const help = suggestion(rule, rules, `rules: ${rules.join(', ')}`);
    at.report({ code: 'TST002', message: `the policy has no rule ${quoted(rule)}`, help });
  }
  return rule;
}
