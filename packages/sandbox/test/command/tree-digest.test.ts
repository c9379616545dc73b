import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { isLeftOut } from '../../../../tools/cases.ts';
import { digestSteps, digestTreeInPieces } from '../../src/command/tree-digest.ts';
import { digestTree } from '../../src/index.ts';
import { folder } from '../confined.ts';

type Files = Readonly<Record<string, string>>;

function tree(context: TestContext, files: Files): string {
  const root = folder(context);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

/** Names that sort otherwise without the `/` between them. */
const FILES: Files = {
  'a/b': 'one',
  'a-b': 'two',
  'a.b': '',
  a0: 'three',
  'a/b-c/d': 'four',
  'é/ü"': 'fünf',
};

test('a tree has the digest that it always had, in one go and in pieces', async (context) => {
  const root = tree(context, FILES);
  chmodSync(join(root, 'a0'), 0o755);
  const digest = 'a0c1c0a421bb0e08f7f8cba558b39d2838e20b4196cee1c43b926f278ef98982';
  const files = ['a-b', 'a.b', 'a/b', 'a/b-c/d', 'a0', 'é/ü"'];
  assert.deepEqual(digestTree(root), { ok: true, value: { digest, files, bytes: 20 } });
  assert.deepEqual(await digestTreeInPieces(root), digestTree(root));
  chmodSync(join(root, 'a0'), 0o644);
  const other = digestTree(root);
  assert.notEqual(other.ok && other.value.digest, digest);
});

/** The meaning of the digest, said at once. */
function digestOf(files: Files): string {
  const lines = Object.keys(files)
    .sort()
    .map((path) => `- ${files[path]?.length} ${hash('sha256', files[path] ?? '')} ${JSON.stringify(path)}\n`);
  return hash('sha256', `cordon-tree-1\n${lines.join('')}`);
}

test('a folder of many files, and a long file, are left off again and again', (context) => {
  if (isLeftOut(context)) return;
  const files = Object.fromEntries(
    Array.from({ length: 3_000 }, (_, n) => [`f${(n * 7) % 3_000}.js`, `${n}`]),
  );
  const root = tree(context, { ...files, long: 'x'.repeat(5 * 256 * 1024) });
  let pauses = 0;
  const steps = digestSteps(root);
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) pauses++;
  // Two while it is listed, one for each file, five for the long one.
  assert.equal(pauses, 2 + 3_000 + 5);
  assert.equal(step.value.digest, digestOf({ ...files, long: 'x'.repeat(5 * 256 * 1024) }));
});

test('links, and folders nested too deep, are refused; a tree as deep as may be is taken', async (context) => {
  const root = tree(context, { 'a/b': '' });
  symlinkSync('b', join(root, 'a', 'link'));
  const linked = await digestTreeInPieces(root);
  assert.equal(
    linked.ok ? '' : linked.fault.message,
    'the installed package is not accepted: `a/link` is a link or no file',
  );
  const nested = (depth: number) => digestTreeInPieces(tree(context, { [`${'d/'.repeat(depth)}f`]: '' }));
  assert.equal((await nested(48)).ok, true);
  const deep = await nested(49);
  assert.equal(
    deep.ok ? '' : deep.fault.message,
    'the installed package is not accepted: its folders are nested too deep',
  );
});
