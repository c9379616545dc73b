import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findHidden } from '../../src/hidden-text/hidden-text.ts';
import { growth, tried, workGrowth } from '../growth.ts';

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

test('no text makes the search grow faster than the text', () => {
  const slow = tried(HOSTILE).filter((unit) => growth(findHidden, unit, 8_000) > 9);
  // What a busy machine made look slow is measured again, longer.
  const again = slow.filter((unit) => workGrowth(findHidden, unit, 100_000) > 9);
  assert.deepEqual(again, []);
});
