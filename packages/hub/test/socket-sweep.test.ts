/** Sockets that killed hubs have left. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { sweepSockets } from '../src/socket-sweep.ts';

const HOUR_MS = 3_600_000;

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'cordon-sweep-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** As a hub leaves it that was killed. */
async function deadSocket(path: string): Promise<void> {
  const program = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => console.log('there'))`;
  const killed = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(killed.stdout, 'data');
  killed.kill('SIGKILL');
  await once(killed, 'close');
}

test('a socket whose hub was killed is taken away, and that of a hub that lives stays', async (t) => {
  const folder = folderOf(t);
  const dead = join(folder, '0123456789ab');
  const alive = join(folder, 'ba9876543210');
  await deadSocket(dead);
  const server = createServer().listen(alive);
  t.after(() => server.close());
  await once(server, 'listening');
  await sweepSockets(folder, Date.now() + HOUR_MS);
  assert.deepEqual([existsSync(dead), existsSync(alive)], [false, true]);
});

test('a socket that has just been made stays, whether or not anybody answers yet', async (t) => {
  const folder = folderOf(t);
  const dead = join(folder, '0123456789ab');
  await deadSocket(dead);
  await sweepSockets(folder);
  assert.equal(existsSync(dead), true);
});

test('what is no socket of the hub stays, and a folder that is not there is no fault', async (t) => {
  const folder = folderOf(t);
  const file = join(folder, '0123456789ab');
  const other = join(folder, 'agent.sock');
  writeFileSync(file, 'kept');
  await deadSocket(other);
  await sweepSockets(folder, Date.now() + HOUR_MS);
  await sweepSockets(join(folder, 'nowhere'));
  assert.deepEqual([existsSync(file), existsSync(other)], [true, true]);
});
