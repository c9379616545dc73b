/** Recorded traces with the labels of a file: what rules see of calls and outputs. */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { ToolLabelEntry } from '@cordon/core';
import { loadPolicy } from '@cordon/policy';
import { analyzeEvents, decodeChat, TraceLabels } from '../../src/index.ts';

const TRACE = [
  { role: 'user', content: 'pay it' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [
      { id: 'a', type: 'function', function: { name: 'read_bill', arguments: { path: 'bill.txt' } } },
      {
        id: 'b',
        type: 'function',
        function: { name: 'pay', arguments: { to: 'X1', note: 'rent', cc: null } },
      },
    ],
  },
  { role: 'tool', tool_call_id: 'a', content: 'pay to X1' },
  { role: 'tool', tool_call_id: 'b', content: 'paid' },
];

const ENTRIES: readonly ToolLabelEntry[] = [
  { app: null, tool: 'read_*', says: { readOnly: true, outward: false, private: false } },
  { app: null, tool: 'pay', says: { identifying: ['to', 'cc'], untrusted: false } },
];

/** The paths of the calls or outputs for which the line holds. */
function holds(
  type: 'ToolCall' | 'ToolOutput',
  line: string,
  entries: readonly ToolLabelEntry[] | null,
): string[] {
  const policy = loadPolicy(`raise "x" if:\n    (e: ${type})\n    ${line}\n`);
  assert.ok(policy.ok, JSON.stringify(policy));
  const events = decodeChat(TRACE);
  assert.ok(events.ok);
  const labelled = entries === null ? events.value : new TraceLabels(entries).label(events.value);
  const { errors, undecided } = analyzeEvents(policy.value, labelled);
  assert.deepEqual(undecided, []);
  return errors.map(({ events: bound }) => bound.e ?? '');
}

const READ = '1.tool_calls.0';
const PAY = '1.tool_calls.1';

test('calls have what the file says of their tools', () => {
  assert.deepEqual(holds('ToolCall', 'e.read_only', ENTRIES), [READ]);
  assert.deepEqual(holds('ToolCall', 'e.outward', ENTRIES), [PAY]);
  assert.deepEqual(holds('ToolCall', 'e.irreversible', ENTRIES), [PAY]);
});

test('identifying arguments are those that the file names and the call has', () => {
  assert.deepEqual(holds('ToolCall', 'e.identifying == {to: "X1"}', ENTRIES), [PAY]);
  assert.deepEqual(holds('ToolCall', 'e.identifying == {path: "bill.txt"}', ENTRIES), [READ]);
});

test('outputs have the labels of the tool that gave them', () => {
  assert.deepEqual(holds('ToolOutput', '"untrusted" in e.labels', ENTRIES), ['2']);
  assert.deepEqual(holds('ToolOutput', '"private" in e.labels', ENTRIES), ['3']);
});

test('without a file nothing is known of a tool, and the strict reading holds', () => {
  assert.deepEqual(holds('ToolCall', 'e.read_only', null), []);
  assert.deepEqual(holds('ToolCall', 'e.outward', null), [READ, PAY]);
  assert.deepEqual(holds('ToolCall', 'e.identifying == {to: "X1", note: "rent"}', null), [PAY]);
  assert.deepEqual(holds('ToolOutput', '"untrusted" in e.labels', null), ['2', '3']);
});

test('a tool that the file does not name cannot be undone', () => {
  assert.deepEqual(holds('ToolCall', 'e.irreversible', []), [READ, PAY]);
});
