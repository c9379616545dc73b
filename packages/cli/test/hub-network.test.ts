/** The network of the hub: none, where the launcher can make a namespace; what dials for it, and what is left when it is gone. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { isLeftOut } from '../../../tools/cases.ts';

const REPOSITORY = resolve(import.meta.dirname, '../../..');
const DIALLER = join(REPOSITORY, 'packages/dialler/src/index.ts');

/** Replaces Cordon: does what each line of its input says, and answers with a line. */
const MAIN = `
import { spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
const { HERE, hubNetwork } = await import(${JSON.stringify(DIALLER)});
const { dialler, sharedBecause } = hubNetwork(process.env.CORDON_DIAL);
process.on('SIGINT', () => console.log('interrupted'));
const ended = ({ ok, value, fault }) => { if (ok) value.destroy(); return ok ? 'connected' : fault.code ?? fault.message; };
const does = {
  self: () => [process.pid, sharedBecause, process.env.CORDON_DIAL ?? null],
  here: async (port) => ended(await HERE.dial('127.0.0.1', Number(port))),
  dial: async (port) => ended(await dialler.dial('127.0.0.1', Number(port))),
  descriptors: () => spawnSync('/bin/ls', ['-l', '/proc/self/fd']).stdout.toString(),
  exit: (code) => process.exit(Number(code)),
};
for await (const line of createInterface(process.stdin)) {
  const [what, ...rest] = line.split(' ');
  console.log(JSON.stringify(await does[what](...rest)));
}
`;

/** A copy of what the launcher needs, with a program that takes orders instead of Cordon. */
class Installation {
  readonly root = mkdtempSync(join(tmpdir(), 'cordon network-'));
  /** Where sockets come: without it, a folder for all users. */
  readonly sockets = join(this.root, 's');

  constructor() {
    for (const folder of ['s', 'node_modules/.bin', 'packages/cli/bin', 'packages/cli/src', 'path'])
      mkdirSync(join(this.root, folder), { recursive: true });
    copyFileSync(join(REPOSITORY, 'packages/cli/bin/cordon'), join(this.root, 'packages/cli/bin/cordon'));
    for (const part of ['bin', 'src', 'package.json'])
      cpSync(join(REPOSITORY, 'packages/dialler', part), join(this.root, 'packages/dialler', part), {
        recursive: true,
      });
    writeFileSync(join(this.root, 'packages/cli/src/main.ts'), MAIN);
    symlinkSync(process.execPath, join(this.root, 'node_modules/.bin/node'));
  }

  start(
    args: readonly string[],
    environment: Record<string, string> = {},
    through: readonly string[] = [],
  ): Hub {
    const env = { PATH: '/usr/bin:/bin', XDG_RUNTIME_DIR: this.sockets, ...environment };
    const launcher = join(this.root, 'packages/cli/bin/cordon');
    const [program = '', ...words] = [...through, '/bin/sh', launcher, ...args];
    const child = spawn(program, words, {
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
      detached: true,
    });
    return new Hub(child);
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true, maxRetries: 10 });
  }
}

class Hub {
  readonly child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #reader: Interface;

  constructor(child: ChildProcess) {
    this.child = child;
    assert.ok(child.stdout);
    this.#reader = createInterface(child.stdout);
    this.#lines = this.#reader[Symbol.asyncIterator]();
  }

  async line(): Promise<string> {
    const { value = '' } = await this.#lines.next();
    return value;
  }

  async does(order: string): Promise<unknown> {
    this.child.stdin?.write(`${order}\n`);
    return JSON.parse(await this.line());
  }

  /** What ended it: a signal, or an exit code. */
  async ended(): Promise<unknown> {
    const [code, signal] = await once(this.child, 'close');
    return signal ?? code;
  }
}

/** A server on the loopback of this machine. */
async function server(context: TestContext): Promise<number> {
  const listening = createServer((socket) => socket.destroy());
  await new Promise<void>((done) => listening.listen(0, '127.0.0.1', done));
  context.after(() => void listening.close());
  const address = listening.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Processes whose arguments name this path. */
function processesOf(path: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => read(`/proc/${name}/cmdline`).includes(path))
    .map(Number);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await wait(5);
}

test('code in the process of the hub connects to nothing by itself; what was granted is dialled', async (context) => {
  using installation = new Installation();
  const port = await server(context);
  const hub = installation.start(['ask']);
  assert.equal(await hub.does(`here ${port}`), 'ENETUNREACH');
  assert.equal(await hub.does(`dial ${port}`), 'connected');
  assert.equal(await hub.does('dial 1'), 'ECONNREFUSED');
  hub.child.stdin?.end();
  assert.equal(await hub.ended(), 0);
});

test('where the user wants it so, the hub has the network of the machine, and knows why', async (context) => {
  if (isLeftOut(context)) return;
  using installation = new Installation();
  const port = await server(context);
  const hub = installation.start(['ask'], { CORDON_NETWORK: 'shared' });
  assert.equal(await hub.does(`here ${port}`), 'connected');
  assert.equal(await hub.does(`dial ${port}`), 'connected');
  assert.deepEqual(await hub.does('self'), [
    hub.child.pid,
    'CORDON_NETWORK says so',
    'shared:CORDON_NETWORK says so',
  ]);
  hub.child.stdin?.end();
  await hub.ended();
});

for (const [args, isSeparate] of [
  [['ask', 'x --help'], true],
  [['ask', '--help'], false],
  [['chat'], true],
  [['resume', 'session'], true],
  [['start'], true],
  [['run', '--', 'tool', '--help'], true],
  [['doctor'], true],
  [['--', 'ask', 'x'], true],
  [['apps', 'install', 'app'], true],
  // An app may be called so.
  [['apps', '--file', 'cordon.json', 'logout', 'login'], true],
  [['apps', 'search', 'mail'], true],
  [['apps', '--json', 'search', 'mail'], true],
  [['apps', 'logout', 'mail'], true],
  [['apps', 'remove', 'mail', '--purge'], true],
  [['apps', 'list'], false],
  [['sessions'], false],
  [['scan', 'rules.gr', '--ask-models'], true],
  [['scan', 'rules.gr'], false],
  [['bench', 'detectors', '--detectors', 'pii'], false],
  [['--help'], false],
  [[], false],
] as const) {
  test(`\`cordon ${args.join(' ')}\` has ${isSeparate ? 'no network' : 'nothing that dials'}`, async (t) => {
    if (isLeftOut(t, ['chat', 'apps list'].includes(args.join(' ')))) return;
    using installation = new Installation();
    const hub = installation.start(args);
    const [pid, , place] = (await hub.does('self')) as [number, string, string | null];
    assert.equal(pid, hub.child.pid);
    assert.equal(place?.startsWith(installation.sockets) ?? false, isSeparate);
    hub.child.stdin?.end();
    await hub.ended();
    await until(() => readdirSync(installation.sockets).length === 0);
  });
}

test('the dialling process gets none of the keys in the environment, but what the resolver reads', async (context) => {
  using installation = new Installation();
  const port = await server(context);
  const hub = installation.start(['ask'], { OPENAI_API_KEY: 'sk-secret', RES_OPTIONS: 'timeout:1' });
  context.after(() => void hub.child.stdin?.end());
  assert.equal(await hub.does(`dial ${port}`), 'connected');
  const [process = 0] = processesOf('packages/dialler/src/main.ts').filter((one) =>
    read(`/proc/${one}/cmdline`).includes(installation.sockets),
  );
  const environment = read(`/proc/${process}/environ`);
  assert.ok(environment.includes('RES_OPTIONS=timeout:1'));
  assert.ok(!environment.includes('OPENAI_API_KEY'));
});

/** Starts the program, but makes no namespace. */
const NO_UNSHARE = '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n';

for (const [what, unshare, why] of [
  ['is', null, 'none (dialling process): it cannot connect by itself'],
  ['is not', NO_UNSHARE, 'shared with this machine: its namespace has the network of the machine'],
] as const) {
  test(`\`cordon doctor\` tries whether the hub ${what} without network, and believes nobody`, (t) => {
    if (isLeftOut(t, what === 'is not')) return;
    using installation = new Installation();
    const path = join(installation.root, 'path');
    if (unshare !== null) writeFileSync(join(path, 'unshare'), unshare, { mode: 0o755 });
    const env = { PATH: `${path}:/usr/bin:/bin`, HOME: installation.root };
    const launcher = join(REPOSITORY, 'packages/cli/bin/cordon');
    const { stdout, status } = spawnSync('/bin/sh', [launcher, 'doctor', '--json'], {
      env,
      encoding: 'utf8',
    });
    assert.equal(status, 0, stdout);
    const checks = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.equal(checks.find(({ name }) => name === 'network of the hub').why, why);
  });
}

for (const [what, args, why] of [
  ['the escape attempts have', ['doctor', '--attack'], 'the escape attempts listen on the machine'],
  ['a login has', ['apps', 'login', 'mail'], 'the browser that logs in comes back to this machine'],
] as const) {
  test(`${what} the network of the machine`, async (t) => {
    if (isLeftOut(t, args[0] === 'doctor')) return;
    using installation = new Installation();
    const hub = installation.start(args);
    const [, reason] = (await hub.does('self')) as [number, string];
    assert.equal(reason, why);
    hub.child.stdin?.end();
    await hub.ended();
  });
}

for (const [what, program, reason] of [
  [
    'refuses',
    '#!/bin/sh\necho "unshare: not permitted" >&2\nexit 1\n',
    /^no namespace can be made \(unshare: not permitted\)$/,
  ],
  ['is missing', null, /^no namespace can be made \(.*not found.*\)$/s],
] as const) {
  test(`where unshare ${what}, the hub shares the network, and knows why`, async (context) => {
    if (isLeftOut(context, what === 'refuses')) return;
    using installation = new Installation();
    const path = join(installation.root, 'path');
    for (const tool of ['dirname', 'readlink', 'mkdir', 'id'])
      symlinkSync(`/usr/bin/${tool}`, join(path, tool));
    if (program !== null) writeFileSync(join(path, 'unshare'), program);
    if (program !== null) chmodSync(join(path, 'unshare'), 0o755);
    const hub = installation.start(['ask'], { PATH: path });
    const [, why] = (await hub.does('self')) as [number, string];
    assert.match(why, reason);
    assert.equal(await hub.does(`here ${await server(context)}`), 'connected');
    hub.child.stdin?.end();
    await hub.ended();
  });
}

test('a folder for sockets whose path is not absolute is not used', async (context) => {
  if (isLeftOut(context)) return;
  using installation = new Installation();
  const hub = installation.start(['ask'], {
    XDG_RUNTIME_DIR: relative(process.cwd(), installation.sockets),
    TMPDIR: installation.sockets,
  });
  const [, , place] = (await hub.does('self')) as [number, string, string];
  assert.equal(place.startsWith(installation.sockets), true);
  assert.equal(await hub.does(`dial ${await server(context)}`), 'connected');
  hub.child.stdin?.end();
  await hub.ended();
});

test('where there is no pipe, the hub shares the network, and no folder is left', async (t) => {
  if (isLeftOut(t)) return;
  using installation = new Installation();
  const path = join(installation.root, 'path');
  for (const tool of ['dirname', 'readlink', 'mkdir', 'id', 'unshare', 'true', 'mktemp', 'rmdir'])
    symlinkSync(`/usr/bin/${tool}`, join(path, tool));
  const hub = installation.start(['ask'], { PATH: path });
  const [, why] = (await hub.does('self')) as [number, string];
  assert.equal(why, 'there is no place for sockets');
  assert.deepEqual(readdirSync(installation.sockets), []);
  hub.child.stdin?.end();
  await hub.ended();
});

/** As another user, whose files the installation then is. */
function startAs(user: number, installation: Installation, environment: Record<string, string> = {}): Hub {
  for (const folder of [installation.root, installation.sockets]) chownSync(folder, user, user);
  return installation.start(['ask'], environment, [
    '/usr/bin/setpriv',
    '--reuid',
    `${user}`,
    '--regid',
    `${user}`,
    '--clear-groups',
    '--',
  ]);
}

const isRoot = process.getuid?.() === 0;

test('the hub of an ordinary user has no network either', { skip: !isRoot }, async (context) => {
  using installation = new Installation();
  const port = await server(context);
  const hub = startAs(12_345, installation);
  assert.equal(await hub.does(`here ${port}`), 'ENETUNREACH');
  assert.equal(await hub.does(`dial ${port}`), 'connected');
  hub.child.stdin?.end();
  await hub.ended();
  await until(() => readdirSync(installation.sockets).length === 0);
});

/** Makes a namespace, but none within one. */
const NO_NESTING =
  '#!/bin/sh\ncase "$*" in *unshare*) echo "unshare: refused" >&2; exit 1 ;; esac\nexec /usr/bin/unshare "$@"\n';

test('where a namespace has no room for those of apps, an ordinary user’s hub shares the network', {
  skip: !isRoot,
}, async (t) => {
  if (isLeftOut(t)) return;
  using installation = new Installation();
  const path = join(installation.root, 'path');
  writeFileSync(join(path, 'unshare'), NO_NESTING, { mode: 0o755 });
  const hub = startAs(12_345, installation, { PATH: `${path}:/usr/bin:/bin` });
  const [, why] = (await hub.does('self')) as [number, string];
  assert.equal(why, 'no namespace can be made (unshare: refused)');
  hub.child.stdin?.end();
  await hub.ended();
});

test('the user nobody shares the network: in a user namespace all other users look like it', {
  skip: !isRoot,
}, async (context) => {
  if (isLeftOut(context)) return;
  using installation = new Installation();
  const hub = startAs(65_534, installation);
  assert.equal(await hub.does(`here ${await server(context)}`), 'connected');
  const [, why] = (await hub.does('self')) as [number, string];
  assert.equal(why, 'in a user namespace the user nobody looks like every other user');
  hub.child.stdin?.end();
  await hub.ended();
});

test('its exit code is the program’s, and a signal ends it', async () => {
  using installation = new Installation();
  const one = installation.start(['ask']);
  one.child.stdin?.write('exit 7\n');
  assert.equal(await one.ended(), 7);
  const other = installation.start(['ask']);
  await other.does('self');
  other.child.kill('SIGTERM');
  assert.equal(await other.ended(), 'SIGTERM');
});

for (const dials of [true, false]) {
  test(`nothing is left of a hub that was killed ${dials ? 'after' : 'before'} it dialled`, async (context) => {
    if (isLeftOut(context, dials)) return;
    using installation = new Installation();
    const port = await server(context);
    const hub = installation.start(['ask']);
    await hub.does('self');
    if (dials) assert.equal(await hub.does(`dial ${port}`), 'connected');
    assert.equal(readdirSync(installation.sockets).length, 1);
    assert.equal(processesOf(join(installation.root, 'packages/dialler/src/main.ts')).length > 0, dials);
    hub.child.kill('SIGKILL');
    assert.equal(await hub.ended(), 'SIGKILL');
    await until(() => readdirSync(installation.sockets).length === 0);
    await until(() => processesOf(installation.root).length === 0);
  });
}

test('Ctrl-C is for the hub; it dials afterwards, also when all were stopped', async (context) => {
  if (isLeftOut(context)) return;
  using installation = new Installation();
  const port = await server(context);
  const hub = installation.start(['ask']);
  assert.equal(await hub.does(`dial ${port}`), 'connected');
  const group = -(hub.child.pid ?? 0);
  const [dialling] = processesOf(join(installation.root, 'packages/dialler/src/main.ts'));
  process.kill(group, 'SIGINT');
  assert.equal(await hub.line(), 'interrupted');
  process.kill(group, 'SIGSTOP');
  process.kill(group, 'SIGCONT');
  assert.equal(await hub.does(`dial ${port}`), 'connected');
  assert.deepEqual(processesOf(join(installation.root, 'packages/dialler/src/main.ts')), [dialling]);
  hub.child.stdin?.end();
  await hub.ended();
});

test('programs that the hub starts do not inherit the pipe, and nobody can list its folder', async (t) => {
  if (isLeftOut(t)) return;
  using installation = new Installation();
  const hub = installation.start(['ask']);
  assert.doesNotMatch(String(await hub.does('descriptors')), /\/pipe/);
  const [folder = ''] = readdirSync(installation.sockets);
  assert.equal(statSync(join(installation.sockets, folder)).mode & 0o777, 0o300);
  hub.child.stdin?.end();
  await hub.ended();
});
