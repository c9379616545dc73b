/**
 * The conformance cases and how an answer is held against one: shared by everything that runs them. It knows the cases'
 * form (`policy/README.md`) and nothing about who answers.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import type { Json, JsonObject } from '@cordon/core';

export interface ConformanceCase {
  /** The section of the specification, `additions` or `undecided`. */
  readonly section: string;
  /** Whether this is where the language differs on purpose from the one that it comes from. */
  readonly difference?: true;
  readonly name: string;
  readonly policy: readonly string[];
  readonly dialect?: 'cordon' | 'invariant';
  readonly parameters?: JsonObject;
  readonly trace?: Json;
  /** Events that have not happened yet: with them `expect` is a decision. */
  readonly pending?: Json;
  readonly expect: Expectation;
}

export type Expectation = ExpectedAnalysis | ExpectedDecision | ExpectedDiagnostics | ExpectedFault;

export interface ExpectedAnalysis {
  /** In order; of each, the keys that are given. */
  readonly errors: readonly JsonObject[];
  readonly undecided: readonly JsonObject[];
  /** All that loading warns of, where the case speaks of it. */
  readonly warnings?: readonly ExpectedDiagnostic[];
  /** Codes that loading and the linter together have to give, among others. */
  readonly lint?: readonly string[];
}

export interface ExpectedDecision {
  readonly decision: {
    readonly verdict: 'allow' | 'deny' | 'ask';
    /** In order; of each, the keys that are given. */
    readonly reasons: readonly JsonObject[];
    readonly warnings?: readonly JsonObject[];
  };
}

export interface ExpectedDiagnostics {
  readonly diagnostics: readonly ExpectedDiagnostic[];
}

export interface ExpectedFault {
  readonly fault: { readonly path: string };
}

export interface ExpectedDiagnostic {
  readonly code: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
}

/** Where a diagnostic points, and how bad it is. */
export interface FoundDiagnostic extends ExpectedDiagnostic {
  readonly severity: string;
}

export interface FoundAnalysis {
  readonly errors: readonly object[];
  readonly undecided: readonly object[];
}

export interface FoundDecision {
  readonly verdict: string;
  readonly reasons: readonly object[];
  readonly warnings: readonly object[];
}

export interface LocatedCase extends ConformanceCase {
  /** `syntax.json` */
  readonly file: string;
}

const FOLDER = new URL('./policy/', import.meta.url);

/** What the linter adds comes and goes; these are given whenever a policy is loaded. */
const LOADING_WARNINGS: ReadonlySet<string> = new Set([
  'POL018',
  'POL050',
  'POL051',
  'POL052',
  'POL053',
  'POL054',
  'POL055',
  'POL056',
]);

/** Every case, in the order of the files' names. */
export function conformanceCases(): readonly LocatedCase[] {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.json') && name !== 'coverage.json');
  return files.sort().flatMap((file) => {
    const { cases }: { readonly cases: readonly ConformanceCase[] } = JSON.parse(
      readFileSync(new URL(file, FOLDER), 'utf8'),
    );
    return cases.map((one) => ({ ...one, file }));
  });
}

export function policyText(one: ConformanceCase): string {
  return one.policy.join('\n');
}

/** As many of the cases as wanted, chosen by a seed; all of them in their order if there are no more. */
export function sampleOf<T>(cases: readonly T[], size: number, seed: number): readonly T[] {
  if (size >= cases.length) return cases;
  const left = [...cases];
  let state = seed >>> 0;
  return Array.from({ length: size }, () => {
    // A linear congruential generator: any choice will do, as long as the seed tells it.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const [chosen] = left.splice(Math.floor((state / 2 ** 32) * left.length), 1);
    return chosen;
  }).filter((one) => one !== undefined);
}

/** Holds the diagnostics of loading against the case; with an analysis expected, only its warnings. */
export function compareDiagnostics(expect: Expectation, found: readonly FoundDiagnostic[]): void {
  compareErrors(expect, found);
  if (!('errors' in expect) || expect.warnings === undefined) return;
  const warnings = found.filter(({ severity, code }) => severity === 'warning' && LOADING_WARNINGS.has(code));
  assert.deepEqual(warnings.map(located), expect.warnings);
}

function compareErrors(expect: Expectation, found: readonly FoundDiagnostic[]): void {
  const errors = found.filter(({ severity }) => severity === 'error').map(located);
  assert.deepEqual(errors, 'diagnostics' in expect ? expect.diagnostics : []);
}

/** Holds what loading and the linter say together against the case: the linter may say more than it names. */
export function compareChecked(expect: Expectation, found: readonly FoundDiagnostic[]): void {
  compareErrors(expect, found);
  if (!('errors' in expect)) return;
  const codes = found.map(({ code }) => code);
  const wanted = [...(expect.lint ?? []), ...(expect.warnings ?? []).map(({ code }) => code)];
  assert.deepEqual(
    wanted.filter((code) => !codes.includes(code)),
    [],
    `only ${codes.join(', ')}`,
  );
}

/** Holds an analysis against the case. Only what the case speaks about is compared. */
export function compareAnalysis(expect: ExpectedAnalysis, found: FoundAnalysis): void {
  compareList(expect.errors, found.errors);
  compareList(expect.undecided, found.undecided);
}

/** Holds a decision about pending events against the case. */
export function compareDecision({ decision }: ExpectedDecision, found: FoundDecision): void {
  compareList(decision.reasons, found.reasons);
  if (decision.warnings !== undefined) compareList(decision.warnings, found.warnings);
  assert.equal(found.verdict, decision.verdict);
}

function compareList(expected: readonly JsonObject[], found: readonly object[]): void {
  assert.deepEqual(plain(found.map(spokenOf(expected))), expected);
}

/** The paths of the events that each expected finding binds, in the order of its variables. */
export function boundEvents(expected: readonly JsonObject[]): readonly (readonly Json[])[] {
  return expected.map(({ events }) =>
    typeof events === 'object' && events !== null ? Object.values(events) : [],
  );
}

/** Whether every finding says what it is about: then findings can be compared by that alone. */
export function namesEvents(expect: ExpectedAnalysis): boolean {
  return [...expect.errors, ...expect.undecided].every((finding) => 'events' in finding);
}

function located({ code, line, column, endLine, endColumn }: FoundDiagnostic): ExpectedDiagnostic {
  return { code, line, column, endLine, endColumn };
}

function spokenOf(expected: readonly JsonObject[]): (found: object, index: number) => object {
  return (found, index) => {
    const keys = Object.keys(expected[index] ?? {});
    return Object.fromEntries(
      Object.entries(found).filter(([key]) => keys.length === 0 || keys.includes(key)),
    );
  };
}

/** As it is written: what has a prototype of its own inside, or none, is compared by its keys. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

// ── what is covered ───────────────────────────────────────────────────────────────────────────────────────────

/** A sentence of the specification, in our own words, and the cases that hold it. */
export interface CoveredSentence {
  readonly section: string;
  readonly mark: 'compat' | 'quirk' | 'bug';
  readonly sentence: string;
  readonly cases: readonly string[];
}

export function coveredSentences(): readonly CoveredSentence[] {
  const { sentences }: { readonly sentences: readonly CoveredSentence[] } = JSON.parse(
    readFileSync(new URL('coverage.json', FOLDER), 'utf8'),
  );
  return sentences;
}

/** The sections and how many cases each has, as the table of the README. */
export function sectionTable(cases: readonly ConformanceCase[]): string {
  const counts = new Map<string, { all: number; differences: number }>();
  for (const { section, difference } of cases) {
    const count = counts.get(section) ?? { all: 0, differences: 0 };
    counts.set(section, {
      all: count.all + 1,
      differences: count.differences + (difference === true ? 1 : 0),
    });
  }
  const rows = [...counts].sort(([a], [b]) => compareSections(a, b));
  return [
    '| section | cases | of these differences |',
    '|---|---|---|',
    ...rows.map(([section, { all, differences }]) => `| ${section} | ${all} | ${differences} |`),
    `| all | ${cases.length} | ${cases.filter(({ difference }) => difference === true).length} |`,
  ].join('\n');
}

function compareSections(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}
