/**
 * Phrases that readers stumbled over. None stands in the README, in the documents, or in what the program says: its
 * help, its messages and its questions. Decisions are records of their time, and stay as they were written.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { ROOT } from './imports.ts';
import { packageNames } from './topology.ts';

/** Each with what to write instead. */
const PHRASES: readonly (readonly [phrase: string, better: string])[] = [
  ['goes on with', 'resumes, continues with'],
  ['go on with', 'resume, continue with'],
  ['gone on with', 'resumed'],
  ['going on from', 'continuing from'],
  ['at their word', 'trust without review'],
  ['at its word', 'trust without review'],
  ['means no harm', 'is honest'],
  ['means harm', 'is malicious'],
  ['configured anew', 'reconfigured'],
  ['without your own', 'not counting time spent waiting for you'],
  ['ended without a word', 'returned an empty answer'],
  ['came to no answer', 'ended without an answer'],
  ['is too much', 'unexpected arguments'],
  ['exclude each other', 'cannot be combined'],
  ['nobody is set up', 'no model or service is configured'],
  ['was agreed to', 'you agreed to it'],
  ['asked anew', 'asks again'],
  ['says of itself', 'the description of an app'],
  ['say of itself', 'the description of an app'],
  ['that is none', 'invalid'],
  ['that there is not', 'that does not exist'],
  ['in the place of', 'instead of'],
  ['are handed', 'get'],
  ['sees to', 'ends, handles'],
  ['yes for once', 'the answer “once”'],
  ['read strictly', 'has the strict default'],
  ['stands up to', 'resists'],
  ['no longer what it was', 'changed'],
  ['weak spots', 'limits'],
  ['loose words', 'vague words'],
  ['cannot be told', 'cannot be distinguished, is unknown'],
  ['need each other in a circle', 'circular definition'],
  ['counts on no detector', 'needs no detector'],
  ['the other is told', 'the remaining one is a documented gap'],
  ['the other one is documented', 'the remaining one is a documented gap'],
];

/** Decisions say what was thought when they were made. */
const LEFT_OUT: readonly string[] = ['docs/decisions/'];

/** Somebody reads these, or the program prints their literals. */
const TEXTS: readonly string[] = ['README.md', ...below('docs', '.md'), ...sources()];

test('there are documents and sources to look at', () => {
  assert.ok(TEXTS.some((path) => path === 'docs/cli.md'));
  assert.ok(TEXTS.some((path) => path === 'packages/cli/src/main.ts'));
});

for (const [phrase, better] of PHRASES)
  test(`nowhere stands “${phrase}”; write “${better}”`, () => {
    const pattern = new RegExp(`\\b${phrase}\\b`, 'i');
    const found = TEXTS.flatMap((path) =>
      readFileSync(join(ROOT, path), 'utf8')
        .split('\n')
        .flatMap((line, index) => (pattern.test(said(path, line)) ? [`${path}:${index + 1}`] : [])),
    );
    assert.deepEqual(found, []);
  });

test('a comment says nothing to a user, a literal does', () => {
  assert.equal(said('a.ts', "  say('resume'); // goes on"), "  say('resume');");
  assert.equal(said('a.ts', ' * goes on'), '');
  assert.equal(said('a.md', ' * goes on'), ' * goes on');
});

function said(path: string, line: string): string {
  if (!path.endsWith('.ts')) return line;
  return /^\s*(?:\/?\*|\/\/)/.test(line) ? '' : line.replace(/\s\/\/\s.*$/, '');
}

function sources(): readonly string[] {
  return packageNames().flatMap((name) => below(`packages/${name}/src`, '.ts'));
}

function below(folder: string, ending: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .filter((path) => !LEFT_OUT.some((left) => path.startsWith(left)));
}
