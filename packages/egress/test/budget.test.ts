/** What an app may use of the network, and that what is over it is cut, counted and told. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { Budget, DEFAULT_EGRESS_LIMITS, type Refusal, RefusalCount } from '../src/index.ts';
import { clientHello, echo, get, open, recorder, tunnel, until } from './setting.ts';

const sink = () =>
  createServer((incoming, response) => incoming.resume().on('end', () => response.end('all')));

test('a body longer than allowed is refused before it is decided or sent', async (context) => {
  const setting = await open(context, sink(), { limits: { bytesUp: 1000 } });
  const sized = (size: number) =>
    get(setting, 'http://good.com/', { 'content-length': String(size) }, 'x'.repeat(size));
  assert.equal(await sized(900), '200 all');
  assert.match(await sized(100_000), /^403 cordon: the request holds more bytes/);
  assert.equal(setting.asked.length, 1);
});

test('a body of unknown length is cut where its budget ends', async (context) => {
  const setting = await open(context, sink(), { limits: { bytesUp: 1000 } });
  const chunks = (size: number) =>
    get(setting, 'http://good.com/', { 'transfer-encoding': 'chunked' }, 'x'.repeat(size));
  assert.equal(await chunks(500), '200 all');
  assert.match(await chunks(100_000), /^502|^cut/);
  assert.equal(setting.closed[1]?.cut, 'more bytes were sent than the app may send');
  assert.ok((setting.closed[1]?.bytesUp ?? 0) <= 1000);
});

test('a download over its limit is cut', async (context) => {
  const server = createServer((_, response) => response.end('y'.repeat(10_000)));
  const setting = await open(context, server, { limits: { bytesDown: 5_000 } });
  assert.match(await get(setting, 'http://good.com/'), /cut$/);
  assert.equal(setting.closed[0]?.cut, 'more bytes came back than the app may receive');
});

test('a tunnel over its limit is cut', async (context) => {
  const { server, got } = recorder();
  const setting = await open(context, server, { limits: { bytesUp: 3_000 } });
  const hello = await clientHello('good.com');
  await tunnel(setting, 'good.com:443', Buffer.concat([hello, Buffer.alloc(10_000, 1)]));
  assert.ok(got().length <= 3_000);
  assert.equal(setting.closed[0]?.cut, 'more bytes were sent than the app may send');
});

test('the bytes of a session add up over its requests', async (context) => {
  const setting = await open(context, sink(), { limits: { sessionBytesUp: 2_000 } });
  const post = () => get(setting, 'http://good.com/', { 'content-length': '900' }, 'x'.repeat(900));
  assert.deepEqual([await post(), await post()], ['200 all', '200 all']);
  assert.match(await post(), /^403 cordon: the app has sent all/);
  assert.equal(setting.asked.length, 2);
});

test('too many requests a minute are refused, and a minute later they pass again', async (context) => {
  let now = 0;
  const setting = await open(context, sink(), { limits: { requestsPerMinute: 3 }, clock: () => now });
  const some = async () => {
    const answers: string[] = [];
    for (let n = 0; n < 4; n++) answers.push((await get(setting, 'http://good.com/')).slice(0, 3));
    return answers;
  };
  assert.deepEqual(await some(), ['200', '200', '200', '403']);
  now = 60_000;
  assert.deepEqual(await some(), ['200', '200', '200', '403']);
  assert.deepEqual(setting.refused, Array(2).fill('good.com: the app makes too many requests a minute'));
});

test('too many connections at once are refused, and later ones pass', async (context) => {
  const gate = Promise.withResolvers<boolean>();
  let asked = 0;
  const decide = () => {
    asked++;
    return gate.promise;
  };
  const setting = await open(context, sink(), { limits: { connections: 2 }, decide });
  const waiting = [get(setting, 'http://good.com/1'), get(setting, 'http://good.com/2')];
  await until(() => asked === 2);
  assert.match(await get(setting, 'http://good.com/3'), /^403 cordon: the app has too many connections/);
  gate.resolve(true);
  assert.deepEqual(await Promise.all(waiting), ['200 all', '200 all']);
  assert.equal(await get(setting, 'http://good.com/4'), '200 all');
});

test('a refused tunnel and a refused request give their place back', async (context) => {
  const setting = await open(context, echo(), { limits: { connections: 1 }, decide: async () => false });
  for (let n = 0; n < 3; n++) {
    await tunnel(setting, 'good.com:443', '');
    assert.equal(await get(setting, 'http://good.com/'), '403 cordon: the request was denied');
  }
});

test('a clock that goes back gives nothing', () => {
  let now = 1_000_000;
  const budget = new Budget({ ...DEFAULT_EGRESS_LIMITS, requestsPerMinute: 1 }, () => now);
  assert.equal(budget.begin(0).ok, true);
  now = 0;
  assert.equal(budget.begin(0).ok, false);
  now = 60_000;
  assert.equal(budget.begin(0).ok, true);
});

test('refusals are told at powers of ten, and the rest when asked for', () => {
  const told: [string, number][] = [];
  const count = new RefusalCount(({ reason }, times) => told.push([reason, times]));
  const refusal: Refusal = { host: 'evil.net', port: 443, reason: 'x' };
  for (let n = 0; n < 250; n++) count.note(refusal);
  count.note({ ...refusal, reason: 'y' });
  count.flush();
  count.flush();
  assert.deepEqual(told, [
    ['x', 1],
    ['x', 10],
    ['x', 100],
    ['y', 1],
    ['x', 250],
  ]);
});

test('an app that tries ever other hosts fills a bounded list', () => {
  const told: (string | null)[] = [];
  const count = new RefusalCount(({ host }) => told.push(host));
  for (let n = 0; n < 10_000; n++) count.note({ host: `h${n}.evil.net`, port: 443, reason: 'x' });
  assert.equal(told.length, 64 + 4);
});

test('a refusal that is counted again names the entry that is lacking now', () => {
  const told: [string | undefined, number][] = [];
  const count = new RefusalCount(({ lacks }, times) => told.push([lacks, times]));
  const leadingTo = (address: string): Refusal => {
    const to = { host: 'wiki.corp.example', port: 443 };
    return { ...to, reason: 'not public', lacks: `wiki.corp.example@${address}` };
  };
  for (let time = 0; time < 5; time++) count.note(leadingTo('10.1.2.3'));
  for (let time = 0; time < 6; time++) count.note(leadingTo('10.1.2.9'));
  count.flush();
  const [before, now] = ['wiki.corp.example@10.1.2.3', 'wiki.corp.example@10.1.2.9'];
  assert.deepEqual(told, [
    [before, 1],
    [now, 10],
    [now, 11],
  ]);
});
