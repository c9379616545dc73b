/**
 * The examples of the library are programs that check themselves, and the pages that explain it quote them: what
 * stands there in a block of TypeScript is, line by line, a part of one of them.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const FOLDER = join(import.meta.dirname, '../library');
const PAGES = ['docs/policy/library.md', 'packages/policy/README.md', 'packages/policy-tools/README.md'];

const EXAMPLES = readdirSync(FOLDER).map((name) => ({
  name,
  text: readFileSync(join(FOLDER, name), 'utf8'),
}));

function page(path: string): string {
  return readFileSync(join(import.meta.dirname, '../../..', path), 'utf8');
}

function blocksOf(text: string): readonly string[] {
  return [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, inner = '']) => inner);
}

test('there are seven examples, none longer than a screen', () => {
  assert.equal(EXAMPLES.length, 7);
  assert.deepEqual(
    EXAMPLES.filter(({ text }) => text.split('\n').length > 40).map(({ name }) => name),
    [],
  );
});

for (const { name, text } of EXAMPLES) {
  test(`${name} runs, checks itself, and says nothing on the error output`, () => {
    const ran = spawnSync(process.execPath, [join(FOLDER, name)], { encoding: 'utf8', timeout: 300_000 });
    assert.deepEqual([ran.status, ran.stderr], [0, '']);
  });

  test(`${name} would notice`, () => {
    assert.match(text, /^assert\.(?:equal|deepEqual)\(/m);
  });
}

for (const path of PAGES) {
  test(`${path} quotes the examples as they are`, () => {
    const blocks = blocksOf(page(path));
    assert.ok(blocks.length > 0);
    const strange = blocks.filter((block) => !EXAMPLES.some(({ text }) => text.includes(block)));
    assert.deepEqual(strange, []);
  });
}

test('the page of the library quotes and links every example', () => {
  const text = page('docs/policy/library.md');
  const blocks = blocksOf(text);
  const missing = EXAMPLES.filter(
    (example) =>
      !blocks.some((block) => example.text.includes(block)) ||
      !text.includes(`examples/policy/library/${example.name})`),
  );
  assert.deepEqual(
    missing.map(({ name }) => name),
    [],
  );
});

for (const name of ['policy', 'policy-tools'])
  test(`the README of ${name} names everything that it exports`, async () => {
    const text = page(`packages/${name}/README.md`);
    const missing = Object.keys(await import(`@cordon/${name}`)).filter(
      (exported) => !new RegExp(`^\\| .*\`${exported}[\`(]`, 'm').test(text),
    );
    assert.deepEqual(missing, []);
  });

for (const [name, count] of [
  ['policy', 11],
  ['policy-tools', 2],
  ['regex', 2],
] as const)
  test(`the README of ${name} says the limits that its sources have`, () => {
    const text = page(`packages/${name}/README.md`);
    const rows = [...text.matchAll(/^\| .* \| (\d+) \| `([a-z/.-]+)` `([A-Z_]+)` \|$/gm)];
    assert.equal(rows.length, count);
    for (const [, said, file = '', constant] of rows) {
      const source = page(`packages/${name}/src/${file}`);
      const [, value = ''] =
        new RegExp(`^(?:export )?const ${constant} = ([\\d_ *]+);`, 'm').exec(source) ?? [];
      const factors = value.split('*').map((factor) => Number(factor.replaceAll('_', '')));
      const product = factors.reduce((all, factor) => all * factor, 1);
      assert.equal(product, Number(said), `${file} ${constant}`);
    }
  });

for (const name of ['policy', 'policy-tools'])
  test(`the README of ${name} names files that are there`, () => {
    const [, table = ''] = page(`packages/${name}/README.md`).split('## Where is what');
    const named = [...table.matchAll(/`([a-z/-]+(?:\.ts|\/))`/g)].map(([, path = '']) => path);
    assert.ok(named.length > 5);
    const folder = join(import.meta.dirname, '../../../packages', name, 'src');
    assert.deepEqual(
      named.filter((path) => !existsSync(join(folder, path))),
      [],
    );
  });
