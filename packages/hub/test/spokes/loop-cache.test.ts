/** The compiled code of the agent loop: who writes it, and who can. The sandbox is scripted, the folders are real. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { duplexPair } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { ok } from '@cordon/core';
import type { ConfinedProcess, Exit, Sandbox, SandboxSpec } from '@cordon/sandbox';
import { loopSpec } from '../../src/processes/launch.ts';
import { LoopCache } from '../../src/spokes/loop-cache.ts';

const CODE_ROOT = join(import.meta.dirname, '../../../..');

function stage(t: TestContext, code: number | null = 0) {
  const root = mkdtempSync(join(tmpdir(), 'cordon-loop-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const sources = join(root, 'src');
  mkdirSync(sources);
  writeFileSync(join(sources, 'main.ts'), '');
  const spawned: SandboxSpec[] = [];
  const sandbox: Sandbox = {
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
        link: hub,
        layers: [],
        weakened: [],
      };
      return ok({ ...process, exited: exited.promise, kill: () => undefined } as unknown as ConfinedProcess);
    },
  };
  const folder = join(root, 'loop');
  const cache = () => new LoopCache({ sandbox, sources: [sources], folder });
  return { cache, sources, folder, spawned };
}

const spec = (() => {
  const made = loopSpec(CODE_ROOT);
  assert.ok(made.ok);
  return made.value;
})();
const never = new AbortController().signal;

const compiledMount = ({ mounts }: SandboxSpec) => mounts.find(({ inside }) => inside === '/compiled');

test('one run of our own loop writes it, every other loop can only read it', async (t) => {
  const { cache, spawned } = stage(t);
  const first = cache();
  assert.equal(compiledMount(first.applied(spec)), undefined);
  await first.fill(spec, never);
  assert.deepEqual(
    spawned.map((given) => compiledMount(given)?.access),
    ['own'],
  );
  const later = first.applied(spec);
  assert.equal(compiledMount(later)?.access, 'read');
  assert.equal(later.env.NODE_COMPILE_CACHE, '/compiled');
  await first.fill(spec, never);
  await cache().fill(spec, never);
  assert.equal(spawned.length, 1, 'it is written once');
});

test('a loop that did not end as it should leaves nothing, and is not tried again at once', async (t) => {
  for (const code of [1, null]) {
    const { cache, folder, spawned } = stage(t, code);
    const first = cache();
    await first.fill(spec, never);
    await first.fill(spec, never);
    assert.equal(spawned.length, 1);
    assert.deepEqual(readdirSync(folder), []);
    assert.equal(compiledMount(first.applied(spec)), undefined);
  }
});

test('other sources have other compiled code, and the old is taken away', async (t) => {
  const { cache, sources, folder, spawned } = stage(t);
  await cache().fill(spec, never);
  const before = readdirSync(folder);
  utimesSync(join(sources, 'main.ts'), 1, 1);
  const changed = cache();
  assert.equal(compiledMount(changed.applied(spec)), undefined);
  await changed.fill(spec, never);
  assert.equal(spawned.length, 2);
  assert.equal(readdirSync(folder).length, 1);
  assert.notDeepEqual(readdirSync(folder), before);
});
