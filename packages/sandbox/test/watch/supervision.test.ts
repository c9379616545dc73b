/** Whoever dies, nothing of an app is left two seconds later; and no app can reach the process that sees to it. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { isLeftOut } from '../../../../tools/cases.ts';
import { openSandbox } from '../../src/index.ts';
import { attempt, CACHE_FILE, folder, printed, script, start, textOf } from '../confined.ts';

const isRoot = process.getuid?.() === 0;
/** An ordinary user, who need not have a name. */
const ORDINARY = 61_234;
/** A hub with an app whose two processes count. */
const COUNTING = join(import.meta.dirname, 'counting-hub.ts');

const OF_INIT: readonly (readonly [what: string, code: (of: string) => string])[] = [
  ['open its memory for writing', (of) => `fs.openSync('/proc/${of}/mem', 'r+')`],
  ['read its memory', (of) => `fs.openSync('/proc/${of}/mem', 'r')`],
  ['find where it waits', (of) => `fs.readFileSync('/proc/${of}/syscall')`],
  ['find its code', (of) => `fs.readFileSync('/proc/${of}/maps')`],
  ['look at its open files', (of) => `fs.readdirSync('/proc/${of}/fd')`],
  ['open its folder', (of) => `fs.readdirSync('/proc/${of}/cwd/')`],
  ['choose it to be ended first', (of) => `fs.openSync('/proc/${of}/oom_score_adj', 'r+')`],
];

for (const [what, code] of OF_INIT)
  test(`an app cannot ${what}, of the process that ends it; of itself it can`, async (t) => {
    if (isLeftOut(t, ['open its memory for writing', 'find its code', 'open its folder'].includes(what)))
      return;
    const out = await printed(script(`console.log(${attempt(code('1'))}, ${attempt(code('self'))})`));
    assert.match(out, /^(EACCES|EPERM) done$/);
  });

test('no signal of an app reaches the process that ends it', async () => {
  const out = await printed(
    script(`for (const signal of Object.keys(require('node:os').constants.signals))
        try { process.kill(1, signal) } catch {}
      setTimeout(() => console.log(fs.readFileSync('/proc/1/stat', 'latin1').split(') ')[1][0]), 100)`),
  );
  assert.equal(out, 'S');
});

test('an app that runs the first program itself becomes nobody that cannot be watched', async () => {
  const out = await printed(
    script(`const { status, stdout } = require('node:child_process')
        .spawnSync('/opt/cordon/init', [process.execPath, '-e', 'console.log(1)'], { encoding: 'utf8' });
      console.log(status, stdout.length)`),
  );
  assert.equal(out, '126 0');
});

test('a look at a process that its user may not see finds nothing, and does not end the hub', async () => {
  const module = join(import.meta.dirname, '../../src/watch/watchdog.ts');
  const code = `import { processFolders } from ${JSON.stringify(module)}; console.log(processFolders(1, true).length)`;
  const look = spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
    ...(isRoot ? { uid: ORDINARY, gid: ORDINARY } : {}),
  });
  assert.equal(await textOf(look.stdout), '0');
});

const HOLDER = `holder-${process.pid}`;
const ATTACH = `require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000) // ${HOLDER}'],
  { detached: true, stdio: 'inherit' }).unref();`;

test('a stream ends after the app, also while something that it left behind holds it open', async (context) => {
  context.after(() => {
    for (const pid of having(HOLDER)) process.kill(pid, 'SIGKILL');
  });
  // Without these layers the app can leave a process behind.
  const weak = openSandbox({ node: process.execPath, weaker: ['pid-namespace', 'own-init'] });
  const started = await weak.spawn(
    script(`${ATTACH} console.log('last words'); process.exit(3)`),
    new AbortController().signal,
  );
  assert.ok(started.ok);
  const out = textOf(started.value.stdout);
  assert.equal((await started.value.exited).code, 3);
  assert.equal(await out, 'last words');
  assert.equal(having(HOLDER).length, 1, 'the process that was left behind still runs');
});

test('who reads slowly gets all that the app said', async (t) => {
  if (isLeftOut(t)) return;
  const { stdout, exited } = await start(script(`process.stdout.write('x'.repeat(200_000))`));
  assert.ok(stdout !== null);
  const reader = stdout[Symbol.asyncIterator]();
  const first = await reader.next();
  await wait(3_500);
  let length = String(first.value).length;
  for (let next = await reader.next(); next.done !== true; next = await reader.next()) {
    length += String(next.value).length;
    await wait(200);
  }
  assert.equal(length, 200_000);
  assert.equal((await exited).code, 0);
});

/** Pids of all processes with this text in their command line, but for those that the app started by itself. */
function having(marker: string, those: 'all' | 'not again' = 'all'): readonly number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid)
    .filter((pid) => {
      const command = commandOf(pid);
      return (
        command.includes(marker) &&
        (those === 'all' || !command.includes(`// again ${marker}`) || command.includes('runs'))
      );
    });
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}

/** Milliseconds until nothing is left; fails the test where something still is after a minute. */
async function goneAfter(marker: string, what: string): Promise<number> {
  const began = performance.now();
  while (having(marker).length > 0) {
    assert.ok(performance.now() - began < 60_000, `${what}: ${having(marker).map(commandOf).join()}`);
    await wait(20);
  }
  return performance.now() - began;
}

/** In one of ten rounds nothing is left two seconds later: others may be using the machine. */
async function assertSoonGone(what: string, round: (number: number) => Promise<number>): Promise<void> {
  const took: number[] = [];
  while (took.length < 10 && !took.some((ms) => ms <= 2_000)) took.push(await round(took.length));
  assert.ok(
    took.some((ms) => ms <= 2_000),
    `${what}: ${took.join(', ')} ms`,
  );
}

interface Setting {
  readonly network: 'none' | 'handover' | 'behind';
  readonly user: 'root' | 'ordinary';
  /** Whether the app's user can reach what is mounted; where not, root makes a stage for it. */
  readonly mounts: 'open' | 'closed';
}

/** Hubs of one user share the result of a self-test. */
function cacheFileFor(uid: number): string {
  if (uid === process.getuid?.()) return CACHE_FILE;
  if (!existsSync(OF_ORDINARY)) {
    mkdirSync(OF_ORDINARY, { mode: 0o700 });
    chownSync(OF_ORDINARY, uid, uid);
  }
  return join(OF_ORDINARY, 'sandbox.json');
}

const OF_ORDINARY = join(tmpdir(), `cordon-ordinary-${process.pid}`);
after(() => rmSync(OF_ORDINARY, { recursive: true, force: true }));

class Hub {
  readonly process: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(context: TestContext, { network, user, mounts }: Setting) {
    const uid = user === 'root' || !isRoot ? (process.getuid?.() ?? 0) : ORDINARY;
    const at = folder(context);
    // Of this user alone, as the hub's data folder is.
    const own = join(at, 'own');
    mkdirSync(own);
    chmodSync(own, 0o700);
    chownSync(own, uid, uid);
    const shown = join(mounts === 'closed' ? own : at, 'shown');
    mkdirSync(shown);
    const program = join(import.meta.dirname, 'supervised-hub.ts');
    this.process = spawn(process.execPath, ['--no-warnings', program, network, cacheFileFor(uid), shown], {
      stdio: ['pipe', 'pipe', 'inherit'],
      uid,
      gid: uid,
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
    });
    context.after(() => this.process.kill('SIGKILL'));
    assert.ok(this.process.stdout !== null);
    this.#lines = createInterface({ input: this.process.stdout })[Symbol.asyncIterator]();
  }

  async next(): Promise<Readonly<Record<string, unknown>>> {
    const { value, done } = await this.#lines.next();
    assert.notEqual(done, true, 'the hub ended');
    return JSON.parse(String(value));
  }

  /** An app that runs, and the processes around it, from the outermost. */
  async start(marker: string): Promise<readonly number[]> {
    this.process.stdin?.write(`${marker}\n`);
    assert.deepEqual(await this.next(), { runs: marker });
    return having(marker, 'not again');
  }
}

async function readyHub(context: TestContext, setting: Setting): Promise<Hub> {
  const hub = new Hub(context, setting);
  assert.deepEqual(await hub.next(), { ready: true });
  return hub;
}

const SETTINGS: readonly Setting[] = (['none', 'handover', 'behind'] as const).flatMap((network) => [
  { network, user: 'ordinary' as const, mounts: 'closed' as const },
  ...(isRoot
    ? (['open', 'closed'] as const).map((mounts) => ({ network, user: 'root' as const, mounts }))
    : []),
]);

for (const setting of SETTINGS)
  test(`whoever dies, nothing of an app is left: network ${setting.network}, ${setting.user}, mounts ${setting.mounts}`, async (context) => {
    if (isLeftOut(context, setting.network === 'handover' && setting.user === 'ordinary')) return;
    const marker = (name: string) => `left-${process.pid}-${Object.values(setting).join('-')}-${name}`;
    const hub = await readyHub(context, setting);
    const { length } = await hub.start(marker('first'));
    assert.ok(length >= 3, 'bubblewrap, the first process, the app');
    for (let victim = 0; victim < length; victim++) {
      const what = `after the end of process ${victim} of ${length}`;
      await assertSoonGone(what, async (round) => {
        const name = marker(`${victim}-${round}`);
        const tree = await hub.start(name);
        process.kill(tree[victim] ?? -1, 'SIGKILL');
        const took = await goneAfter(name, what);
        const { ended } = await hub.next();
        assert.equal(ended, name, 'and its streams have ended');
        return took;
      });
    }
    await assertSoonGone('after the end of the hub', async (round) => {
      const dying = round === 0 ? hub : await readyHub(context, setting);
      if (round > 0) await dying.start(marker(`hub-${round}`));
      const dead = once(dying.process, 'exit');
      dying.process.kill('SIGKILL');
      await dead;
      return goneAfter(marker(''), 'after the end of the hub');
    });
  });

test('an app stops while Cordon is stopped, all of its processes, and goes on with it', async (context) => {
  let pid = 0;
  // Before the folder goes, in which the app writes.
  context.after(() => pid > 0 && process.kill(pid, 'SIGKILL'));
  const shown = folder(context);
  const counts = () =>
    [1, 2].map((which) => statSync(join(shown, String(which)), { throwIfNoEntry: false })?.size ?? 0);
  chmodSync(shown, 0o777);
  // In a process group of its own, whose parent could continue it: else the kernel does not stop it.
  const hub = spawn(
    '/usr/bin/perl',
    [
      ...['-e', 'setpgrp(0, 0); exec { $ARGV[0] } @ARGV'],
      ...[process.execPath, '--no-warnings', COUNTING, CACHE_FILE, shown],
    ],
    { stdio: 'ignore' },
  );
  pid = hub.pid ?? assert.fail('it did not start');
  const stateOf = () => /\) (.)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1];
  const until = async (what: string, isSo: () => boolean) => {
    for (const end = performance.now() + 60_000; !isSo(); await wait(20))
      assert.ok(performance.now() < end, what);
  };
  await until('it counts', () => counts().every((count) => count > 0));

  process.kill(pid, 'SIGTSTP');
  await until('Cordon is stopped', () => stateOf() === 'T');
  // Whoever stops the processes of an app may get to it late.
  let then: readonly number[] = [];
  for (let round = 0; round < 60 && counts().join() !== then.join(); round++) {
    then = counts();
    await wait(500);
  }
  assert.deepEqual(counts(), then);

  process.kill(pid, 'SIGCONT');
  await until('it goes on', () => counts().every((count, which) => count > (then[which] ?? 0)));
});
