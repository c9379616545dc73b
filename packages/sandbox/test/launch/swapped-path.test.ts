/**
 * Paths that change between the look and the mount: every source of a mount, swapped for a link or for another file
 * after the specification was made, is refused; and links that an app planted lead nowhere at its next start.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { DEFAULT_APP_LIMITS } from '@cordon/core';
import {
  type AppCommand,
  type CommandContext,
  checkPath,
  commandSpec,
  type SandboxSpec,
} from '../../src/index.ts';
import { folder, run, sandbox, script } from '../confined.ts';

class Disk {
  readonly root: string;
  readonly context: CommandContext;

  constructor(context: TestContext) {
    this.root = folder(context);
    const at = (name: string) => join(this.root, name);
    for (const name of ['home', 'project', 'shared', 'secret', 'data'])
      mkdirSync(at(name), { mode: name === 'data' ? 0o700 : 0o755 });
    this.write('secret/who', 'secret');
    this.context = { configFolder: at('project'), dataFolder: at('data'), home: at('home') };
  }

  at(name: string): string {
    return join(this.root, name);
  }

  write(name: string, text: string): string {
    const path = this.at(name);
    mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
    writeFileSync(path, text);
    chmodSync(path, 0o644);
    return path;
  }

  app(changes: Partial<AppCommand>): AppCommand {
    return {
      command: 'cat',
      args: [],
      env: {},
      node: [],
      cwd: null,
      files: { read: [], write: [] },
      stateFolder: null,
      limits: DEFAULT_APP_LIMITS,
      ...changes,
    };
  }

  async spec(
    changes: Partial<AppCommand>,
    writable: readonly string[] = [],
    context: Partial<CommandContext> = {},
  ): Promise<SandboxSpec | string> {
    const made = await commandSpec(this.app(changes), { ...this.context, writable, ...context });
    return made.ok ? { ...made.value, stdin: 'none' } : made.fault.message;
  }
}

/** What it printed, or why it was not started. */
async function outcome(spec: SandboxSpec | string): Promise<string> {
  if (typeof spec === 'string') return spec;
  const checked = await sandbox.spawn(spec, new AbortController().signal);
  if (!checked.ok) return checked.fault.message;
  let out = '';
  for await (const chunk of checked.value.stdout ?? []) out += chunk;
  await checked.value.exited;
  return out.trim();
}

/** Puts something else at `path`: a link to the secret, or a copy of what an attacker would like to have there. */
const SWAPS: Readonly<Record<string, (disk: Disk, path: string) => void>> = {
  'a link to somewhere else': (disk, path) => {
    renameSync(path, `${path}-moved`);
    symlinkSync(disk.at('secret'), path);
  },
  'a link to itself, moved': (_disk, path) => {
    renameSync(path, `${path}-moved`);
    symlinkSync(`${basename(path)}-moved`, path);
  },
  'another of its kind': (_disk, path) => {
    renameSync(path, `${path}-moved`);
    if (statSync(`${path}-moved`).isDirectory()) mkdirSync(path);
    else writeFileSync(path, 'other');
  },
  'a parent that is a link': (_disk, path) => {
    const parent = dirname(path);
    renameSync(parent, `${parent}-moved`);
    symlinkSync(`${parent}-moved`, parent);
  },
  'a parent that is a link to somewhere else': (disk, path) => {
    const parent = dirname(path);
    renameSync(parent, `${parent}-moved`);
    mkdirSync(disk.at('elsewhere'));
    symlinkSync(disk.at('secret'), join(disk.at('elsewhere'), basename(path)));
    symlinkSync(disk.at('elsewhere'), parent);
  },
  nothing: (_disk, path) => renameSync(path, `${path}-moved`),
};

/** Each kind of mount source: its path, and an app that has it. */
const SOURCES: Readonly<Record<string, (disk: Disk) => { path: string; app: Partial<AppCommand> }>> = {
  'a folder to read': (disk) => {
    const path = dirname(disk.write('shared/docs/who', 'mine'));
    return { path, app: { args: [join(path, 'who')], files: { read: [path], write: [] } } };
  },
  'a file to read': (disk) => {
    const path = disk.write('shared/docs/who', 'mine');
    return { path, app: { args: [path], files: { read: [path], write: [] } } };
  },
  'a folder to write': (disk) => {
    const path = dirname(disk.write('shared/docs/who', 'mine'));
    if (process.getuid?.() === 0) lchownSync(path, 61_000, 61_000);
    return { path, app: { args: [join(path, 'who')], files: { read: [], write: [path] } } };
  },
  "the app's own folder": (disk) => {
    const path = dirname(disk.write('data/apps/demo/who', 'mine'));
    return { path, app: { args: ['/state/who'], stateFolder: path } };
  },
  'a folder of code': (disk) => {
    const path = disk.write('project/server/main.js', "console.log('mine')");
    return { path: dirname(path), app: { command: 'node', args: [path] } };
  },
  'a program': (disk) => {
    const path = disk.write('project/tools/run.sh', '#!/bin/sh\necho mine\n');
    chmodSync(path, 0o755);
    return { path, app: { command: path } };
  },
};

for (const [source, make] of Object.entries(SOURCES)) {
  for (const [swap, change] of Object.entries(SWAPS)) {
    test(`${source} that became ${swap} after the check is not mounted`, async (context) => {
      const disk = new Disk(context);
      const { path, app } = make(disk);
      const spec = await disk.spec(app);
      assert.equal(typeof spec, 'object', String(spec));
      change(disk, path);
      assert.match(await outcome(spec), /was replaced|cannot be opened any more/);
    });
  }
  test(`${source} that nobody touched is mounted`, async (context) => {
    const disk = new Disk(context);
    assert.equal(await outcome(await disk.spec(make(disk).app)), 'mine');
  });
}

test('a socket that was granted cannot be swapped either', async (context) => {
  const disk = new Disk(context);
  const listen = async (path: string) => {
    const server = createServer((socket) => socket.end(basename(path)));
    context.after(() => server.close());
    await new Promise<void>((resolve) => server.listen(path, resolve));
    chmodSync(path, 0o666);
  };
  await listen(disk.at('shared/own'));
  await listen(disk.at('shared/other'));
  const host = checkPath(disk.at('shared/own'));
  if (!host.ok) throw new Error(host.fault.message);
  const code = `require('node:net').connect('/granted').on('data', (data) => console.log(String(data)))`;
  const mounts = [{ host: host.value, inside: '/granted', access: 'write' }] as const;
  const spec = script(code, { profile: 'unix', mounts });
  assert.equal((await run(spec)).out, 'own');
  unlinkSync(disk.at('shared/own'));
  symlinkSync('other', disk.at('shared/own'));
  assert.match(await outcome(spec), /was replaced/);
});

test('whatever is swapped while apps start, none is shown the other folder', async (context) => {
  const disk = new Disk(context);
  const path = dirname(disk.write('shared/docs/who', 'mine'));
  const swapper = swapForEver(path, disk.at('secret'));
  context.after(() => swapper.kill('SIGKILL'));
  const seen = new Set<string>();
  for (let start = 0; start < 25; start++) {
    const spec = await disk.spec({ args: [join(path, 'who')], files: { read: [path], write: [] } }, [
      disk.at('shared'),
    ]);
    const out = await outcome(spec);
    seen.add(['mine', 'secret'].includes(out) ? out : 'refused or gone');
  }
  assert.equal(seen.has('secret'), false);
});

/** Another process, as an app that runs on beside would be. */
function swapForEver(path: string, other: string): ChildProcess {
  const code = `const fs = require('node:fs'); const [path, other] = process.argv.slice(1);
    for (;;) { fs.renameSync(path, path + '-moved'); fs.symlinkSync(other, path); fs.unlinkSync(path);
      fs.renameSync(path + '-moved', path); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1); }`;
  return spawn(process.execPath, ['-e', code, path, other], { stdio: 'ignore' });
}

test('a link that an app planted in what it may write shows nothing at the next start', async (context) => {
  const disk = new Disk(context);
  const wide = disk.at('shared');
  disk.write('shared/docs/who', 'mine');
  const narrow = { args: [disk.at('shared/docs/who')], files: { read: [disk.at('shared/docs')], write: [] } };
  const both = { ...narrow, files: { read: narrow.files.read, write: [wide] } };
  if (process.getuid?.() === 0) lchownSync(wide, 61_000, 61_000);
  assert.equal(await outcome(await disk.spec(narrow, [wide])), 'mine');
  assert.equal(await outcome(await disk.spec(both)), 'mine');
  rmSync(disk.at('shared/docs'), { recursive: true });
  symlinkSync(disk.at('secret'), disk.at('shared/docs'));
  const refusal = /leads over a link in a folder that an app may write/;
  assert.match(await outcome(await disk.spec(narrow, [wide])), refusal);
  assert.match(await outcome(await disk.spec(both)), refusal);
  // The same link is the user's own where no app can write.
  assert.equal(await outcome(await disk.spec(narrow, [disk.at('project')])), 'secret');
});

test('a planted link is found behind honest links, above the path and in circles', async (context) => {
  const disk = new Disk(context);
  disk.write('shared/a/docs/who', 'mine');
  symlinkSync(disk.at('shared'), disk.at('honest'));
  const read = (path: string) => ({ args: [join(path, 'who')], files: { read: [path], write: [] } });
  const writable = [disk.at('shared')];
  assert.equal(await outcome(await disk.spec(read(disk.at('honest/a/docs')), writable)), 'mine');
  renameSync(disk.at('shared/a'), disk.at('shared/b'));
  symlinkSync('b', disk.at('shared/a'));
  for (const path of ['honest/a/docs', 'shared/a/docs'])
    assert.match(await outcome(await disk.spec(read(disk.at(path)), writable)), /leads over a link/, path);
  assert.match(
    await outcome(await disk.spec(read(disk.at('shared/a/docs')), [disk.at('honest')])),
    /leads over a link/,
  );
  symlinkSync('round', disk.at('shared/round'));
  assert.match(await outcome(await disk.spec(read(disk.at('shared/round')), writable)), /cannot be read/);
});

// Attack: one run writes `shared` and plants a link there; a later run, which knows nothing of the first, reads over it.
test('a link that an app planted shows nothing to a later start that knows nothing of that grant', async (context) => {
  const disk = new Disk(context);
  const writtenFolders = disk.at('user/written-folders');
  disk.write('shared/docs/who', 'mine');
  if (process.getuid?.() === 0) lchownSync(disk.at('shared'), 61_000, 61_000);
  const write = { args: [disk.at('shared/docs/who')], files: { read: [], write: [disk.at('shared')] } };
  const read = { args: [disk.at('shared/docs/who')], files: { read: [disk.at('shared/docs')], write: [] } };
  const later = () => disk.spec(read, [], { writtenFolders, dataFolder: disk.at('project') });
  const swap = () => {
    rmSync(disk.at('shared/docs'), { recursive: true });
    symlinkSync(disk.at('secret'), disk.at('shared/docs'));
  };
  assert.equal(await outcome(await later()), 'mine');
  swap();
  assert.equal(
    await outcome(await later()),
    'secret',
    'the link is the user’s: nobody was ever let write there',
  );
  for (const _ of ['first', 'second'])
    assert.equal(typeof (await disk.spec(write, [], { writtenFolders })), 'object');
  assert.match(await outcome(await later()), /leads over a link in a folder that an app may write/);
  assert.deepEqual(readFileSync(writtenFolders, 'utf8').split('\n'), [JSON.stringify(disk.at('shared')), '']);
  // A record that says nothing is no reason to believe in a link.
  writeFileSync(writtenFolders, 'shared\n');
  assert.match(await outcome(await later()), /holds no path in line 1/);
  assert.match(await outcome(await disk.spec(write, [], { writtenFolders })), /holds no path in line 1/);
  const closed = disk.write('no-folder', '');
  assert.match(
    await outcome(await disk.spec(write, [], { writtenFolders: join(closed, 'written-folders') })),
    /cannot be (read|written) \(ENOTDIR\)/,
  );
});

test('a script or program is not run over a link out of a folder that an app may write', async (context) => {
  const disk = new Disk(context);
  disk.write('secret/main.js', "console.log('secret')");
  disk.write('shared/bin/main.js', "console.log('mine')");
  chmodSync(disk.write('secret/tool', '#!/bin/sh\necho secret\n'), 0o755);
  const writable = [disk.at('shared')];
  const asked = (name: string) => disk.spec({ command: 'node', args: [disk.at(name)] }, writable);
  symlinkSync('bin', disk.at('shared/in'));
  assert.equal(await outcome(await asked('shared/in/main.js')), 'mine');
  symlinkSync(disk.at('secret'), disk.at('shared/out'));
  symlinkSync(disk.at('secret/tool'), disk.at('shared/tool'));
  const refusal = /leads over a link out of a folder that an app may write/;
  assert.match(await outcome(await asked('shared/out/main.js')), refusal);
  assert.match(
    await outcome(await disk.spec({ command: disk.at('shared/tool'), args: [] }, writable)),
    refusal,
  );
  assert.equal(
    await outcome(await disk.spec({ command: 'node', args: [disk.at('shared/out/main.js')] })),
    'secret',
  );
});

test("links in an app's own folder lead nowhere outside, and nothing behind them changes its owner", async (context) => {
  const disk = new Disk(context);
  const state = disk.at('data/apps/demo');
  disk.write('data/apps/demo/who', 'mine');
  symlinkSync(disk.at('secret'), join(state, 'out'));
  symlinkSync(disk.at('data'), join(state, 'data'));
  const before = lstatSync(disk.at('secret/who')).uid;
  const args = ['/state/who', '/state/out/who', '/state/data/apps/demo/who'];
  assert.equal(await outcome(await disk.spec({ args, stateFolder: state })), 'mine');
  assert.deepEqual(
    [lstatSync(disk.at('secret')).uid, lstatSync(disk.at('secret/who')).uid],
    [before, before],
  );
});

test("an app's folder that is itself a link is refused, and what it leads to keeps its owner", async (context) => {
  const disk = new Disk(context);
  mkdirSync(disk.at('data/apps'));
  symlinkSync(disk.at('secret'), disk.at('data/apps/demo'));
  const before = lstatSync(disk.at('secret')).uid;
  assert.match(
    await outcome(await disk.spec({ args: ['/state/who'], stateFolder: disk.at('data/apps/demo') })),
    /the app's folder .* is a link/,
  );
  assert.equal(lstatSync(disk.at('secret')).uid, before);
  // A link above it is where the user keeps the data folder.
  symlinkSync(disk.at('data'), disk.at('moved'));
  disk.write('data/apps/other/who', 'mine');
  assert.equal(
    await outcome(await disk.spec({ args: ['/state/who'], stateFolder: disk.at('moved/apps/other') })),
    'mine',
  );
});
