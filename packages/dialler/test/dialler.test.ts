/** Whoever dials gets the same from this process and from the dialling process. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { connected } from '../src/connect.ts';
import { type Dialler, HERE } from '../src/index.ts';
import { listening, stalled, start } from './fixture.ts';

const DIALLERS: readonly (readonly [string, (context: TestContext) => Dialler])[] = [
  ['from this process', () => HERE],
  ['through the dialling process', (context) => start(context).dialler],
];

for (const [how, open] of DIALLERS) {
  test(`${how}: bytes go both ways, also when one side has said all`, async (context) => {
    const { port } = await listening(context, (socket) => {
      let heard = '';
      socket.on('data', (chunk) => {
        heard += chunk;
      });
      socket.on('end', () => socket.end(`heard ${heard}`));
    });
    const dialled = await open(context).dial('127.0.0.1', port);
    assert.ok(dialled.ok);
    dialled.value.write('one ');
    dialled.value.end('two');
    assert.equal(await text(dialled.value), 'heard one two');
  });

  test(`${how}: what the other side says first arrives whole`, async (context) => {
    const { port } = await listening(context, (socket) => void socket.end('x'.repeat(300_000)));
    const dialled = await open(context).dial('127.0.0.1', port);
    assert.ok(dialled.ok);
    assert.equal((await text(dialled.value)).length, 300_000);
  });

  test(`${how}: a name is dialled, and looked up`, async (context) => {
    const { port } = await listening(context, (socket) => void socket.end('here'));
    const dialler = open(context);
    const dialled = await dialler.dial('localhost', port);
    assert.ok(dialled.ok);
    assert.equal(await text(dialled.value), 'here');
    assert.ok((await dialler.lookup('localhost')).includes('127.0.0.1'));
    await assert.rejects(dialler.lookup('nowhere.invalid'));
  });

  test(`${how}: the reason why there is no connection has its code`, async (context) => {
    assert.deepEqual(await open(context).dial('127.0.0.1', 1), {
      ok: false,
      fault: { code: 'ECONNREFUSED', message: 'connect ECONNREFUSED 127.0.0.1:1' },
    });
  });

  test(`${how}: a connection that the other side ends is over here, and the other way round`, async (context) => {
    const ended = Promise.withResolvers<void>();
    const { port } = await listening(context, (socket) => {
      socket.once('data', () => socket.destroy());
      socket.on('close', () => ended.resolve());
    });
    const dialler = open(context);
    for (const end of ['theirs', 'ours'] as const) {
      const dialled = await dialler.dial('127.0.0.1', port);
      assert.ok(dialled.ok);
      const closed = once(dialled.value, 'close');
      dialled.value.resume();
      if (end === 'theirs') dialled.value.write('go');
      else dialled.value.destroy();
      await closed;
      await ended.promise;
    }
  });

  test(`${how}: a dial is given up when it is not wanted any more`, async (context) => {
    const { port } = await listening(context, (socket) => void socket.end());
    const dialler = open(context);
    assert.equal((await dialler.dial('127.0.0.1', port, AbortSignal.abort())).ok, false);
    assert.equal((await dialler.dial('127.0.0.1', port, new AbortController().signal)).ok, true);
  });

  test(`${how}: the bait ends each connection, and is gone when it is closed`, async (context) => {
    const dialler = open(context);
    const bait = await dialler.bait();
    assert.ok(bait.ok);
    const reached = await HERE.dial('127.0.0.1', bait.value.port);
    assert.ok(reached.ok);
    assert.equal(await text(reached.value), '');
    bait.value.close();
    for (;;) if (!(await HERE.dial('127.0.0.1', bait.value.port)).ok) break;
  });
}

test('a connection that does not come about in time is given up, with the reason', async (context) => {
  const port = await stalled(context);
  const options = { allowHalfOpen: false, dialMs: 50 };
  await assert.rejects(connected('127.0.0.1', port, options), { message: 'no connection within 0.05 s' });
  const { port: other } = await listening(context, (socket) => void socket.end());
  (await connected('127.0.0.1', other, { allowHalfOpen: false })).destroy();
});
