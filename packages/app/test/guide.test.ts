/**
 * The programs that the guide and the README print are run as they stand there.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { TemporaryFolder } from '@cordon/testkit/app-process.ts';
import { withClient } from '@cordon/testkit/official-client.ts';
import type { Client } from '@modelcontextprotocol/client';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
const GUIDE = join(PACKAGE, '../../docs/apps.md');

function blocks(file: string, language: string): readonly string[] {
  const found = readFileSync(file, 'utf8').matchAll(/^```(\w+)\n(.*?)^```$/gms);
  return [...found].filter(([, name]) => name === language).map(([, , text]) => text ?? '');
}

/** The program in a folder of its own that has this package installed, as an author's has. */
async function run(
  program: string | undefined,
  talk: (client: Client, folder: string) => Promise<void>,
): Promise<void> {
  assert.ok(program !== undefined);
  using folder = new TemporaryFolder();
  mkdirSync(join(folder.path, 'node_modules/@cordon'), { recursive: true });
  symlinkSync(PACKAGE, join(folder.path, 'node_modules/@cordon/app'));
  const script = join(folder.path, 'app.ts');
  writeFileSync(script, program);
  await withClient(script, folder.path, (client) => talk(client, folder.path));
}

test('the ten lines are no more than ten, and count words', async () => {
  const [program] = blocks(GUIDE, 'ts');
  assert.ok((program ?? '').split('\n').filter((line) => line !== '').length <= 10);
  await run(program, async (client) => {
    const result = await client.callTool({ name: 'count_words', arguments: { text: ' one  two three ' } });
    assert.deepEqual(result.structuredContent, { words: 3 });
  });
});

test('the program with state keeps notes', async () => {
  await run(blocks(GUIDE, 'ts')[1], async (client, folder) => {
    await client.callTool({ name: 'add_note', arguments: { note: 'first' } });
    const result = await client.callTool({ name: 'add_note', arguments: { note: 'second' } });
    assert.deepEqual(result.structuredContent, { notes: 2 });
    assert.deepEqual(JSON.parse(readFileSync(join(folder, 'notes.json'), 'utf8')), {
      notes: ['first', 'second'],
    });
  });
});

test('the program of the README adds', async () => {
  await run(blocks(join(PACKAGE, 'README.md'), 'ts')[0], async (client) => {
    const result = await client.callTool({ name: 'add', arguments: { a: 2, b: 3 } });
    assert.deepEqual(result.structuredContent, { sum: 5 });
  });
});

test('the configurations of the guide are JSON with apps in them', () => {
  const ids = blocks(GUIDE, 'json').map((text) => Object.keys(JSON.parse(text).apps));
  assert.deepEqual(ids, [['word-count'], ['mail'], ['haiku-writer'], ['files']]);
});
