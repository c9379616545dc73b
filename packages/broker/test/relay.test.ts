/** The way out of a provider process: one target, its reasons, its limits. */
import assert from 'node:assert/strict';
import { connect, createServer, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { HERE } from '@cordon/dialler';
import { relay } from '../src/relay.ts';

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

test('bytes go both ways behind an empty line', async () => {
  const target = createServer((socket) => socket.on('data', (chunk) => socket.end(`echo ${chunk}`)));
  const listener = createServer();
  const close = relay(listener, { host: '127.0.0.1', port: await listen(target) }, HERE.dial, assert.fail);
  const socket = connect(await listen(listener), '127.0.0.1');
  socket.write('hello');
  assert.equal(await text(socket), '\necho hello');
  close();
  target.close();
});

test('why the target cannot be reached is one line', async () => {
  const listener = createServer();
  const close = relay(listener, { host: '127.0.0.1', port: 1 }, HERE.dial, assert.fail);
  assert.equal(
    await text(connect(await listen(listener), '127.0.0.1')),
    'connect ECONNREFUSED 127.0.0.1:1\n',
  );
  close();
});

test('whoever connects without end is reported, and who connects now and then is not', async () => {
  const target = createServer((socket) => socket.end());
  // Ten connections a second; a busy machine makes hardly more, so it goes on until it is reported.
  const limits = { connections: 2, bytesPerSecond: 10 * 64 * 1024 };
  const port = await listen(target);
  for (const [times, floods] of [
    [8, false],
    [2_000, true],
  ] as const) {
    const listener = createServer();
    let isFlooded = false;
    const close = relay(
      listener,
      { host: '127.0.0.1', port },
      HERE.dial,
      () => {
        isFlooded = true;
      },
      limits,
    );
    const way = await listen(listener);
    for (let n = 0; n < times && !isFlooded; n++) await text(connect(way, '127.0.0.1'));
    close();
    if (floods) target.close();
    assert.equal(isFlooded, floods);
  }
});

test('whoever sends more than the limit is reported, and who stays below is not', async () => {
  const target = createServer((socket) => socket.resume());
  const limits = { connections: 2, bytesPerSecond: 1024 * 1024 };
  const port = await listen(target);
  for (const [bytes, floods] of [
    [4 * 1024 * 1024, true],
    [1024, false],
  ] as const) {
    const listener = createServer();
    const flood = Promise.withResolvers<boolean>();
    const close = relay(listener, { host: '127.0.0.1', port }, HERE.dial, () => flood.resolve(true), limits);
    const socket = connect(await listen(listener), '127.0.0.1');
    socket.on('error', () => undefined).on('close', () => flood.resolve(false));
    socket.resume().end(Buffer.alloc(bytes));
    assert.equal(await flood.promise, floods);
    close();
  }
  target.close();
});
