import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findHidden } from '../../src/hidden-text/hidden-text.ts';
import { growth, workGrowth } from '../growth.ts';

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
];

test('no text makes the search grow faster than the text', () => {
  const slow = HOSTILE.filter((unit) => growth(findHidden, unit, 8_000) > 9);
  // What a busy machine made look slow is measured again, longer.
  const again = slow.filter((unit) => workGrowth(findHidden, unit, 100_000) > 9);
  assert.deepEqual(again, []);
});
