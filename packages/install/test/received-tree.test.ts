import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { SEED } from '../../../tools/seed.ts';
import { receiveTree } from '../src/received-tree.ts';

const LIMITS = { files: 10, bytes: 1000, fileBytes: 600, depth: 4 };
const END = Buffer.alloc(4);

function entry(header: unknown, content = ''): Buffer {
  const text = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(text.length);
  return Buffer.concat([length, text, Buffer.from(content)]);
}

function file(path: string, content = '', more: object = {}): Buffer {
  return entry({ path, size: content.length, executable: false, ...more }, content);
}

function folder(context: TestContext): string {
  const root = mkdtempSync(join(tmpdir(), 'cordon-tree-'));
  mkdirSync(join(root, 'tree'));
  context.after(() => rmSync(root, { recursive: true, force: true }));
  return join(root, 'tree');
}

async function received(parts: readonly Buffer[], into: string, limits = LIMITS): Promise<string> {
  const tree = await receiveTree(Readable.from(parts), into, limits);
  return tree.ok ? 'accepted' : tree.fault.why;
}

test('files come as they were sent, whatever the pieces of the stream', async (context) => {
  const whole = Buffer.concat([
    file('report', 'about'),
    file('tree/a/b.js', 'one'),
    file('tree/run', '', { executable: true }),
    END,
  ]);
  for (const size of [1, 3, 7, 1000]) {
    const into = folder(context);
    const parts = Array.from({ length: Math.ceil(whole.length / size) }, (_, index) =>
      whole.subarray(index * size, (index + 1) * size),
    );
    const tree = await receiveTree(Readable.from(parts), into, LIMITS);
    assert.deepEqual(tree.ok && tree.value.report, 'about');
    assert.equal(readFileSync(join(into, 'a/b.js'), 'utf8'), 'one');
    assert.equal(statSync(join(into, 'run')).mode & 0o777, 0o755);
    assert.equal(statSync(join(into, 'a/b.js')).mode & 0o777, 0o644);
  }
});

const LEADING_OUT = [
  ...['tree/../out', 'tree/a/../../../out', '../out', '/out', 'tree//out', 'tree/', 'tree', 'out', ''],
  ...[
    'tree/./out',
    'tree/a\\..\\out',
    'tree/a\0b',
    'tree/a\nb',
    'tree/.',
    'tree/..',
    'report/out',
    '//tree/out',
  ],
];

for (const path of LEADING_OUT) {
  test(`the path ${JSON.stringify(path)} is refused and makes nothing`, async (context) => {
    const into = folder(context);
    assert.match(await received([file(path, 'x'), END], into), /leads out/);
    assert.deepEqual([readdirSync(into), readdirSync(join(into, '..'))], [[], ['tree']]);
  });
}

test('a name twice, a file that becomes a folder, and a folder that becomes a file are refused', async (context) => {
  for (const paths of [
    ['tree/a', 'tree/a'],
    ['tree/a', 'tree/a/b'],
    ['tree/a/b', 'tree/a'],
  ])
    assert.notEqual(await received([...paths.map((path) => file(path)), END], folder(context)), 'accepted');
  assert.equal(await received([file('tree/a'), file('tree/b/a'), END], folder(context)), 'accepted');
});

test('number, size, depth and length of names have limits', async (context) => {
  const many = Array.from({ length: 11 }, (_, index) => file(`tree/${index}`));
  assert.match(await received([...many, END], folder(context)), /more than 10 files/);
  assert.equal(await received([...many.slice(1), END], folder(context)), 'accepted');
  assert.match(await received([file('tree/a', 'x'.repeat(601)), END], folder(context)), /larger than/);
  const halves = [file('tree/a', 'x'.repeat(600)), file('tree/b', 'x'.repeat(401))];
  assert.match(await received([...halves, END], folder(context)), /larger than/);
  assert.match(await received([file('tree/a/b/c/d/e'), END], folder(context)), /too deep/);
  assert.match(await received([file(`tree/${'n'.repeat(256)}`), END], folder(context)), /too long/);
  assert.match(await received([entry('x'.repeat(9000))], folder(context)), /too long/);
});

test('what ends early or goes on behind its end is no tree', async (context) => {
  assert.equal(await received([file('tree/a', 'one')], folder(context)), 'it ended in the middle');
  assert.equal(
    await received([file('tree/a', 'one').subarray(0, -1)], folder(context)),
    'it ended in the middle',
  );
  assert.match(await received([END, file('tree/a')], folder(context)), /behind its end/);
  assert.match(await received([file('report', 'a'), file('report', 'b'), END], folder(context)), /report/);
});

test('headers that are none are refused', async (context) => {
  for (const header of ['', '[]', '1', 'null', '{', { path: 'tree/a' }, { path: 'tree/a', size: -1 }])
    if (header !== '') assert.match(await received([entry(header), END], folder(context)), /header/);
  for (const size of [1.5, 1e300, '1', null])
    assert.match(await received([entry({ path: 'tree/a', size }), END], folder(context)), /header/);
});

test('no stream of bytes writes beside the folder, or throws', async (context) => {
  const into = folder(context);
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
    fc.string({ maxLength: 20 }).map((path) => file(`tree/${path}`, 'x')),
    fc.constantFrom(file('tree/../../x', 'x'), file('../x', 'x'), END),
  );
  context.diagnostic(`CORDON_SEED=${SEED}`);
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 6 }), async (parts) => {
      await receiveTree(Readable.from(parts), into, { ...LIMITS, files: 1000, bytes: 1e6 });
      assert.deepEqual(readdirSync(join(into, '..')), ['tree']);
      assert.equal(existsSync(join(into, '../x')), false);
    }),
    { seed: SEED, numRuns: 200 },
  );
});
