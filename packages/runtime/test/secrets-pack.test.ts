import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CalledLabels } from '@cordon/core';
import type { TraceEvent } from '@cordon/policy';
import { ExplainingMonitor } from '@cordon/policy-tools';
import { readPolicies } from '../src/rules/policies.ts';

const KEY = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';

/** What the pack says of a search with a key in it, by what is known of the tool. */
function verdictOn(tool: CalledLabels, query: string): string {
  const policy = readPolicies({ packs: ['secrets'], files: [] });
  assert.ok(policy.ok);
  const call: TraceEvent = {
    id: 'call',
    context: 'c',
    app: 'web',
    causes: [],
    type: 'ToolCall',
    callId: 'call',
    kind: 'function',
    name: 'search',
    arguments: { query },
    tool,
  };
  return new ExplainingMonitor(policy.value).decide([call]).verdict;
}

test('a search that only its app calls read-only does not get a key; one that the user says stays here may', () => {
  const hinted = { readOnly: false, outward: false, identifying: null, mayLeave: true };
  assert.equal(verdictOn(hinted, KEY), 'deny');
  assert.equal(verdictOn(hinted, 'weather'), 'allow');
  assert.equal(verdictOn({ readOnly: true, outward: false, identifying: null }, KEY), 'allow');
});
