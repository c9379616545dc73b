import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, watch, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTcpServer, type Server } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { DEFAULT_APP_LIMITS } from '@cordon/core';
import {
  type ConfinedProcess,
  checkPath,
  NODE_INSIDE,
  openSandbox,
  type SandboxSpec,
} from '../../src/index.ts';
import { networkProgram } from '../../src/kernel/network-program.ts';
import { folder, printed, SCRATCH, script, spec, start, textOf, until } from '../confined.ts';

const ask = `require('node:http').get('http://good.com/', (answer) => {
    answer.on('data', (data) => console.log(answer.statusCode, String(data)));
  }).on('error', (error) => console.log(error.code));`;

/** Starts a script whose listener is handed over, and takes its connections as a proxy would. */
async function handedOver(context: TestContext, wanted: SandboxSpec): Promise<ConfinedProcess> {
  const confined = await start({ ...wanted, network: { kind: 'handover' } });
  const taken = createServer((incoming, response) => response.end(`asked ${incoming.url}`));
  context.after(() => taken.close());
  const listener = await confined.listener;
  if (listener !== null) taken.listen(listener);
  return confined;
}

/** What it prints when its listener is handed over, and how it ends. */
async function printedOnline(
  context: TestContext,
  wanted: SandboxSpec,
): Promise<readonly [string, string | number | null]> {
  const confined = await handedOver(context, wanted);
  const [out, exit] = await Promise.all([textOf(confined.stdout), confined.exited]);
  return [out, exit.signal ?? exit.code];
}

test('an app with a network finds the proxy, an app without finds nothing', async (context) => {
  assert.deepEqual(await printedOnline(context, script(ask)), ['200 asked http://good.com/', 0]);
  assert.equal(await printed(script(ask)), 'EAI_AGAIN');
});

/** The same on a program that is not our Node by its name. */
function shell(code: string, changes: Partial<SandboxSpec> = {}): SandboxSpec {
  return spec({ executable: '/bin/sh', args: ['-c', code], usr: true, ...changes });
}

test('a program that is not our Node hands its listener over, too, and ends as it wants', async (context) => {
  const asks = shell(`exec ${NODE_INSIDE} -e "$0"; exit 1`);
  const program = { ...asks, args: [...asks.args, ask] };
  assert.deepEqual(await printedOnline(context, program), ['200 asked http://good.com/', 0]);
  assert.deepEqual(await printedOnline(context, shell('exit 7')), ['', 7]);
  assert.deepEqual(await printedOnline(context, shell('kill -9 $$')), ['', 'SIGKILL']);
});

test('such a program has the variables that Node must not read at its start, and stops at a closed pipe', async (context) => {
  const env = { LD_DEBUG_OUTPUT: '/tmp/x', NODE_OPTIONS: '--no-such-option', MINE: 'mine' };
  const shows = shell(
    'echo "$LD_DEBUG_OUTPUT $NODE_OPTIONS $MINE $CORDON_HANDOVER$NODE_CHANNEL_FD$CORDON_PROXY_PORT"',
    { env },
  );
  assert.deepEqual(await printedOnline(context, shows), ['/tmp/x --no-such-option mine', 0]);
  // Of SIGPIPE: with the signal ignored it would complain and end with 1.
  const pipes = shell('(while echo x; do :; done; echo "$?" >&2) | head -n 1; grep SigIgn /proc/self/status');
  const [out] = await printedOnline(context, pipes);
  assert.match(out, /^x\nSigIgn:\s+0{16}$/);
});

test('no descriptor of ours is left with a program that is not our Node', async (context) => {
  const code = 'ls -l /proc/self/fd | grep -c socket:; true';
  assert.deepEqual(await printedOnline(context, shell(code)), [await printed(shell(code)), 0]);
});

/** Prints how many processes, ways to the hub and sockets there are. */
const LEFT_INSIDE = `const left = fs.readdirSync('/proc').filter((name) => Number(name) > 2).length;
    const open = fs.readdirSync('/proc/self/fd').map((fd) => { try { return fs.readlinkSync('/proc/self/fd/' + fd) } catch { return '' } });
    console.log(left, process.connected === true, typeof process.send, process.env.CORDON_HANDOVER, process.env.NODE_CHANNEL_FD,
      open.filter((target) => target.startsWith('socket:')).length);`;

/** A tight program that is a file, as most apps are. */
function scriptFile(context: TestContext, code: string): SandboxSpec {
  const path = join(folder(context), 'app.cjs');
  writeFileSync(path, code);
  const host = checkPath(path);
  if (!host.ok) throw new Error(host.fault.message);
  const mounts = [{ host: host.value, inside: '/app/app.cjs', access: 'read' } as const];
  return spec({ args: ['/app/app.cjs'], mounts, profile: 'tight' });
}

test('a JavaScript app hands its listener over, and is tight with nothing of ours left inside', async (context) => {
  const code = `const fs = require('node:fs');
    ${LEFT_INSIDE}
    ${ask}`;
  const program = scriptFile(context, code);
  const bare = await printed(scriptFile(context, code.replace(ask, '')));
  const confined = await handedOver(context, program);
  const [first, second] = (await textOf(confined.stdout)).split('\n');
  assert.equal(second, '200 asked http://good.com/');
  // Process, channel and descriptors are those of an app without a network.
  assert.equal(first, bare);
});

test('an app with options of its own is given way to by the hand-over, and nothing of ours is left either', async (context) => {
  const code = `${LEFT_INSIDE}
    ${ask}`;
  const bare = await printed(script(code.replace(ask, ''), { profile: 'tight' }));
  const confined = await handedOver(context, script(code, { profile: 'tight' }));
  const [first, second] = (await textOf(confined.stdout)).split('\n');
  assert.equal(second, '200 asked http://good.com/');
  // Process, channel and descriptors are those of an app without a network.
  assert.equal(first, bare);
});

test('what a handed-over app asks waits for the hub, and nothing else of the host is reached', async (context) => {
  const code = `require('node:net').connect(3128, '127.0.0.1').on('connect', () => console.log('connected'))
    .on('error', (error) => console.log(error.code));
    require('node:net').connect(80, '192.0.2.1').on('error', (error) => console.log(error.code));
    setTimeout(() => process.exit(0), 500)`;
  const confined = await handedOver(context, script(code, { profile: 'tight' }));
  assert.deepEqual((await textOf(confined.stdout)).split('\n').sort(), ['ENETUNREACH', 'connected']);
});

test('threads and programs that the app starts hand nothing over', async (context) => {
  const code = `new (require('node:worker_threads').Worker)('console.log("thread")', { eval: true, stdout: false })
    .on('exit', () => { const { stdout, status } = require('node:child_process')
      .spawnSync(process.execPath, ['--import', '/opt/cordon/handover.mjs', '-e', 'console.log("program")'], { encoding: 'utf8' });
      console.log(stdout.trim(), status); })`;
  const confined = await handedOver(context, script(code));
  assert.deepEqual((await textOf(confined.stdout)).split('\n').sort(), ['program 0', 'thread']);
});

test('an app that ends before it hands anything over is told by its end', async () => {
  const limits = { ...DEFAULT_APP_LIMITS, openFiles: 1 };
  const confined = await start(script('0', { limits, network: { kind: 'handover' }, profile: 'tight' }));
  assert.equal(await confined.listener, null);
  assert.equal((await confined.exited).cause, 'exit');
});

const DIRECT = { kind: 'direct', ports: [993, 5432] } as const;

/** Asks each address and port, and prints what is said there, or the error. */
const CONNECTS = `const { connect } = require('node:net');
  const said = ([port, host]) => new Promise((resolve) => connect(port, host)
    .on('data', (data) => resolve(String(data))).on('error', (error) => resolve(error.code)));
  Promise.all([[993, '127.64.0.1'], [993, '127.0.0.1'], [5432, '127.1.2.3'], [53, '127.0.0.53'], [994, '127.64.0.1']]
    .map(said)).then((words) => console.log(words.join('; ')));`;

/** Says the name of the listener, and the address that was connected to. */
function speaker(context: TestContext, name: string, at: Server): void {
  const server = createTcpServer((client) => {
    client.end(`${name} at ${client.localAddress?.replace('::ffff:', '')}`);
  }).listen(at);
  context.after(() => server.close());
}

/** What it prints, with every listener served, and the ports at which it may have datagrams. */
async function printedDirectly(
  context: TestContext,
  wanted: SandboxSpec,
): Promise<readonly [string, string]> {
  const confined = await start({ ...wanted, network: DIRECT });
  const printing = textOf(confined.stdout);
  const [listener, direct] = await Promise.all([confined.listener, confined.direct]);
  context.after(() => listener?.close());
  assert.ok(direct);
  for (const [port, listener] of direct.ports) speaker(context, String(port), listener);
  speaker(context, 'names', direct.names);
  for (const socket of direct.datagrams.values()) context.after(() => void socket.close());
  return [await printing, [...direct.datagrams.keys()].join()];
}

for (const profile of ['tight', 'spawn'] as const) {
  test(`listeners of low ports at every loopback address are handed over (${profile})`, async (context) => {
    const said = '993 at 127.64.0.1; 993 at 127.0.0.1; 5432 at 127.1.2.3; names at 127.0.0.53; ECONNREFUSED';
    assert.deepEqual(await printedDirectly(context, script(CONNECTS, { profile })), [
      said,
      profile === 'spawn' ? '53,993,5432' : '',
    ]);
  });
}

test('a program that is not our Node connects directly, too, and nothing of ours is left with it', async (context) => {
  const code = `cat /etc/resolv.conf; ls -l /proc/self/fd | grep -c socket:; echo "$CORDON_DIRECT_PORTS$CORDON_NAME_SERVER"`;
  const without = await printed(shell('ls -l /proc/self/fd | grep -c socket:; true'));
  const [out] = await printedDirectly(context, shell(code));
  assert.equal(out, `nameserver 127.0.0.53\noptions use-vc\n${without}`);
});

/** Connects to the first places, sends datagrams to the others, and prints what came of the connections. */
const TRIES = `const { connect } = require('node:net');
  const said = (port, host) => new Promise((resolve) => connect(port, host)
    .on('data', (data) => resolve(String(data))).on('error', (error) => resolve(error.code)));
  const sent = (port, host, family) => new Promise((resolve) => {
    const socket = require('node:dgram').createSocket(family).on('error', resolve);
    socket.connect(port, host, () => socket.send('x'));
  });
  Promise.all([said(5432, '10.1.2.3'), said(993, 'fd00::77'), said(994, '10.1.2.3'), said(994, '127.64.0.1'), said(994, 'fd00::77')])
    .then((words) => { console.log(words.join('; ')); return Promise.all([sent(123, '192.0.2.7', 'udp4'), sent(124, 'fd00::77', 'udp6')]); })
    .then((errors) => { console.log(...errors.map(({ code }) => code)); setInterval(() => {}, 60000); });`;

test('every address leads to the listeners, and what finds none is reported', async (context) => {
  const confined = await start({ ...script(TRIES), network: DIRECT });
  let said = '';
  confined.stdout?.on('data', (chunk) => {
    said += chunk;
  });
  const [listener, direct] = await Promise.all([confined.listener, confined.direct]);
  context.after(() => listener?.close());
  assert.ok(direct?.watch);
  const told: string[] = [];
  const all = Promise.withResolvers<void>();
  direct.watch(({ protocol, address, port }) => {
    if (told.push(`${protocol} ${address} ${port}`) === 5) all.resolve();
  });
  for (const [port, at] of direct.ports) speaker(context, String(port), at);
  speaker(context, 'names', direct.names);
  for (const socket of direct.datagrams.values()) context.after(() => void socket.close());
  await all.promise;
  // A refusal may be reported before the program has said it.
  await until(() => said.split('\n').length > 2);
  confined.kill();
  assert.equal(
    said.trim(),
    '5432 at 10.1.2.3; 993 at fd00::77; ECONNREFUSED; ECONNREFUSED; ECONNREFUSED\nECONNREFUSED ECONNREFUSED',
  );
  assert.deepEqual(told.sort(), [
    'tcp 10.1.2.3 994',
    'tcp 127.64.0.1 994',
    'tcp fd00::77 994',
    'udp 192.0.2.7 123',
    'udp fd00::77 124',
  ]);
});

/** Connects to a listener at an address that is not of loopback. */
const CONNECTS_FAR = `require('node:net').connect(5432, '10.1.2.3').on('data', (data) => console.log(String(data)))
  .on('error', (error) => console.log(error.code));`;

test('nothing is executed from the folder for temporary files, where apps may write', async (context) => {
  const temporary = folder(context);
  const seen: string[] = [];
  const watcher = watch(temporary, (_event, name) => seen.push(String(name)));
  const before = process.env.TMPDIR;
  process.env.TMPDIR = temporary;
  context.after(() => {
    watcher.close();
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  });
  const own: string[] = [];
  const beside = watch(SCRATCH, (_event, name) => own.push(String(name)));
  context.after(() => beside.close());
  assert.deepEqual(await printedDirectly(context, script(CONNECTS_FAR)), ['5432 at 10.1.2.3', '53,993,5432']);
  // Both are reported in the order in which they came about.
  mkdirSync(join(temporary, 'last'));
  await until(() => seen.includes('last'));
  assert.deepEqual(seen, ['last']);
  await until(() => own.some((name) => name.startsWith('network-')));
});

/** Without a file of its own, and so without a folder. */
const bare = openSandbox({ node: process.execPath });

test('without a folder of the hub alone no network is set up, and loopback leads to the listeners', async (context) => {
  const code = `${CONNECTS_FAR.replace('10.1.2.3', '127.1.2.3')}\n${CONNECTS_FAR}`;
  const started = await bare.spawn({ ...script(code), network: DIRECT }, context.signal);
  assert.ok(started.ok, started.ok ? '' : started.fault.message);
  const printing = textOf(started.value.stdout);
  const [listener, direct] = await Promise.all([started.value.listener, started.value.direct]);
  context.after(() => listener?.close());
  assert.ok(direct);
  for (const [port, at] of direct.ports) speaker(context, String(port), at);
  speaker(context, 'names', direct.names);
  for (const socket of direct.datagrams.values()) context.after(() => void socket.close());
  assert.equal(direct.watch, null);
  assert.deepEqual((await printing).split('\n').sort(), ['5432 at 127.1.2.3', 'ENETUNREACH']);
});

/** How the program ends that sets up the network of a process, with so many descriptors; `ready` when it has done so. */
async function setUpWith(context: TestContext, path: string, root: number, files: number): Promise<string> {
  const child = spawn('prlimit', [`--nofile=${files}:${files}`, path, `/proc/${root}/ns/net`], {
    env: {},
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  context.after(() => child.kill('SIGKILL'));
  const ready = once(child.stdout, 'data').then(() => 'ready');
  const ended = once(child, 'exit').then(([code]) => `ended with ${code}`);
  return await Promise.race([ready, ended]);
}

test('a set-up that fails anywhere leaves no routes, and one that succeeds leads everywhere', async (context) => {
  const code = `require('node:readline').createInterface({ input: process.stdin }).on('line', () => { ${CONNECTS_FAR} });`;
  const wanted = { ...script(code), stdin: 'pipe', network: DIRECT } as const;
  const started = await bare.spawn(wanted, context.signal);
  assert.ok(started.ok, started.ok ? '' : started.fault.message);
  const { stdin, stdout, root } = started.value;
  const [listener, direct] = await Promise.all([started.value.listener, started.value.direct]);
  context.after(() => {
    started.value.kill();
    listener?.close();
  });
  assert.ok(direct && stdin && stdout);
  for (const [port, at] of direct.ports) speaker(context, String(port), at);
  speaker(context, 'names', direct.names);
  for (const socket of direct.datagrams.values()) context.after(() => void socket.close());
  const path = join(folder(context), 'set-up');
  assert.ok(process.arch === 'x64' || process.arch === 'arm64');
  writeFileSync(path, networkProgram(process.arch), { mode: 0o700 });
  const tried: string[] = [];
  for (let files = 4; files < 32; files++) {
    const end = await setUpWith(context, path, root, files);
    stdin.write('\n');
    const [said] = await once(stdout, 'data');
    tried.push(`${end}: ${String(said).trim()}`);
    if (end === 'ready') break;
  }
  const [last, ...failures] = tried.reverse();
  assert.equal(last, 'ready: 5432 at 10.1.2.3');
  assert.ok(failures.length >= 3, 'it needs four descriptors');
  assert.deepEqual([...new Set(failures)], ['ended with 1: ENETUNREACH']);
});

test('an app without direct connections has no name server', async () => {
  assert.equal(
    await printed(script("console.log(require('node:fs').existsSync('/etc/resolv.conf'))")),
    'false',
  );
});

test('without its own network namespace a program listens nowhere: it would be in that of the machine', async (context) => {
  const shared = openSandbox({ node: process.execPath, weaker: ['network-namespace'] });
  const wanted = { ...script('0'), network: DIRECT };
  const started = await shared.spawn(wanted, AbortSignal.timeout(60_000));
  assert.ok(started.ok, started.ok ? '' : started.fault.message);
  const listener = await started.value.listener;
  context.after(() => listener?.close());
  assert.equal(started.value.direct, null);
  await started.value.exited;
});
