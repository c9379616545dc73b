/**
 * The canary of the macOS back end: runs inside, tries what must fail and what must not, and prints what it saw as one
 * line of JSON. It judges nothing.
 *
 * Imports Node only: it is the single file of ours in that sandbox.
 */
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { connect } from 'node:net';

interface Task {
  /** Files and folders of the host that exist and must not be readable. */
  readonly outside: readonly string[];
  /** Files that must not be made. */
  readonly unwritable: readonly string[];
  readonly hubPid: number;
  readonly hubPort: number;
}

const task: Task = JSON.parse(readFileSync(0, 'utf8'));
const seen: Record<string, string> = {};

function attempt(name: string, action: () => unknown): void {
  try {
    seen[name] = `done:${action()}`;
  } catch (error) {
    seen[name] = `refused:${error instanceof Error && 'code' in error ? error.code : 'unknown'}`;
  }
}

function made(path: string): string {
  writeFileSync(path, 'canary', { flag: 'wx' });
  unlinkSync(path);
  return 'made';
}

function reached(host: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    socket.setTimeout(1000, () => resolve('refused:ETIMEDOUT'));
    socket.on('connect', () => resolve('done:connected'));
    socket.on('error', (error) => resolve(`refused:${'code' in error ? error.code : 'unknown'}`));
  });
}

for (const path of task.outside) {
  attempt(`read ${path}`, () => readFileSync(path).length);
  attempt(`list ${path}`, () => readdirSync(path).length);
}
for (const path of task.unwritable) attempt(`write ${path}`, () => made(path));
attempt('read own code', () => readFileSync(process.argv[1] ?? '').length > 0);
attempt('write own code', () => closeSync(openSync(process.argv[1] ?? '', 'r+')));
attempt('start a process', () => spawnSync('/bin/echo').error?.message ?? 'started');
attempt('signal to the hub', () => process.kill(task.hubPid, 0));
attempt('own environment', () => Object.keys(process.env).sort().join(' '));
attempt('descriptors', () => readdirSync('/dev/fd').length);
attempt('limits', () => {
  const { userLimits } = JSON.parse(JSON.stringify(process.report.getReport()));
  return `${userLimits.open_files.soft} ${userLimits.cpu_time_seconds.soft} ${userLimits.core_file_size_blocks.soft}`;
});
seen['connect to the hub'] = await reached('127.0.0.1', task.hubPort);
seen['connect outside'] = await reached('192.0.2.1', 80);
writeSync(1, `${JSON.stringify(seen)}\n`);
process.exit(7);
