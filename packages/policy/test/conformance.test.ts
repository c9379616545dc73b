/**
 * Runs the language-neutral cases of `conformance/policy` against the analysis of whole traces, against a monitor that
 * is given one event after the other, and against the reference evaluator; and holds what is covered against the list
 * of what has to be.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Diagnostic } from '@cordon/core';
import { evaluate } from '@cordon/reference';
import {
  boundEvents,
  type ConformanceCase,
  compareAnalysis,
  compareDiagnostics,
  conformanceCases,
  coveredSentences,
  type ExpectedAnalysis,
  type FoundDiagnostic,
  namesEvents,
  policyText,
  sectionTable,
} from '../../../conformance/harness.ts';
import { decodeChat, loadPolicy, type Policy } from '../src/index.ts';

const CASES = conformanceCases();

for (const one of CASES) test(`${one.file}: ${one.name}`, () => run(one));

function run(one: ConformanceCase): void {
  const { dialect = 'cordon', parameters = {}, trace = [], expect } = one;
  const policy = loadPolicy(policyText(one), { dialect });
  compareDiagnostics(expect, (policy.ok ? policy.value.warnings : policy.fault).map(found));
  if ('diagnostics' in expect || !policy.ok) return;
  const analysis = policy.value.analyze(trace, parameters);
  if ('fault' in expect) {
    assert.equal(analysis.ok ? null : analysis.fault.path, expect.fault.path);
    return;
  }
  assert.ok(analysis.ok, analysis.ok ? '' : JSON.stringify(analysis.fault));
  compareAnalysis(expect, analysis.value);
  oneByOne(one, expect, policy.value);
}

/** The same events, one at a time, and by trying every assignment. */
function oneByOne({ trace = [], parameters = {} }: ConformanceCase, expect: ExpectedAnalysis, policy: Policy): void {
  const events = decodeChat(trace);
  assert.ok(events.ok);
  const monitor = policy.monitor(parameters);
  for (const event of events.value) monitor.append([event]);
  const findings = monitor.findings().map(({ open, entries }) => ({
    isViolation: open === null,
    events: entries.flatMap((entry) => (entry === null ? [] : [entry.reference])),
  }));
  const outcomes = evaluate(policy, events.value, parameters).map(({ status, events }) => ({
    isViolation: status === 'violated',
    events: events.filter((event) => event !== null),
  }));
  assert.deepEqual(findings, outcomes);
  if (!namesEvents(expect)) return;
  const eventsOf = (isViolation: boolean) =>
    findings.filter((finding) => finding.isViolation === isViolation).map(({ events }) => events);
  assert.deepEqual(eventsOf(true), boundEvents(expect.errors));
  assert.deepEqual(eventsOf(false), boundEvents(expect.undecided));
}

function found({ code, severity, range }: Diagnostic): FoundDiagnostic {
  return { code, severity, ...(range ?? { line: 0, column: 0, endLine: 0, endColumn: 0 }) };
}
