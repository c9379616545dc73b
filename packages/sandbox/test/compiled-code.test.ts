/** The compiled code of our own programs: who writes it, and who can. The sandbox is scripted, the folders are real. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { duplexPair } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { ok } from '@cordon/core';
import { withCompiledCode } from '../src/compiled-code.ts';
import type { ConfinedProcess, Exit, Sandbox } from '../src/spec/backend.ts';
import { ownCodeSpec } from '../src/spec/own-code.ts';
import type { SandboxSpec } from '../src/spec/spec.ts';
import { sandbox as machine } from './confined.ts';

const NEVER = new AbortController().signal;
const compiledMount = ({ mounts }: SandboxSpec) => mounts.find(({ inside }) => inside === '/compiled');

function stage(t: TestContext, code: number | null = 0) {
  const root = mkdtempSync(join(tmpdir(), 'cordon-compiled-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const sources = join(root, 'packages/loop/src');
  mkdirSync(join(sources, 'deep'), { recursive: true });
  writeFileSync(join(sources, 'deep/part.ts'), '');
  const spawned: SandboxSpec[] = [];
  const scripted: Sandbox = {
    probe: () => Promise.reject(new Error('not asked here')),
    spawn: async (spec) => {
      spawned.push(spec);
      const own = spec.mounts.find(({ access }) => access === 'own');
      if (own !== undefined) writeFileSync(join(own.host.host, 'compiled'), 'code');
      const [hub, loop] = duplexPair();
      const exited = Promise.withResolvers<Exit>();
      loop.on('end', () => exited.resolve({ cause: 'exit', code, signal: null, message: '' }));
      loop.resume();
      loop.write('{"type":"ready","versions":[2]}\n');
      const process = {
        pid: 1,
        stdin: null,
        stdout: null,
        stderr: null,
        listener: null,
        link: hub,
        layers: [],
      };
      return ok({ ...process, exited: exited.promise, kill: () => undefined } as unknown as ConfinedProcess);
    },
  };
  const folder = join(root, 'compiled');
  const spec = () => loopSpec(root);
  const keeping = () => withCompiledCode(scripted, folder);
  /** Until every run that writes is over. */
  const start = async (sandbox: Sandbox, wanted = spec()) => {
    await sandbox.spawn(wanted, NEVER);
    while (drafts(folder).length > 0) await setImmediate();
    await setImmediate();
  };
  return { keeping, start, spec, sources, kept: () => entries(join(folder, 'loop')), spawned };
}

function loopSpec(root: string, kind: 'none' | 'handover' = 'none'): SandboxSpec {
  const made = ownCodeSpec(root, {
    folders: ['packages/loop'],
    options: [],
    program: 'packages/loop/src/main.ts',
    limits: {},
    stderr: 'none',
    network: { kind },
  });
  assert.ok(made.ok);
  return made.value;
}

const entries = (folder: string) => readdirSync(folder);
const drafts = (folder: string) =>
  readdirSync(folder, { encoding: 'utf8', recursive: true }).filter((name) => /draft-[^/]*$/.test(name));

test('one run of our own program writes it, every other can only read it', async (t) => {
  const { keeping, start, spawned, kept } = stage(t);
  const first = keeping();
  await start(first);
  await start(first);
  await start(keeping());
  const mounted = spawned.map((given) => compiledMount(given)?.access);
  assert.deepEqual(mounted, [undefined, 'own', 'read', 'read']);
  assert.equal(spawned.at(-1)?.env.NODE_COMPILE_CACHE, '/compiled');
  assert.equal(kept().length, 1);
});

test('with a network Node looks for it after the hand-over, and the run that writes it has no network', async (t) => {
  const { keeping, start, spawned } = stage(t);
  const { sources } = stage(t);
  const spec = loopSpec(join(sources, '../../..'), 'handover');
  const sandbox = keeping();
  await start(sandbox, spec);
  await start(sandbox, spec);
  assert.deepEqual(
    spawned.map(({ network, env }) => [network.kind, env.NODE_COMPILE_CACHE, env.CORDON_COMPILED]),
    [
      ['handover', undefined, undefined],
      ['none', '/compiled', undefined],
      ['handover', undefined, '/compiled'],
    ],
  );
});

test('what `ownCodeSpec` did not make has no part in it, also with the same fields', async (t) => {
  const { keeping, start, spec, spawned } = stage(t);
  const sandbox = keeping();
  await start(sandbox);
  await sandbox.spawn({ ...spec() }, NEVER);
  assert.equal(spawned.length, 3);
  assert.equal(compiledMount(spawned.at(-1) ?? spec()), undefined);
});

test('a process that did not end as it should leaves nothing, and is not tried again at once', async (t) => {
  for (const code of [1, null]) {
    const { keeping, start, spawned, kept } = stage(t, code);
    const first = keeping();
    await start(first);
    await start(first);
    const mounted = spawned.map((given) => compiledMount(given)?.access);
    assert.deepEqual(mounted, [undefined, 'own', undefined]);
    assert.deepEqual(kept(), []);
  }
});

test('other sources have other compiled code, and the old is removed', async (t) => {
  const { keeping, start, sources, kept, spawned } = stage(t);
  await start(keeping());
  const before = kept();
  utimesSync(join(sources, 'deep/part.ts'), 1, 1);
  await start(keeping());
  const mounted = spawned.map((given) => compiledMount(given)?.access);
  assert.deepEqual(mounted, [undefined, 'own', undefined, 'own']);
  assert.equal(kept().length, 1);
  assert.notDeepEqual(kept(), before);
});

for (const kind of ['none', 'handover'] as const) {
  test(`a real process leaves it, and the next one starts with it: network ${kind}`, async (t) => {
    const root = mkdtempSync(join(tmpdir(), 'cordon-compiled-'));
    t.after(() => rmSync(root, { recursive: true, force: true }));
    const source = join(root, 'packages/loop/src');
    mkdirSync(source, { recursive: true });
    writeFileSync(join(root, 'packages/loop/package.json'), '{"type":"module"}');
    writeFileSync(
      join(source, 'main.ts'),
      `import { getCompileCacheDir } from 'node:module';
      import { Socket } from 'node:net';
      const link: Socket = new Socket({ fd: 3, readable: true, writable: true });
      link.on('close', () => process.exit(0)).on('error', () => process.exit(0)).resume();
      const { CORDON_COMPILED = 'nothing' } = process.env;
      link.write(\`\${getCompileCacheDir()?.startsWith('/compiled') ?? false}, \${CORDON_COMPILED} of ours left\`);`,
    );
    const sandbox = withCompiledCode(machine, join(root, 'compiled'));
    const said = async () => {
      const started = await sandbox.spawn(loopSpec(root, kind), NEVER);
      assert.ok(started.ok && started.value.link !== null, JSON.stringify(started));
      void started.value.listener?.then((listener) => listener?.close());
      for await (const text of started.value.link) {
        started.value.link.end();
        return String(text);
      }
      return `it ended: ${JSON.stringify(await started.value.exited)}`;
    };
    assert.equal(await said(), 'false, nothing of ours left');
    while (entries(join(root, 'compiled/loop')).every((name) => name.startsWith('draft-')))
      await setImmediate();
    assert.equal(await said(), 'true, nothing of ours left');
  });
}
