import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { DEFAULT_APP_LIMITS } from '@cordon/core';
import { type AppCommand, type CommandContext, commandSpec, NODE_INSIDE } from '../../src/index.ts';
import { folder, run } from '../confined.ts';

interface Project {
  readonly root: string;
  readonly context: CommandContext;
  write(path: string, text: string): string;
  app(command: string, args: readonly string[], changes?: Partial<AppCommand>): AppCommand;
}

/** A home with a project with a configuration, as a user has it. */
function project(context: TestContext): Project {
  const home = folder(context);
  const root = join(home, 'project');
  const data = join(home, 'data');
  mkdirSync(root);
  mkdirSync(data, { mode: 0o700 });
  return {
    root,
    context: { configFolder: root, dataFolder: data, home },
    write: (path, text) => {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
      chmodSync(join(root, path), 0o644);
      return join(root, path);
    },
    app: (command, args, changes = {}) => ({
      command,
      args,
      env: {},
      cwd: null,
      files: { read: [], write: [] },
      stateFolder: join(data, 'app'),
      limits: DEFAULT_APP_LIMITS,
      node: [],
      ...changes,
    }),
  };
}

async function inside(app: AppCommand, context: CommandContext): Promise<readonly string[]> {
  const made = await commandSpec(app, context);
  return made.ok ? made.value.mounts.map((mount) => mount.inside).sort() : [made.fault.message];
}

test('a script of a workspace sees its package and the workspace package that it names, no other', async (context) => {
  const { root, write, app, context: where } = project(context);
  write('package.json', '{"workspaces":["apps","lib","secret"]}');
  write('apps/package.json', '{"type":"module","dependencies":{"@x/lib":"1"}}');
  write('apps/one/app.ts', `import { word } from '@x/lib'; const text: string = word; console.log(text);`);
  write('lib/package.json', '{"name":"@x/lib","type":"module","exports":{"source":"./index.ts"}}');
  write('lib/index.ts', `export const word: string = 'found';`);
  write('secret/package.json', '{"name":"@x/secret"}');
  mkdirSync(join(root, 'node_modules/@x'), { recursive: true });
  for (const name of ['lib', 'secret']) symlinkSync(`../../${name}`, join(root, 'node_modules/@x', name));
  const made = await commandSpec(app('node', ['--conditions=source', 'apps/one/app.ts']), where);
  assert.equal(made.ok, true);
  if (!made.ok) return;
  assert.deepEqual(
    made.value.mounts.map((mount) => `${mount.access} ${mount.inside}`).sort(),
    ['own /state', `read ${root}/apps`, `read ${root}/lib`, `read ${root}/node_modules`].sort(),
  );
  assert.equal((await run(made.value)).out, 'found');
});

test('a script in the middle of the project shows its part of it, not the project', async (context) => {
  const { root, write, app, context: where } = project(context);
  write('package.json', '{}');
  write('.env', 'KEY=secret');
  write('src/server.js', '0');
  write('server.js', '0');
  assert.deepEqual(
    await inside(app('node', ['src/server.js']), where),
    [`${root}/package.json`, `${root}/src`, '/state'].sort(),
  );
  assert.deepEqual(
    await inside(app('node', ['server.js']), where),
    [`${root}/package.json`, `${root}/server.js`, '/state'].sort(),
  );
});

test('npx means an installed package, and is refused with the remedy where there is none', async (context) => {
  const { root, write, app, context: where } = project(context);
  write('node_modules/@y/tool/package.json', '{"name":"@y/tool","version":"1.2.3","bin":{"tool":"cli.js"}}');
  write('node_modules/@y/tool/cli.js', '#!/usr/bin/env node\n0');
  const made = await commandSpec(app('npx', ['-y', '@y/tool@latest', 'a', '-b']), where);
  assert.deepEqual(made.ok && [made.value.executable, ...made.value.args.slice(1)], [
    NODE_INSIDE,
    `${root}/node_modules/@y/tool/cli.js`,
    'a',
    '-b',
  ]);
  const missing = await commandSpec(app('npx', ['-y', 'absent', 'x'], { app: 'notes' }), where);
  assert.equal(missing.ok ? '' : missing.fault.help, 'run `cordon apps install notes`');
  const typed = await commandSpec(app('bunx', ['absent@^1.0.0', 'x']), where);
  assert.equal(typed.ok ? '' : typed.fault.help, "run `cordon apps install -- npx 'absent@^1.0.0'`");
  const other = await commandSpec(app('npx', ['@y/tool@2.0.0']), where);
  assert.match(other.ok ? '' : other.fault.message, /installed as 1\.2\.3, not 2\.0\.0/);
  const escaping = write('node_modules/evil/package.json', '{"bin":"../../../../etc/passwd"}');
  assert.equal((await commandSpec(app('npx', ['evil']), where)).ok, false, escaping);
});

test('other programs come from the system, and what fetches is refused', async (context) => {
  const { app, context: where } = project(context);
  const shell = await commandSpec(app('sh', ['-c', 'true']), where);
  assert.deepEqual(shell.ok && [shell.value.usr, shell.value.profile], [true, 'spawn']);
  assert.match((await inside(app('uvx', ['x']), where))[0] ?? '', /is not installed, and nothing is fetched/);
  assert.match(
    (await inside(app('/usr/bin/docker', ['run', 'x']), where))[0] ?? '',
    /outside of the sandbox/,
  );
  assert.match((await inside(app('no-such-command', []), where))[0] ?? '', /was not found/);
  assert.match((await inside(app('node', ['missing.js']), where))[0] ?? '', /does not exist/);
});

test('permissions show the listed paths and never the data folder', async (context) => {
  const { root, write, app, context: where } = project(context);
  write('docs/a.txt', 'a');
  const files = { read: [join(root, 'docs')], write: [] };
  assert.deepEqual(await inside(app('sh', [], { files }), where), [join(root, 'docs'), '/state'].sort());
  for (const path of [where.dataFolder, dirname(where.dataFolder), '/', join(where.dataFolder, 'app', '..')])
    assert.match(
      (await inside(app('sh', [], { files: { read: [path], write: [] } }), where))[0] ?? '',
      /data folder/,
      path,
    );
  symlinkSync(where.dataFolder, join(root, 'link'));
  assert.match(
    (await inside(app('sh', [], { files: { read: [join(root, 'link')], write: [] } }), where))[0] ?? '',
    /data folder/,
  );
  assert.match(
    (await inside(app('sh', [], { files: { read: [], write: ['/no/such'] } }), where))[0] ?? '',
    /does not exist/,
  );
});

test('a socket is for those who may write: to connect is more than to read', async (context) => {
  const { root, app, context: where } = project(context);
  const socket = join(root, 'agent.sock');
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  context.after(() => server.close());
  const asked = async (read: readonly string[], write: readonly string[], unixSockets = false) =>
    (await inside(app('sh', [], { files: { read, write }, unixSockets }), where)).join();
  assert.match(await asked([socket], []), /is a socket, and who connects to it does more than read/);
  assert.match(await asked([], [socket]), /may not open Unix sockets/);
  assert.ok((await asked([], [socket], true)).includes(socket));
});

test("the app's own folder is also at its own path where the manifest lists it", async (context) => {
  const { app, context: where } = project(context);
  const state = join(where.dataFolder, 'app');
  assert.deepEqual(
    await inside(app('sh', [], { files: { read: [], write: [state] } }), where),
    ['/state', state].sort(),
  );
  assert.deepEqual(await inside(app('sh', [], { stateFolder: null }), where), []);
});

test('the code of an app is shown without a key that lies beside it, and a folder with one not at all', async (context) => {
  const { root, write, app, context: where } = project(context);
  write('tool/package.json', '{"type":"module"}');
  const script = write('tool/src/app.js', '');
  const key = write('tool/keys/k', 'k');
  const node = app('node', [script]);
  assert.ok((await inside(node, where)).includes(join(root, 'tool')));
  const closed = { ...where, closed: [key] };
  const shown = await inside(node, closed);
  assert.equal(
    shown.some((path) => key.startsWith(path)),
    false,
    shown.join(),
  );
  assert.ok(shown.includes(join(root, 'tool/src')));
  const asks = app('node', [script], { files: { read: [join(root, 'tool/keys')], write: [] } });
  assert.match((await inside(asks, closed)).join(), /would show the app a key that Cordon reads/);
  assert.ok((await inside(asks, where)).includes(join(root, 'tool')));
});
