import assert from 'node:assert/strict';
import {
  accessSync,
  chmodSync,
  constants,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { constants as systemConstants } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type AppLimits, DEFAULT_APP_LIMITS } from '@cordon/core';
import { isLeftOut } from '../../../../tools/cases.ts';
import { checkPath, openSandbox, type SandboxSpec } from '../../src/index.ts';
import { ControlGroups } from '../../src/kernel/control-groups.ts';
import { folder, printed, run, script, spec, start, until } from '../confined.ts';

function limited(limits: Partial<AppLimits>, changes: Partial<SandboxSpec> = {}): Partial<SandboxSpec> {
  return { limits: { ...DEFAULT_APP_LIMITS, ...limits }, ...changes };
}

const SPIN = 'for (;;);';
const STAY = 'setInterval(() => {}, 1000)';
const spinners = (count: number) => `for (let n = 0; n < ${count}; n++)
  require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(SPIN)}]); ${STAY}`;

test('CPU time counts for all processes together, which no limit of the kernel does', async () => {
  // Each of the three stays far below a limit of its own.
  const { exit } = await run(script(spinners(3), limited({ cpuSeconds: 2 })));
  assert.equal(exit.cause, 'limit');
  assert.match(exit.message, /more than 2 s of CPU time/);
});

test('a process that only waits is left alone', async () => {
  const { exit } = await run(script('setTimeout(() => process.exit(5), 900)', limited({ cpuSeconds: 2 })));
  assert.deepEqual([exit.cause, exit.code], ['exit', 5]);
});

test('files in the private /tmp are counted, which tmpfs does not bound', async () => {
  const touch = (count: number) => `for (let n = 0; n < ${count}; n++) fs.writeFileSync('/tmp/' + n, '');
    ${count > 500 ? STAY : 'setTimeout(() => process.exit(5), 900)'}`;
  const swarm = await run(script(touch(600), limited({ files: 500 }, { tmpMiB: 16 })));
  assert.equal(swarm.exit.cause, 'limit');
  assert.match(swarm.exit.message, /more than 500 files in its temporary folder/);
  const few = await run(script(touch(400), limited({ files: 500 }, { tmpMiB: 16 })));
  assert.equal(few.exit.code, 5);
});

test('sockets of all processes together are bounded: they hold memory that counts for no process', async (t) => {
  if (isLeftOut(t)) return;
  // Three processes, each far below the limit of descriptors.
  const listen = (count: number) =>
    `for (let n = 0; n < ${count}; n++) require('node:net').createServer().listen(0)`;
  const three = (count: number, then: string) => `for (let n = 0; n < 3; n++)
    require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(listen(count))}]); ${then}`;
  const { exit } = await run(script(three(60, STAY), limited({ openFiles: 150 })));
  assert.equal(exit.cause, 'limit', exit.message);
  assert.match(exit.message, /sockets, more than its 150 open files/);
  const few = await run(
    script(three(10, 'setTimeout(() => process.exit(5), 900)'), limited({ openFiles: 150 })),
  );
  assert.equal(few.exit.code, 5);
});

test('bytes that wait in connections of an app to itself count as its memory', async (t) => {
  if (isLeftOut(t)) return;
  const fill = (count: number, then: string) => `const net = require('node:net'); const held = [];
    net.createServer((socket) => { socket.pause(); held.push(socket); }).listen(4000, '127.0.0.1', () => {
      for (let n = 0; n < ${count}; n++) net.connect(4000, '127.0.0.1', function () {
        const chunk = Buffer.alloc(1 << 16); const more = () => { while (this.write(chunk)); }; this.on('drain', more); more();
      }).on('error', () => {});
    }); ${then}`;
  const limits = { memoryMiB: 200, openFiles: 256 };
  const { exit } = await run(script(fill(100, STAY), limited(limits, { profile: 'tight', nodeGrants: [] })));
  assert.deepEqual(
    [exit.cause, /MiB in connections, more than its 200 MiB/.test(exit.message)],
    ['limit', true],
    exit.message,
  );
  const few = await run(
    script(
      fill(10, 'setTimeout(() => process.exit(5), 1500)'),
      limited(limits, { profile: 'tight', nodeGrants: [] }),
    ),
  );
  assert.equal(few.exit.code, 5, few.exit.message);
});

test('the tables by which the kernel finds memory count, also where all of it is zeros', async (t) => {
  if (isLeftOut(t)) return;
  const zeros = (gibibytes: number) => `import mmap, time
private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000
held = mmap.mmap(-1, ${gibibytes} << 30, flags=private, prot=mmap.PROT_READ)
for at in range(0, ${gibibytes} << 30, 2 << 20): held[at]
time.sleep(1.5)`;
  const python = (gibibytes: number) =>
    run(
      spec({
        executable: '/usr/bin/python3',
        args: ['-c', zeros(gibibytes)],
        usr: true,
        ...limited({ memoryMiB: 100 }),
      }),
    );
  const { exit } = await python(96);
  assert.match(exit.message, /^it used \d+ MiB of memory, more than its 100 MiB$/);
  assert.equal((await python(4)).exit.code, 0);
});

test('an app that may have threads has some within its memory, and memory still ends', async () => {
  const workers = `const { Worker } = require('node:worker_threads'); let ended = 0;
    for (let n = 0; n < 6; n++) new Worker('0', { eval: true }).on('exit', () => ++ended === 6 && process.exit(5))`;
  const granted: Partial<SandboxSpec> = { profile: 'tight', nodeGrants: ['worker'] };
  assert.equal((await run(script(workers, limited({}, granted)))).exit.code, 5);
  const hold = 'const held = []; setInterval(() => held.push(Buffer.alloc(16 << 20, 1)), 10)';
  const { exit } = await run(script(hold, limited({ memoryMiB: 300 }, granted)));
  assert.deepEqual([exit.cause, /more than its 300 MiB/.test(exit.message)], ['limit', true]);
});

test('a program that ends itself for want of memory is told apart from one that was ended', async () => {
  const fill = (count: number) => `const held = [];
    for (let n = 0; n < ${count}; n++) held.push({ n }); process.exit(5)`;
  const small = (count: number) => spec({ args: ['--max-old-space-size=64', '-e', fill(count)] });
  const { exit } = await run(small(20_000_000));
  assert.equal(exit.signal, 'SIGABRT', exit.message);
  assert.match(exit.message, /ended itself .* runs out of memory/);
  assert.equal((await run(small(1_000))).exit.code, 5);
});

function ownFolder(context: TestContext): Partial<SandboxSpec> {
  const path = join(folder(context), 'own');
  mkdirSync(path);
  const host = checkPath(path);
  if (!host.ok) throw new Error(host.fault.message);
  return { mounts: [{ host: host.value, inside: '/state', access: 'own' }] };
}

test("an app's own folder is bounded as a whole, not file by file", async (context) => {
  const fill = (count: number, then: string) =>
    `for (let n = 0; n < ${count}; n++) fs.writeFileSync('/state/' + n, Buffer.alloc(1 << 20, 1)); ${then}`;
  const full = await run(script(fill(9, STAY), limited({ storageMiB: 8, fileMiB: 2 }, ownFolder(context))));
  assert.equal(full.exit.cause, 'limit');
  assert.match(full.exit.message, /more than 8 MiB in its own folder/);
  const fits = await run(
    script(
      fill(6, 'setTimeout(() => process.exit(5), 3000)'),
      limited({ storageMiB: 8, fileMiB: 2 }, ownFolder(context)),
    ),
  );
  assert.equal(fits.exit.code, 5);
});

/** Takes room by files that it deletes while it has them: open, mapped, sent to itself and never received, or received at once. */
const NAMELESS = `import array, mmap, os, socket, sys, time
how, count = sys.argv[1], int(sys.argv[2])
held, (left, right) = [], socket.socketpair()
for number in range(count):
  # A name in which JavaScript sees the end of a line, and the kernel none.
  file = os.open('/state/\\r%d' % number, os.O_CREAT | os.O_RDWR)
  os.unlink('/state/\\r%d' % number)
  os.write(file, bytes([1]) * (1 << 20))
  if how == 'mapped': held.append(mmap.mmap(file, 1 << 20))
  if how in ('sent', 'received'): left.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [file]))])
  if how != 'open': os.close(file)
  if how == 'received': held.append(socket.recv_fds(right, 1, 1))
  if count > 40: time.sleep(0.05)
time.sleep(2)`;

test('files that are deleted while they are open count in its own folder', async (context) => {
  if (isLeftOut(context)) return;
  const python = (how: string, count: number) =>
    run(
      spec({
        executable: '/usr/bin/python3',
        args: ['-c', NAMELESS, how, String(count)],
        usr: true,
        ...limited({ storageMiB: 32, fileMiB: 2 }, ownFolder(context)),
      }),
    );
  for (const how of ['open', 'mapped', 'received']) {
    const { exit } = await python(how, 150);
    assert.equal(exit.message, 'it keeps more than 32 MiB in its own folder', how);
    const few = await python(how, 24);
    assert.equal(few.exit.code, 0, `${how}: ${few.exit.message}`);
  }
  // Few of these may end it, too: how often somebody looks depends on what others write to the disk.
  const sent = await python('sent', 150);
  assert.match(sent.exit.message, /in its own folder that cannot be measured/);
});

test('many small files in its own folder are one too many', async (context) => {
  if (isLeftOut(context)) return;
  const swarm = `fs.mkdirSync('/state/deep'); for (let n = 0; n < 300; n++) fs.writeFileSync('/state/deep/' + n, '');
    ${STAY}`;
  const { exit } = await run(script(swarm, limited({ files: 200 }, ownFolder(context))));
  assert.ok(exit.cause === 'limit');
  assert.equal(exit.limit, 'files');
  assert.match(exit.message, /more than 200 files in its own folder/);
});

test('what an app hides in its own folder ends it, since nobody can measure it', async (context) => {
  if (isLeftOut(context)) return;
  const deep = `process.chdir('/state'); const name = 'd'.repeat(200);
    for (let n = 0; n < 30; n++) { fs.mkdirSync(name); process.chdir(name); } ${STAY}`;
  const { exit } = await run(script(deep, limited({}, ownFolder(context))));
  assert.ok(exit.cause === 'limit');
  assert.deepEqual(
    [exit.limit, exit.message],
    ['unreadable', 'there is something in its own folder that cannot be measured'],
  );
  if (process.getuid?.() === 0) return; // who may read everything sees what is closed, too
  const closed = `fs.mkdirSync('/state/closed'); fs.writeFileSync('/state/closed/x', ''); fs.chmodSync('/state/closed', 0); ${STAY}`;
  const own = ownFolder(context);
  assert.equal((await run(script(closed, limited({}, own)))).exit.cause, 'limit');
  chmodSync(join(own.mounts?.[0]?.host.host ?? '', 'closed'), 0o700); // so that the test can clean up
});

/** Opens as many instances of inotify as it gets, up to a number, and with each watches as many files as it gets. */
const WATCHERS = `import ctypes, os, sys
libc, instances, files = ctypes.CDLL(None), int(sys.argv[1]), int(sys.argv[2])
for number in range(files): os.close(os.open('/tmp/%d' % number, os.O_CREAT))
held = []
while len(held) < instances and (one := libc.inotify_init()) >= 0: held.append(one)
print(len(held), sum(libc.inotify_add_watch(one, b'/tmp/%d' % n, 2) >= 0 for one in held for n in range(files)))`;

test('an app takes a few instances and watches of inotify, never all that its user has', async () => {
  const got = (instances: number, files: number) =>
    printed(
      spec({
        executable: '/usr/bin/python3',
        args: ['-c', WATCHERS, String(instances), String(files)],
        usr: true,
        tmpMiB: 8,
      }),
    );
  assert.equal(await got(100, 2_100), '8 16384');
  assert.equal(await got(4, 100), '4 400');
});

// Attack: a name that is no UTF-8 was decoded, and whatever lay below the name that came of it was not found.
test('a folder whose name is no UTF-8 counts in its own folder', async (context) => {
  if (isLeftOut(context)) return;
  const own = ownFolder(context);
  const fill = (count: number, then: string) => `
    const inner = (name) => Buffer.concat([Buffer.from('/state/'), Buffer.from([0xff, 0xfe]), Buffer.from(name)]);
    fs.mkdirSync(inner(''), { recursive: true });
    for (let n = 0; n < ${count}; n++) fs.writeFileSync(inner('/' + n), Buffer.alloc(1 << 20, 1)); ${then}`;
  const limits = { storageMiB: 8, fileMiB: 2 };
  const fits = await run(script(fill(6, 'setTimeout(() => process.exit(5), 2500)'), limited(limits, own)));
  assert.equal(fits.exit.code, 5, fits.exit.message);
  // Where the hub is root it hands what is there already to the user of apps, so this start shows that, too.
  const full = await run(script(fill(9, STAY), limited(limits, own)));
  assert.equal(full.exit.message, 'it keeps more than 8 MiB in its own folder');
});

/** Allocates room for a file by `fallocate` with these modes and prints the error, or how much the file got. */
const ALLOCATE = `import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
file = os.open('/state/allocated', os.O_CREAT | os.O_RDWR)
for mode, mib in zip(sys.argv[1::2], sys.argv[2::2]):
  libc.fallocate(file, int(mode), ctypes.c_long(0), ctypes.c_long(int(mib) << 20))
  print(ctypes.get_errno(), os.fstat(file).st_blocks // 2048)
  ctypes.set_errno(0)`;

test('a file gets no more room than its limit by any mode of fallocate', async (context) => {
  const own = ownFolder(context);
  const allocate = (...args: readonly number[]) =>
    printed(
      spec({
        executable: '/usr/bin/python3',
        args: [
          '-c',
          `import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n${ALLOCATE}`,
          ...args.map(String),
        ],
        usr: true,
        ...limited({ fileMiB: 4 }, own),
      }),
    );
  const { EOPNOTSUPP, EFBIG } = systemConstants.errno;
  for (const mode of [KEEP_SIZE, ZERO_RANGE, ZERO_RANGE | KEEP_SIZE])
    assert.equal(await allocate(mode, 64), `${EOPNOTSUPP} 0`, `mode ${mode}`);
  assert.equal(await allocate(0, 64), `${EFBIG} 0`);
  assert.equal(await allocate(0, 2, PUNCH_HOLE | KEEP_SIZE, 2), '0 2\n0 0');
});

/** linux/falloc.h */
const KEEP_SIZE = 0x01;
const PUNCH_HOLE = 0x02;
const ZERO_RANGE = 0x10;

test('folders nested deeper than the hub looks are refused, not followed', async (context) => {
  if (isLeftOut(context)) return;
  const nest = (depth: number, then: string) => `process.chdir('/state');
    for (let n = 0; n < ${depth}; n++) { fs.mkdirSync('d'); process.chdir('d'); } ${then}`;
  const deep = await run(script(nest(1_000, STAY), limited({}, ownFolder(context))));
  assert.equal(deep.exit.message, 'its own folder holds folders nested more than 64 deep');
  const flat = await run(
    script(nest(60, 'setTimeout(() => process.exit(5), 2500)'), limited({}, ownFolder(context))),
  );
  assert.equal(flat.exit.code, 5, flat.exit.message);
});

// Attack: an app sends a text over which the event loop of the hub is busy for seconds, and meanwhile nobody looks.
for (const { what, code, limits } of [
  {
    what: 'its own folder',
    code: `for (let n = 0; ; n++) { fs.writeFileSync('/state/' + n % 4_000, Buffer.alloc(1 << 20, 1));
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5) }`,
    limits: { storageMiB: 32, fileMiB: 2 },
  },
  {
    what: 'memory',
    code: 'const held = []; setInterval(() => held.push(Buffer.alloc(4 << 20, 1)), 20)',
    limits: { memoryMiB: 200 },
  },
  { what: 'CPU time', code: spinners(3), limits: { cpuSeconds: 2 } },
])
  test(`the limit of ${what} holds while the event loop of the hub stands still`, async (context) => {
    const confined = await start(script(code, limited(limits, ownFolder(context))));
    // Longer than any of this takes on a slow machine; over as soon as the app has been ended.
    for (let waited = 0; waited < 60_000 && !isOver(confined.pid); waited += 20)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    assert.ok(isOver(confined.pid), 'it still runs');
    const { cause, message } = await confined.exited;
    assert.equal(cause, 'limit', message);
    assert.match(message, /more than/);
  });

/** Whether it has ended; this process, whose child it is, has not heard of it yet. */
function isOver(pid: number): boolean {
  return readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.startsWith('Z') === true;
}

/** Locks a file in one way or another, and keeps the lock for some seconds. */
const LOCKS = `import fcntl, mmap, os, struct, sys, time
how, path, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
open('/state/own', 'w').close()
file = os.open(path, os.O_RDONLY)
if how == 'read': fcntl.fcntl(file, fcntl.F_SETLK, struct.pack('hhqqi', fcntl.F_RDLCK, 0, 0, 0, 0))
elif how == 'owned by nobody': fcntl.fcntl(file, 37, struct.pack('hhqqi', fcntl.F_RDLCK, 0, 0, 0, 0))
elif how == 'of a child that ended':
  if os.fork() == 0:
    fcntl.flock(file, fcntl.LOCK_EX)
    os._exit(0)
  os.wait()
else: fcntl.flock(file, fcntl.LOCK_EX)
if how in ('mapped', 'of a child that ended'):
  held = mmap.mmap(file, 1, prot=mmap.PROT_READ)
  os.close(file)
time.sleep(seconds)`;

// Attack: nobody else can write the user's database while a reader keeps a lock on it.
test('an app that keeps a lock on what it may only read is ended', async (context) => {
  if (isLeftOut(context)) return;
  const database = join(folder(context), 'database');
  writeFileSync(database, 'x');
  const granted = checkPath(database);
  if (!granted.ok) throw new Error(granted.fault.message);
  const own = ownFolder(context);
  const mounts = [
    ...(own.mounts ?? []),
    { host: granted.value, inside: '/database', access: 'read' } as const,
  ];
  const python = (how: string, path: string, seconds: number) =>
    run(
      spec({
        executable: '/usr/bin/python3',
        args: ['-c', LOCKS, how, path, String(seconds)],
        usr: true,
        mounts,
      }),
    );
  const ended = 'it kept locks on files that it may only read for more than 5 s';
  const ways = ['exclusive', 'read', 'mapped', 'of a child that ended'];
  const keepers = ways.map(async (how) => ({ how, exit: (await python(how, '/database', 60)).exit }));
  const honest = [python('read', '/database', 1), python('exclusive', '/state/own', 9)];
  for (const { how, exit } of await Promise.all(keepers)) assert.equal(exit.message, ended, how);
  for (const { exit, err } of await Promise.all(honest)) assert.equal(exit.code, 0, `${exit.message} ${err}`);
  assert.match((await python('owned by nobody', '/database', 60)).err, /Invalid argument/);
});

/** A control group of version 2 in which the tests may make others; here and there only root may. */
function writableGroup(context: TestContext): string | null {
  const mounted = /^(?:\S+ ){4}(\S+) .* - cgroup2 /m.exec(
    readFileSync('/proc/self/mountinfo', 'latin1'),
  )?.[1];
  try {
    accessSync(`${mounted}/cgroup.procs`, constants.W_OK);
  } catch {
    context.skip('no control group of version 2 can be written here');
    return null;
  }
  return mounted ?? null;
}

test('a control group counts processes that lived too short to be seen, and is gone afterwards', async (context) => {
  if (isLeftOut(context)) return;
  const group = writableGroup(context);
  if (group === null) return;
  const sandbox = openSandbox({ node: process.execPath, controlGroup: group });
  // Children that nobody waits for, each gone before the watchdog looks twice.
  const burst = 'trap "" CHLD; while :; do ( i=0; while [ $i -lt 4000 ]; do i=$((i+1)); done ) & wait; done';
  const wanted = spec({
    executable: '/bin/sh',
    args: ['-c', burst],
    usr: true,
    ...limited({ cpuSeconds: 1 }),
  });
  const started = await sandbox.spawn(wanted, new AbortController().signal);
  if (!started.ok) throw new Error(started.fault.message);
  const exit = await started.value.exited;
  assert.equal(exit.cause, 'limit');
  assert.match(exit.message, /more than 1 s of CPU time/);
  const own = () => readdirSync(group).filter((name) => name.startsWith(`cordon-${process.pid}-`));
  await until(() => own().length === 0);
});

test('where a control group bounds memory, the kernel ends a tree that asks for more', async (context) => {
  const group = writableGroup(context);
  if (group === null) return;
  const available = readFileSync(`${group}/cgroup.controllers`, 'latin1');
  if (!available.includes('memory')) return context.skip('the memory controller is not of version 2 here');
  writeFileSync(`${group}/cgroup.subtree_control`, '+memory +pids');
  const sandbox = openSandbox({ node: process.execPath, controlGroup: group, weaker: ['watchdog'] });
  const end = async (mebibytes: number) => {
    // Two that stay below the limit of one process each.
    const hold = `const held = Buffer.alloc(${mebibytes} << 20, 1); setTimeout(() => process.exit(held[0] + 4), 600)`;
    const code = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(hold)}]); ${hold}`;
    const wanted = script(code, limited({ memoryMiB: 200 }));
    const started = await sandbox.spawn(wanted, new AbortController().signal);
    if (!started.ok) throw new Error(started.fault.message);
    return started.value.exited;
  };
  const excess = await end(150);
  assert.deepEqual([excess.cause, excess.message], ['limit', 'it used more than its 200 MiB of memory']);
  assert.equal((await end(20)).code, 5);
});

test('a control group gets the limits of the specification, where its controllers are handed on', (context) => {
  // A folder of plain files stands for the kernel's: no machine of ours hands on the controllers.
  const root = folder(context);
  writeFileSync(join(root, 'cgroup.controllers'), 'cpu memory pids\n');
  writeFileSync(join(root, 'cgroup.subtree_control'), 'memory pids\n');
  const whole = ControlGroups.in(root, false);
  whole.make({ ...DEFAULT_APP_LIMITS, memoryMiB: 100, processes: 7 }, 64);
  const made = join(root, `cordon-${process.pid}-1`);
  const read = (name: string) => readFileSync(join(made, name), 'utf8');
  assert.deepEqual(['memory.max', 'memory.swap.max', 'memory.oom.group', 'pids.max'].map(read), [
    String(164 * 1024 * 1024),
    '0',
    '1',
    '10',
  ]);
  const other = folder(context);
  writeFileSync(join(other, 'cgroup.controllers'), 'cpu\n');
  writeFileSync(join(other, 'cgroup.subtree_control'), '\n');
  const bare = ControlGroups.in(other, false);
  bare.make(DEFAULT_APP_LIMITS, 0);
  assert.deepEqual(readdirSync(join(other, `cordon-${process.pid}-1`)), []);
});
