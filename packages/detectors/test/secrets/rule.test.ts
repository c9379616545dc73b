import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadPolicy } from '@cordon/policy';
import { analyze } from '@cordon/policy-tools';
import { standardDetectors } from '../../src/library/standard-library.ts';

function ranges(line: string, trace: unknown): readonly string[] {
  const text = `from invariant.detectors import secrets\nraise "x" if:\n    (e: ${line}\n`;
  const policy = loadPolicy(text, { detectors: standardDetectors() });
  assert.ok(policy.ok, JSON.stringify(policy.ok ? null : policy.fault));
  const analysis = analyze(policy.value, trace);
  assert.ok(analysis.ok);
  return analysis.value.errors.flatMap((error) => error.ranges);
}

test('secrets looks into objects and calls, and marks what it finds', () => {
  const key = 'AKIAABCDEFGHIJKLMNOP';
  const call = { id: '1', type: 'function', function: { name: 'f', arguments: { a: { b: key } } } };
  const marked = ['0', `0.function.arguments.a.b:0-${key.length}`];
  assert.deepEqual(ranges('ToolCall)\n    any(secrets(e))', [call]), marked);
  assert.deepEqual(ranges('ToolCall)\n    any(secrets(e.function.arguments))', [call]), marked);
  assert.deepEqual(ranges('ToolCall)\n    any(secrets(e.function.name))', [call]), []);
});
