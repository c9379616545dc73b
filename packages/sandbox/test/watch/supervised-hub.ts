/**
 * A hub for tests of what is left when something dies: `NETWORK CACHE_FILE SHOWN_FOLDER`. For each line of its input, a
 * marker, it starts an app that means to stay, and prints what became of that.
 */
import { createInterface } from 'node:readline';
import { checkPath, NODE_INSIDE, openSandbox, type SandboxSpec } from '../../src/index.ts';
import { script } from '../specs.ts';

const [kind = '', cacheFile = '', shown = ''] = process.argv.slice(2);
const sandbox = openSandbox({ node: process.execPath, cacheFile });
const host = checkPath(shown);
if (!host.ok) throw new Error(host.fault.message);
const mounts = [{ host: host.value, inside: '/shown', access: 'read' }] as const;

/** `behind`: on a program that is not our Node by its name, so that the hand-over stays as its parent. */
function wantedFor(marker: string): SandboxSpec {
  const program = script(stayer(marker), {
    mounts,
    network: { kind: kind === 'none' ? 'none' : 'handover' },
  });
  if (kind !== 'behind') return program;
  const args = ['-c', 'exec "$@"', 'sh', NODE_INSIDE, ...program.args];
  return { ...program, executable: '/bin/sh', args, usr: true };
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
  const started = await sandbox.spawn(wantedFor(marker), new AbortController().signal);
  if (!started.ok) throw new Error(started.fault.message);
  const { stdout, exited, listener } = started.value;
  void listener?.then((taken) => taken?.unref());
  stdout?.once('data', () => process.stdout.write(`${JSON.stringify({ runs: marker })}\n`));
  const ended = new Promise((resolve) => stdout?.once('close', resolve));
  void Promise.all([exited, ended]).then(([{ cause }]) =>
    process.stdout.write(`${JSON.stringify({ ended: marker, cause })}\n`),
  );
}
