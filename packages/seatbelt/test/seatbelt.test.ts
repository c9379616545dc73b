/**
 * The macOS back end, as far as it can be tried without a Mac: the profile and the command that are made of a
 * specification, the supervisor under a stand-in for `sandbox-exec`, and that a stand-in which confines nothing is
 * found out.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { after, describe, test } from 'node:test';
import { DEFAULT_APP_LIMITS } from '@cordon/core';
import { checkPath, checkSpec, type Mount, NODE_INSIDE, type SandboxSpec } from '@cordon/sandbox';
import { LIFELINE, seatbeltCommand, seatbeltProfile, unenforceable } from '../src/seatbelt-command.ts';
import { groupKilobytes, SeatbeltSandbox } from '../src/seatbelt-sandbox.ts';

const root = realpathSync(mkdtempSync('/tmp/cordon-seatbelt-'));
after(() => rmSync(root, { recursive: true, force: true }));

/** Takes the options of `sandbox-exec`, and runs the program under no profile at all. */
const standIn = join(root, 'sandbox-exec');
writeFileSync(
  standIn,
  '#!/bin/sh\nunset PWD\nwhile [ "$1" = -D ] || [ "$1" = -p ]; do shift 2; done\nexec "$@"\n',
);
chmodSync(standIn, 0o755);

function folder(name: string): string {
  const path = join(root, name);
  mkdirSync(path, { recursive: true });
  return path;
}

function mount(host: string, access: Mount['access'], inside = host): Mount {
  const checked = checkPath(host);
  assert.ok(checked.ok);
  return { host: checked.value, inside, access };
}

function spec(changes: Partial<SandboxSpec>): SandboxSpec {
  return {
    ...{ executable: NODE_INSIDE, args: [], env: {}, cwd: '/', mounts: [], nodeGrants: null },
    ...{ profile: 'spawn', limits: DEFAULT_APP_LIMITS, tmpMiB: null, usr: false, link: false },
    ...{ stdin: 'none', stdout: 'pipe', stderr: 'pipe', network: { kind: 'none' } },
    ...changes,
  };
}

function checkedSpec(changes: Partial<SandboxSpec>) {
  const checked = checkSpec(spec({ profile: 'tight', ...changes }));
  if (!checked.ok) throw new Error(checked.fault.message);
  return checked.value;
}

const HOST = { node: '/opt/node-of-mac/node', sandboxExec: '/usr/bin/sandbox-exec' };

function profileOf(changes: Partial<SandboxSpec>) {
  const profile = seatbeltProfile(checkedSpec(changes), HOST);
  if (!profile.ok) throw new Error(profile.fault.message);
  return profile.value;
}

describe('the profile', () => {
  test('allows its own code, its own folder and what Node needs, and denies the rest', () => {
    const code = folder('code');
    const own = folder('own');
    const { text, parameters } = profileOf({ mounts: [mount(code, 'read'), mount(own, 'own')] });
    assert.equal(
      text,
      `(version 1)
(deny default)
(allow process-exec
  (literal (param "P2")))
(allow file-read*
  (literal "/")
  (subpath "/usr/lib")
  (subpath "/System/Library")
  (subpath "/System/Volumes/Preboot/Cryptexes/OS")
  (literal "/dev/null")
  (literal "/dev/random")
  (literal "/dev/urandom")
  (literal (param "P2"))
  (subpath (param "P0"))
  (subpath (param "P1")))
(allow file-map-executable
  (subpath "/usr/lib")
  (subpath "/System/Library")
  (subpath "/System/Volumes/Preboot/Cryptexes/OS")
  (literal (param "P2")))
(allow file-read-metadata
  (literal (param "P3"))
  (literal (param "P4"))
  (literal (param "P5"))
  (literal (param "P6")))
(allow file-write-data
  (literal "/dev/null"))
(allow file-write*
  (subpath (param "P1")))
(allow sysctl-read)
(allow signal
  (target self))
(allow process-info*
  (target self))
(allow mach-lookup
  (global-name "com.apple.system.opendirectoryd.libinfo"))
`,
    );
    assert.deepEqual(parameters.slice(0, 3), [`P0=${code}`, `P1=${own}`, 'P2=/opt/node-of-mac/node']);
  });

  test('opens neither network nor other programs, whatever is mounted', () => {
    const { text } = profileOf({ mounts: [mount(folder('code'), 'read')] });
    for (const operation of [
      'network',
      'process-fork',
      'ipc-posix',
      'iokit',
      'system-',
      'file-write-create',
      'default)\n(allow default',
    ])
      assert.ok(!text.includes(`(allow ${operation}`), operation);
    assert.ok(!text.includes('file-write*'), 'nothing to write was mounted');
    assert.equal(text.split('\n').filter((line) => line === '(deny default)').length, 1);
  });

  for (const name of [
    'x")(allow default)(literal "',
    "it's",
    'back\\slash',
    'paren)',
    '(param "P0")',
    '; comment',
    '#|',
    '雪',
  ]) {
    test(`a folder named \`${name}\` changes no letter of the text`, () => {
      const plain = profileOf({ mounts: [mount(folder('plain'), 'read')] });
      const hostile = profileOf({ mounts: [mount(folder(name), 'read')] });
      assert.equal(hostile.text, plain.text);
      assert.equal(hostile.parameters[0], `P0=${join(root, name)}`);
    });
  }

  for (const name of ['new\nline', 'tab\t', 'esc\u001b[2J']) {
    test(`a folder named ${JSON.stringify(name)} is refused`, () => {
      const profile = seatbeltProfile(checkedSpec({ mounts: [mount(folder(name), 'read')] }), HOST);
      assert.match(profile.ok ? 'made' : profile.fault.message, /a character that a profile cannot name/);
    });
  }
});

describe('what macOS cannot give is refused by name', () => {
  for (const [field, changes] of [
    ['profile: spawn', { profile: 'spawn' }],
    ['usr', { usr: true }],
    ['tmpMiB', { tmpMiB: 64 }],
    ['executable', { executable: '/usr/bin/python3' }],
  ] as const) {
    test(field, () => {
      assert.match(unenforceable(checkedSpec(changes)).join(), new RegExp(`^\`${field}\`: `));
      const command = seatbeltCommand(checkedSpec(changes), HOST);
      assert.match(
        command.ok ? 'made' : command.fault.message,
        new RegExp(`^macOS cannot enforce \`${field}\``),
      );
    });
  }

  test('nothing, of a strict specification', () => {
    assert.deepEqual(unenforceable(checkedSpec({})), []);
  });
});

describe('the command', () => {
  test('names the places of the host where the specification has others', () => {
    const code = folder('code');
    const command = seatbeltCommand(
      checkedSpec({
        mounts: [mount(code, 'read', '/cordon')],
        args: ['/cordon/main.ts', '--file=/cordon/x', 'plain'],
        env: { FILE: '/cordon/y' },
        cwd: '/cordon',
        executable: NODE_INSIDE,
      }),
      HOST,
    );
    assert.ok(command.ok);
    assert.deepEqual(command.value.command.slice(-4), [
      HOST.node,
      `${code}/main.ts`,
      `--file=${code}/x`,
      'plain',
    ]);
    assert.deepEqual([command.value.cwd, command.value.env], [code, { FILE: `${code}/y` }]);
  });

  test('is refused where such a place stands in the middle of a text', () => {
    const mounts = [mount(folder('code'), 'read', '/cordon')];
    const command = seatbeltCommand(checkedSpec({ mounts, args: ['-e', 'open("/cordon/x")'] }), HOST);
    assert.match(command.ok ? 'made' : command.fault.message, /cannot show a folder as `\/cordon`/);
  });
});

/** Runs a specification through the supervisor and the stand-in. */
function supervised(changes: Partial<SandboxSpec>) {
  const node = realpathSync(process.execPath);
  const command = seatbeltCommand(checkedSpec(changes), { node, sandboxExec: standIn });
  assert.ok(command.ok);
  const [program = '', ...args] = command.value.command;
  const stdio = ['pipe', 'pipe', 'inherit', 'ignore', 'pipe'] as const;
  return spawn(program, args, { cwd: command.value.cwd, env: {}, detached: true, stdio: [...stdio] });
}

async function ended(child: ReturnType<typeof supervised>): Promise<{ code: number | null; out: string }> {
  let out = '';
  child.stdout?.on('data', (chunk) => {
    out += chunk;
  });
  const [code] = await once(child, 'close');
  return { code, out };
}

describe('the supervisor', () => {
  test('passes on input, output, exit code and the variables that it was given, and no other', async () => {
    const say =
      "process.stdin.on('data', (d) => { console.log(String(d), Object.keys(process.env).sort().join()); process.exit(7); })";
    const child = supervised({ args: ['-e', say], env: { ONE: '1', TWO: 'a b' } });
    child.stdin?.end('hello');
    assert.deepEqual(await ended(child), { code: 7, out: 'hello ONE,TWO\n' });
  });

  test('sets the limits', async () => {
    const say =
      'const l = process.report.getReport().userLimits; console.log(l.open_files.soft, l.cpu_time_seconds.soft, l.core_file_size_blocks.soft)';
    const { limits } = spec({});
    const child = supervised({ args: ['-e', say], limits: { ...limits, openFiles: 77, cpuSeconds: 33 } });
    child.stdin?.end();
    assert.deepEqual(await ended(child), { code: 0, out: '77 33 0\n' });
  });

  test('kills the program when the hub is gone, whose end of the lifeline closes then', async () => {
    const child = supervised({ args: ['-e', "console.log('up'); setInterval(() => {}, 1000)"] });
    await once(child.stdout ?? assert.fail(), 'data');
    const lifeline: unknown = child.stdio[LIFELINE];
    (lifeline as Writable).destroy();
    assert.deepEqual(await once(child, 'close'), [137, null]);
  });
});

test("a folder with `=` in its name is the one that Node's permissions name", () => {
  const own = folder('a=b');
  const made = seatbeltCommand(checkedSpec({ nodeGrants: [], mounts: [mount(own, 'own', '/state')] }), HOST);
  assert.ok(made.ok);
  const flags = made.value.command.filter((word) => word.startsWith('--allow-fs-'));
  assert.deepEqual(flags, [`--allow-fs-read=${own}`, `--allow-fs-write=${own}`]);
  const same = seatbeltCommand(checkedSpec({ nodeGrants: [], mounts: [mount(own, 'read')] }), HOST);
  assert.ok(same.ok && same.value.command.includes(`--allow-fs-read=${own}`));
});

test('a stand-in that confines nothing is found out, and nothing runs under it', async () => {
  const canary = checkPath(join(import.meta.dirname, '../src/canary.ts'));
  assert.ok(canary.ok);
  const sandbox = new SeatbeltSandbox({
    node: realpathSync(process.execPath),
    sandboxExec: standIn,
    canary: canary.value,
    outside: [import.meta.filename],
    weaker: [],
  });
  const { ready, layers } = await sandbox.probe();
  assert.equal(ready, false);
  const wrong = layers.filter(({ ok }) => !ok).map(({ layer }) => layer);
  for (const layer of ['file-view', 'read-only-root', 'network-namespace', 'processes'])
    assert.ok(wrong.includes(layer), layer);
  // The twin: what the supervisor does is there, stand-in or not.
  for (const layer of ['resource-limits', 'environment']) assert.ok(!wrong.includes(layer), layer);
  const started = await sandbox.spawn(
    spec({ profile: 'tight', args: ['-e', '0'] }),
    new AbortController().signal,
  );
  assert.match(
    started.ok ? 'started' : started.fault.message,
    /^macOS does not confine apps here: `read \/etc\/passwd` ended with `done:/,
  );
});

test('without `sandbox-exec`, and where a layer is to be left out, nothing runs', async () => {
  const canary = checkPath(join(import.meta.dirname, '../src/canary.ts'));
  assert.ok(canary.ok);
  const options = {
    node: process.execPath,
    sandboxExec: standIn,
    canary: canary.value,
    outside: [],
    weaker: [],
  };
  for (const [changes, told] of [
    [{ sandboxExec: join(root, 'none') }, /is missing/],
    [{ weaker: ['seccomp'] }, /`seccomp` cannot be left out on macOS/],
  ] as const) {
    const { ready, layers } = await new SeatbeltSandbox({ ...options, ...changes }).probe();
    assert.equal(ready, false);
    assert.match(layers[0]?.why ?? '', told);
  }
});

test('the memory of a group is the sum of its processes', () => {
  assert.equal(groupKilobytes('    1  2000\n  407  5120\n  407  1024\n 4070     9\n', 407), 6144);
  assert.equal(groupKilobytes('', 407), 0);
});
