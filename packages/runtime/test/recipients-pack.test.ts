/** What the pack `recipients` says of what can be undone and may reach others: an invitation, a member of a channel. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '@cordon/core';
import type { TraceEvent } from '@cordon/policy';
import { ExplainingMonitor } from '@cordon/policy-tools';
import { readPolicies } from '../src/rules/policies.ts';

const FRAME = { context: 'c', app: 'calendar', causes: [] } as const;

/** Rules that speak of an invitation of these guests, after the user's words and what an app returned. */
function rulesOn(
  said: string,
  returned: string,
  guests: Json,
  isLabelledAsOutward: boolean | null,
): string[] {
  const policy = readPolicies({ packs: ['recipients'], files: [] });
  assert.ok(policy.ok);
  const outward = isLabelledAsOutward ?? false;
  const events: readonly TraceEvent[] = [
    {
      ...FRAME,
      id: 'query',
      type: 'Message',
      role: 'user',
      content: said,
      toolCalls: [],
      label: { integrity: 'trusted', confidentiality: 'private' },
    },
    {
      ...FRAME,
      id: 'output',
      type: 'ToolOutput',
      role: 'tool',
      callId: 'read',
      content: returned,
      structured: null,
      isError: false,
      label: { integrity: 'untrusted', confidentiality: 'private' },
    },
    {
      ...FRAME,
      id: 'call',
      type: 'ToolCall',
      callId: 'call',
      kind: 'function',
      name: 'invite',
      arguments: { title: 'Intro', guests },
      tool: {
        readOnly: false,
        outward,
        identifying: ['guests'],
        ...(isLabelledAsOutward === null ? { mayLeave: true } : {}),
      },
      irreversible: false,
    },
  ];
  const monitor = new ExplainingMonitor(policy.value);
  monitor.append(events.slice(0, -1));
  return monitor.decide(events.slice(-1)).reasons.map(({ rule }) => String(rule).replace(/^.*\//, ''));
}

const MAIL = 'Hello, meet me on the 30th, I am mark@example.com.';

test('a guest who stands only inside of a text of others is asked about, though the invitation can be undone', () => {
  assert.deepEqual(rulesOn('what is new?', MAIL, ['mark@example.com'], null), [
    'name-of-a-text-in-what-can-be-undone',
  ]);
});

test('a guest whom the user named, or an app keeps, or the model made up, is not', () => {
  assert.deepEqual(rulesOn('invite mark@example.com', MAIL, ['mark@example.com'], null), []);
  assert.deepEqual(
    rulesOn('invite Mark', '- name: Mark\n  mail: mark@example.com', ['mark@example.com'], null),
    [],
  );
  assert.deepEqual(rulesOn('invite Ada', MAIL, ['ada@example.org'], null), []);
});

test('what is said is no name, and what the user’s labels keep here is left alone', () => {
  const long = `${MAIL} `.repeat(3);
  assert.deepEqual(rulesOn('what is new?', long, [long.trim()], null), []);
  assert.deepEqual(rulesOn('what is new?', MAIL, ['mark@example.com'], false), []);
});
