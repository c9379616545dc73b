/** What opening the sandbox of this machine leaves in the data folder. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { machineSandbox } from '../src/machine/machine-sandbox.ts';

function newFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'cordon-data-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function write(folder: string, name: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), 'x');
}

const COMPILED = ['v24.1.0-0123456789abcdef', 'draft-aB3xyz'];

test('compiled code where earlier versions kept it is removed', (t) => {
  const dataFolder = newFolder(t);
  for (const name of COMPILED) write(join(dataFolder, 'loop', name, 'inner'), 'code');
  write(join(dataFolder, 'compiled/loop'), 'code');
  machineSandbox({ dataFolder });
  assert.equal(existsSync(join(dataFolder, 'loop')), false);
  assert.equal(existsSync(join(dataFolder, 'compiled/loop/code')), true);
  machineSandbox({ dataFolder });
});

test('what somebody else keeps under that name stays', (t) => {
  const dataFolder = newFolder(t);
  const folder = join(dataFolder, 'loop');
  write(join(folder, COMPILED[0] ?? ''), 'code');
  write(join(folder, 'drafts'), 'mine.txt');
  write(folder, 'v1.txt');
  machineSandbox({ dataFolder });
  assert.deepEqual(readdirSync(folder).sort(), ['drafts', 'v1.txt']);
  assert.deepEqual(readdirSync(join(folder, 'drafts')), ['mine.txt']);
});

test('nothing is removed through a link', (t) => {
  const dataFolder = newFolder(t);
  const elsewhere = newFolder(t);
  for (const name of COMPILED) write(join(elsewhere, name), 'code');
  symlinkSync(elsewhere, join(dataFolder, 'loop'));
  machineSandbox({ dataFolder });
  assert.equal(readdirSync(elsewhere).length, 2);
});
