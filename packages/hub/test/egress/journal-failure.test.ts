/** What an app does on the network while nothing can be recorded. Only the process itself is scripted. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ok } from '@cordon/core';
import { HERE } from '@cordon/dialler';
import { emptyPolicy } from '@cordon/policy';
import type { ConfinedProcess, Exit, Sandbox, SandboxSpec } from '@cordon/sandbox';
import { app } from '@cordon/testkit/hub/app.ts';
import { openStore } from '@cordon/trace';
import { loopSpec } from '../../src/processes/launch.ts';
import { openStandaloneNetwork } from '../../src/standalone-app.ts';

interface Lone {
  /** The status of a request of the app. */
  readonly get: (url: string) => Promise<number>;
  readonly kinds: () => readonly string[];
  /** Events that the journal does not take. */
  lost: string | null;
  readonly denied: string[];
}

async function lone(context: TestContext): Promise<Lone> {
  const folder = mkdtempSync(join(tmpdir(), 'cordon-lone-'));
  const store = openStore(folder, Date.now);
  assert.ok(store.ok);
  const { journal, sessions, close } = store.value;
  const session = sessions.create();
  const state = { lost: null as string | null, denied: [] as string[] };
  const network = await openStandaloneNetwork({
    app: app('page', {}, { network: ['127.0.0.1:9'] }).installed,
    policy: emptyPolicy(),
    dialler: HERE,
    journal: {
      ...journal.of(session),
      append: (entries) => {
        if (entries.some(({ body }) => body.kind === state.lost)) throw new Error('the disk is full');
        return journal.appendAll(session, entries);
      },
    },
    clock: Date.now,
    onDenied: (host, reason) => state.denied.push(`${host}: ${reason}`),
  });
  const ended = Promise.withResolvers<Exit>();
  // As a sandbox hands it over; the proxy listens on its handle.
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const address = listener.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const sandbox: Sandbox = {
    probe: () => Promise.reject(new Error('not asked here')),
    spawn: async ({ network: way }) => {
      assert.equal(way.kind, 'direct');
      const handed = Promise.resolve(listener);
      return ok({ exited: ended.promise, listener: handed, direct: null } as unknown as ConfinedProcess);
    },
  };
  const started = await network.spawn(sandbox, foreign(), new AbortController().signal);
  assert.ok(started.ok);
  context.after(async () => {
    ended.resolve({ cause: 'exit', code: 0, signal: null, message: '' });
    await network.close();
    listener.close();
    close();
    rmSync(folder, { recursive: true, force: true });
  });
  const get = (path: string) =>
    new Promise<number>((resolve) => {
      const { host } = new URL(path);
      request({ host: '127.0.0.1', port, path, headers: { host } }, (answer) => {
        answer.on('close', () => resolve(answer.statusCode ?? 0)).resume();
      })
        .on('error', () => resolve(0))
        .end();
    });
  return Object.assign(state, { get, kinds: () => journal.events(session).map(({ kind }) => kind) });
}

function foreign(): SandboxSpec {
  const loop = loopSpec(join(import.meta.dirname, '../../../..'));
  assert.ok(loop.ok);
  return { ...loop.value, executable: '/usr/bin/python3' };
}

const REFUSED = 'http://elsewhere.org/';
/** Allowed; nobody listens there. */
const ALLOWED = 'http://127.0.0.1:9/';

for (const [lost, request, answer] of [
  ['egress.refused', REFUSED, 403],
  ['egress.closed', ALLOWED, 502],
] as const)
  test(`where \`${lost}\` cannot be recorded the hub goes on, and nothing leaves after it`, async (context) => {
    const page = await lone(context);
    page.lost = lost;
    assert.equal(await page.get(request), answer);
    page.lost = null;
    assert.equal(await page.get(ALLOWED), 403);
    assert.deepEqual(page.denied.slice(-1), ['127.0.0.1: what became of an earlier request is not recorded']);
  });

test('the same requests, recorded, are refused and let out', async (context) => {
  const page = await lone(context);
  assert.equal(await page.get(REFUSED), 403);
  assert.equal(await page.get(ALLOWED), 502);
  assert.equal(await page.get(ALLOWED), 502);
  const request = ['egress.proposed', 'egress.decided', 'egress.executed', 'egress.closed'];
  assert.deepEqual(
    page.kinds().filter((kind) => kind.startsWith('egress.')),
    ['egress.refused', ...request, ...request],
  );
});
