import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findHidden } from '../../src/hidden-text/hidden-text.ts';
import { growingFast, tried } from '../growth.ts';

const HOSTILE = [
  '<!--',
  '<p hidden>',
  '</x>',
  '<',
  'a\u200e',
  '\u202e',
  '%69',
  '&#105;',
  'gur ',
  'eht dna ',
  'a ',
  '01010101',
  `${'QUJD'.repeat(19)}\n`,
  'QUJD',
  '[//]: # ((',
  'style="',
  '\\phantom{',
  '\u0430a',
  '\u0430\u0435\u043e\u0440 ',
  '\ud835\udc00',
  '49 ',
  '&#x',
  '\\u{',
  '.c{',
  '<style>',
  'ter ',
  'a.',
  'a b c d e f g h i j k! ',
  '\u0161',
  '4\u0161',
  'AAAAAAAAAAAAAAA.',
  '12 34 56 78 9a bc de f, ',
];

/** Characters: style sheets are cut after 100,000, encoded texts after 262,144. */
const SHORTEST = 5_000;

test('no text makes the search grow faster than the text', () => {
  assert.deepEqual(growingFast(findHidden, tried(HOSTILE), 9, SHORTEST), []);
});
