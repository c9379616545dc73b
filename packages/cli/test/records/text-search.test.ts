import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SEED } from '../../../../tools/seed.ts';
import { rankedByWords } from '../../src/commands/records/text-search.ts';

const TEXTS = [
  'The flight to Turin leaves at nine',
  'Turin, turin and again Turin',
  'Café in São Paulo',
  'line one\nlineTwo "quoted" (and) NOT AND OR',
  'a\u0000b lone \ud800 surrogate',
  '东京 旅行',
];

function found(words: string, limit = 10): readonly number[] {
  return rankedByWords(
    TEXTS.map((text, item) => ({ item, text })),
    words,
    limit,
  ).map(({ item }) => item);
}

for (const [words, places] of [
  ['turin', [1, 0]],
  ['TURIN flight', [0]],
  ['flight turin', [0]],
  ['fli tur', [0]],
  ['light', []],
  ['cafe sao', [2]],
  ['CAFÉ', [2]],
  ['linetwo', [3]],
  ['lone surrogate', [4]],
  ['东京', [5]],
  ['NOT', [3]],
  ['turin NOT flight', []],
  ['', []],
  ['   ', []],
  ['"', []],
  ['*', []],
] as const) {
  test(`\`${words}\` is found in ${places.length === 0 ? 'none' : places.join(' and ')}`, () => {
    assert.deepEqual(found(words), places);
  });
}

test('at most so many are found', () => {
  assert.deepEqual(found('turin', 1), [1]);
  assert.deepEqual(found('turin', 0), []);
  assert.deepEqual(found('turin', Number.NaN), []);
});

test('the excerpt shows where the words are', () => {
  const [hit] = rankedByWords([{ item: 0, text: `${'before '.repeat(50)}needle after` }], 'needle', 1);
  assert.equal(hit?.excerpt.endsWith('[needle] after'), true);
  assert.equal(hit?.excerpt.startsWith('…'), true);
});

test('nothing that a person can type is an error', () => {
  const pieces = [
    '"',
    "'",
    '(',
    ')',
    '*',
    '^',
    ':',
    '-',
    '+',
    '{',
    '}',
    ',',
    '.',
    ' AND ',
    ' OR ',
    ' NOT ',
    'NEAR(',
    'text:',
    'rank',
    '\u0000',
    '\ud800',
    '\u0301',
    '\u200b',
    '\n',
    ';',
    '--',
    '/*',
    '\\',
    '%',
    '_',
    'ﬁ',
    '\ue000',
    '🙂',
    'turin',
    '١',
  ];
  let state = SEED | 1;
  for (let run = 0; run < 400; run++) {
    let words = '';
    for (let n = 0; n < 6; n++) {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      words += pieces[(state >>> 8) % pieces.length];
    }
    assert.doesNotThrow(() => found(words), `CORDON_SEED=${SEED} ${JSON.stringify(words)}`);
  }
});

test('a very long query and a very long text are cut and not refused', () => {
  assert.deepEqual(found(`${'turin '.repeat(100_000)}`), [1, 0]);
  const hits = rankedByWords([{ item: 0, text: `early ${'x '.repeat(200_000)} late` }], 'early', 1);
  assert.deepEqual(
    hits.map(({ item }) => item),
    [0],
  );
});
