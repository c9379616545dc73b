import assert from 'node:assert/strict';
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { DEFAULT_APP_LIMITS } from '@cordon/core';
import { isLeftOut } from '../../../../tools/cases.ts';
import { openSandbox } from '../../src/index.ts';
import { folder, run, sandbox, script, spec, start, until } from '../confined.ts';

/** Processes of the host with this text in their command line. */
function alive(marker: string): number {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return false;
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(marker);
    } catch {
      return false;
    }
  }).length;
}

test('the exit code and the streams are those of the program', async () => {
  const { out, err, exit } = await run(script(`console.log('out'); console.error('err'); process.exit(3)`));
  assert.deepEqual([out, err, exit.cause, exit.code], ['out', 'err', 'exit', 3]);
});

test('standard input and the link on descriptor 3 work in both directions', async () => {
  const confined = await start(
    script(
      `const link = new (require('node:net').Socket)({ fd: 3 });
       link.on('data', (data) => { link.write('echo ' + data); });
       process.stdin.on('data', (data) => process.stdout.write('in ' + data)).on('end', () => process.exit(0))`,
      { stdin: 'pipe', link: true, profile: 'tight' },
    ),
  );
  const linked = new Promise((resolve) => confined.link?.once('data', (data) => resolve(String(data))));
  const read = new Promise((resolve) => confined.stdout?.once('data', (data) => resolve(String(data))));
  confined.link?.write('a');
  confined.stdin?.write('b');
  assert.deepEqual([await linked, await read], ['echo a', 'in b']);
  confined.stdin?.end();
  assert.equal((await confined.exited).code, 0);
});

test('kill takes the whole tree, detached grandchildren too', async () => {
  const marker = `cordon-tree-${process.pid}`;
  const inner = `setInterval(() => {}, 1000) // ${marker}`;
  const confined = await start(
    script(`for (let n = 0; n < 3; n++) require('node:child_process')
        .spawn(process.execPath, ['-e', ${JSON.stringify(inner)}], { detached: true, stdio: 'ignore' }).unref();
      console.log('started'); setInterval(() => {}, 1000)`),
  );
  await new Promise((resolve) => confined.stdout?.once('data', resolve));
  await until(() => alive(marker) >= 3);
  confined.kill();
  assert.deepEqual(await confined.exited, {
    cause: 'killed',
    code: null,
    signal: 'SIGKILL',
    message: 'it was stopped by the hub',
  });
  await until(() => alive(marker) === 0);
});

test('aborting ends a running process, and refuses one that has not started', async () => {
  const stop = new AbortController();
  const confined = await start(script('setInterval(() => {}, 1000)'), stop.signal);
  stop.abort();
  assert.equal((await confined.exited).cause, 'killed');
  const late = await sandbox.spawn(script('0'), AbortSignal.abort());
  assert.equal(late.ok ? 'started' : late.fault.kind, 'cancelled');
});

test('aborting at any moment of the start leaves no process behind', async () => {
  const marker = `cordon-abort-${process.pid}`;
  for (let round = 0; round < 48; round++) {
    const stop = new AbortController();
    const starting = sandbox.spawn(script(`setInterval(() => {}, 1000) // ${marker}`), stop.signal);
    await wait(round % 12);
    stop.abort();
    const started = await starting;
    if (started.ok) assert.equal((await started.value.exited).cause, 'killed');
    else assert.equal(started.fault.kind, 'cancelled');
  }
  await until(() => alive(marker) === 0);
});

test('a passed self-test is kept for this very machine and believed only from a private file', async (context) => {
  const cacheFile = join(folder(context), 'sandbox.json');
  // On a busy machine a part of the self-test may come too late, which refuses: that is kept nowhere, and tested again.
  const probe = async (more = 4): Promise<string> => {
    const { ready, cached, layers } = await openSandbox({ node: process.execPath, cacheFile }).probe();
    if (!ready && more > 0) return probe(more - 1);
    const failed = layers.filter(({ ok }) => !ok).map(({ layer, why }) => `${layer}: ${why}`);
    return `${ready ? 'ready' : `refused (${failed.join('; ')})`} ${cached ? 'kept' : 'tested'}`;
  };
  assert.equal(await probe(), 'ready tested');
  assert.equal(await probe(), 'ready kept');
  chmodSync(cacheFile, 0o666);
  assert.equal(await probe(), 'ready tested');
  chmodSync(cacheFile, 0o600);
  writeFileSync(cacheFile, readFileSync(cacheFile, 'utf8').replace(/sandbox-\d+/, 'sandbox-0'));
  assert.equal(await probe(), 'ready tested');
});

test('a set-up that fails is told apart from a program that fails', async () => {
  const setup = await run(script('0', { cwd: '/no/such/folder' }));
  assert.equal(setup.exit.cause, 'sandbox-failed');
  assert.match(setup.exit.message, /chdir|no\/such\/folder/);
  const program = await run(script('process.exit(1)'));
  assert.deepEqual([program.exit.cause, program.exit.code], ['exit', 1]);
});

test('memory of the whole tree is bounded, wherever it is', async () => {
  const hold = 'const held = []; setInterval(() => held.push(Buffer.alloc(16 << 20, 1)), 10)';
  const { exit } = await run(
    script(
      `for (let n = 0; n < 2; n++) require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(hold)}]);
       setInterval(() => {}, 1000)`,
      { limits: { ...DEFAULT_APP_LIMITS, memoryMiB: 300 } },
    ),
  );
  assert.equal(exit.cause, 'limit');
  assert.match(exit.message, /more than its 300 MiB/);
});

test('a program within its memory is left alone', async () => {
  const { exit } = await run(
    script('const held = Buffer.alloc(64 << 20, 1); setTimeout(() => process.exit(held[0]), 700)', {
      limits: { ...DEFAULT_APP_LIMITS, memoryMiB: 300 },
    }),
  );
  assert.deepEqual([exit.cause, exit.code], ['exit', 1]);
});

test('CPU time and file size have limits', async () => {
  // Else the watchdog, which counts all processes together, may be first.
  const unwatched = openSandbox({ node: process.execPath, weaker: ['watchdog'] });
  const spin = await unwatched.spawn(
    script('for (;;);', { limits: { ...DEFAULT_APP_LIMITS, cpuSeconds: 1 }, profile: 'tight' }),
    new AbortController().signal,
  );
  assert.ok(spin.ok);
  const { cause, message } = await spin.value.exited;
  assert.deepEqual([cause, message], ['limit', 'it used up its CPU time']);
  const write = await run(
    script(
      `try { fs.writeFileSync('/tmp/x', Buffer.alloc(3 << 20)) } catch (error) { console.log(error.code) }`,
      {
        limits: { ...DEFAULT_APP_LIMITS, fileMiB: 1 },
        tmpMiB: 8,
      },
    ),
  );
  assert.equal(write.out, 'EFBIG');
});

test('a program that is not there is an exit, and names no success', async () => {
  const { exit } = await run(spec({ executable: '/usr/bin/no-such-program', usr: true }));
  assert.deepEqual([exit.cause, exit.code], ['exit', 127]);
});

test('without bubblewrap everything is refused, with the remedy', async () => {
  const refusing = openSandbox({ node: process.execPath, bwrap: '/nonexistent/bwrap' });
  const { ready, layers } = await refusing.probe();
  assert.equal(ready, false);
  assert.deepEqual(
    layers.map(({ layer, ok, why }) => [layer, ok, why]),
    [['bubblewrap', false, 'bubblewrap is not installed']],
  );
  // By whatever command this distribution installs programs.
  assert.match(layers[0]?.remedy ?? '', /bubblewrap.* it is looked for in \/usr\/bin, /);
  const started = await refusing.spawn(script('0'), new AbortController().signal);
  assert.equal(started.ok ? 'started' : started.fault.kind, 'sandbox-unavailable');
});

test('a bubblewrap that does nothing is found out by the self-test', async () => {
  const pretending = openSandbox({ node: process.execPath, bwrap: '/bin/true' });
  const report = await pretending.probe();
  assert.equal(report.ready, false);
  const started = await pretending.spawn(script('0'), new AbortController().signal);
  assert.equal(started.ok ? 'started' : started.fault.kind, 'sandbox-unavailable');
});

test('a hub that stands still for longer than it waits for a report still learns how the program ended', async (t) => {
  if (isLeftOut(t)) return;
  const confined = await start(script(`process.stdin.on('data', () => process.exit(3))`, { stdin: 'pipe' }));
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  let isOver = false;
  const standStill = () => {
    Atomics.wait(nothing, 0, 0, 1300);
    if (!isOver) setImmediate(standStill);
  };
  confined.stdin?.write('now');
  setImmediate(standStill);
  const { cause, code } = await confined.exited;
  isOver = true;
  assert.deepEqual([cause, code], ['exit', 3]);
});
