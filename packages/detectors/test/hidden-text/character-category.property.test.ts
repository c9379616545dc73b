import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { categoriesIn } from '../../src/hidden-text/character-category.ts';
import '../../../../tools/seed.ts';

test('categories cover a text from end to end, each where Unicode has it, and wanted ones are those of all', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
      const all = categoriesIn(text, null);
      assert.equal(all.map(({ start, end }) => text.slice(start, end)).join(''), text);
      for (const [index, { category, start, end }] of all.entries()) {
        assert.match(text.slice(start, end), new RegExp(`^\\p{${category}}+$`, 'u'));
        assert.notEqual(category, all[index + 1]?.category);
      }
      const letters = all.filter(({ category }) => category === 'Lo' || category === 'Cn');
      assert.deepEqual(categoriesIn(text, ['Cn', 'Lo']), letters);
    }),
    { numRuns: 2_000 },
  );
});

test('halves of pairs are surrogates, and pairs are what they stand for', () => {
  assert.deepEqual(categoriesIn('\ud800a\u{1f600}\udc00', null), [
    { category: 'Cs', start: 0, end: 1 },
    { category: 'Ll', start: 1, end: 2 },
    { category: 'So', start: 2, end: 4 },
    { category: 'Cs', start: 4, end: 5 },
  ]);
});
