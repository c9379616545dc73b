import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nameStretches, WordFilter } from '../../src/pii/names/name-stretches.ts';
import { findNames } from '../../src/pii/names/names.ts';
import { growingFast, tried } from '../growth.ts';
import '../../../../tools/seed.ts';

const NONE = { words: new WordFilter([]), isAnnounced: () => false, isTelling: () => false };
const ANNA = { ...NONE, words: new WordFilter(['anna']) };
/** Of words with capitals, with particles between them: what `findNames` looks at. */
const RUN =
  /\p{Lu}[\p{L}\p{M}]*(?:['’-]\p{L}[\p{L}\p{M}]*)*(?: (?:(?:van|de la|of) )?\p{Lu}[\p{L}\p{M}]*(?:['’-]\p{L}[\p{L}\p{M}]*)*){0,7}/gu;

const PIECE = fc.constantFrom(
  'Anna',
  'Zq',
  'Xavierine',
  'Ünal',
  "O'connellson",
  'Q-underlying',
  'van',
  'de la',
  'of',
  'underlying',
  'so',
  ' ',
  ' ',
  ' ',
  ', ',
  '\n',
  '(',
  '’s',
  '\u{1d400}',
  '\u0130',
);
const TEXT = fc.array(PIECE, { maxLength: 25 }).map((pieces) => pieces.join(''));

test('each run of words with capitals that holds a sign lies in one stretch, and no stretch ends within a run', () => {
  fc.assert(
    fc.property(TEXT, (text) => {
      const stretches = nameStretches(text, ANNA);
      for (const { 0: run, index } of text.matchAll(RUN)) {
        const around = stretches.find(({ start, end }) => start <= index && index < end);
        if (/(?<!\p{L})Anna(?!\p{L})/u.test(run)) assert.ok(around !== undefined, JSON.stringify(text));
        const behind = index + run.length;
        for (const { start } of stretches)
          assert.ok(start <= index || start >= behind, `${JSON.stringify(text)} is cut at ${start}`);
      }
    }),
    { numRuns: 5_000 },
  );
});

test('a text without signs of names has no stretches, and one with an announced name has', () => {
  assert.deepEqual(nameStretches('The Zq and Xy went home', NONE), []);
  assert.deepEqual(nameStretches('The Zq met Anna Xy (Qq)', ANNA), [{ start: 0, end: 17 }]);
  const places = (text: string) => findNames(text).map(({ start, end }) => text.slice(start, end));
  assert.deepEqual(places('my name is Qorvath'), ['Qorvath']);
  assert.deepEqual(places('so Qorvath Zemlin went'), []);
  assert.deepEqual(places('so Qorvath Zemlin, said the clerk'), ['Qorvath Zemlin']);
  assert.deepEqual(places('when Qorvath Zemlin said no'), ['Qorvath Zemlin']);
  assert.deepEqual(places('{"last_name": "Qorvath"}'), ['Qorvath']);
});

test('no text makes the search for names grow faster than the text', () => {
  const units = [
    'Anna ',
    'A',
    'Aa-',
    "Zq's ",
    'dear ',
    'Anna\n',
    '\u{1d400}',
    'Zq Zq Anna, ',
    'said A ',
    'é',
  ];
  assert.deepEqual(growingFast(findNames, tried(units)), []);
});
