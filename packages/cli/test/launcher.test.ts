import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { isLeftOut } from '../../../tools/cases.ts';

const LAUNCHER = join(import.meta.dirname, '../bin/cordon');

/** A repository with the launcher and a main that prints its arguments; `node` is in it or on the PATH, or nowhere. */
class Installation {
  readonly root = mkdtempSync(join(tmpdir(), 'cordon launcher-'));
  readonly path = join(this.root, 'path');

  constructor() {
    this.write(
      'packages/cli/src/main.ts',
      'const shown: string[] = process.argv.slice(2);\nconsole.log(JSON.stringify(shown));\n',
    );
    mkdirSync(join(this.root, 'packages/cli/bin'), { recursive: true });
    copyFileSync(LAUNCHER, join(this.root, 'packages/cli/bin/cordon'));
    mkdirSync(join(this.root, 'node_modules/@cordon'), { recursive: true });
    mkdirSync(join(this.root, 'node_modules/.bin'));
    symlinkSync('../../packages/cli', join(this.root, 'node_modules/@cordon/cli'));
    symlinkSync('../@cordon/cli/bin/cordon', join(this.root, 'node_modules/.bin/cordon'));
    mkdirSync(this.path);
    for (const tool of ['dirname', 'readlink', 'mkdir'])
      symlinkSync(`/usr/bin/${tool}`, join(this.path, tool));
  }

  write(name: string, content: string): void {
    const file = join(this.root, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    chmodSync(file, 0o755);
  }

  run(args: readonly string[] = [], environment: Record<string, string> = {}) {
    const env = { PATH: this.path, ...environment };
    const done = spawnSync('/bin/sh', [join(this.root, 'node_modules/.bin/cordon'), ...args], {
      env,
      cwd: '/',
      encoding: 'utf8',
    });
    return { code: done.status, out: done.stdout, err: done.stderr.replaceAll(this.root, 'ROOT') };
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true, maxRetries: 10 });
  }
}

const OLD = '#!/bin/sh\necho v20.20.2\n';
const BROKEN = '#!/nowhere/ld-linux.so\n';

test('the pinned Node runs main with the arguments as they are, from any folder', () => {
  using installation = new Installation();
  symlinkSync(process.execPath, join(installation.root, 'node_modules/.bin/node'));
  installation.write('path/node', OLD);
  const { code, out, err } = installation.run(['ask', 'two words', '', '$HOME "x"']);
  assert.deepEqual({ code, out, err }, { code: 0, out: '["ask","two words","","$HOME \\"x\\""]\n', err: '' });
});

test("where the pinned Node is missing or does not run, the machine's own serves if it is recent", () => {
  using installation = new Installation();
  symlinkSync(process.execPath, join(installation.path, 'node'));
  assert.equal(installation.run(['a']).out, '["a"]\n');
  installation.write('node_modules/.bin/node', BROKEN);
  assert.equal(installation.run(['a']).out, '["a"]\n');
});

test('without a recent Node it says what to do and exits with 2', () => {
  using installation = new Installation();
  const expected = {
    code: 2,
    out: '',
    err: `cordon: there is no Node.js 24 or newer that runs on this machine
  help: run npm ci in ROOT without --omit=optional, or install Node.js 24 from https://nodejs.org
`,
  };
  assert.deepEqual(installation.run(), expected);
  installation.write('path/node', OLD);
  installation.write('node_modules/.bin/node', BROKEN);
  assert.deepEqual(installation.run(), expected);
});

test('compiled code is kept in the cache folder of the user, readable by nobody else', () => {
  using installation = new Installation();
  symlinkSync(process.execPath, join(installation.path, 'node'));
  const cache = join(installation.root, 'cache');
  const { code } = installation.run([], { XDG_CACHE_HOME: cache });
  assert.equal(code, 0);
  assert.equal(statSync(join(cache, 'cordon/compile')).mode & 0o777, 0o700);
  const other = join(installation.root, 'other');
  installation.run([], { XDG_CACHE_HOME: other, NODE_DISABLE_COMPILE_CACHE: '1' });
  assert.equal(existsSync(other), false);
});

test('a cache folder that cannot be made only costs time', () => {
  using installation = new Installation();
  symlinkSync(process.execPath, join(installation.path, 'node'));
  installation.write('file', '');
  assert.equal(installation.run(['a'], { XDG_CACHE_HOME: join(installation.root, 'file') }).out, '["a"]\n');
});

/** Tries what a hostile trace or policy could make a parser try, and says what came of it. */
const TRYING = `
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
const tried = (does: () => unknown): string => {
  try {
    does();
    return 'done';
  } catch (error) {
    return String(Object(error).code);
  }
};
const write = tried(() => writeFileSync(String(process.argv[3]), ''));
const start = tried(() => { if (spawnSync('/bin/true').error) throw spawnSync('/bin/true').error; });
const read = tried(() => readFileSync('/etc/hostname'));
const core = /Max core file size +(\\S+) +(\\S+)/.exec(readFileSync('/proc/self/limits', 'utf8'))?.slice(1);
const thread = tried(() => new Worker('0', { eval: true }));
console.log(JSON.stringify({ write, start, read, thread, core }));
`;

for (const [args, result] of [
  [['analyze'], 'ERR_ACCESS_DENIED'],
  [['check'], 'ERR_ACCESS_DENIED'],
  [['explain'], 'ERR_ACCESS_DENIED'],
  [['test'], 'ERR_ACCESS_DENIED'],
  [['ask'], 'done'],
  [['analyze', '--ask-models'], 'done'],
] as const) {
  test(`\`cordon ${args.join(' ')}\`: writing a file and starting a program or a thread is ${result}, and no core is dumped`, (t) => {
    if (isLeftOut(t, args.length === 1 && ['analyze', 'ask'].includes(args[0]))) return;
    using installation = new Installation();
    installation.write('packages/cli/src/main.ts', TRYING);
    symlinkSync(process.execPath, join(installation.root, 'node_modules/.bin/node'));
    const file = join(installation.root, 'written');
    const [command, ...options] = args;
    const { out, err } = installation.run([command, file, ...options]);
    assert.equal(err, '');
    assert.deepEqual(JSON.parse(out), {
      write: result,
      start: result,
      read: 'done',
      thread: result,
      core: ['0', '0'],
    });
    assert.equal(existsSync(file), result === 'done');
  });
}

test('where prlimit is, a core is not piped to a program either', () => {
  using installation = new Installation();
  installation.write('packages/cli/src/main.ts', TRYING);
  symlinkSync(process.execPath, join(installation.root, 'node_modules/.bin/node'));
  symlinkSync('/usr/bin/prlimit', join(installation.path, 'prlimit'));
  const most = spawnSync('/bin/sh', ['-c', 'ulimit -H -c'], { encoding: 'utf8' }).stdout.trim();
  const { out } = installation.run(['analyze', join(installation.root, 'written')]);
  assert.deepEqual(JSON.parse(out).core, most === '0' ? ['0', '0'] : ['1', '1']);
});
