import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseAnswers } from '@cordon/config';
import { loadText, problemsOf, summary } from '@cordon/testkit/configuration-folder.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/cli.md'), 'utf8');
const SOURCES = ['cli', 'config', 'runtime', 'scan'].map((name) =>
  join(import.meta.dirname, '../..', name, 'src'),
);

function example(kind: string): string {
  const found = new RegExp(`^\`\`\`json ${kind}\n(.*?)^\`\`\`$`, 'ms').exec(PAGE)?.[1];
  if (found === undefined) throw new Error(`docs/cli.md has no example of ${kind}`);
  return found;
}

function codesIn(text: string): string[] {
  return [...new Set(text.match(/\b(CFG|ANS|PAR|TRC|TST)\d{3}\b/g))].sort();
}

test('the configuration of the page loads', () => {
  const environment = { TICKETS_TOKEN: 't', COMPANY_MODEL_KEY: 'k' };
  const loaded = loadText(example('cordon'), environment);
  assert.deepEqual(problemsOf(loaded), []);
  assert.deepEqual(loaded.ok ? loaded.value.apps.map(({ id }) => id) : [], [
    'notes',
    'haiku-writer',
    'tickets',
  ]);
});

test('the answers of the page parse', () => {
  const rules = parseAnswers('answers.json', example('answers'));
  assert.deepEqual(rules.ok ? [] : rules.fault.map(summary), []);
});

test('every code has a line on the page, and every line has its code', () => {
  const files = SOURCES.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  ).filter((name) => name.endsWith('.ts'));
  const used = codesIn(files.map((name) => readFileSync(name, 'utf8')).join('\n'));
  const table = PAGE.split('\n').filter((line) => /^\| (CFG|ANS|PAR|TRC|TST)\d/.test(line));
  assert.deepEqual(codesIn(table.join('\n')), used);
  assert.equal(table.length, used.length);
});
