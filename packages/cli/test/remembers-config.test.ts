import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadText, problemsOf } from './configuration-folder.ts';

function load(remembers: unknown) {
  return loadText(
    JSON.stringify({ apps: { bank: { command: 'node', args: ['bank.js'], manifest: { remembers } } } }),
  );
}

const BALANCE = { tool: 'account', at: 'total', schema: { type: 'number' } };

test('what a manifest remembers is read, with the keys that lead to it', () => {
  const loaded = load({
    balance: BALANCE,
    'due date': { ...BALANCE, at: ['due', 'on'], schema: { format: 'date' } },
  });
  assert.ok(loaded.ok);
  assert.deepEqual(loaded.value.apps[0]?.manifest.remembers, [
    { name: 'balance', tool: 'account', at: ['total'], schema: { type: 'number' } },
    { name: 'due date', tool: 'account', at: ['due', 'on'], schema: { format: 'date' } },
  ]);
});

test('a manifest that remembers nothing says nothing of it', () => {
  const loaded = loadText('{"apps": {"bank": {"command": "node"}}}');
  assert.equal(loaded.ok && loaded.value.apps[0]?.manifest.remembers, undefined);
});

for (const [name, remembers, code] of [
  ['any text', { note: { ...BALANCE, schema: { type: 'string' } } }, 'CFG044'],
  ['an open format', { note: { ...BALANCE, schema: { type: 'string', format: 'email' } } }, 'CFG044'],
  ['no schema', { note: { tool: 'account', at: 'total' } }, 'CFG007'],
  ['no keys', { note: { ...BALANCE, at: [] } }, 'CFG044'],
  ['a name that is none', { '1/x': BALANCE }, 'CFG044'],
  ['a name with an app in front', { 'mail/x': BALANCE }, 'CFG044'],
  ['a tool that is a sentence', { note: { ...BALANCE, tool: 'the account tool' } }, 'CFG044'],
  ['a key too many', { note: { ...BALANCE, into: 'memory' } }, 'CFG006'],
] as const) {
  test(`${name} is refused`, () => {
    const loaded = load(remembers);
    assert.equal(loaded.ok, false);
    assert.equal(JSON.stringify(problemsOf(loaded)).includes(code), true);
  });
}
