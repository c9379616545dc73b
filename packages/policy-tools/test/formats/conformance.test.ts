/** Runs the language-neutral cases of `conformance/traces`. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Json } from '@cordon/core';
import type { TraceEvent } from '@cordon/policy';
import { readTrace, type TraceFault, type TraceFormat } from '../../src/index.ts';
import { misplaced, valueAt } from './place.ts';

interface Case {
  readonly name: string;
  readonly trace: Json;
  readonly expect: { readonly events: readonly TraceEvent[] } | { readonly fault: TraceFault };
}

const FOLDER = new URL('../../../../conformance/traces/', import.meta.url);

for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.json'))) {
  const { format, cases }: { format: TraceFormat; cases: readonly Case[] } = JSON.parse(
    readFileSync(new URL(file, FOLDER), 'utf8'),
  );
  for (const one of cases) {
    test(`${format}: ${one.name}`, () => run(format, one));
  }
}

function run(format: TraceFormat, { trace, expect }: Case): void {
  const before = JSON.stringify(trace);
  const told = readTrace(trace, { format });
  const recognised = readTrace(trace);
  assert.equal(JSON.stringify(trace), before, 'the input is not changed');
  if ('fault' in expect) {
    assert.deepEqual(told, { ok: false, fault: expect.fault });
    const message = `read as ${format}: ${expect.fault.message}`;
    assert.deepEqual(recognised, { ok: false, fault: { path: expect.fault.path, message } });
    assert.notEqual(valueAt(trace, expect.fault.path), undefined);
    return;
  }
  assert.deepEqual(told, { ok: true, value: { format, events: expect.events } });
  assert.deepEqual(recognised, told);
  assert.deepEqual(
    expect.events.flatMap((event) => misplaced(trace, event)),
    [],
  );
}
