/** The pages say what is so: the table of comparison has the attempts that there are, and the tables of layers those that there are. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { LAYER_NAMES, LAYERS } from '@cordon/sandbox';
import { attemptsIn, compared, renderComparison, replaceComparison } from './comparison.ts';
import { ATTEMPTS } from './escape/attempts.ts';

const PAGE = textOf('docs/isolation.md');

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

for (const name of ['README.md', 'docs/claims.md'])
  test(`${name} claims as many attempts as there are, and those that are known to get through`, () => {
    const known = ATTEMPTS.filter((attempt) => attempt.known !== undefined).length;
    const claim = `Cordon blocks ${ATTEMPTS.length - known} of ${ATTEMPTS.length} escape attempts`;
    assert.ok(textOf(name).includes(claim), claim);
  });

for (const name of LAYER_NAMES)
  test(`the page says of ${name} what the program says`, () => {
    const may = LAYERS[name].mayBeLeftOut === 'user' ? 'yes' : 'no';
    assert.ok(PAGE.includes(`| \`${name}\` | ${LAYERS[name].does} | ${LAYERS[name].without} | ${may} |`));
  });

test('the page of commands lists each layer that the user may leave out, and no other', () => {
  const text = textOf('docs/cli.md');
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

function textOf(name: string): string {
  return readFileSync(join(import.meta.dirname, '..', name), 'utf8');
}
