/**
 * The table of the two papers (docs/papers.md), held against the repository: each state is one of four words, each quoted
 * test stands in a test file that its row links, each reference has a file. Inline links: snippets.test.ts.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from './imports.ts';

const PAGE = readFileSync(join(ROOT, 'docs/papers.md'), 'utf8');

const STATES = ['works', 'differs', 'partial', 'missing'] as const;
type State = (typeof STATES)[number];

interface Row {
  /** Section of the paper, and which item of it. */
  readonly item: string;
  readonly shown: string;
  /** The first word of the last cell. */
  readonly state: string;
  /** What stands behind it; empty: nothing. */
  readonly reason: string;
}

const HEADER = '| § | the paper | here | shown by | state |';
const TABLE_LINES = PAGE.split('\n').filter((line) => line.startsWith('| ') && line !== HEADER);
const CELLS = TABLE_LINES.map((line) => line.slice(2, -2).split(' | '));
const ROWS: readonly Row[] = CELLS.map(([item = '', , , shown = '', state = '']) => {
  const [word = '', ...reason] = state.split(': ');
  return { item, shown, state: word, reason: reason.join(': ') };
});

/** Files by the names that rows link them with, relative to the repository. */
const FILES: ReadonlyMap<string, string> = new Map(
  [...PAGE.matchAll(/^\[([\w.-]+)\]: (\S+)$/gm)].map(([, name = '', path = '']) => [
    name,
    join('docs', path),
  ]),
);

/** The names in brackets, without those of inline links and those in quoted test names. */
function referencesIn(text: string): readonly string[] {
  const unquoted = text.replace(/“[^”]*”/g, '');
  return [...unquoted.matchAll(/\[([\w.-]+)\](?!\()/g)].map(([, name = '']) => name);
}

test('each row has five cells, and its item is there once', () => {
  assert.ok(ROWS.length > 150);
  assert.deepEqual(
    CELLS.filter((cells) => cells.length !== 5),
    [],
  );
  const items = ROWS.map(({ item }) => item);
  assert.deepEqual(
    items.filter((item, index) => items.indexOf(item) !== index),
    [],
  );
});

test('each state is one of four words, with a reason where it differs or is partial', (t) => {
  const unsound = ROWS.filter(
    ({ state, reason }) =>
      !isState(state) || (state === 'differs' || state === 'partial') !== (reason !== ''),
  );
  assert.deepEqual(unsound, []);
  for (const state of STATES)
    t.diagnostic(`${state}: ${ROWS.filter((row) => row.state === state).length} of ${ROWS.length}`);
});

function isState(word: string): word is State {
  return STATES.some((state) => state === word);
}

test('each reference has a file, and each file a reference', () => {
  const used = new Set(TABLE_LINES.flatMap(referencesIn));
  assert.deepEqual([...used].sort(), [...FILES.keys()].sort());
  const lost = [...FILES.values()].filter((path) => !existsSync(join(ROOT, path)));
  assert.deepEqual(lost, []);
});

test('what works, or differs on purpose, is shown by a test, and nothing else stands in that cell', () => {
  const unshown = ROWS.filter(({ state, shown }) => {
    const tests = referencesIn(shown).map((name) => FILES.get(name) ?? '');
    const isNeeded = state === 'works' || state === 'differs';
    return (isNeeded && tests.length === 0) || !tests.every(isTest);
  });
  assert.deepEqual(unshown, []);
});

/** The cases of the rule language are tests, too: each runs under its name. */
function isTest(path: string): boolean {
  return path.endsWith('.test.ts') || /^conformance\/policy\/\w+\.json$/.test(path);
}

test('each quoted test stands in a test file of its row', () => {
  const unknown = ROWS.flatMap(({ item, shown }) => {
    const texts = referencesIn(shown).map((name) => readFileSync(join(ROOT, FILES.get(name) ?? ''), 'utf8'));
    return [...shown.matchAll(/“([^”]*)”/g)]
      .filter(([, name = '']) => !texts.some((text) => text.includes(name)))
      .map(([quoted]) => `${item}: ${quoted}`);
  });
  assert.deepEqual(unknown, []);
});
