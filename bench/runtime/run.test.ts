import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failed, fault, type Model } from '@cordon/core';
import { Runtime } from './run.ts';

const model: Model = { complete: () => assert.fail('nobody can ask it') };
const consent = { permission: () => assert.fail(), choose: () => assert.fail() };

test('a run whose processes cannot be confined is not measured as one that failed', async (context) => {
  const runtime = new Runtime({
    probe: async () => ({ ready: false, layers: [], absent: [], cached: false }),
    spawn: async () => failed(fault('sandbox-unavailable', 'no process can be confined now')),
  });
  context.after(() => runtime.close());
  const wanted = { apps: [], model, consent, said: [['Hello.']], isolation: 'none', packs: null } as const;
  await assert.rejects(runtime.run(wanted, new AbortController().signal), /no process can be confined now/);
});
