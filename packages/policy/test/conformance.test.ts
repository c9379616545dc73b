/**
 * Runs the language-neutral cases of `conformance/policy` against the monitor's analysis and against the
 * reference evaluator.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Json, JsonObject } from '@cordon/core';
import { evaluate } from '@cordon/reference';
import { analyze, decodeChat, loadPolicy } from '../src/index.ts';

interface Case {
  readonly name: string;
  readonly policy: readonly string[];
  readonly dialect?: 'cordon' | 'invariant';
  readonly parameters?: JsonObject;
  readonly trace?: Json;
  readonly expect:
    | { readonly errors: readonly JsonObject[]; readonly undecided: readonly JsonObject[] }
    | { readonly diagnostics: readonly JsonObject[] }
    | { readonly fault: { readonly path: string } };
}

const FOLDER = new URL('../../../conformance/policy/', import.meta.url);

for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.json'))) {
  const { cases }: { cases: readonly Case[] } = JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8'));
  for (const one of cases) test(`${file}: ${one.name}`, () => run(one));
}

function run({ policy: lines, dialect = 'cordon', parameters = {}, trace = [], expect }: Case): void {
  const policy = loadPolicy(lines.join('\n'), { dialect });
  if ('diagnostics' in expect) {
    const found = policy.ok ? [] : policy.fault.filter((diagnostic) => diagnostic.severity === 'error');
    assert.deepEqual(
      found.map(({ code, range }) => ({ code, ...range })),
      expect.diagnostics,
    );
    return;
  }
  assert.ok(policy.ok, policy.ok ? '' : JSON.stringify(policy.fault, null, 2));
  const analysis = analyze(policy.value, trace, parameters);
  if ('fault' in expect) {
    assert.equal(analysis.ok ? null : analysis.fault.path, expect.fault.path);
    return;
  }
  assert.ok(analysis.ok, analysis.ok ? '' : JSON.stringify(analysis.fault));
  assert.deepEqual(analysis.value.errors.map(picked(expect.errors)), expect.errors);
  assert.deepEqual(analysis.value.undecided.map(picked(expect.undecided)), expect.undecided);

  const events = decodeChat(trace);
  assert.ok(events.ok);
  const outcomes = evaluate(policy.value, events.value, parameters);
  const eventsOf = (status: 'violated' | 'open') =>
    outcomes
      .filter((outcome) => outcome.status === status)
      .map((outcome) => outcome.events.filter((event) => event !== null));
  assert.deepEqual(eventsOf('violated'), expect.errors.map(boundEvents));
  assert.deepEqual(eventsOf('open'), expect.undecided.map(boundEvents));
}

/** Only what a case speaks about is compared. */
function picked(expected: readonly JsonObject[]): (found: object, index: number) => object {
  return (found, index) => {
    const keys = Object.keys(expected[index] ?? {});
    return Object.fromEntries(
      Object.entries(found).filter(([key]) => keys.length === 0 || keys.includes(key)),
    );
  };
}

function boundEvents(expected: JsonObject): readonly Json[] {
  const { events } = expected;
  return typeof events === 'object' && events !== null ? Object.values(events) : [];
}
