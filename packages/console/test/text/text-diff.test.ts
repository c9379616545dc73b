import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { SEED } from '../../../../tools/seed.ts';
import { diffLines } from '../../src/text/text-diff.ts';

function told(before: string, after: string): readonly string[] {
  const marks = { place: '@', same: ' ', removed: '-', added: '+' };
  return diffLines(before, after).map(({ kind, text }) => marks[kind] + text);
}

test('equal texts have no difference', () => {
  assert.deepEqual(told('a\nb\n', 'a\nb\n'), []);
});

test('a changed line stands with its neighbours below its place', () => {
  const before = '1\n2\n3\n4\n5\n6\n7';
  assert.deepEqual(told(before, '1\n2\n3\nx\n5\n6\n7'), ['@line 2', ' 2', ' 3', '-4', '+x', ' 5', ' 6']);
});

test('changes that are far apart have places of their own', () => {
  const before = Array.from({ length: 20 }, (_, index) => `${index + 1}`).join('\n');
  const after = before.replace('\n3\n', '\n').replace('18', '18\n18b');
  assert.deepEqual(told(before, after), [
    ...['@line 1', ' 1', ' 2', '-3', ' 4', ' 5'],
    ...['@line 17', ' 17', ' 18', '+18b', ' 19', ' 20'],
  ]);
});

test('texts that have nothing in common differ as a whole', () => {
  const before = Array.from({ length: 2_000 }, (_, index) => `a${index}`);
  const after = Array.from({ length: 2_000 }, (_, index) => `b${index}`);
  assert.deepEqual(told(before.join('\n'), after.join('\n')), [
    '@line 1',
    ...before.map((line) => `-${line}`),
    ...after.map((line) => `+${line}`),
  ]);
});

const lines = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 }).map((list) => list.join('\n'));

test(`what is removed and added leads from one text to the other (CORDON_SEED=${SEED})`, () => {
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const steps = diffLines(before, after);
      const left = before.split('\n');
      const out: string[] = [];
      let line = 1;
      for (const { kind, text } of steps) {
        if (kind === 'place')
          for (const to = Number(text.slice(5)); line < to; line++) out.push(left.shift() ?? '?');
        else {
          if (kind !== 'removed') out.push(text);
          if (kind !== 'added') {
            assert.equal(left.shift(), text);
            line++;
          }
        }
      }
      assert.deepEqual([...out, ...left], after.split('\n'));
    }),
    { seed: SEED, numRuns: 500 },
  );
});
