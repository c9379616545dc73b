/**
 * The install step against registries that mean harm, each attack beside the same package without it. Everything runs
 * in the real sandbox with the npm and pip of this machine.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { digestTree, recordFile, treeFolder } from '@cordon/sandbox';
import { callOf, Machine, PROGRAM } from '@cordon/testkit/installing.ts';
import { isLeftOut } from '../../../tools/cases.ts';
import { fetchPackages } from '../src/install.ts';

/** An honest package of one file, besides which each attack stands. */
function honest({ registry }: Machine, version = '1.0.0'): void {
  registry.publish('demo-app', version, { 'cli.js': PROGRAM }, { bin: { 'demo-app': 'cli.js' } });
}

function filesOf(machine: Machine, digest: string): readonly string[] {
  const tree = digestTree(treeFolder(machine.data, digest));
  return tree.ok ? tree.value.files : [tree.fault.message];
}

test('a package is fetched, recorded with its digests, and started from what was installed', async (context) => {
  const machine = await Machine.make(context);
  machine.registry.publish('left', '1.0.0', { 'index.js': 'module.exports = 7;' });
  const cli = "#!/usr/bin/env node\nconsole.log('ran', require('left'), ...process.argv.slice(2));\n";
  const more = { bin: { 'demo-app': 'cli.js' }, dependencies: { left: '^1.0.0' } };
  machine.registry.publish('demo-app', '1.2.3', { 'cli.js': cli }, more);
  assert.match(await machine.run('npx -y demo-app'), /`demo-app` is not installed, and nothing is fetched/);
  const record = await machine.install('npx -y demo-app');
  assert.deepEqual(
    [record.name, record.version, record.packages.map(({ name, version }) => `${name} ${version}`)],
    ['demo-app', '1.2.3', ['demo-app 1.2.3', 'left 1.0.0']],
  );
  assert.match(record.packages[0]?.integrity ?? '', /^sha512-/);
  assert.equal(await machine.run('npx -y demo-app one two'), 'ran 7 one two');
  assert.equal(await machine.run('pnpm dlx demo-app three'), 'ran 7 three');
  assert.deepEqual(machine.work, []);
});

test('scripts of an installation do not run, neither of the package nor of what it needs', async (context) => {
  if (isLeftOut(context)) return;
  const machine = await Machine.make(context);
  const script = `node -e "require('fs').writeFileSync(process.env.INIT_CWD + '/node_modules/ran.js', '')"`;
  const scripts = { preinstall: script, install: script, postinstall: script, prepare: script };
  machine.registry.publish('left', '1.0.0', { 'index.js': '' }, { scripts });
  const more = { bin: { 'demo-app': 'cli.js' }, dependencies: { left: '1' }, scripts };
  machine.registry.publish('demo-app', '1.0.0', { 'cli.js': PROGRAM }, more);
  const { digest } = await machine.install('npx demo-app');
  assert.deepEqual(filesOf(machine, digest), [
    'node_modules/demo-app/cli.js',
    'node_modules/demo-app/package.json',
    'node_modules/left/index.js',
    'node_modules/left/package.json',
  ]);
  assert.equal(await machine.run('npx demo-app'), 'ran');
});

/** Attack: a name that the user's own registry holds is published in the one that everybody uses. */
for (const [what, command] of [
  ['is needed by another package', 'npx demo-app'],
  ['is asked for beside another package', 'npx -p demo-app -p @corp/left demo-app'],
] as const) {
  test(`a package of a scope with a registry of its own, that ${what}, is not taken from another registry`, async (context) => {
    if (isLeftOut(context, what === 'is needed by another package')) return;
    const machine = await Machine.make(context);
    machine.registry.publish('@corp/left', '9.0.0', { 'index.js': 'module.exports = 7;' });
    const needs = command.includes('@corp') ? {} : { dependencies: { '@corp/left': '>=1' } };
    const more = { bin: { 'demo-app': 'cli.js' }, ...needs };
    machine.registry.publish('demo-app', '1.0.0', { 'cli.js': PROGRAM }, more);
    const settings = join(machine.root, 'home/.npmrc');
    writeFileSync(settings, '@corp:registry=http://packages.corp.example/');
    assert.match(await machine.refusal(command), /packages\.corp\.example/);
    assert.equal(
      machine.registry.requests.some((path) => path.includes('@corp')),
      false,
    );
    rmSync(settings);
    assert.equal(await machine.refusal(command), 'installed');
  });
}

test('paths and links of a tarball that lead out come to nothing', async (context) => {
  if (isLeftOut(context)) return;
  const machine = await Machine.make(context);
  const entries = [
    { path: 'package/../../../escaped.js', content: '1' },
    { path: '../../../../escaped.js', content: '1' },
    { path: `${machine.root}/escaped.js`, content: '1' },
    { path: 'package/passwd', type: '2', target: '/etc/passwd' },
    { path: 'package/up', type: '2', target: '../../../..' },
    { path: 'package/up/escaped.js', content: '1' },
    { path: 'package/hard', type: '1', target: '/etc/passwd' },
  ] as const;
  machine.registry.publish(
    'demo-app',
    '1.0.0',
    { 'cli.js': PROGRAM },
    { bin: { 'demo-app': 'cli.js' }, entries },
  );
  const { digest } = await machine.install('npx demo-app');
  const installed = filesOf(machine, digest);
  assert.deepEqual(
    installed.filter((path) => !path.startsWith('node_modules/demo-app/')),
    [],
  );
  assert.equal(installed.includes('node_modules/demo-app/passwd'), false);
  for (const folder of ['', 'data', 'data/packages', 'data/packages/work'])
    assert.equal(existsSync(join(machine.root, folder, 'escaped.js')), false);
  assert.equal(await machine.run('npx demo-app'), 'ran');
});

const TAMPERINGS: Readonly<Record<string, (tree: string) => void>> = {
  'a changed file': (tree) => appendFileSync(join(tree, 'node_modules/demo-app/cli.js'), '// more'),
  'a new file': (tree) => writeFileSync(join(tree, 'node_modules/demo-app/more.js'), ''),
  'a missing file': (tree) => rmSync(join(tree, 'node_modules/demo-app/other.js')),
  'a file that became executable': (tree) => chmodSync(join(tree, 'node_modules/demo-app/cli.js'), 0o755),
  'a file behind a link': (tree) => {
    const file = join(tree, 'node_modules/demo-app/cli.js');
    renameSync(file, join(tree, '../moved.js'));
    symlinkSync(join(tree, '../moved.js'), file);
  },
  'a folder behind a link': (tree) => {
    renameSync(tree, `${tree}-moved`);
    writeFileSync(join(`${tree}-moved`, 'more.js'), '');
    symlinkSync(`${tree}-moved`, tree);
  },
  'no folder': (tree) => rmSync(tree, { recursive: true }),
};

test('what differs from its record is not started, and is put right by installing it again', async (context) => {
  if (isLeftOut(context)) return;
  const machine = await Machine.make(context);
  machine.registry.publish(
    'demo-app',
    '1.0.0',
    { 'cli.js': PROGRAM, 'other.js': '' },
    { bin: { 'demo-app': 'cli.js' } },
  );
  for (const [what, tamper] of Object.entries(TAMPERINGS)) {
    const { digest } = await machine.install('npx demo-app');
    assert.equal(await machine.run('npx demo-app'), 'ran', what);
    tamper(treeFolder(machine.data, digest));
    assert.match(await machine.run('npx demo-app'), /has changed since|not accepted|is gone/, what);
  }
  await machine.install('npx demo-app');
  assert.equal(await machine.run('npx demo-app'), 'ran');
});

test('a record of something else, or a damaged one, starts nothing', async (context) => {
  const machine = await Machine.make(context);
  honest(machine);
  const { request } = await machine.install('npx demo-app');
  const file = recordFile(machine.data, request);
  const good = readFileSync(file, 'utf8');
  for (const bad of [
    good.replace('npm:demo-app', 'npm:other'),
    good.replace(/"digest": "[0-9a-f]{4}/, '"digest": "../.'),
    good.replace(/"digest": "../, '"digest": "00'),
    good.slice(0, 100),
    '',
  ]) {
    writeFileSync(file, bad);
    assert.match(await machine.run('npx demo-app'), /something else|damaged|is gone/);
  }
  writeFileSync(file, good);
  assert.equal(await machine.run('npx demo-app'), 'ran');
});

test('npm reaches only the registry, whatever address a package names', async (context) => {
  const machine = await Machine.make(context);
  const { registry } = machine;
  const bin = { 'demo-app': 'cli.js' };
  for (const host of ['evil.example.net', 'other.example.com']) {
    const dependencies = { left: `http://${host}:${registry.port}/left.tgz` };
    registry.publish('demo-app', '1.0.0', { 'cli.js': PROGRAM }, { bin, dependencies });
    assert.match(
      await machine.refusal('npx demo-app'),
      /has no such package or version$|is not the registry/,
    );
  }
  const tarball = 'https://evil.example.net/demo-app/-/1.0.0.tgz';
  registry.publish('demo-app', '1.0.0', { 'cli.js': PROGRAM }, { bin, tarball });
  assert.match(await machine.refusal('npx demo-app'), /^installed$|is not the registry/);
  assert.deepEqual([...new Set(registry.dialled)], [`93.184.215.14:${registry.port}`]);
  honest(machine);
  assert.equal(await machine.refusal('npx demo-app'), 'installed');
});

test('pip reaches only the index: another host is refused by the proxy, also one of the same site', async (context) => {
  if (isLeftOut(context)) return;
  const machine = await Machine.make(context);
  const { registry } = machine;
  const { requests } = registry;
  const files = { 'demo_tool.py': 'def main():\n    pass\n' };
  registry.publishWheel('demo-tool', '1.0.0', files, 'demo-tool = demo_tool:main');
  for (const host of ['evil.example.net', 'other.example.com']) {
    registry.filesAt = `http://${host}:${registry.port}`;
    assert.equal(
      await machine.refusal('uvx demo-tool'),
      `the package would be fetched from \`${host}\`, which is not the registry \`packages.example.com:${registry.port}\``,
    );
  }
  assert.equal(
    requests.some((path) => path.endsWith('.whl')),
    false,
  );
  registry.filesAt = '';
  assert.equal(await machine.refusal('uvx demo-tool'), 'installed');
});

test('what is not there, not what was announced, or in a repository is told in one sentence', async (context) => {
  if (isLeftOut(context)) return;
  const machine = await Machine.make(context);
  honest(machine);
  assert.match(await machine.refusal('npx demo-app@9.9.9'), /has no such package or version$/);
  assert.match(await machine.refusal('npx no-such-package'), /has no such package or version$/);
  const integrity = `sha512-${'A'.repeat(86)}==`;
  machine.registry.publish('wrong', '1.0.0', { 'cli.js': PROGRAM }, { integrity });
  assert.match(await machine.refusal('npx wrong'), /the digests differ$/);
  const dependencies = { left: 'git+https://evil.example.net/left.git' };
  machine.registry.publish('from-git', '1.0.0', { 'cli.js': PROGRAM }, { dependencies });
  assert.notEqual(await machine.refusal('npx from-git'), 'installed');
  assert.equal(await machine.refusal('npx demo-app@^1.0.0'), 'installed');
});

test('a registry that is silent or gone ends the step, and nothing is left behind', async (context) => {
  if (isLeftOut(context)) return;
  const machine = await Machine.make(context);
  honest(machine);
  machine.registry.trouble = 'hangs';
  assert.equal(
    await machine.refusal('npx demo-app', { seconds: 3 }),
    'the registry did not deliver everything within 3 s',
  );
  machine.registry.trouble = null;
  machine.registry.trouble = 'gone';
  assert.match(await machine.refusal('npx demo-app'), /does not answer$|was not reached/);
  machine.registry.trouble = null;
  assert.deepEqual(machine.work, []);
  assert.equal(await machine.refusal('npx demo-app'), 'installed');
});

test('what unpacks to more than there is room for, or to too many files, is refused', async (context) => {
  if (isLeftOut(context)) return;
  const machine = await Machine.make(context);
  // As long as no repetition is near, nothing can be packed.
  const noise = randomBytes(48 * 1024).toString('base64');
  const large = { 'cli.js': PROGRAM, 'noise.txt': noise.repeat(400) };
  machine.registry.publish('large', '1.0.0', large);
  assert.equal(
    await machine.refusal('npx large', { storageMiB: 24 }),
    'the package needs more than 24 MiB or 60000 files',
  );
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`file-${index}.js`, '']));
  machine.registry.publish('many', '1.0.0', many);
  assert.match(await machine.refusal('npx many', { files: 200 }), /more than (?:768 MiB or )?200 files/);
  assert.equal(await machine.refusal('npx large', { storageMiB: 256 }), 'installed');
  assert.equal(await machine.refusal('npx many', { files: 2000 }), 'installed');
});

test('two installations at once are two, and of the same package one result', async (context) => {
  if (isLeftOut(context)) return;
  const machine = await Machine.make(context);
  honest(machine);
  machine.registry.publish('second', '1.0.0', { 'cli.js': PROGRAM }, { bin: { second: 'cli.js' } });
  const records = await Promise.all([
    machine.install('npx demo-app'),
    machine.install('npx demo-app'),
    machine.install('npx second'),
  ]);
  assert.equal(records[0]?.digest, records[1]?.digest);
  assert.equal(machine.kept.length, 4);
  assert.deepEqual(machine.work, []);
  assert.deepEqual([await machine.run('npx demo-app'), await machine.run('npx second')], ['ran', 'ran']);
});

test('a process killed in the middle leaves nothing installed, and its remains go away', async (context) => {
  if (isLeftOut(context)) return;
  const machine = await Machine.make(context);
  honest(machine);
  machine.registry.trouble = 'hangs';
  const script = join(import.meta.dirname, 'killed-installation.ts');
  const args = [script, machine.data, machine.registry.url, String(machine.registry.port)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  await machine.registry.asked;
  child.kill('SIGKILL');
  await ended;
  machine.registry.trouble = null;
  assert.match(await machine.run('npx demo-app'), /is not installed/);
  const [left = ''] = machine.work;
  assert.match(left, /^install-/);
  const anHourAgo = Date.now() / 1000 - 3700;
  utimesSync(join(machine.data, 'packages/work', left), anHourAgo, anHourAgo);
  await machine.install('npx demo-app');
  assert.deepEqual(machine.work, []);
  assert.equal(await machine.run('npx demo-app'), 'ran');
});

test('what was fetched and not put in force is not started', async (context) => {
  if (isLeftOut(context)) return;
  const machine = await Machine.make(context);
  honest(machine);
  const fetched = await machine.fetch('npx demo-app');
  assert.equal(fetched.ok, true);
  assert.match(await machine.run('npx demo-app'), /is not installed/);
  if (fetched.ok) fetched.value.discard();
  assert.deepEqual(machine.work, []);
});

test('credentials of the user never leave the hub, and a registry that wants them is refused', async (context) => {
  if (isLeftOut(context)) return;
  const machine = await Machine.make(context);
  honest(machine);
  const host = new URL(machine.registry.url).host;
  const token = 'npm_0123456789';
  writeFileSync(
    join(machine.root, 'home/.npmrc'),
    `registry=${machine.registry.url}\n//${host}/:_authToken=${token}\n`,
  );
  delete machine.environment.npm_config_registry;
  assert.equal(await machine.refusal('npx demo-app'), 'installed');
  assert.deepEqual(
    machine.registry.requests.filter((request) => request.includes('with credentials')),
    [],
  );
  machine.registry.trouble = 'unauthorized';
  assert.match(
    await machine.refusal('npx demo-app'),
    /wants credentials, and `cordon\.json` names none; those of your package manager are not used/,
  );
  rmSync(join(machine.root, 'home/.npmrc'));
  machine.environment.npm_config_registry = machine.registry.url;
  assert.match(await machine.refusal('npx demo-app'), /wants credentials, and `cordon\.json` names none/);
});

test('an upgrade shows what would change, and is in force when it is put there', async (context) => {
  if (isLeftOut(context)) return;
  const machine = await Machine.make(context);
  const { registry } = machine;
  registry.publish('left', '1.0.0', { 'index.js': '' });
  registry.publish('gone', '1.0.0', { 'index.js': '' });
  registry.publish('new', '3.0.0', { 'index.js': '' });
  const bin = { 'demo-app': 'cli.js' };
  registry.publish(
    'demo-app',
    '1.0.0',
    { 'cli.js': PROGRAM },
    { bin, dependencies: { left: '*', gone: '*' } },
  );
  await machine.install('npx demo-app');
  registry.publish('left', '2.0.0', { 'index.js': '', 'more.js': '' });
  const second = PROGRAM.replace("'ran'", "'ran the second'");
  registry.publish('demo-app', '2.0.0', { 'cli.js': second }, { bin, dependencies: { left: '*', new: '*' } });
  const fetched = await machine.fetch('npx demo-app');
  assert.equal(fetched.ok, true);
  if (!fetched.ok) return;
  const { version, added, removed, changed, filesAdded, filesRemoved } = fetched.value.difference ?? {};
  assert.deepEqual(
    { version, added: added?.map(({ name }) => name), removed: removed?.map(({ name }) => name), changed },
    {
      version: { from: '1.0.0', to: '2.0.0' },
      added: ['new'],
      removed: ['gone'],
      changed: [
        { name: 'demo-app', from: '1.0.0', to: '2.0.0' },
        { name: 'left', from: '1.0.0', to: '2.0.0' },
      ],
    },
  );
  assert.deepEqual(filesAdded, [
    'node_modules/left/more.js',
    'node_modules/new/index.js',
    'node_modules/new/package.json',
  ]);
  assert.deepEqual(filesRemoved, ['node_modules/gone/index.js', 'node_modules/gone/package.json']);
  assert.equal(await machine.run('npx demo-app'), 'ran');
  assert.equal(fetched.value.commit().ok, true);
  assert.equal(await machine.run('npx demo-app'), 'ran the second');
});

test('a version that was replaced stays for a day, since an app may run from it, and then goes', async (context) => {
  if (isLeftOut(context)) return;
  const machine = await Machine.make(context);
  honest(machine, '1.0.0');
  await machine.install('npx demo-app');
  honest(machine, '2.0.0');
  await machine.install('npx demo-app');
  assert.equal(machine.trees, 2);
  machine.later = 60 * 60 * 1000 - 1;
  await machine.install('npx demo-app');
  assert.equal(machine.trees, 2);
  machine.later = 25 * 60 * 60 * 1000;
  await machine.install('npx demo-app');
  assert.equal(machine.trees, 1);
  assert.equal(await machine.run('npx demo-app'), 'ran');
});

test('without npm nothing is fetched, and the remedy is told', async (context) => {
  const machine = await Machine.make(context);
  honest(machine);
  const { places, ...rest } = machine.installer();
  const installer = { ...rest, places: { ...places, npm: null } };
  const fetched = await fetchPackages(callOf('npx demo-app'), installer, new AbortController().signal);
  assert.deepEqual(fetched.ok ? null : [fetched.fault.message, fetched.fault.help], [
    'npm was not found, and packages are fetched with it',
    'install Node.js with npm',
  ]);
});

test('a step that is stopped in the middle ends at once', async (context) => {
  if (isLeftOut(context)) return;
  const machine = await Machine.make(context);
  honest(machine);
  machine.registry.trouble = 'hangs';
  const stopping = new AbortController();
  const fetching = machine.fetch('npx demo-app', {}, stopping.signal);
  await machine.registry.asked;
  stopping.abort();
  const fetched = await fetching;
  assert.equal(fetched.ok ? '' : fetched.fault.message, 'the installation was stopped');
  assert.deepEqual(machine.work, []);
});

test('what was installed goes before what lies beside the configuration, and without it that is taken', async (context) => {
  if (isLeftOut(context)) return;
  const machine = await Machine.make(context);
  const beside = join(machine.root, 'project/node_modules/demo-app');
  mkdirSync(beside, { recursive: true });
  chmodSync(join(machine.root, 'project'), 0o755);
  writeFileSync(join(beside, 'package.json'), '{"name":"demo-app","version":"1.0.0","bin":"cli.js"}');
  writeFileSync(join(beside, 'cli.js'), PROGRAM.replace("'ran'", "'ran beside'"));
  assert.equal(await machine.run('npx demo-app'), 'ran beside');
  honest(machine);
  const { digest } = await machine.install('npx demo-app');
  assert.equal(await machine.run('npx demo-app'), 'ran');
  appendFileSync(join(treeFolder(machine.data, digest), 'node_modules/demo-app/cli.js'), ' ');
  assert.match(await machine.run('npx demo-app'), /has changed since/);
});

test('a tool of Python is installed from a wheel and runs with what it needs', async (context) => {
  if (isLeftOut(context)) return;
  const machine = await Machine.make(context);
  const main = 'import sys\ndef main():\n    print("ran", *sys.argv[1:])\n';
  machine.registry.publishWheel('Demo-Tool', '1.0.0', { 'demo_tool.py': main }, 'demo-tool = demo_tool:main');
  machine.registry.publishWheel('demo-tool', '1.0.0', { 'demo_tool.py': main }, 'demo-tool = demo_tool:main');
  const record = await machine.install('uvx Demo_Tool@1.0.0');
  assert.deepEqual(
    [record.request, record.version, record.packages.map(({ version }) => version)],
    ['python:demo-tool==1.0.0', '1.0.0', ['1.0.0']],
  );
  assert.match(record.packages[0]?.integrity ?? '', /^sha256=/);
  assert.equal(await machine.run('uvx demo-tool==1.0.0 --flag'), 'ran --flag');
  assert.equal(await machine.run('pipx run --spec demo-tool==1.0.0 demo-tool x'), 'ran x');
  appendFileSync(join(treeFolder(machine.data, record.digest), 'demo_tool.py'), '\n');
  assert.match(await machine.run('uvx demo-tool==1.0.0'), /has changed since/);
});

test('a source distribution is refused, because its set-up would run', async (context) => {
  if (isLeftOut(context)) return;
  const machine = await Machine.make(context);
  machine.registry.publishSource('demo-tool', '1.0.0', 'raise SystemExit("the set-up ran")');
  const message = await machine.refusal('uvx demo-tool');
  assert.match(message, /has no such package or version/);
  assert.equal(
    machine.registry.requests.some((path) => path.endsWith('.tar.gz')),
    false,
  );
});
