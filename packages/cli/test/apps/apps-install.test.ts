/** `cordon apps install` as a user types it, with a registry on this machine. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { keepSecret } from '@cordon/config/keys';
import { COMPILED } from '@cordon/testkit/cordon-program.ts';
import { PROGRAM } from '@cordon/testkit/installing.ts';
import { TestRegistry } from '@cordon/testkit/registry.ts';
import { isLeftOut } from '../../../../tools/cases.ts';

const CORDON = join(import.meta.dirname, '../../src/main.ts');

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

class User {
  readonly registry: TestRegistry;
  readonly #root: string;

  private constructor(root: string, registry: TestRegistry) {
    this.#root = root;
    this.registry = registry;
  }

  static async make(context: TestContext, apps: object): Promise<User> {
    const root = mkdtempSync(join(tmpdir(), 'cordon-user-'));
    chmodSync(root, 0o755);
    context.after(() => rmSync(root, { recursive: true, force: true, maxRetries: 10 }));
    mkdirSync(join(root, 'work'));
    const registry = await TestRegistry.open(context);
    writeFileSync(join(root, '.npmrc'), `registry=http://127.0.0.1:${registry.port}/\n`);
    writeFileSync(join(root, 'work/cordon.json'), JSON.stringify({ apps }));
    return new User(root, registry);
  }

  /** With the file that the user wrote, named as such. */
  cordon(command: string, ...args: readonly string[]): Promise<Ended> {
    const [sub = '', ...rest] = args;
    const words = sub === 'install' ? [command, sub, ...NAMED, ...rest] : [command, ...NAMED, ...args];
    return this.run(words);
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.#root, 'work', name), text);
  }

  /** As `cordon init` keeps what the user types. */
  keep(name: string, secret: string): void {
    const ownDataFolder = join(this.#root, '.local/share/cordon');
    const kept = keepSecret({ ownDataFolder, folder: join(this.#root, 'work') }, name, secret);
    assert.equal(kept.ok, true);
  }

  has(name: string): boolean {
    return existsSync(join(this.#root, 'work', name));
  }

  /** `stops`: when the user presses Ctrl-C. */
  run(
    args: readonly string[],
    environment: Record<string, string> = {},
    stops: Promise<void> | null = null,
  ): Promise<Ended> {
    const child = spawn(process.execPath, [CORDON, ...args], {
      cwd: join(this.#root, 'work'),
      env: { HOME: this.#root, PATH: process.env.PATH ?? '', LANG: 'C.UTF-8', ...COMPILED, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 300_000,
    });
    void stops?.then(() => child.kill('SIGINT'));
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString('utf8');
    });
    child.stderr.on('data', (chunk: Buffer) => {
      err += chunk.toString('utf8');
    });
    return new Promise((resolve) => child.once('close', (code) => resolve({ code, out, err })));
  }
}

const NAMED = ['--config', 'cordon.json'];

const APPS = {
  demo: { command: 'npx', args: ['-y', 'demo-app'] },
  local: { command: 'node', args: ['app.js'] },
};

test('apps are installed, shown, left alone, and upgraded only when the user wants it', async (context) => {
  const user = await User.make(context, APPS);
  const bin = { 'demo-app': 'cli.js' };
  user.registry.publish('demo-app', '1.0.0', { 'cli.js': PROGRAM }, { bin });
  const before = await user.cordon('apps');
  assert.match(before.out, /installed: not by `cordon apps install demo`/);

  const first = await user.cordon('apps', 'install');
  assert.equal(first.code, 0);
  assert.match(first.err, /^fetching from http:\/\/127\.0\.0\.1:\d+\/\n$/);
  assert.match(
    first.out,
    /^demo\n {2}demo-app 1\.0\.0, 2 files, 0\.0 MiB\n {2}from: 127\.0\.0\.1:\d+\n {2}digest: [0-9a-f]{64}\n/,
  );
  assert.match(first.out, /demo-app +1\.0\.0 +sha512-/);
  assert.match(
    (await user.cordon('apps')).out,
    /installed: demo-app 1\.0\.0 since \d{4}-\d\d-\d\d, [0-9a-f]{12}…/,
  );
  assert.match(
    (await user.cordon('apps', 'install', 'demo')).out,
    /^demo: demo-app 1\.0\.0 was installed on/,
  );
  assert.match(
    (await user.cordon('apps', 'install', 'local')).out,
    /^local: starts a program of this machine/,
  );

  user.registry.publish('new', '3.0.0', { 'index.js': '' });
  user.registry.publish('demo-app', '2.0.0', { 'cli.js': PROGRAM }, { bin, dependencies: { new: '*' } });
  const asked = await user.cordon('apps', 'install', 'demo', '--again');
  assert.equal(asked.code, 1);
  assert.match(
    asked.out,
    /demo-app 1\.0\.0 → 2\.0\.0\n {2}new dependency: new 3\.0\.0\n {2}new files: node_modules\/new/,
  );
  assert.match(asked.err, /nothing was changed: `--yes` accepts it/);
  assert.match((await user.cordon('apps')).out, /demo-app 1\.0\.0 since/);
  const wanted = await user.cordon('apps', 'install', '--again', '--yes', '--json');
  const kinds = wanted.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).kind);
  assert.deepEqual([wanted.code, kinds], [0, ['app.difference', 'app.installed']]);
  assert.match((await user.cordon('apps')).out, /demo-app 2\.0\.0 since/);
});

test('a command behind `--` is installed for `cordon run`, and mistakes are told', async (context) => {
  if (isLeftOut(context)) return;
  const user = await User.make(context, APPS);
  user.registry.publish('demo-app', '1.0.0', { 'cli.js': PROGRAM }, { bin: { 'demo-app': 'cli.js' } });
  const typed = await user.cordon('apps', 'install', '--', 'npx', '-y', 'demo-app', '--flag');
  assert.equal(typed.code, 0);
  assert.match(typed.err, /^fetching from http:\/\/127\.0\.0\.1:\d+\/\n$/);
  assert.match(typed.out, /^npx -y demo-app --flag\n {2}demo-app 1\.0\.0/);
  assert.match((await user.cordon('apps', 'install', '--', 'node', 'x')).out, /there is nothing to install/);
  for (const [args, message] of [
    [['--', 'docker', 'run', 'x'], /outside of the sandbox/],
    [['--', 'npx', '../evil'], /not the name of a package/],
    [['--', 'npx', 'demo-app@9.9.9'], /has no such\s+package or version/],
    [['dmeo'], /there is no app `dmeo`\n {2}help: did you mean `demo`/],
  ] as const) {
    const refused = await user.cordon('apps', 'install', ...args);
    assert.equal(refused.code, 2);
    assert.match(refused.err, message);
  }
});

/** A server that counts who comes. */
async function bait(context: TestContext): Promise<{ readonly port: number; readonly asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.statusCode = 404;
    response.end();
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  context.after(() => server.close());
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return { port: address.port, asked };
}

test('a registry that refuses is reported once, and the secret of `cordon.json` opens it', async (context) => {
  if (isLeftOut(context)) return;
  const apps = Object.fromEntries(
    ['one', 'two', 'three'].map((name) => [name, { command: 'npx', args: [`demo-${name}`] }]),
  );
  const user = await User.make(context, apps);
  const { registry } = user;
  for (const name of ['one', 'two', 'three'])
    registry.publish(`demo-${name}`, '1.0.0', { 'cli.js': PROGRAM });
  registry.wants = 'Bearer the-registry-token';
  const refused = await user.cordon('apps', 'install');
  assert.equal(refused.code, 2);
  assert.equal(refused.err.split('wants credentials').length - 1, 1, refused.err);
  assert.equal(refused.err.split('fetching from').length - 1, 1, refused.err);
  assert.match(refused.err, /not installed for the same reason: two, three/);

  const place = `//127.0.0.1:${registry.port}/:_authToken`;
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder as people write it
  user.write('cordon.json', JSON.stringify({ packages: { [place]: '${secret:npm}' }, apps }));
  assert.match((await user.cordon('apps', 'install')).err, /the secret `npm` is not kept for this file/);
  user.keep('npm', 'the-registry-token');
  const installed = await user.cordon('apps', 'install', 'one');
  assert.equal(installed.code, 0, installed.err);
  assert.ok(!(installed.out + installed.err).includes('the-registry-token'));
});

test('Ctrl-C says that the user stopped it, unless a package failed before', async (context) => {
  if (isLeftOut(context)) return;
  const hangs = { command: 'npx', args: ['-y', 'demo-app'] };
  for (const [apps, code] of [
    [{ hangs }, 1],
    [{ bad: { command: 'npx', args: ['-y', 'git+https://x.example/demo'] }, hangs }, 2],
  ] as const) {
    const user = await User.make(context, apps);
    user.registry.trouble = 'hangs';
    const stopped = await user.run(['apps', 'install', ...NAMED], {}, user.registry.asked);
    assert.equal(stopped.code, code, stopped.err);
  }
});

test('in a folder that nobody agreed to, nothing is fetched, made or sent', async (context) => {
  if (isLeftOut(context)) return;
  const user = await User.make(context, APPS);
  const { port, asked } = await bait(context);
  const secret = { AWS_SECRET_ACCESS_KEY: 'hunter2' };
  user.write('.npmrc', `registry=http://127.0.0.1:${port}/\${AWS_SECRET_ACCESS_KEY}/\n`);
  user.write('cordon.json', JSON.stringify({ data: './planted', apps: APPS }));
  for (const words of [['demo'], [], ['--yes'], ['--again'], ['--', 'npx', '-y', 'demo-app']]) {
    const refused = await user.run(['apps', 'install', ...words], secret);
    assert.equal(refused.code, 2);
    assert.match(
      refused.err.replace(/\s+/g, ' '),
      /is in this folder and starts programs, and you have not agreed to it/,
    );
  }
  assert.deepEqual(asked, []);
  assert.equal(user.has('planted'), false);
});

test('a registry that the folder names is not asked before the user has agreed to its address', async (context) => {
  if (isLeftOut(context)) return;
  const user = await User.make(context, APPS);
  const { port, asked } = await bait(context);
  const secret = { AWS_SECRET_ACCESS_KEY: 'hunter2' };
  const address = `http://127.0.0.1:${port}/`;
  for (const [text, refusal] of [
    [`registry=${address}\${AWS_SECRET_ACCESS_KEY}/\n`, /holds a variable of your environment/],
    [`registry=${address}\n`, new RegExp(`names the registry ${address}, which you have not agreed to`)],
  ] as const) {
    user.write('.npmrc', text);
    const variables = { npm_execpath: '/x', npm_config_registry: `${address}hunter2/` };
    for (const environment of [secret, { ...secret, ...variables }]) {
      const refused = await user.run(['apps', 'install', ...NAMED, 'demo'], environment);
      assert.equal(refused.code, 2);
      assert.match(refused.err.replace(/\s+/g, ' '), refusal);
    }
  }
  assert.equal(asked.length, 0);
  // The twin: named by the user, it is asked.
  const own = await user.run(['apps', 'install', ...NAMED, 'demo'], { npm_config_registry: address });
  assert.equal(own.code, 2, 'the bait has no package');
  assert.ok(asked.includes('/demo-app'));
});
