/** The examples of docs/policy/traces.md are read, and give the events that stand under them. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { TraceEvent } from '@cordon/policy';
import { readTrace } from '../../src/index.ts';

const PAGE = readFileSync(new URL('../../../../docs/policy/traces.md', import.meta.url), 'utf8');
const EXAMPLE = /```json\n(.*?)```\n\n```text\n(.*?)```/gs;

test('every example of the page becomes the events under it', () => {
  const examples = [...PAGE.matchAll(EXAMPLE)];
  assert.equal(examples.length, 8);
  for (const [, json = '', events = ''] of examples) {
    const read = readTrace(JSON.parse(json));
    assert.ok(read.ok, read.ok ? '' : JSON.stringify(read.fault));
    const names = new Map<string, string>();
    assert.equal(aligned(read.value.events.flatMap((event) => rowsOf(event, names))), events);
  }
});

type Row = readonly [path: string, what: string, content: string];

function rowsOf(event: TraceEvent, names: Map<string, string>): readonly Row[] {
  const path = event.path ?? '';
  switch (event.type) {
    case 'Message': {
      const calls = event.toolCalls.flatMap((call) => rowsOf(call, names));
      return [[path, `Message ${event.role}`, shown(event.content)], ...calls];
    }
    case 'ToolCall':
      if (event.callId !== null) names.set(event.callId, event.name);
      return [[path, `ToolCall ${event.name}`, shown(event.arguments)]];
    case 'ToolOutput':
      return [[path, `ToolOutput ${names.get(event.callId ?? '') ?? ''}`.trim(), shown(event.content)]];
    case 'Egress':
      return [[path, 'Egress', event.host]];
    default:
      return [[path, event.type, '']];
  }
}

function shown(content: unknown): string {
  return typeof content === 'string' ? content : JSON.stringify(content);
}

function aligned(rows: readonly Row[]): string {
  const width = (column: 0 | 1) => Math.max(...rows.map((row) => row[column].length));
  const [first, second] = [width(0), width(1)];
  return rows
    .map(([path, what, content]) => `${path.padEnd(first)}  ${what.padEnd(second)}  ${content}\n`)
    .join('');
}
