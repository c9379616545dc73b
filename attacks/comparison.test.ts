/** docs/isolation.md: its table was made for the attempts that there are, and its layers are those that there are. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { LAYER_NAMES, LAYERS } from '@cordon/sandbox';
import { attemptsIn, compared, renderComparison, replaceComparison } from './comparison.ts';
import { ATTEMPTS } from './escape/attempts.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../docs/isolation.md'), 'utf8');

test('the comparison on the page is of the attempts that there are; otherwise `npm run attacks:compare`', () => {
  assert.deepEqual(
    attemptsIn(PAGE),
    compared().map(({ id }) => id),
  );
});

test('on the page Cordon lets through what is known, and each of the others was tried', () => {
  const rows = [...PAGE.matchAll(/^\| `([\w-]+)` \|[^|\n]*\|([^|\n]*)\|(.*)\|$/gm)];
  const through = rows.filter(([, , cordon]) => cordon?.includes('through')).map(([, id]) => id);
  assert.deepEqual(through, ['mount-table']);
  assert.equal(
    rows.every(([, , , others]) => others?.split('|').every((cell) => cell.trim() !== '')),
    true,
  );
});

for (const page of ['README.md', 'docs/claims.md'])
  test(`${page} claims as many attempts as there are, and those that are known to get through`, () => {
    const known = ATTEMPTS.filter((attempt) => attempt.known !== undefined).length;
    const claim = `Cordon blocks ${ATTEMPTS.length - known} of ${ATTEMPTS.length} escape attempts`;
    const text = readFileSync(join(import.meta.dirname, '..', page), 'utf8');
    assert.ok(text.includes(claim), claim);
  });

for (const name of LAYER_NAMES)
  test(`the page says of ${name} what the program says`, () => {
    const may = LAYERS[name].mayBeLeftOut === 'user' ? 'yes' : 'no';
    assert.ok(PAGE.includes(`| \`${name}\` | ${LAYERS[name].does} | ${LAYERS[name].without} | ${may} |`));
  });

test('the page of commands lists each layer that the user may leave out, and no other', () => {
  const text = readFileSync(join(import.meta.dirname, '../docs/cli.md'), 'utf8');
  for (const name of LAYER_NAMES) {
    const row = `| \`${name}\` | ${LAYERS[name].without} |`;
    assert.equal(text.includes(row), LAYERS[name].mayBeLeftOut === 'user', row);
  }
});

test('the table is put between its marks and nowhere else', () => {
  const [attempt] = compared();
  const outcomes = new Map([[attempt?.id ?? '', { outcome: { kind: 'stopped', by: 'ENOENT' } as const }]]);
  const table = renderComparison([{ name: 'Cordon', version: '', outcomes }], 'Linux');
  const page = replaceComparison(`before\n${table}\nafter`, table);
  assert.equal(page, `before\n${table}\nafter`);
  assert.match(table, /^\| `user-key` \| reads the user's SSH key \| ENOENT \* \|$/m);
  assert.throws(() => replaceComparison('no marks', table), /no marks/);
});
