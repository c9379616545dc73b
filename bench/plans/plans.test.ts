/** What is said of apps in each setting, one task that is played, and what the records come to. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, ModelRequest } from '@cordon/core';
import { createObedientModel } from '@cordon/obedient-model';
import type { ReplayApp } from '../runtime/run.ts';
import { appIn, modelIn, SETTINGS, type SettingId } from './setting.ts';
import { plansSuite } from './suite.ts';

const REQUEST = { isQuick: true, data: null, traces: null, labels: null, pairs: null };
const NEVER = new AbortController().signal;

function setting(id: SettingId) {
  const found = SETTINGS.find((one) => one.id === id);
  assert.ok(found !== undefined);
  return found;
}

async function prepared() {
  const suite = await plansSuite.prepare(REQUEST);
  assert.ok(suite.ok);
  return suite.value;
}

test('labels are those by hand, those that init proposes, or none', () => {
  const inputSchema = { type: 'object', properties: { to: { type: 'string' }, body: { type: 'string' } } };
  const byHand: ReplayApp = {
    id: 'mail',
    tools: [
      { name: 'read_mail', description: '', inputSchema: { type: 'object' } },
      { name: 'send_mail', description: '', inputSchema },
    ],
    answers: [],
    otherwise: '',
    manifest: { labels: [{ app: null, tool: '*', says: { irreversible: false } }] },
  };
  assert.equal(appIn(setting('written'), byHand), byHand);
  assert.deepEqual(appIn(setting('pasted'), byHand).manifest.labels, []);
  assert.deepEqual(appIn(setting('tools'), byHand).manifest.labels, [
    { app: null, tool: 'read_mail', says: { readOnly: true } },
    { app: null, tool: 'send_mail', says: { identifying: ['to'] } },
  ]);
});

test('where the plan names the app alone, nobody names a tool', async () => {
  const model = createObedientModel({ scenarios: [], variant: 'obedient' });
  assert.equal(modelIn(setting('tools'), model), model);
  const request: ModelRequest = { model: 'm', role: 'tool-planner', messages: [], tools: [] };
  const answer = await modelIn(setting('app'), model).complete(request, { signal: NEVER });
  assert.ok(answer.ok);
  assert.equal(answer.value.text, '{"uses":[]}');
});

test('a task is served by a plan that names tools of what was reviewed', async (t) => {
  const { units, close, report } = await prepared();
  t.after(close);
  const unit = units.find(({ key }) => key.startsWith('tools/benign/'));
  assert.ok(unit !== undefined);
  const record = await unit.run(NEVER);
  assert.equal(record.isServed, true);
  assert.deepEqual(record.attackers, []);
  const { tools } = report(new Map([[unit.key, record]])).result;
  assert.equal((tools as JsonObject).served, 1);
});

test('without a manifest one and a half times the questions are too many from there on', async (t) => {
  const { close, report } = await prepared();
  t.after(close);
  const records = (asked: number) =>
    new Map(
      [
        { setting: 'written', kind: 'benign', isServed: true, questions: 2, warned: 0 },
        { setting: 'tools', kind: 'benign', isServed: true, questions: asked, warned: 0 },
      ].map((record, index) => [String(index), record]),
    );
  const isMet = (asked: number) => report(records(asked)).aims.map((aim) => aim.isMet);
  assert.deepEqual(isMet(3), [true, true]);
  assert.deepEqual(isMet(4), [false, true]);
});
