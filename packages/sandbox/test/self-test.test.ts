import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { arch, constants } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ok } from '@cordon/core';
import { HERE } from '@cordon/dialler';
import { isLeftOut } from '../../../tools/cases.ts';
import {
  type ConfinedProcess,
  checkPath,
  LAYER_NAMES,
  LAYERS,
  type LayerName,
  openSandbox,
  type ProbeReport,
  parseWeaker,
  type SandboxSpec,
} from '../src/index.ts';
import { answer, encode, load, OFFSET, when } from '../src/kernel/bpf.ts';
import { DATA_ADDRESS, program } from '../src/kernel/machine-code.ts';
import { ACTION } from '../src/kernel/seccomp.ts';
import { SYSCALLS } from '../src/kernel/syscall-numbers.ts';
import { launch } from '../src/launch/launch.ts';
import { selfTest } from '../src/self-test.ts';
import { openLauncher } from '../src/spawn.ts';
import { folder, script } from './confined.ts';

const isRoot = process.getuid?.() === 0;
const hub = fileURLToPath(new URL('../src/spawn.ts', import.meta.url));

/** Layers that the self-test finds missing when `leftOut` are not set up, although all are asked for. */
async function missing(
  leftOut: readonly LayerName[],
  seenAs: (process: ConfinedProcess) => ConfinedProcess = (process) => process,
): Promise<readonly string[]> {
  const launcher = openLauncher({ node: process.execPath, weaker: leftOut });
  const canary = checkPath(fileURLToPath(new URL('../src/inside/canary.ts', import.meta.url)));
  if (!launcher.ok || !canary.ok) throw new Error('there is no sandbox here');
  const layers = await selfTest({
    launch: async (spec, signal) => {
      const started = await launch(launcher.value, spec, signal);
      return started.ok ? ok(seenAs(started.value)) : started;
    },
    canary: canary.value,
    outside: [hub],
    layers: LAYER_NAMES.filter((name) => name !== 'separate-user' || isRoot),
    bwrap: launcher.value.programs.bwrap,
    explain: () => null,
    bait: HERE.bait,
  });
  return layers.filter(({ ok }) => !ok).map(({ layer }) => layer);
}

/** What the canary cannot see, and who shows it instead. */
const UNSEEN: ReadonlyMap<LayerName, string> = new Map([
  ['no-nested-namespaces', 'bubblewrap asserts it; with the filter in force the canary cannot even try'],
  ['watchdog', 'the self-test looks whether a tree can be watched; limits.test.ts that it is'],
  ['session', 'the process group of the tests has no terminal to lose; the escape suite opens one'],
  ['descriptors', 'needs a hub that inherited some: trap 5'],
  ['arguments', 'the first process inside is ours and was started with others; shown without it below'],
]);

test('the self-test finds nothing missing where every layer is set up', async () => {
  assert.deepEqual(await missing([]), []);
});

test('the self-test waits for a set-up that takes long, as on a busy machine', async (context) => {
  // A first process sees the /proc of the host until its own is mounted.
  const script = 'echo begun; sleep 8; mount -t proc proc /proc; sleep 600';
  const user = isRoot ? [] : ['--map-root-user'];
  const slow = spawn('unshare', [...user, '--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', script]);
  context.after(() => slow.kill('SIGKILL'));
  await once(slow.stdout, 'data');
  const root = Number(readFileSync(`/proc/${slow.pid}/task/${slow.pid}/children`, 'latin1'));
  assert.deepEqual(await missing([], (canary) => ({ ...canary, root })), []);
});

for (const layer of LAYER_NAMES) {
  const { mayBeLeftOut } = LAYERS[layer];
  if (mayBeLeftOut === 'never' || UNSEEN.has(layer) || (layer === 'separate-user' && !isRoot)) continue;
  test(`the self-test notices that the layer ${layer} is missing`, async (t) => {
    if (isLeftOut(t, layer === 'file-view')) return;
    assert.ok((await missing([layer])).includes(layer));
  });
}

test('the self-test notices that arguments are shown where the first process is that of bubblewrap', async () => {
  assert.ok((await missing(['arguments', 'own-init'])).includes('arguments'));
});

test('each layer can be left out by name, and all others hold then', async (t) => {
  if (isLeftOut(t)) return;
  for (const layer of LAYER_NAMES.filter((name) => LAYERS[name].mayBeLeftOut === 'user')) {
    const sandbox = openSandbox({ node: process.execPath, weaker: [layer] });
    const report = await sandbox.probe();
    assert.equal(
      report.ready,
      true,
      `without ${layer}: ${JSON.stringify(report.layers.filter(({ ok }) => !ok))}`,
    );
    assert.equal(
      report.layers.some((line) => line.layer === layer),
      false,
    );
  }
});

test('a process says which layers it goes without', async () => {
  const weak = openSandbox({ node: process.execPath, weaker: ['seccomp', 'uts-namespace'] });
  const restricted = script('0', { nodeGrants: [] });
  const started = await weak.spawn(restricted, new AbortController().signal);
  if (!started.ok) throw new Error(started.fault.message);
  assert.deepEqual(started.value.weakened, ['uts-namespace', 'seccomp']);
  assert.equal(started.value.layers.includes('seccomp'), false);
  assert.equal(started.value.layers.includes('network-namespace'), true);
  const whole = openSandbox({ node: process.execPath });
  const weakened = async (spec: SandboxSpec) => {
    const process = await whole.spawn(spec, new AbortController().signal);
    return process.ok ? process.value.weakened : 'refused';
  };
  assert.deepEqual(await weakened(restricted), []);
  assert.deepEqual(await weakened(script('0', { nodeGrants: null })), ['node-permission']);
});

test('a self-test that passed with a layer left out says nothing about the whole sandbox', async (context) => {
  const cacheFile = `${folder(context)}/sandbox.json`;
  const cached = async (weaker: readonly LayerName[]) =>
    (await openSandbox({ node: process.execPath, cacheFile, weaker }).probe()).cached;
  assert.equal(await cached(['seccomp']), false);
  assert.equal(await cached(['seccomp']), true);
  assert.equal(await cached([]), false);
});

test('layers to leave out are named exactly, and some never are', () => {
  assert.deepEqual(parseWeaker('seccomp, session,seccomp'), { ok: true, value: ['seccomp', 'session'] });
  for (const [text, message] of [
    ['sekkomp', 'there is no layer `sekkomp`'],
    ['', 'there is no layer ``'],
    ['user-namespace', 'the layer `user-namespace` cannot be left out'],
    ['separate-user', 'the layer `separate-user` cannot be left out'],
    ['seccomp,all', 'there is no layer `all`'],
  ] as const) {
    const parsed = parseWeaker(text);
    assert.equal(parsed.ok ? 'accepted' : parsed.fault.message, message);
  }
});

/** What the self-test reports where `landlock_create_ruleset` answers `errno`, as on kernels without Landlock. */
function probeWhere(context: TestContext, errno: number): ProbeReport {
  const kernel = join(folder(context), 'kernel');
  writeFileSync(kernel, underFilter(errno), { mode: 0o700 });
  const hub = join(import.meta.dirname, 'probing-hub.ts');
  const node = [process.execPath, '--no-warnings', hub];
  const { status, stdout, stderr } = spawnSync(kernel, node, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

/** A program that becomes the command in its arguments, for which this one system call fails. */
function underFilter(errno: number): Buffer {
  const architecture = arch() === 'arm64' ? 'arm64' : 'x64';
  const number = SYSCALLS.landlock_create_ruleset[architecture === 'arm64' ? 1 : 0];
  const filter = encode([
    load(OFFSET.nr),
    ...when('jumpEqual', number, [answer(ACTION.errno | errno)]),
    answer(ACTION.allow),
  ]);
  const header = Buffer.alloc(16); // struct sock_fprog
  header.writeUInt16LE(filter.length / 8);
  header.writeBigUInt64LE(BigInt(DATA_ADDRESS + header.length), 8);
  const [noNewPrivileges, seccomp, filterMode] = [38, 22, 2];
  return program(
    [
      { do: 'call', name: 'prctl', args: [noNewPrivileges, 1, 0, 0, 0] },
      { do: 'call', name: 'prctl', args: [seccomp, filterMode, { data: 0 }, 0, 0] },
      { do: 'call', name: 'execve', args: ['first-argument', 'arguments', 'environment'] },
      { do: 'call', name: 'exit_group', args: [1] },
    ],
    architecture,
    Buffer.concat([header, filter]),
  );
}

for (const code of ['ENOSYS', 'EOPNOTSUPP'] as const)
  test(`where the kernel says ${code} to Landlock, apps start without, and the self-test says so`, (context) => {
    if (isLeftOut(context, code === 'ENOSYS')) return;
    const report = probeWhere(context, constants.errno[code]);
    assert.deepEqual([report.ready, report.absent], [true, ['landlock']], JSON.stringify(report));
    const line = report.layers.find(({ layer }) => layer === 'landlock');
    assert.match(line?.why ?? '', /^not used: this kernel has none .*named pipes/);
  });

test('where the kernel refuses Landlock for another reason, no app starts', (context) => {
  const report = probeWhere(context, constants.errno.EPERM);
  assert.deepEqual([report.ready, report.absent], [false, []], JSON.stringify(report));
});
