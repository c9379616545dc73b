import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { findNames } from '../../src/pii/names/names.ts';
import { findForms, findPersonalData } from '../../src/pii/pii.ts';
import { growingFast, tried } from '../growth.ts';
import '../../../../tools/seed.ts';

const HOSTILE = [
  '@',
  'a@',
  'a@a.',
  '@a',
  'a@a@',
  'a.',
  '+',
  '+1',
  '(',
  '(0',
  '0',
  '1',
  '1 ',
  '1-',
  '01 ',
  '+49 ',
  '4111 ',
  '4111-1111',
  '12 Main ',
  '12 A ',
  'Via A ',
  'Am A 1, ',
  'straße 1',
  'straße ',
  ':',
  'a:',
  '::',
  'aa:',
  '1.',
  '1.1.1.',
  'DE89',
  'DE89 3704 ',
  'AB 12 ',
  'RSSMRA85',
  'born ',
  'born 1 ',
  'passport ',
  'passport no ',
  'P<',
  'P<UTO',
  '(at)',
  'a (at) a',
  'a (at) a (dot) ',
  'box ',
  'tel ',
  '2024-01-01 ',
  '5 rue de la ',
  '5 rue A ',
];
const NAMES = [
  'A',
  'Aa ',
  'A.',
  'Maria ',
  'Maria de la ',
  'Mr. ',
  'Mr. Will ',
  'New ',
  'New York ',
  'University of ',
  'Inc ',
  'A-',
  "A'A",
  'A and ',
  'I ',
  '\nA',
  'Dear Will ',
  'Ünïcode ',
];

test('no text makes the search for forms grow faster than the text', () => {
  assert.deepEqual(growingFast(findForms, tried(HOSTILE)), []);
});

test('no text makes the search for names grow faster than the text', () => {
  assert.deepEqual(growingFast(findNames, tried(NAMES)), []);
});

test('no text makes it fail, and findings are in order, apart from each other and within the text', () => {
  const piece = fc.oneof(fc.constantFrom(...HOSTILE, ...NAMES), fc.string(), fc.string({ unit: 'binary' }));
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join('');
      let last = 0;
      for (const { start, end } of findPersonalData(text)) {
        assert.ok(start < end && end <= text.length, JSON.stringify([start, end]));
        assert.ok(start >= last);
        last = end;
      }
    }),
    { numRuns: 300 },
  );
});
