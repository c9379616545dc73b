/**
 * `cordon run` as a client's configuration starts it: other people's MCP servers, spoken to by a client of MCP that
 * knows nothing of Cordon, and plain programs, whose streams, signals and exit codes must come through.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { isLeftOut } from '../../tools/cases.ts';
import { CORDON, descendantsOf, Home, REPOSITORY, untilGone } from '../harness/cordon.ts';

const distOf = (server: string) =>
  join(REPOSITORY, 'node_modules/@modelcontextprotocol', server, 'dist/index.js');
const FILESYSTEM = distOf('server-filesystem');
const MEMORY = distOf('server-memory');

/** A folder of the user outside of every home, which everybody may read. */
class Notes {
  readonly folder = mkdtempSync(join(tmpdir(), 'cordon-notes-'));

  constructor() {
    chmodSync(this.folder, 0o755);
    writeFileSync(join(this.folder, 'notes.txt'), 'The heron nests at Mill Lane.');
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

interface Entry {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Connects as other clients do: an entry of `mcpServers`, and nothing else. */
async function withServer<T>(home: Home, entry: Entry, use: (client: Client) => Promise<T>): Promise<T> {
  const transport = new StdioClientTransport({
    command: entry.command,
    args: [...entry.args],
    env: { ...home.environment(), ...entry.env },
    cwd: join(home.root, 'work'),
    stderr: 'ignore',
  });
  const client = new Client({ name: 'another client', version: '1.0.0' });
  await client.connect(transport);
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

async function textOf(client: Client, name: string, args: Record<string, unknown>): Promise<string> {
  const { content } = await client.callTool({ name, arguments: args });
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

describe('servers of others, in one line of a client’s configuration', () => {
  test('the file server reads what it was given and nothing else, whatever it was told to serve', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    using notes = new Notes();
    using others = new Notes();
    const manifest = home.write('notes.json', { files: { read: [notes.folder] } });
    const serve = ['node', FILESYSTEM, tmpdir(), notes.folder];
    const confined = { command: CORDON, args: ['run', '--manifest', manifest, '--', ...serve] };
    const bare = { command: process.execPath, args: serve.slice(1) };
    const read = (entry: Entry, folder: string) =>
      withServer(home, entry, (client) =>
        textOf(client, 'read_text_file', { path: join(folder, 'notes.txt') }).catch((error) => String(error)),
      );
    assert.equal(await read(confined, notes.folder), 'The heron nests at Mill Lane.');
    assert.match(await read(confined, others.folder), /^Access denied|ENOENT/);
    assert.equal(await read(bare, others.folder), 'The heron nests at Mill Lane.', 'bare, it reads that too');
  });

  test('what it may only read it cannot write, and what it may write it does', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    using notes = new Notes();
    if (process.getuid?.() === 0) chmodSync(notes.folder, 0o777);
    const path = join(notes.folder, 'new.txt');
    const write = (option: string) =>
      withServer(
        home,
        { command: CORDON, args: ['run', option, notes.folder, '--', 'node', FILESYSTEM, notes.folder] },
        (client) =>
          textOf(client, 'write_file', { path, content: 'written' }).catch((error) => String(error)),
      );
    assert.match(await write('--read'), /EROFS|read-only/);
    assert.ok(!readdirSync(notes.folder).includes('new.txt'));
    assert.match(await write('--write'), /Successfully wrote/);
    assert.equal(readFileSync(path, 'utf8'), 'written');
  });

  test('the memory server remembers in its private folder from one start to the next', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const manifest = home.write('memory.json', {
      state: 'memory',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of the manifest
      env: { MEMORY_FILE_PATH: '${state}/memory.jsonl' },
    });
    const entry = { command: CORDON, args: ['run', '--manifest', manifest, '--', 'node', MEMORY] };
    const entities = [{ name: 'heron', entityType: 'bird', observations: ['nests at Mill Lane'] }];
    await withServer(home, entry, (client) => textOf(client, 'create_entities', { entities }));
    assert.match(
      await withServer(home, entry, (client) => textOf(client, 'read_graph', {})),
      /nests at Mill Lane/,
    );
    assert.deepEqual(readdirSync(join(home.data, 'runs/memory')), ['memory.jsonl']);
  });

  test('a server leaves nothing behind when its client ends it', async () => {
    using home = new Home();
    const entry = { command: CORDON, args: ['run', '--', 'node', MEMORY] };
    const before = descendantsOf(process.pid).length;
    const during = await withServer(home, entry, async (client) => {
      await client.listTools();
      return descendantsOf(process.pid).length;
    });
    assert.ok(during > before);
    await until(() => descendantsOf(process.pid).length === before);
  });
});

/** Waits for what must come about; the runner ends a test for which it does not. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 20));
}

function start(home: Home, args: readonly string[]): ChildProcess {
  const child = spawn(CORDON, ['run', ...args], {
    cwd: join(home.root, 'work'),
    env: home.environment(),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => undefined); // A command that is gone is told by its exit code.
  return child;
}

async function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null) return child.exitCode;
  const [code] = await once(child, 'exit');
  return code;
}

describe('standard streams', () => {
  test('eight million random bytes come through as they are, in both directions', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const bytes = randomBytes(8_000_000);
    const child = start(home, ['--', 'cat']);
    child.stdin?.end(bytes);
    const digest = createHash('sha256');
    let length = 0;
    for await (const chunk of child.stdout ?? []) {
      digest.update(chunk);
      length += chunk.length;
    }
    assert.equal(length, bytes.length);
    assert.equal(digest.digest('hex'), createHash('sha256').update(bytes).digest('hex'));
    assert.equal(await ended(child), 0);
  });

  test('each line arrives when it is written, not when a buffer is full', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const child = start(home, ['--', 'cat']);
    for (const line of ['one\n', 'two\n']) {
      child.stdin?.write(line);
      const [chunk] = await once(child.stdout ?? assert.fail(), 'data');
      assert.equal(String(chunk), line);
    }
    child.stdin?.end();
    assert.equal(await ended(child), 0);
  });

  test('standard output and standard error stay apart', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const { code, stdout, stderr } = await home.run(['run', '--', 'sh', '-c', 'echo out; echo err >&2']);
    assert.deepEqual([code, stdout, stderr], [0, 'out\n', 'err\n']);
  });

  test('a client that reads nothing stops the command, and costs no memory', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const child = start(home, ['--', 'yes']);
    await once(child.stdout ?? assert.fail(), 'data');
    child.stdout?.pause();
    const memory = () => Number(/VmRSS:\s+(\d+)/.exec(statusOf(child.pid ?? 0))?.[1]);
    await new Promise((resolve) => setTimeout(resolve, 500));
    const soon = memory();
    await new Promise((resolve) => setTimeout(resolve, 1500));
    assert.ok(memory() - soon < 20_000, `${soon} KiB became ${memory()}`);
    child.kill('SIGKILL');
    await ended(child);
  });

  test('a client that closes its end ends a command that writes, as in a pipe', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const child = start(home, ['--', 'yes']);
    await once(child.stdout ?? assert.fail(), 'data');
    child.stdout?.destroy();
    // Killed by SIGPIPE, or told by a failed write, as its luck is.
    assert.ok([141, 1].includes((await ended(child)) ?? 0));
  });

  test('the caller’s terminal is no terminal inside, and cannot be opened', async () => {
    using home = new Home();
    const probe = 'tty; if (: </dev/tty) 2>/dev/null; then echo opened; else echo refused; fi';
    const inside = await home.run(['run', '--', 'sh', '-c', probe], { terminal: true });
    assert.match(inside.stdout, /^not a tty\r?\nrefused\r?\n$/);
  });
});

function statusOf(pid: number): string {
  return readFileSync(`/proc/${pid}/status`, 'utf8');
}

describe('exit codes', () => {
  for (const [what, script, code] of [
    ['its own', 'exit 7', 7],
    ['success', 'true', 0],
    ['128 and the number of the signal that it died of', 'kill -KILL $$', 137],
    ['more than 128 that is no signal', 'exit 200', 200],
  ] as const) {
    test(`${what}: ${code}`, async (t) => {
      if (isLeftOut(t, code === 137)) return;
      using home = new Home();
      const run = await home.run(['run', '--', 'sh', '-c', script]);
      assert.deepEqual([run.code, run.stderr], [code, '']);
    });
  }

  test('a forbidden system call is told in one line: 159', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const { code, stderr } = await home.run(['run', '--', 'unshare', '--user', 'true']);
    assert.equal(code, 159);
    assert.equal(stderr, 'cordon: the command was ended: it made a system call that is forbidden\n');
  });

  test('one line says which limit ended the command, and the exit code is 152 for CPU time', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const manifest = home.write('manifest.json', { limits: { cpuSeconds: 1 } });
    const { code, stderr } = await home.run([
      'run',
      '--manifest',
      manifest,
      '--',
      'sh',
      '-c',
      'while :; do :; done',
    ]);
    assert.ok(code === 152 || code === 137, `the code was ${code}`);
    assert.match(
      stderr,
      /^cordon: the command was ended: it used .*CPU.*; help: raise `limits.cpuSeconds` in the manifest\n$/,
    );
  });
});

describe('signals', () => {
  const SERVER =
    "process.on('SIGTERM', () => { console.log('bye'); process.exit(5); });" +
    "process.on('SIGINT', () => console.log('not yet')); setInterval(() => {}, 1000); console.log('up');";

  test('SIGINT and SIGTERM reach the command, which ends as it likes', async () => {
    using home = new Home();
    const child = start(home, ['--', 'node', '-e', SERVER]);
    let said = '';
    child.stdout?.on('data', (chunk) => {
      said += chunk;
    });
    await until(() => said === 'up\n');
    child.kill('SIGINT');
    await until(() => said === 'up\nnot yet\n');
    child.kill('SIGTERM');
    assert.equal(await ended(child), 5);
    assert.equal(said, 'up\nnot yet\nbye\n');
  });

  test('a command that ignores SIGTERM is ended after a while, with all that it started', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const child = start(home, ['--', 'sh', '-c', 'trap "" TERM; sleep 300 & echo up; sleep 300; sleep 300']);
    await once(child.stdout ?? assert.fail(), 'data');
    const inside = descendantsOf(child.pid ?? 0).map(({ pid }) => pid);
    child.kill('SIGTERM');
    assert.equal(await ended(child), 143);
    await untilGone(inside);
  });

  test('when `cordon run` is killed by SIGKILL nothing of the command is left', async () => {
    using home = new Home();
    const child = start(home, ['--', 'sh', '-c', 'sleep 300 & (sleep 300 &); echo up; sleep 300']);
    await once(child.stdout ?? assert.fail(), 'data');
    const inside = descendantsOf(child.pid ?? 0).map(({ pid }) => pid);
    assert.ok(inside.length >= 4);
    child.kill('SIGKILL');
    await untilGone(inside);
  });
});

describe('what a command has', () => {
  test('none of the caller’s variables, and those that it is given', async () => {
    using home = new Home();
    const given = ['--env', 'TOKEN', '--env', 'MODE=a=b'];
    const print = ['--', 'sh', '-c', 'env | sort | grep -v ^PWD'];
    const env = { TOKEN: 'taken-along', SECRET: 'stays' };
    const { stdout } = await home.run(['run', ...given, ...print], { env });
    assert.deepEqual(stdout.split('\n'), [
      ...['HOME=/tmp', 'LANG=C.UTF-8', 'MODE=a=b', 'PATH=/usr/local/bin:/usr/bin:/bin'],
      ...['TMPDIR=/tmp', 'TOKEN=taken-along', ''],
    ]);
  });

  test('no file of the user, not even the folder that it was started in', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const secret = home.write('secret.txt', 'secret');
    const look = `cat ${secret} ${home.root}/* 2>/dev/null | wc -c; pwd`;
    const { stdout } = await home.run(['run', '--', 'sh', '-c', look]);
    assert.equal(stdout, '0\n/tmp\n');
  });

  test('the folder that it was started in, where that is given', async () => {
    using home = new Home();
    using notes = new Notes();
    const args = ['run', '--read', notes.folder, '--', 'sh', '-c', 'pwd; cat notes.txt'];
    const { stdout } = await home.run(args, { cwd: notes.folder });
    assert.equal(stdout, `${notes.folder}\nThe heron nests at Mill Lane.`);
  });

  test('a link that one run plants shows nothing to a later run, whatever data folder that one has', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    using project = new Notes();
    using others = new Notes();
    chmodSync(project.folder, 0o777);
    const sub = join(project.folder, 'sub');
    const plant = ['sh', '-c', `ln -s ${others.folder} ${sub}`];
    const read = ['run', '--read', sub, '--', 'cat', join(sub, 'notes.txt')];
    assert.equal((await home.run(['run', '--write', project.folder, '--', ...plant])).code, 0);
    for (const data of [[], ['--data', join(home.root, 'elsewhere')]]) {
      const later = await home.run(['run', ...data, ...read.slice(1)]);
      assert.deepEqual([later.code, later.stdout], [2, '']);
      assert.match(later.stderr, /leads over a link in a folder that an app may write/);
    }
    // The same link in a folder that no app could ever write is the user's own.
    symlinkSync(others.folder, join(others.folder, 'own'));
    const own = join(others.folder, 'own');
    const { stdout } = await home.run(['run', '--read', own, '--', 'cat', join(own, 'notes.txt')]);
    assert.equal(stdout, 'The heron nests at Mill Lane.');
  });

  test('no manifest of its own to write, no data folder to read, and no home', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const manifest = home.write('m/manifest.json', {});
    mkdirSync(home.data);
    const refused = await Promise.all(
      [
        ['--manifest', manifest, '--write', join(home.root, 'work/m')],
        ['--read', home.data],
        ['--write', join(home.root, 'home')],
      ].map((rights) => home.run(['run', ...rights, '--', 'true'])),
    );
    assert.deepEqual(
      refused.map(({ code }) => code),
      [2, 2, 2],
    );
    assert.match(refused[0]?.stderr ?? '', /CFG017.*the manifest/);
    assert.match(refused[1]?.stderr ?? '', /CFG017.*the data folder/);
    assert.match(refused[2]?.stderr ?? '', /CFG017.*everywhere in your home folder/);
  });
});

describe('what stands in the way is told on standard error, with exit code 2', () => {
  for (const [what, args, told] of [
    [
      'a command that there is not',
      ['--', 'no-such-server'],
      /`no-such-server` was not found in .*; help: install it/,
    ],
    ['no command', [], /missing required argument 'command'/],
    ['an option that there is not', ['--manifst', 'x', '--', 'true'], /unknown option '--manifst'/],
    [
      'a manifest that there is not',
      ['--manifest', 'none.json', '--', 'true'],
      /none\.json: CFG001: .*there is no such file/,
    ],
    ['a manifest that is no JSON', ['--manifest', 'broken.json', '--', 'true'], /broken\.json:2:1: CFG003/],
    [
      'a key that is misspelt',
      ['--manifest', 'misspelt.json', '--', 'true'],
      /misspelt\.json:1:2: CFG006.*did you mean `files`\?/,
    ],
    [
      'a key that nothing enforces here',
      ['--manifest', 'asking.json', '--', 'true'],
      /CFG009.*`irreversible` has no meaning for `cordon run`/,
    ],
    [
      'a limit that nothing enforces here',
      ['--manifest', 'calls.json', '--', 'true'],
      /CFG009.*`callSeconds` has no meaning/,
    ],
    [
      'a variable that is not set',
      ['--env', 'NO_SUCH', '--', 'true'],
      /command line: CFG019 .*`NO_SUCH` is not set/,
    ],
    [
      'a path that there is not',
      ['--read', '/no/such/path', '--', 'true'],
      /`\/no\/such\/path` does not exist/,
    ],
    [
      'a layer that there is not',
      ['--sandbox', 'weaker=secomp', '--', 'true'],
      /CFG039 .*no layer `secomp`.*did you mean `seccomp`\?/,
    ],
    [
      'a layer that nothing runs without',
      ['--sandbox', 'weaker=user-namespace', '--', 'true'],
      /CFG039 .*`user-namespace` cannot be left out/,
    ],
    [
      'another kind of sandbox',
      ['--sandbox', 'none', '--', 'true'],
      /CFG039 .*`none` is nothing that the sandbox can be/,
    ],
  ] as const) {
    test(what, async (t) => {
      if (isLeftOut(t, what === 'a key that is misspelt')) return;
      using home = new Home();
      home.write('broken.json', '{\n');
      home.write('misspelt.json', '{"filez": {}}');
      home.write('asking.json', { irreversible: [] });
      home.write('calls.json', { limits: { callSeconds: 5 } });
      const { code, stdout, stderr } = await home.run(['run', ...args]);
      assert.equal(code, 2);
      assert.equal(stdout, '');
      assert.match(stderr, told);
      assert.doesNotMatch(stderr, /\bat .*\.ts:\d+/, 'no stack is shown');
    });
  }

  test('in JSON where that is asked for, still on standard error', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const { stdout, stderr } = await home.run(['run', '--json', '--', 'no-such-server']);
    assert.equal(stdout, '');
    assert.equal(JSON.parse(stderr).kind, 'fault');
  });
});

test('what looks like an option of ours behind the command is the command’s', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const { stdout } = await home.run(['run', '--', 'echo', '--json', '--', '--help']);
  assert.equal(stdout, '--json -- --help\n');
  assert.equal((await home.run(['run', 'echo', '--json'])).stdout, '--json\n');
});
