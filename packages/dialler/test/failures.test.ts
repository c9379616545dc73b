/** A dialling process that dies, hangs, lies or is asked nonsense: the dial fails or another process makes it, and nothing is left. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createReadStream, existsSync, readdirSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { DiallingProcess } from '../src/client.ts';
import { type ServeLimits, serve } from '../src/serve.ts';
import { GREETING } from '../src/wire.ts';
import { emptyPlace, listening, sockets, stalled, start, until } from './fixture.ts';

const SOON = { startSeconds: 300, greetingSeconds: 1, answerSeconds: 300 };

test('nothing is started before the first dial, and one process serves all', async (context) => {
  const { port } = await listening(context, (socket) => void socket.end());
  const { dialler, folder } = start(context);
  await until(() => !existsSync(join(folder, 'pipe')));
  assert.deepEqual(sockets(folder), []);
  const dials = await Promise.all(Array.from({ length: 20 }, () => dialler.dial('127.0.0.1', port)));
  assert.ok(dials.every(({ ok }) => ok));
  assert.equal(sockets(folder).length, 1);
});

test('a process that is killed ends its connections, and the next dial has another process', async (context) => {
  const { port } = await listening(context, (socket) => void socket.write('here'));
  const { dialler, folder, process: running } = start(context);
  const first = await dialler.dial('127.0.0.1', port);
  assert.ok(first.ok);
  assert.equal(String((await once(first.value, 'data'))[0]), 'here');
  const killed = running() ?? 0;
  process.kill(killed, 'SIGKILL');
  assert.equal(await text(first.value), '');
  const next = await dialler.dial('127.0.0.1', port);
  assert.ok(next.ok);
  next.value.destroy();
  assert.notEqual(running(), killed);
  assert.equal(sockets(folder).length, 1);
});

test('a process that hangs is replaced by another, and ended', async (context) => {
  const { port } = await listening(context, (socket) => void socket.end('here'));
  const { dialler, process: running } = start(context, SOON);
  assert.ok((await dialler.dial('127.0.0.1', port)).ok);
  const hung = running() ?? 0;
  process.kill(hung, 'SIGSTOP');
  const next = await dialler.dial('127.0.0.1', port);
  assert.ok(next.ok);
  assert.equal(await text(next.value), 'here');
  await until(() => !existsSync(`/proc/${hung}`));
});

test('what is no host and port is not asked for, and ends no connection', async (context) => {
  const { port } = await listening(context, (socket) => void socket.pipe(socket));
  const { dialler } = start(context);
  const open = await dialler.dial('127.0.0.1', port);
  assert.ok(open.ok);
  const fault = { code: null, message: 'this is no host and port' };
  for (const [host, wrong] of [
    ['127.0.0.1', 0],
    ['127.0.0.1', 65_536],
    ['', port],
    ['x'.repeat(2_000), port],
  ] as const)
    assert.deepEqual(await dialler.dial(host, wrong), { ok: false, fault });
  await assert.rejects(dialler.lookup('x'.repeat(2_000)), { message: fault.message });
  open.value.end('still here');
  assert.equal(await text(open.value), 'still here');
});

test('at the end of the hub the process, its socket and its folder are gone', async (context) => {
  const { port } = await listening(context, (socket) => void socket.end());
  for (const dials of [true, false]) {
    const { dialler, folder, process: running, leave } = start(context);
    if (dials) assert.ok((await dialler.dial('127.0.0.1', port)).ok);
    const last = running();
    leave();
    await until(() => !existsSync(folder));
    assert.ok(last === null || !existsSync(`/proc/${last}`));
  }
});

test('the pipe cannot be found in the folder, once the shell has it', async (context) => {
  const { folder } = start(context);
  await until(() => !existsSync(join(folder, 'pipe')));
});

test('where no process starts, a dial fails', async (context) => {
  const { folder, pipe } = emptyPlace(context);
  const dialler = new DiallingProcess({ folder, pipe, times: { startSeconds: 1 } });
  const message = 'the dialling process did not start in time';
  assert.deepEqual(await dialler.dial('127.0.0.1', 1), { ok: false, fault: { code: null, message } });
  await assert.rejects(dialler.lookup('localhost'), { message });
});

/** Replaces dialling processes: each one attends in its way; the last way is for all that follow. */
function inPlaceOf(context: TestContext, ways: readonly ((socket: Socket) => void)[]): DiallingProcess {
  const { folder, pipe } = emptyPlace(context);
  const asked = createReadStream(join(folder, 'pipe'));
  context.after(() => asked.destroy());
  let started = 0;
  createInterface(asked).on('line', (name) => {
    const way = ways[Math.min(started++, ways.length - 1)];
    assert.ok(way);
    const server = createServer(way).listen(join(folder, name));
    context.after(() => void server.close());
  });
  return new DiallingProcess({ folder, pipe, times: { ...SOON, answerSeconds: 2 } });
}

const greets = (then: string) => (socket: Socket) =>
  void socket.on('error', () => undefined).write(`${GREETING}\n${then}`);
const connects = greets('{"answer":"connected"}\n');

for (const [what, way, message] of [
  ['says nothing', greets(''), /^the dialling process gave no answer: it is silent$/],
  ['sends what is no answer', greets('hello\n'), /its answer cannot be read$/],
  ['sends an answer of another form', greets('{"answer":"failed","code":7}\n'), /its answer cannot be read$/],
  ['sends a line without end', greets('x'.repeat(100_000)), /the line is too long$/],
  [
    'hangs up',
    (socket: Socket) => void socket.end(`${GREETING}\n`),
    /the connection was closed before it was open$/,
  ],
] as const) {
  test(`a process that ${what} fails the dial, and the next dial has another process`, async (context) => {
    const dialler = inPlaceOf(context, [way, connects]);
    const first = await dialler.dial('127.0.0.1', 1);
    assert.ok(!first.ok);
    assert.match(first.fault.message, message);
    const next = await dialler.dial('127.0.0.1', 1);
    assert.ok(next.ok);
    next.value.destroy();
  });
}

test('an answer to another question is none', async (context) => {
  const dialler = inPlaceOf(context, [greets('{"answer":"addresses","addresses":["127.0.0.1"]}\n')]);
  assert.deepEqual(await dialler.lookup('localhost'), ['127.0.0.1']);
  const message = 'the dialling process answers another question';
  assert.deepEqual(await dialler.dial('127.0.0.1', 1), { ok: false, fault: { code: null, message } });
});

test('addresses that are no texts are no addresses', async (context) => {
  const dialler = inPlaceOf(context, [greets('{"answer":"addresses","addresses":["127.0.0.1",7]}\n')]);
  await assert.rejects(dialler.lookup('localhost'), /its answer cannot be read/);
});

/** What comes back from a process with these limits, on a connection that says `said`. */
async function answered(
  context: TestContext,
  said: string,
  limits: Partial<ServeLimits> = {},
): Promise<string> {
  const path = join(emptyPlace(context).folder, 'socket');
  const server = serve(path, limits);
  await once(server, 'listening');
  context.after(() => void server.close());
  const socket = connect({ path });
  socket.write(said);
  return (await text(socket)).replace(`${GREETING}\n`, '');
}

for (const [what, said] of [
  ['no JSON', 'hello\n'],
  ['no object', '7\n'],
  ['no question', '{"ask":"listen","host":"127.0.0.1","port":1}\n'],
  ['a host that is no text', '{"ask":"connect","host":["127.0.0.1"],"port":1}\n'],
  ['a port that is none', '{"ask":"connect","host":"127.0.0.1","port":65536}\n'],
  ['a path for a port', '{"ask":"connect","host":"127.0.0.1","port":"/tmp/socket"}\n'],
  ['no host', '{"ask":"lookup","host":""}\n'],
  ['a line without end', 'x'.repeat(2_000)],
] as const) {
  test(`a question with ${what} ends the connection`, async (context) => {
    assert.equal(await answered(context, said), '');
  });
}

test('a question of the right form is answered', async (context) => {
  const { port } = await listening(context, (socket) => void socket.end('here'));
  const question = JSON.stringify({ ask: 'connect', host: '127.0.0.1', port });
  assert.equal(await answered(context, `${question}\n`), '{"answer":"connected"}\nhere');
});

test('a hub that asks nothing is cut off', async (context) => {
  assert.equal(await answered(context, '', { questionMs: 50 }), '');
});

test('a connection beyond the limit gets the reason', async (context) => {
  const message = 'there are too many connections';
  assert.equal(
    await answered(context, '{"ask":"bait"}\n', { connections: 0 }),
    `${JSON.stringify({ answer: 'failed', code: null, message })}\n`,
  );
});

for (const [what, addresses, expected] of [
  ['more addresses than the limit is refused', 0, 'the name has too many addresses'],
  ['fewer is looked up', 256, '"answer":"addresses"'],
] as const) {
  test(`a name with ${what}`, async (context) => {
    const said = await answered(context, '{"ask":"lookup","host":"localhost"}\n', { addresses });
    assert.ok(said.includes(expected), said);
  });
}

test('a host that does not answer in time is a reason', async (context) => {
  const question = JSON.stringify({ ask: 'connect', host: '127.0.0.1', port: await stalled(context) });
  const message = 'no connection within 0.05 s';
  assert.equal(
    await answered(context, `${question}\n`, { dialMs: 50 }),
    `${JSON.stringify({ answer: 'failed', code: null, message })}\n`,
  );
});

test('a dial that is given up is given up outside, too', async (context) => {
  const port = await stalled(context);
  const { dialler, process: running } = start(context);
  assert.ok((await dialler.bait()).ok);
  const before = descriptors(running() ?? 0);
  const stop = new AbortController();
  const dial = dialler.dial('127.0.0.1', port, stop.signal);
  await until(() => descriptors(running() ?? 0) >= before + 2);
  stop.abort();
  assert.deepEqual(await dial, { ok: false, fault: { code: null, message: 'the connection was given up' } });
  await until(() => descriptors(running() ?? 0) <= before);
});

test('connections that are over, failed dials and look-ups leave nothing open', async (context) => {
  const { port } = await listening(context, (socket) => void socket.end('here'));
  const { dialler, process: running } = start(context);
  assert.ok((await dialler.lookup('localhost')).length > 0);
  const before = descriptors(running() ?? 0);
  for (let n = 0; n < 10; n++) {
    const read = await dialler.dial('127.0.0.1', port);
    assert.ok(read.ok);
    assert.equal(await text(read.value), 'here');
    const dropped = await dialler.dial('127.0.0.1', port);
    assert.ok(dropped.ok);
    dropped.value.destroy();
    assert.equal((await dialler.dial('127.0.0.1', 1)).ok, false);
    await dialler.lookup('localhost');
  }
  await until(() => descriptors(running() ?? 0) <= before);
});

test('a connection that the hub closes is over at once, though the other side stays silent', async (context) => {
  const { port } = await listening(context, (socket) => {
    context.after(() => socket.destroy());
    socket.resume();
  });
  const path = join(emptyPlace(context).folder, 'socket');
  const server = serve(path, { halfOpenMs: 60_000 });
  await once(server, 'listening');
  context.after(() => void server.close());
  const open = () =>
    new Promise<number>((resolve, reject) =>
      server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
    );
  const socket = connect({ path });
  socket.write(`${JSON.stringify({ ask: 'connect', host: '127.0.0.1', port })}\n`);
  let heard = '';
  socket.on('data', (chunk) => {
    heard += chunk;
  });
  await until(() => heard.includes('connected'));
  assert.equal(await open(), 1);
  socket.destroy();
  // At once, and not when the side that stays silent is given up.
  for (let round = 0; round < 100 && (await open()) > 0; round++) await wait(100);
  assert.equal(await open(), 0);
});

for (const [what, ms, says] of [
  ['is given up when it stays silent', 50, ''],
  ['may answer', 60_000, 'at last'],
] as const) {
  test(`whoever hears nothing more of the hub ${what}`, async (context) => {
    const { port } = await listening(context, (socket) => {
      context.after(() => socket.destroy());
      // It never ends the connection, as a hostile server may.
      socket.on('end', () => setTimeout(() => socket.write('at last'), 300)).resume();
    });
    const path = join(emptyPlace(context).folder, 'socket');
    const server = serve(path, { halfOpenMs: ms });
    await once(server, 'listening');
    context.after(() => void server.close());
    const socket = connect({ path, allowHalfOpen: true });
    context.after(() => socket.destroy());
    let heard = '';
    let isOver = false;
    socket.on('data', (chunk) => {
      heard += chunk;
    });
    socket.on('end', () => {
      isOver = true;
    });
    socket.write(`${JSON.stringify({ ask: 'connect', host: '127.0.0.1', port })}\n`);
    await until(() => heard.includes('connected'));
    socket.end();
    await until(() => isOver || heard.includes('at last'));
    assert.equal(heard.includes('at last'), says !== '');
  });
}

function descriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}
