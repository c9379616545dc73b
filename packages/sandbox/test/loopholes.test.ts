/** Ways around the layers that are easily missed, each beside the same thing where it is allowed. */
import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { DEFAULT_APP_LIMITS } from '@cordon/core';
import { checkPath, commandSpec, type SandboxSpec } from '../src/index.ts';
import { folder, printed, run, spec, start, textOf } from './confined.ts';

/** Writes what is no message of Node's into every descriptor that it finds, and says how it was started. */
const GREEDY = `const fs = require('node:fs');
  for (let fd = 3; fd < 64; fd++) try { if (fs.fstatSync(fd).isSocket()) fs.writeSync(fd, 'not json\\n') } catch {}
  console.log('early', typeof process.send, process.env.NODE_CHANNEL_FD, process.env.CORDON_HANDOVER);`;

const MAIN = `import { get } from 'node:http';
  console.log('main', process.execArgv.includes('--import'), process.argv.slice(2).join(), process.env.WORD);
  get('http://good.com/', (answer) => answer.on('data', (data) => console.log(String(data))));`;

function app(context: TestContext, args: readonly string[], env: SandboxSpec['env']): SandboxSpec {
  const at = folder(context);
  writeFileSync(join(at, 'early.cjs'), GREEDY);
  writeFileSync(join(at, 'main.mjs'), MAIN);
  const host = checkPath(at);
  assert.ok(host.ok);
  return spec({
    args: [...args, '/app/main.mjs', 'one', 'two'],
    env,
    mounts: [{ host: host.value, inside: '/app', access: 'read' }],
    profile: 'tight',
    nodeGrants: [],
    network: { kind: 'handover' },
  });
}

/** What the app prints, whose requests are answered as a proxy would. */
async function lines(context: TestContext, wanted: SandboxSpec): Promise<readonly string[]> {
  const confined = await start(wanted);
  const proxy = createServer((incoming, response) => response.end(`asked ${incoming.url}`));
  context.after(() => proxy.close());
  const listener = await confined.listener;
  assert.ok(listener !== null);
  proxy.listen(listener);
  return (await textOf(confined.stdout)).split('\n');
}

test('code that an option or variable of the app runs before its script finds no channel to the hub', async (context) => {
  const early = 'early undefined undefined undefined';
  const asked = 'asked http://good.com/';
  const required = app(context, ['--require', '/app/early.cjs'], { WORD: 'word' });
  assert.deepEqual(await lines(context, required), [early, 'main false one,two word', asked]);
  const byVariable = app(context, [], { WORD: 'word', NODE_OPTIONS: '--require=/app/early.cjs' });
  assert.deepEqual(await lines(context, byVariable), [early, 'main false one,two word', asked]);
});

test('an app without such options hands its listener over in its own process', async (context) => {
  const plain = app(context, [], { WORD: 'word', NODE_ENV: 'production' });
  assert.deepEqual(await lines(context, plain), ['main true one,two word', 'asked http://good.com/']);
});

/** Says of each way to get memory whether there is one. */
const MEMORY = `import mmap, os
def attempt(name, get):
  try: get(); print(name, 'done')
  except OSError as error: print(name, error.errno)
attempt('anonymous', lambda: mmap.mmap(-1, 4096))
attempt('of a device', lambda: mmap.mmap(os.open('/dev/zero', os.O_RDWR), 4096))
attempt('private', lambda: mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
def file():
  with open('/tmp/file', 'w+b') as held:
    held.truncate(4096)
    mmap.mmap(held.fileno(), 4096)[:] = open('/dev/zero', 'rb').read(4096)
attempt('of a file', file)`;

test('memory that counts for no process cannot be had; private memory and that of files can', async () => {
  const python = spec({ executable: '/usr/bin/python3', args: ['-c', MEMORY], usr: true, tmpMiB: 1 });
  assert.deepEqual((await printed(python)).split('\n'), [
    'anonymous 1', // EPERM
    'of a device 19', // ENODEV
    'private done',
    'of a file done',
  ]);
});

test('sockets hold no more than they do by default; other options of theirs are set', async () => {
  const code = `import socket as s
one = s.socket(s.AF_INET, s.SOCK_DGRAM)
usual = [one.getsockopt(s.SOL_SOCKET, option) for option in (s.SO_RCVBUF, s.SO_SNDBUF)]
for option in (s.SO_RCVBUF, s.SO_SNDBUF): one.setsockopt(s.SOL_SOCKET, option, 8192)
print([one.getsockopt(s.SOL_SOCKET, option) for option in (s.SO_RCVBUF, s.SO_SNDBUF)] == usual)
one.setsockopt(s.SOL_SOCKET, s.SO_REUSEADDR, 1)
print(one.getsockopt(s.SOL_SOCKET, s.SO_REUSEADDR))`;
  const python = spec({ executable: '/usr/bin/python3', args: ['-c', code], usr: true });
  assert.equal(await printed(python), 'True\n1');
});

test("the names of the user's keys in the kernel, and the machine's interrupts, cannot be read", async () => {
  const paths = ['/proc/keys', '/proc/key-users', '/proc/interrupts', '/proc/uptime', '/proc/self/status'];
  const code = `console.log(${JSON.stringify(paths)}.map((path) => {
    try { return require('fs').readFileSync(path).length > 0 } catch (error) { return error.code } }).join())`;
  for (const profile of ['tight', 'spawn'] as const)
    assert.match(
      await printed(spec({ args: ['-e', code], profile })),
      /^(EACCES|ENOENT),(EACCES|ENOENT),(EACCES|ENOENT),true,true$/,
    );
});

/** Makes so many files, one by one, and stays until it is ended, or a second. */
const filesIn = (place: string, count: number) => `import os, time
for number in range(${count}): os.close(os.open('${place}/%d' % number, os.O_CREAT | os.O_WRONLY))
time.sleep(${count > 100 ? 600 : 1})`;

test('files in the folder of shared memory count as those in the temporary folder do', async () => {
  const python = (code: string) =>
    spec({ executable: '/usr/bin/python3', args: ['-c', code], usr: true, tmpMiB: 1, limits });
  const limits = { ...DEFAULT_APP_LIMITS, files: 100 };
  const { exit } = await run(python(filesIn('/dev/shm', 101)));
  assert.equal(exit.message, 'it made more than 100 files in its folder of shared memory');
  const twin = await run(python(`${filesIn('/dev/shm', 40)}\n${filesIn('/tmp', 40)}`));
  assert.equal(twin.exit.code, 0, twin.err);
});

test('a package whose files never end is refused, and the hub goes on', async (context) => {
  const root = folder(context);
  const started = async (endless: string | null) => {
    const at = join(root, String(endless), 'node_modules', 'tool');
    mkdirSync(at, { recursive: true });
    const files = { 'package.json': '{"name":"tool","bin":"./tool.js"}', 'tool.js': '#!/usr/bin/env node\n' };
    for (const [name, text] of Object.entries(files))
      if (name === endless) symlinkSync('/dev/zero', join(at, name));
      else writeFileSync(join(at, name), text);
    const place = { configFolder: join(root, String(endless)), dataFolder: join(root, 'data'), home: null };
    const limits = DEFAULT_APP_LIMITS;
    const wanted = {
      command: 'npx',
      args: ['tool'],
      env: {},
      cwd: null,
      stateFolder: null,
      limits,
      node: [],
    };
    const made = await commandSpec({ ...wanted, files: { read: [], write: [] } }, place);
    return made.ok ? 'started' : made.fault.message;
  };
  assert.equal(await started('package.json'), 'the package `tool` has no readable package.json');
  assert.equal(await started('tool.js'), 'the program of the package `tool` is not a Node script');
  assert.equal(await started(null), 'started');
});
