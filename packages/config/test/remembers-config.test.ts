import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ConfigurationFolder, loadText, problemsOf } from '@cordon/testkit/configuration-folder.ts';

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

const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/memory.md'), 'utf8');

function shown(kind: string): string {
  const text = new RegExp(`^\`\`\`json ${kind}\n(.*?)^\`\`\`$`, 'ms').exec(PAGE)?.[1];
  assert.notEqual(text, undefined);
  return text ?? '';
}

test('what docs/memory.md shows of a configuration and of a manifest is accepted', () => {
  using folder = new ConfigurationFolder();
  folder.write('own.json', shown('cordon'));
  const loaded = folder.load({}, { config: 'own.json' });
  assert.deepEqual(loaded.ok ? [] : problemsOf(loaded), []);
  assert.equal(loaded.ok && loaded.value.memory.summaries, 'extract');
  assert.equal(loaded.ok && loaded.value.memory.facts, 'patterns');
  assert.equal(loaded.ok && loaded.value.memory.history, 'app');
  assert.deepEqual(loaded.ok && loaded.value.memory.retention, {
    age: 365 * 86_400_000,
    bytes: 64 * 1024 * 1024,
  });
  const { remembers } = JSON.parse(shown('manifest'));
  assert.equal(load(remembers).ok, true);
});

for (const [name, memory, code] of [
  ['unknown summaries', { summaries: 'always' }, 'CFG042'],
  ['facts that nobody finds', { facts: 'all' }, 'CFG042'],
  ['a history that reaches nobody knows where', { history: 'everything' }, 'CFG042'],
  ['a limit of no days', { keepDays: 0 }, 'CFG015'],
  ['an unknown key', { keepHours: 3 }, 'CFG006'],
  ['a key in two places', { key: { env: 'A', file: 'b' } }, 'CFG043'],
  ['a key in no place', { key: {} }, 'CFG043'],
  ['a key as it is', { key: { env: 'correct horse battery staple' } }, 'CFG043'],
  ['an empty command', { key: { command: [] } }, 'CFG043'],
] as const) {
  test(`${name}: refused in \`memory\``, () => {
    using folder = new ConfigurationFolder();
    folder.write('own.json', JSON.stringify({ memory }));
    const loaded = folder.load({}, { config: 'own.json' });
    assert.equal(loaded.ok, false);
    assert.equal(JSON.stringify(problemsOf(loaded)).includes(code), true, JSON.stringify(problemsOf(loaded)));
  });
}

test('no app is handed the variable of the key unnoticed', () => {
  using folder = new ConfigurationFolder();
  const apps = { bank: { command: 'node', env: { K: '$' + '{env:CORDON_KEY}' } } };
  folder.write('own.json', JSON.stringify({ apps }));
  const loaded = folder.load({ CORDON_KEY: 'twelve chars' }, { config: 'own.json' });
  const found = loaded.ok ? loaded.value.warnings : loaded.fault;
  assert.equal(JSON.stringify(found).includes('CFG031'), true);
});
