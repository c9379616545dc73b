/**
 * A hub for tests of what is left when something dies: `NETWORK CACHE_FILE SOCKET_FOLDER SHOWN_FOLDER`. For each line of its input, a
 * marker, it starts an app that means to stay, and prints what became of that.
 */
import { chmodSync } from 'node:fs';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { checkPath, openSandbox, type SandboxSpec } from '../src/index.ts';
import { script } from './confined.ts';

const [kind = '', cacheFile = '', sockets = '', shown = ''] = process.argv.slice(2);
const sandbox = openSandbox({ node: process.execPath, cacheFile });
const host = checkPath(shown);
if (!host.ok) throw new Error(host.fault.message);
const mounts = [{ host: host.value, inside: '/shown', access: 'read' }] as const;

async function networkOf(marker: string): Promise<SandboxSpec['network']> {
  if (kind === 'handover') return { kind };
  if (kind !== 'proxy') return { kind: 'none' };
  const path = `${sockets}/${marker}`;
  await new Promise<void>((resolve) => createServer().listen(path, resolve));
  chmodSync(path, 0o777);
  const socket = checkPath(path);
  if (!socket.ok) throw new Error(socket.fault.message);
  return { kind, socket: socket.value };
}

/** Starts one more of itself, in a session of its own and with its streams, and both ignore what can be ignored. */
function stayer(marker: string): string {
  return `for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGPIPE']) process.on(name, () => {});
    if (process.argv[1] !== 'again') require('node:child_process').spawn(process.execPath,
      ['-e', 'setInterval(() => {}, 1000) // again ${marker}'], { detached: true, stdio: 'inherit' });
    console.log('runs'); setInterval(() => {}, 1000) // ${marker}`;
}

process.stdout.write(`${JSON.stringify({ ready: (await sandbox.probe()).ready })}\n`);
for await (const marker of createInterface({ input: process.stdin })) {
  const wanted = script(stayer(marker), { mounts, network: await networkOf(marker) });
  const started = await sandbox.spawn(wanted, new AbortController().signal);
  if (!started.ok) throw new Error(started.fault.message);
  const { stdout, exited, listener } = started.value;
  void listener?.then((taken) => taken?.unref());
  stdout?.once('data', () => process.stdout.write(`${JSON.stringify({ runs: marker })}\n`));
  const ended = new Promise((resolve) => stdout?.once('close', resolve));
  void Promise.all([exited, ended]).then(([{ cause }]) =>
    process.stdout.write(`${JSON.stringify({ ended: marker, cause })}\n`),
  );
}
