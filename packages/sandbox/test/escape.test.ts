import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { DEFAULT_APP_LIMITS } from '@cordon/core';
import { APP_USER, checkPath, type Mount, type MountAccess } from '../src/index.ts';
import { attempt, folder, printed, run, sandbox, script, spec } from './confined.ts';

const isRoot = process.getuid?.() === 0;

function mount(path: string, inside: string, access: MountAccess): Mount {
  const host = checkPath(path);
  if (!host.ok) throw new Error(host.fault.message);
  return { host: host.value, inside, access };
}

test('every layer holds on this machine', async () => {
  const report = await sandbox.probe();
  assert.deepEqual(
    report.layers.filter((layer) => !layer.ok),
    [],
  );
  assert.equal(report.ready, true);
  assert.ok(report.layers.length >= 10);
});

test('trap 1: no confined process is user 0, and no sysctl can be opened for writing', async () => {
  const out = await printed(
    script(`console.log(process.getuid(), ${attempt(`fs.openSync('/proc/sys/kernel/core_pattern', 'r+')`)},
      ${attempt(`fs.openSync('/proc/sys/kernel/core_pattern', 'r')`)})`),
  );
  const [user, write, read] = out.split(' ');
  assert.equal(Number(user), isRoot ? APP_USER : process.getuid?.());
  assert.match(write ?? '', /^(EROFS|EACCES)$/);
  assert.equal(read, 'done');
});

test('what an app sees of /proc is what programs need, and nothing of what others do', async () => {
  const out = await printed(
    script(`const os = require('node:os');
      const stat = fs.readFileSync('/proc/stat', 'latin1');
      const settings = ['kernel/osrelease', 'kernel/random/uuid', 'net/ipv4/ip_local_port_range', 'vm/overcommit_memory'];
      console.log(JSON.stringify({
        processors: os.cpus().length,
        model: os.cpus()[0].model,
        counted: /^(intr|ctxt|processes) [1-9]/m.test(stat),
        uptime: os.uptime() > 0, load: os.loadavg().length, memory: os.totalmem() > os.freemem(),
        settings: settings.every((name) => fs.readFileSync('/proc/sys/' + name).length > 0),
        folders: fs.readdirSync('/proc/sys').sort(),
      }))`),
  );
  assert.deepEqual(JSON.parse(out), {
    ...{ processors: cpus().length, model: cpus()[0]?.model, counted: false },
    ...{ uptime: true, load: 3, memory: true, settings: true, folders: ['kernel', 'net', 'vm'] },
  });
});

test('trap 2: the environment of the hub is nowhere inside', async () => {
  const out = await printed(
    script(
      `const seen = fs.readFileSync('/proc/self/environ', 'latin1');
       const first = ${attempt(`fs.readFileSync('/proc/1/environ')`)};
       console.log(Object.keys(process.env).sort().join(), first, seen.split('\\0').sort().join())`,
      { env: { GIVEN: 'yes' } },
    ),
  );
  assert.equal(out, 'GIVEN,PWD EACCES ,GIVEN=yes,PWD=/');
});

test('trap 3: the command line of pid 1 shows no host path', async (context) => {
  const host = folder(context);
  const out = await printed(
    script(`console.log(fs.readFileSync('/proc/1/cmdline', 'latin1').replaceAll('\\0', ' '))`, {
      mounts: [mount(host, '/data', 'read')],
    }),
  );
  assert.match(out, /^\/opt\/cordon\/init \/opt\/cordon\/prlimit /);
  assert.equal(out.includes(host), false);
});

test('trap 4: a fork bomb stops at the limit of processes', async () => {
  const limits = { ...DEFAULT_APP_LIMITS, processes: 20, fileMiB: 1 };
  const bomb = 'n=0; while [ $n -lt 200 ]; do sleep 5 & n=$((n+1)); done; echo $n';
  const { out, err } = await run(
    spec({
      executable: '/bin/sh',
      args: ['-c', bomb],
      usr: true,
      limits,
    }),
  );
  assert.equal(out, '');
  assert.match(err, /[Cc]annot fork/);
});

test('trap 5: descriptors that the hub inherited are /dev/null inside', () => {
  const hub = fileURLToPath(new URL('./fixtures/leaky-hub.ts', import.meta.url));
  // Descriptors 3 and 7 of this hub have no close-on-exec: dup2 in the shell takes it away.
  const shell = `exec 3</etc/hostname 7</etc/hostname; exec "$0" "$1"`;
  const result = spawnSync('/bin/sh', ['-c', shell, process.execPath, hub], { encoding: 'utf8' });
  assert.equal(result.stderr, '');
  assert.deepEqual(JSON.parse(result.stdout), { files: [], works: true });
});

test('trap 6: root, /dev and the code cannot be written, and /dev/shm is small', async () => {
  const writes = ['/x', '/opt/x', '/dev/x', '/etc/x', '/tmp/x', '/opt/node/bin/node'].map((path) =>
    attempt(`fs.writeFileSync('${path}', 'x')`),
  );
  const out = await printed(
    script(`const { blocks, bsize } = fs.statfsSync('/dev/shm');
      console.log([${writes.join()}].join(' '), blocks * bsize, ${attempt(`fs.writeFileSync('/dev/shm/x', 'x')`)})`),
  );
  assert.equal(out, 'EROFS EROFS EROFS EROFS EROFS EROFS 1048576 done');
});

test('a private /tmp has its size and no more', async () => {
  const out = await printed(
    script(
      `console.log(${attempt(`fs.writeFileSync('/tmp/small', 'x')`)},
      ${attempt(`fs.writeFileSync('/tmp/large', Buffer.alloc(3 << 20))`)})`,
      { tmpMiB: 2 },
    ),
  );
  assert.equal(out, 'done ENOSPC');
});

test('trap 7: Node starts under both filters, every time', async () => {
  const code = `new (require('node:worker_threads').Worker)('1', { eval: true }).on('exit', () => console.log('ok'))`;
  for (let round = 0; round < 4; round++)
    assert.deepEqual(
      await Promise.all([printed(script(code, { profile: 'tight' })), printed(script(code))]),
      ['ok', 'ok'],
    );
});

test('files of the host are absent, what is mounted is there', async (context) => {
  const host = folder(context);
  writeFileSync(join(host, 'note.txt'), 'hello');
  const out = await printed(
    script(
      `console.log(fs.readFileSync('/data/note.txt', 'utf8'), ${attempt(`fs.writeFileSync('/data/new', 'x')`)},
       ${attempt(`fs.readFileSync('/etc/shadow')`)}, ${attempt(`fs.readdirSync('/root')`)},
       ${attempt(`fs.readdirSync('${host}')`)}, ${attempt(`fs.readFileSync('/proc/self/root${host}/note.txt')`)})`,
      { mounts: [mount(host, '/data', 'read')] },
    ),
  );
  assert.equal(out, 'hello EROFS ENOENT ENOENT ENOENT ENOENT');
});

test("the app's own folder can be written, also where its parents are closed to everybody", async (context) => {
  const host = join(folder(context), 'closed', 'state');
  mkdirSync(host, { recursive: true });
  chmodSync(join(host, '..'), 0o700);
  writeFileSync(join(host, 'old.txt'), 'old', { mode: 0o600 });
  const out = await printed(
    script(
      `fs.writeFileSync('/state/new.txt', 'new'); console.log(fs.readFileSync('/state/old.txt', 'utf8'))`,
      { mounts: [mount(host, '/state', 'own')] },
    ),
  );
  assert.equal(out, 'old');
  assert.equal(readFileSync(join(host, 'new.txt'), 'utf8'), 'new');
});

test("a link that an app left in its folder leads nowhere, neither inside nor for the hub's hand-over", async (context) => {
  const host = folder(context);
  const victim = join(folder(context), 'victim');
  writeFileSync(victim, 'secret');
  const owner = statSync(victim).uid;
  symlinkSync(victim, join(host, 'link'));
  symlinkSync('/etc', join(host, 'out'));
  const out = await printed(
    script(
      `console.log(${attempt(`fs.readFileSync('/state/link')`)}, ${attempt(`fs.readdirSync('/state/out/ssh')`)})`,
      {
        mounts: [mount(host, '/state', 'own')],
      },
    ),
  );
  assert.equal(out, 'ENOENT ENOENT');
  assert.equal(statSync(victim).uid, owner);
});

test('a mount source that was replaced after the check is refused', async (context) => {
  const host = folder(context);
  mkdirSync(join(host, 'data'));
  const checked = mount(join(host, 'data'), '/data', 'read');
  renameSync(join(host, 'data'), join(host, 'away'));
  symlinkSync('/etc', join(host, 'data'));
  const started = await sandbox.spawn(script('0', { mounts: [checked] }), new AbortController().signal);
  assert.equal(started.ok, false);
  assert.match(started.ok ? '' : started.fault.message, /was replaced|cannot be opened/);
});

test('a file of the user that the sandbox user may not read is a refusal with a remedy', async (context) => {
  if (!isRoot) return; // an ordinary user's apps are that user
  const host = folder(context);
  chmodSync(host, 0o700);
  const started = await sandbox.spawn(
    script('0', { mounts: [mount(host, '/data', 'read')] }),
    new AbortController().signal,
  );
  assert.equal(started.ok, false);
  assert.match(started.ok ? '' : (started.fault.help ?? ''), /chmod -R go\+rX/);
});

test('nothing of the host can be reached by network, nor by abstract sockets', async (context) => {
  const server = createServer((socket) => socket.end('hello'));
  const abstract = createServer((socket) => socket.end('hello'));
  context.after(() => [server.close(), abstract.close()]);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  await new Promise<void>((resolve) => abstract.listen(`\0cordon-escape-${process.pid}`, resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const code = `
    const reach = (where) => new Promise((resolve) => {
      require('node:net').connect(where).on('connect', () => resolve('connected')).on('error', (error) => resolve(error.code));
    });
    const own = require('node:net').createServer((socket) => socket.end()).listen(4000, '127.0.0.1', async () => {
      console.log(await reach({ host: '127.0.0.1', port: ${port} }), await reach({ host: '192.0.2.1', port: 80 }),
        await reach({ path: '\\0cordon-escape-${process.pid}' }), await reach({ host: '127.0.0.1', port: 4000 }),
        await require('node:dns').promises.lookup('example.com').catch((error) => error.code));
      process.exit(0);
    });`;
  assert.equal(await printed(script(code)), 'ECONNREFUSED ENETUNREACH EAFNOSUPPORT connected EAI_AGAIN');
  // The network namespace stops it where the filter does not.
  const unix = script(code, { profile: 'unix' });
  assert.equal(await printed(unix), 'ECONNREFUSED ENETUNREACH ECONNREFUSED connected EAI_AGAIN');
});

/** Speaks to `/shown/stream` and `/shown/datagrams`, also with one end of a pair, and prints what came of each. */
const SPEAKS = `import socket as s
def tries(does):
  try:
    does(); print('done')
  except OSError as error: print(error.errno)
def sends(end): end.connect('/shown/datagrams'); end.send(b'x')
tries(lambda: s.socket(s.AF_UNIX, s.SOCK_STREAM).connect('/shown/stream'))
tries(lambda: sends(s.socket(s.AF_UNIX, s.SOCK_DGRAM)))
tries(lambda: sends(s.socketpair(s.AF_UNIX, s.SOCK_DGRAM)[0]))
tries(lambda: s.socketpair())`;

test('no Unix socket in a folder for reading can be connected to, unless the app may use Unix sockets', async (context) => {
  const shown = folder(context);
  const listening = `import socket as s, sys, time, os
one, two = s.socket(s.AF_UNIX, s.SOCK_STREAM), s.socket(s.AF_UNIX, s.SOCK_DGRAM)
os.umask(0)
one.bind(sys.argv[1] + '/stream'); one.listen(); two.bind(sys.argv[1] + '/datagrams')
print('ready', flush=True); time.sleep(600)`;
  const server = spawn('/usr/bin/python3', ['-c', listening, shown], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  context.after(() => server.kill('SIGKILL'));
  await once(server.stdout, 'data');
  const host = checkPath(shown);
  assert.ok(host.ok);
  const mounts = [{ host: host.value, inside: '/shown', access: 'read' }] as const;
  const python = { executable: '/usr/bin/python3', args: ['-c', SPEAKS], usr: true, mounts };
  const EAFNOSUPPORT = '97';
  assert.deepEqual((await printed(spec(python))).split('\n'), [
    ...[EAFNOSUPPORT, EAFNOSUPPORT, EAFNOSUPPORT],
    'done',
  ]);
  const may = await printed(spec({ ...python, profile: 'unix' }));
  assert.deepEqual(may.split('\n'), ['done', 'done', 'done', 'done']);
});

test('processes of the host can neither be seen nor signalled, own children can', async () => {
  const out = await printed(
    script(`const child = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
      console.log(fs.readdirSync('/proc').filter((name) => Number(name) > 0).length,
        ${attempt(`process.kill(${process.pid}, 0)`)}, ${attempt(`fs.readdirSync('/proc/${process.pid}')`)},
        child.kill('SIGKILL'))`),
  );
  assert.equal(out, '3 ESRCH ENOENT true');
});

test('a tight process can start no other process, an app can', async () => {
  const code = `const { error, status } = require('node:child_process').spawnSync(process.execPath, ['-e', '0']);
    console.log(error?.code ?? status)`;
  assert.equal(await printed(script(code, { profile: 'tight' })), 'EPERM');
  assert.equal(await printed(script(code)), '0');
});

test('a forbidden system call ends the process and is told apart', async () => {
  const { exit } = await run(
    spec({ executable: '/usr/bin/unshare', args: ['--user', '/bin/true'], usr: true }),
  );
  assert.equal(exit.cause, 'violation');
  const { exit: twin } = await run(spec({ executable: '/usr/bin/env', args: ['true'], usr: true }));
  assert.deepEqual([twin.cause, twin.code], ['exit', 0]);
});

test('all of it holds for an ordinary user too', () => {
  if (!isRoot) return; // then every other test has shown it
  const hub = fileURLToPath(new URL('./fixtures/leaky-hub.ts', import.meta.url));
  const drop = ['--reuid', '1000', '--regid', '1000', '--clear-groups', '--'];
  const result = spawnSync('/usr/bin/setpriv', [...drop, process.execPath, hub], {
    encoding: 'utf8',
  });
  assert.equal(result.stderr, '');
  assert.deepEqual(JSON.parse(result.stdout), { files: [], works: true });
});
