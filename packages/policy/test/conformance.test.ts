/**
 * Runs the language-neutral cases of `conformance/policy` against the analysis of whole traces, against a monitor that
 * is given one event after the other, and against the reference evaluator; and holds what is covered against the list
 * of what has to be.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Diagnostic, Json, JsonObject } from '@cordon/core';
import { analyze, decodeChat, ExplainingMonitor, lint } from '@cordon/policy-tools';
import { evaluate, evaluatePending, type Outcome } from '@cordon/reference';
import {
  boundEvents,
  type ConformanceCase,
  compareAnalysis,
  compareChecked,
  compareDecision,
  compareDiagnostics,
  conformanceCases,
  coveredSentences,
  type ExpectedAnalysis,
  type ExpectedDecision,
  type FoundDiagnostic,
  namesEvents,
  policyText,
  sectionTable,
} from '../../../conformance/harness.ts';
import { loadPolicy, type Policy, type TraceEvent } from '../src/index.ts';

const CASES = conformanceCases();

for (const one of CASES) test(`${one.file}: ${one.name}`, () => run(one));

function run(one: ConformanceCase): void {
  const { dialect = 'cordon', parameters = {}, trace = [], pending, expect } = one;
  const policy = loadPolicy(policyText(one), { dialect });
  compareDiagnostics(expect, (policy.ok ? policy.value.warnings : policy.fault).map(found));
  if ('diagnostics' in expect || !policy.ok) return;
  compareChecked(expect, [...policy.value.warnings, ...lint(policy.value)].map(found));
  if ('decision' in expect) {
    decide(policy.value, parameters, trace, pending, expect);
    return;
  }
  const analysis = analyze(policy.value, trace, parameters);
  if ('fault' in expect) {
    assert.equal(analysis.ok ? null : analysis.fault.path, expect.fault.path);
    return;
  }
  assert.ok(analysis.ok, analysis.ok ? '' : JSON.stringify(analysis.fault));
  compareAnalysis(expect, analysis.value);
  const events = decodeChat(trace);
  assert.ok(events.ok);
  tryEveryAssignment(policy.value, parameters, events.value, expect);
  watch(policy.value, parameters, events.value);
}

function decide(
  policy: Policy,
  parameters: JsonObject,
  trace: Json,
  pending: Json = [],
  expect: ExpectedDecision,
): void {
  assert.ok(Array.isArray(trace) && Array.isArray(pending));
  const past = decodeChat(trace);
  const all = decodeChat([...trace, ...pending]);
  assert.ok(past.ok && all.ok);
  const next = all.value.slice(past.value.length);
  const monitor = new ExplainingMonitor(policy, parameters);
  monitor.append(past.value);
  const decision = monitor.decide(next);
  compareDecision(expect, decision);
  const admitted = monitor.admit(next, 'not-needed');
  assert.deepEqual(admitted, decision);
}

/** The reference evaluator says the same. */
function tryEveryAssignment(
  policy: Policy,
  parameters: JsonObject,
  events: readonly TraceEvent[],
  expect: ExpectedAnalysis,
): void {
  const outcomes = evaluate(policy, events, parameters);
  const eventsOf = (status: Outcome['status']) =>
    outcomes
      .filter((outcome) => outcome.status === status)
      .map((outcome) => outcome.events.filter((event) => event !== null));
  if (namesEvents(expect)) {
    assert.deepEqual(eventsOf('violated'), boundEvents(expect.errors));
    assert.deepEqual(eventsOf('open'), boundEvents(expect.undecided));
  } else {
    assert.equal(eventsOf('violated').length, expect.errors.length);
    assert.equal(eventsOf('open').length, expect.undecided.length);
  }
}

/** Trying every assignment before and after each event is for short traces. */
const MAX_WATCHED = 16;

/** A monitor says after each event what trying every assignment says about it. */
function watch(policy: Policy, parameters: JsonObject, events: readonly TraceEvent[]): void {
  const monitor = policy.monitor(parameters);
  for (const [index, event] of events.slice(0, MAX_WATCHED).entries()) {
    const foreseen = monitor
      .evaluate([event])
      .findings.map(({ rule, open }) => ({ rule: rule.number, isViolation: open === null }));
    const outcomes = evaluatePending(policy, events.slice(0, index), [event], parameters);
    const expected = policy.rules.flatMap(({ number }) => {
      const own = outcomes.filter(({ rule }) => rule === number);
      return own.length === 0
        ? []
        : [{ rule: number, isViolation: own.some(({ status }) => status === 'violated') }];
    });
    assert.deepEqual(foreseen, expected, `after ${index} events`);
    monitor.append([event]);
  }
}

function found({ code, severity, range }: Diagnostic): FoundDiagnostic {
  return { code, severity, ...(range ?? { line: 0, column: 0, endLine: 0, endColumn: 0 }) };
}

// ── what is covered ───────────────────────────────────────────────────────────────────────────────────────────

const SECTIONS =
  '2.1 2.2 2.3 2.4 2.5 2.6 2.7 3 4.1 4.2 4.3 4.4 5.1 5.2 5.3 6.1 6.2 6.3 6.4 6.5 6.6 6.7 7 8 9 10 11 12 13.1 13.2 13.3 15';

const LEAST = 4;

test('every section of the specification that says what rules mean has cases', () => {
  const short = [...SECTIONS.split(' '), 'additions', 'undecided'].filter(
    (section) => CASES.filter((one) => one.section === section).length < LEAST,
  );
  assert.deepEqual(short, []);
});

test('no two cases have one name', () => {
  const names = CASES.map(({ name }) => name);
  assert.deepEqual(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  );
});

test('every marked sentence of the specification has cases, and they exist', () => {
  const names = new Set(CASES.map(({ name }) => name));
  const sentences = coveredSentences();
  assert.deepEqual(
    sentences.flatMap(({ cases }) => cases.filter((name) => !names.has(name))),
    [],
  );
  assert.deepEqual(
    sentences.filter(({ cases }) => cases.length === 0).map(({ sentence }) => sentence),
    [],
  );
  assert.ok(sentences.length >= 45);
});

test('the table of the README is that of the cases', () => {
  const readme = readFileSync(new URL('../../../conformance/policy/README.md', import.meta.url), 'utf8');
  const table = sectionTable(CASES);
  assert.ok(readme.includes(table), `the table is now\n${table}`);
});

test('the page about differences names every case that is one, and no other', () => {
  const page = readFileSync(new URL('../../../docs/policy/differences.md', import.meta.url), 'utf8');
  const named = [...page.matchAll(/^- cases: (.*)$/gm)].flatMap((line) =>
    [...(line[1] ?? '').matchAll(/“([^”]+)”/g)].map((name) => name[1] ?? ''),
  );
  const differences = CASES.filter(({ difference }) => difference === true).map(({ name }) => name);
  assert.deepEqual([...new Set(named)].sort(), differences.sort());
});
