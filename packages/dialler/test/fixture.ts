/** A hub's end of a dialling process, with the shell that starts it, as the launcher makes them. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type Dialling, openDialling, type Place, socketFolder } from '@cordon/testkit/dialling-process.ts';
import type { ProcessPlace } from '../src/client.ts';

/** A folder with a pipe, and nobody who starts anything. */
export function emptyPlace(context: TestContext): Place {
  const place = socketFolder();
  context.after(() => {
    place.leave();
    rmSync(place.folder, { recursive: true, force: true, maxRetries: 10 });
  });
  return place;
}

export interface Started extends Dialling {
  /** Of the dialling process that runs; null: none does. */
  readonly process: () => number | null;
}

export function start(context: TestContext, times: ProcessPlace['times'] = {}): Started {
  const dialling = openDialling(times);
  context.after(dialling.leave);
  return { ...dialling, process: () => childOf(dialling.pid) };
}

function childOf(parent: number): number | null {
  const listed = `/proc/${parent}/task/${parent}/children`;
  const [child] = existsSync(listed) ? readFileSync(listed, 'utf8').trim().split(' ') : [];
  return child === undefined || child === '' ? null : Number(child);
}

/** Sockets in the folder. */
export function sockets(folder: string): readonly string[] {
  return readdirSync(folder).filter((name) => name !== 'pipe');
}

/** A server of the test on loopback. */
export async function listening(
  context: TestContext,
  attend: (socket: Socket) => void,
): Promise<{ readonly port: number; readonly server: Server }> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined);
    attend(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => void server.close());
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return { port: address.port, server };
}

/** A port on loopback where the kernel completes no further connection: whoever listens there does not accept any. */
export async function stalled(context: TestContext): Promise<number> {
  const program = `
    const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
      require('node:fs').writeSync(1, String(server.address().port));
      process.kill(process.pid, 'SIGSTOP');
    });`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  context.after(() => child.kill('SIGKILL'));
  const [said] = await once(child.stdout, 'data');
  const port = Number(said);
  const waiting = Array.from({ length: 4 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
  context.after(() => waiting.map((socket) => socket.destroy()));
  await Promise.race(waiting.map((socket) => once(socket, 'connect')));
  return port;
}

/** Waits for what must come about; the test runner ends a test for which it does not. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await wait(5);
}
