/**
 * The self-test's program. Runs inside a sandbox, tries what must fail, and prints what it saw as one line of
 * JSON: name of the attempt → `refused:CODE` or `done:WHAT`. It judges nothing; `self-test.ts` does, outside.
 *
 * Imports Node only: it is the single file of ours in that sandbox.
 */
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statfsSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { connect } from 'node:net';
import { Worker } from 'node:worker_threads';

interface Task {
  /** Host paths that must not be readable. */
  readonly outside: readonly string[];
  readonly hubPid: number;
  /** A port of the machine on 127.0.0.1 that is open while the test runs. */
  readonly machinePort: number;
  /** An abstract Unix socket of the hub, without the leading NUL. */
  readonly hubSocket: string;
  /** `kernel`: what the kernel must refuse; `node`: what Node must refuse by its permissions. */
  readonly attempts: 'kernel' | 'node';
  /** Programs that make one system call each, in base64, by its name. */
  readonly programs: Readonly<Record<string, string>>;
  /** One more such call, made by this very process at its end; null: none. */
  readonly last: string | null;
}

const task: Task = JSON.parse(readFileSync(0, 'utf8'));
const seen: Record<string, string> = {};

function attempt(name: string, action: () => string): void {
  try {
    seen[name] = `done:${action()}`;
  } catch (error) {
    seen[name] = `refused:${codeOf(error)}`;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}

function openForWriting(path: string): string {
  closeSync(openSync(path, 'r+'));
  return 'opened';
}

function reach(name: string, where: { path: string } | { host: string; port: number }): Promise<void> {
  return new Promise((resolve) => {
    const finish = (text: string) => {
      seen[name] = text;
      resolve();
    };
    try {
      const socket = connect(where);
      socket.setTimeout(1000, () => finish('refused:ETIMEDOUT'));
      socket.on('connect', () => finish('done:connected'));
      socket.on('error', (error) => finish(`refused:${codeOf(error)}`));
    } catch (error) {
      finish(`refused:${codeOf(error)}`);
    }
  });
}

async function kernelAttempts(): Promise<void> {
  const status = readFileSync('/proc/self/status', 'latin1');
  for (const field of ['CapEff', 'CapPrm', 'CapBnd', 'NoNewPrivs', 'Seccomp'])
    attempt(`status ${field}`, () => new RegExp(`^${field}:\\s*(\\S+)`, 'm').exec(status)?.[1] ?? 'missing');
  attempt('host user', () => readFileSync('/proc/self/uid_map', 'latin1').trim().split(/\s+/).join(' '));
  for (const name of ['user', 'mnt', 'pid', 'net', 'ipc', 'uts', 'cgroup'])
    attempt(`namespace ${name}`, () => readlinkSync(`/proc/self/ns/${name}`));
  attempt('session', () => String(readFileSync('/proc/self/stat', 'latin1').split(') ')[1]?.split(' ')[3]));
  attempt('open /dev/tty', () => openForWriting('/dev/tty'));
  attempt('processes', () => String(readdirSync('/proc').filter((name) => /^\d+$/.test(name)).length));
  attempt('interfaces', () =>
    [...readFileSync('/proc/self/net/dev', 'latin1').matchAll(/^\s*(\S+):/gm)]
      .map((match) => match[1])
      .join(' '),
  );
  attempt('environment of pid 1', () => readFileSync('/proc/1/environ', 'latin1'));
  attempt('own environment', () => Object.keys(process.env).sort().join(' '));
  attempt('command line of pid 1', () => readFileSync('/proc/1/cmdline', 'latin1').replaceAll('\0', ' '));
  attempt('descriptors', () =>
    readdirSync('/proc/self/fd')
      .map((name) => linkOf(`/proc/self/fd/${name}`))
      .filter((target) => target.startsWith('/') && target !== '/dev/null' && !target.startsWith('/proc/'))
      .join(' '),
  );
  attempt('what /proc shows', () =>
    readdirSync('/proc', { withFileTypes: true })
      .filter((entry) => !/^\d+$/.test(entry.name) && !entry.isSymbolicLink())
      .filter((entry) => shows(`/proc/${entry.name}`, entry.isDirectory()))
      .map(({ name }) => name)
      .join(' '),
  );
  attempt('interrupts', () => /^intr (.*)$/m.exec(readFileSync('/proc/stat', 'latin1'))?.[1] ?? 'missing');
  attempt('settings', () => readdirSync('/proc/sys').join(' '));
  attempt('size of /dev/shm', () => {
    const { blocks, bsize } = statfsSync('/dev/shm');
    return String(blocks * bsize);
  });
  for (const path of task.outside) attempt(`read ${path}`, () => readFileSync(path, 'latin1').slice(0, 1));
  attempt('signal to the hub', () => String(process.kill(task.hubPid, 0)));
  attempt('proc of the hub', () => readFileSync(`/proc/${task.hubPid}/cmdline`, 'latin1'));
  for (const path of ['/canary', '/opt/canary', '/dev/canary', '/canary.d/canary'])
    attempt(`write ${path}`, () => String(writeFileSync(path, 'x')));
  attempt('write own code', () => openForWriting(process.argv[1] ?? ''));
  attempt('open /dev/random', () => openForWriting('/dev/random'));
  for (const path of ['/proc/sys/kernel/core_pattern', '/proc/sysrq-trigger'])
    attempt(`open ${path}`, () => openForWriting(path));
  attempt('of pid 1: write its memory', () => openForWriting('/proc/1/mem'));
  attempt('of pid 1: read its memory', () => String(closeSync(openSync('/proc/1/mem', 'r'))));
  attempt('of pid 1: find its code', () => readFileSync('/proc/1/maps', 'latin1'));
  attempt('of pid 1: go through its folder', () => readdirSync('/proc/1/cwd/').join(' '));
  attempt('mount of /proc/sys', () => {
    const mounts = readFileSync('/proc/self/mountinfo', 'latin1');
    return / \/proc\/sys (\S+)/.exec(mounts)?.[1] ?? 'missing';
  });
  attempt('start a process', () => {
    const { error } = spawnSync(process.execPath, ['--version']);
    if (error !== undefined) throw error;
    return 'started';
  });
  for (const [name, bytes] of Object.entries(task.programs))
    attempt(`call ${name}`, () => {
      const { error, signal, status: code } = spawnSync(programFile(name, bytes));
      if (error !== undefined) throw error;
      return signal ?? `exit ${code}`;
    });
  await reach('connect to the machine', { host: '127.0.0.1', port: task.machinePort });
  await reach('connect outside', { host: '192.0.2.1', port: 80 });
  await reach('abstract socket of the hub', { path: `\0${task.hubSocket}` });
  attempt('limits', () =>
    ['Max processes', 'Max open files', 'Max core file size', 'Max data size', 'Max cpu time']
      .map((row) => new RegExp(`^${row}\\s+\\S+\\s+(\\S+)`, 'm').exec(limits())?.[1] ?? 'missing')
      .join(' '),
  );
}

/** Each of these works for a process without Node's permission model. */
function nodeAttempts(): void {
  attempt('Node: read a file', () => readFileSync('/proc/self/status', 'latin1').slice(0, 1));
  attempt('Node: write a file', () => String(writeFileSync('/canary', 'x')));
  attempt('Node: start a process', () => String(spawnSync(process.execPath, ['--version']).status));
  attempt('Node: start a thread', () => String(new Worker('0', { eval: true }).threadId));
  attempt('Node: read own code', () => String(readFileSync(process.argv[1] ?? '').length > 0));
}

function shows(path: string, isFolder: boolean): boolean {
  try {
    if (isFolder) return readdirSync(path).length > 0;
    closeSync(openSync(path, 'r'));
    return true;
  } catch {
    return false;
  }
}

function programFile(name: string, bytes: string): string {
  const path = `/tmp/call-${name}`;
  writeFileSync(path, Buffer.from(bytes, 'base64'), { mode: 0o755 });
  return path;
}

function limits(): string {
  return readFileSync('/proc/self/limits', 'latin1');
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ''; // the listing's own descriptor
  }
}

if (task.attempts === 'kernel') await kernelAttempts();
else nodeAttempts();

// The link is tried too: what must work, so that a sandbox in which nothing runs does not pass.
attempt('link', () => String(writeSync(3, 'canary\n')));
writeSync(1, `${JSON.stringify(seen)}\n`);
if (task.last !== null) process.execve?.(programFile('last', task.last), [], {});
process.exit(7);
