import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { isLeftOut } from '../../../../tools/cases.ts';
import { checkPath, openSandbox } from '../../src/index.ts';
import { INIT_INSIDE } from '../../src/launch/bubblewrap.ts';
import { findProgram } from '../../src/launch/host.ts';
import { sweepOrphans } from '../../src/launch/orphan-sweep.ts';
import { CACHE_FILE, folder, script, start, until } from '../confined.ts';

const isRoot = process.getuid?.() === 0;
/** Not the user of apps: hubs of tests that run at the same time end what is left of that. */
const user = isRoot ? 61_777 : (process.getuid?.() ?? -1);
const bwrap = findProgram('bwrap') ?? assert.fail('bubblewrap is not installed');

/** Pids of all processes of the host with this text in their command line. */
function having(marker: string): readonly number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid && commandOf(pid).includes(marker));
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}

interface Halves {
  readonly outer: ChildProcess;
  /** The pid of the half that makes the sandbox. */
  readonly inner: number;
}

interface Held {
  /** What the first program inside would be. */
  readonly command: readonly string[];
  readonly as: number;
}

const OURS: Held = { command: [INIT_INSIDE], as: user };

/** Both halves of a bubblewrap that is held where the inner one waits to be told to go on. */
async function heldHalves(context: TestContext, { command, as }: Held): Promise<Halves> {
  const options = ['--unshare-user', '--unshare-pid', '--userns-block-fd', '5', '--info-fd', '4'];
  const outer = spawn(bwrap, ['--args', '3', '--', ...command], {
    env: {},
    cwd: '/',
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    ...(isRoot ? { uid: as, gid: as } : {}),
  });
  const [, , , args, status] = outer.stdio;
  assert.ok(args instanceof Writable && status instanceof Readable);
  args.end(options.map((option) => `${option}\0`).join(''));
  const [report] = await once(status, 'data');
  const inner = Number(/"child-pid": (\d+)/.exec(String(report))?.[1]);
  context.after(() => {
    outer.kill('SIGKILL');
    if (commandOf(inner).includes(command.join('\0'))) process.kill(inner, 'SIGKILL');
  });
  return { outer, inner };
}

async function killOuter({ outer }: Halves): Promise<void> {
  const gone = once(outer, 'exit');
  outer.kill('SIGKILL');
  await gone;
}

test('half a sandbox is ended when its other half is dead, and left alone while that lives', async (context) => {
  const [orphan, whole] = [await heldHalves(context, OURS), await heldHalves(context, OURS)];
  await killOuter(orphan);
  assert.notEqual(commandOf(orphan.inner), '');
  await sweepOrphans({ bwrap, user });
  await until(() => commandOf(orphan.inner) === '');
  assert.equal(commandOf(whole.inner), commandOf(whole.outer.pid ?? 0));
  assert.notEqual(commandOf(whole.inner), '');
});

test('half a sandbox of another program or of another user is left alone', async (context) => {
  const foreign = await heldHalves(context, { command: ['/usr/bin/true'], as: user });
  const ours = await heldHalves(context, OURS);
  await killOuter(foreign);
  await killOuter(ours);
  await sweepOrphans({ bwrap, user: user + 1 });
  assert.notEqual(commandOf(ours.inner), '');
  await sweepOrphans({ bwrap, user });
  await until(() => commandOf(ours.inner) === '');
  assert.notEqual(commandOf(foreign.inner), '');
});

test('half a stage, which root makes for closed folders, is ended as half a sandbox is', async (context) => {
  if (!isRoot) return; // a user needs no stage
  const stage: Held = { command: ['setpriv', '--', bwrap, '--args', '4', '--', INIT_INSIDE], as: 0 };
  const [orphan, whole] = [await heldHalves(context, stage), await heldHalves(context, stage)];
  await killOuter(orphan);
  await sweepOrphans({ bwrap, user });
  await until(() => commandOf(orphan.inner) === '');
  assert.notEqual(commandOf(whole.inner), '');
  assert.notEqual(commandOf(whole.outer.pid ?? 0), '');
});

/** Kills a hub while it starts three sandboxes, so many milliseconds after it began. */
async function killHub(args: readonly string[], afterMs: number): Promise<void> {
  const program = join(import.meta.dirname, 'dying-hub.ts');
  const hub = spawn(process.execPath, [program, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(hub.stdout, 'data');
  hub.stdin.write('begin\n');
  await wait(afterMs);
  const gone = once(hub, 'exit');
  hub.kill('SIGKILL');
  await gone;
}

test('what a hub leaves that is killed at any moment of a start the next one ends, and nothing else', async (context) => {
  if (isLeftOut(context)) return;
  const dying = `cordon-dying-${process.pid}`;
  const alive = `cordon-living-${process.pid}`;
  const at = folder(context);
  // Root makes it reachable on a stage; a user who owns it needs none.
  const closed = join(at, 'closed', 'code');
  mkdirSync(closed, { recursive: true });
  chmodSync(join(at, 'closed'), 0o700);
  const host = checkPath(closed);
  assert.ok(host.ok);
  for (const mounts of [[], [{ host: host.value, inside: '/closed', access: 'read' } as const]]) {
    const living = await start(script(`setInterval(() => {}, 1000) // ${alive}`, { mounts }));
    context.after(() => living.kill());
  }
  const whole = isRoot ? 3 + 4 : 3 + 3;
  await until(() => having(alive).length === whole);
  for (let round = 0; round < 18; round++)
    await killHub([dying, CACHE_FILE, ...(round % 2 === 0 ? [] : [closed])], round % 9);
  // Until nothing is under way any more: what a stage was for may come after the stage's hub is gone.
  for (let round = 0; round < 20 && having(dying).length > 0; round++) {
    const next = openSandbox({ node: process.execPath, cacheFile: CACHE_FILE });
    const first = await next.spawn(script('0'), new AbortController().signal);
    assert.ok(first.ok);
    await first.value.exited;
    await wait(250);
  }
  assert.deepEqual(having(dying).map(commandOf), []);
  assert.equal(having(alive).length, whole);
});
