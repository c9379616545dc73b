import assert from 'node:assert/strict';
import { duplexPair } from 'node:stream';
import { afterEach, test } from 'node:test';
import { DEFAULT_TURN_LIMITS, MOST_CALLS_AT_ONCE, ok, type TurnLimits } from '@cordon/core';
import type { TurnContext } from '@cordon/protocol';
import { type Serve, SpokeLink } from '../../src/spokes/spoke-link.ts';
import { settled, until } from '../fixture/time.ts';

const TURN: TurnContext = {
  system: '',
  history: [],
  query: 'hello',
  data: [],
  tools: [],
  offers: [],
  functionalities: [],
  serves: null,
  maxSteps: 5,
};
const NOTHING: Serve = () => new Promise(() => undefined);

/** A scripted peer in the place of the agent loop: it may write whatever it likes. */
const open: SpokeLink[] = [];
afterEach(() => {
  for (const link of open.splice(0)) link.close();
});

function scriptedSpoke(limits: Partial<TurnLimits> = {}) {
  const [hub, spoke] = duplexPair();
  const killed = Promise.withResolvers<string>();
  const link = new SpokeLink(
    {
      link: hub,
      layers: [],
      ended: killed.promise,
      stderrTail: () => '',
      kill: () => killed.resolve('killed'),
    },
    { ...DEFAULT_TURN_LIMITS, ...limits },
  );
  open.push(link);
  const received: string[] = [];
  spoke.on('data', (chunk: Buffer) => received.push(...chunk.toString().trim().split('\n')));
  /** A loop speaks when its turn has come. */
  const turnHasCome = () => until(() => received.some((line) => line.includes('"turn"')));
  const say = (...lines: readonly string[]) => spoke.write(lines.map((line) => `${line}\n`).join(''));
  const dropped: string[] = [];
  const run = (serve: Serve = NOTHING, signal = new AbortController().signal) =>
    link.runTurn(TURN, serve, (reason) => void dropped.push(reason), signal);
  return { say, run, turnHasCome, received, dropped, killed, raw: spoke };
}

const READY = '{"type":"ready","versions":[1,2]}';

test('a turn goes from the query to the answer', async () => {
  const { turnHasCome, say, run, received } = scriptedSpoke();
  say(READY);
  const turn = run(async (request, signal) =>
    request.type === 'open' ? ok({ type: 'opened', text: 'the text' }) : NOTHING(request, signal),
  );
  await turnHasCome();
  say('{"type":"open","id":7,"reference":"$1"}');
  await until(() => received.some((line) => line.includes('"opened"')));
  say('{"type":"answer","id":1,"text":"done"}');
  assert.deepEqual(await turn, { ok: true, value: 'done' });
  assert.deepEqual(JSON.parse(received.at(-1) ?? ''), { type: 'opened', text: 'the text', id: 7 });
});

test('a loop that died between two turns takes no further one, and keeps nobody waiting', async () => {
  const { turnHasCome, say, run, killed } = scriptedSpoke();
  say(READY);
  const first = run();
  await turnHasCome();
  say('{"type":"answer","id":1,"text":"done"}');
  assert.equal((await first).ok, true);
  killed.resolve('it was ended by SIGKILL');
  await killed.promise;
  assert.deepEqual(await run(), {
    ok: false,
    fault: { kind: 'spoke-unavailable', message: 'the agent loop ended: it was ended by SIGKILL' },
  });
});

test('a spoke of another protocol version is refused', async () => {
  const { say, run } = scriptedSpoke();
  const turn = run();
  say('{"type":"ready","versions":[1,3]}');
  assert.deepEqual(await turn, {
    ok: false,
    fault: { kind: 'spoke-protocol', message: 'the agent loop speaks protocol 1, 3, the hub 2' },
  });
});

test('garbage is dropped and counted, and the turn goes on', async () => {
  const { turnHasCome, say, run, dropped } = scriptedSpoke();
  say(READY);
  const turn = run();
  await turnHasCome();
  say('hello', '{"type":"grant","id":1}', '[]', '{"type":"answer","id":1,"text":"done"}');
  assert.deepEqual(await turn, { ok: true, value: 'done' });
  assert.equal(dropped.length, 3);
});

test('too much garbage ends the spoke', async () => {
  const { turnHasCome, say, run } = scriptedSpoke({ droppedMessages: 5 });
  say(READY);
  const turn = run();
  await turnHasCome();
  say(...Array.from({ length: 6 }, () => 'x'));
  const end = await turn;
  assert.equal(end.ok ? '' : end.fault.kind, 'spoke-protocol');
});

test('a request id cannot be used twice while its answer is due', async () => {
  let served = 0;
  const { turnHasCome, say, run, dropped } = scriptedSpoke();
  say(READY);
  void run((request, signal) => {
    served++;
    return NOTHING(request, signal);
  });
  await turnHasCome();
  say('{"type":"probe","id":3,"functionality":"x"}', '{"type":"probe","id":3,"functionality":"x"}');
  await settled();
  assert.equal(served, 1);
  assert.deepEqual(dropped, ['a request id used twice']);
});

test('an answer before open requests are served is dropped: their effects would belong to nobody', async () => {
  const { turnHasCome, say, run, dropped } = scriptedSpoke();
  say(READY);
  void run();
  await turnHasCome();
  say('{"type":"probe","id":3,"functionality":"x"}', '{"type":"answer","id":1,"text":"done"}');
  await settled();
  assert.deepEqual(dropped, ['an answer out of place']);
});

test('a flood of requests is bounded', async () => {
  let served = 0;
  const { turnHasCome, say, run } = scriptedSpoke();
  say(READY);
  const turn = run((request, signal) => {
    served++;
    return NOTHING(request, signal);
  });
  await turnHasCome();
  say(...Array.from({ length: 500 }, (_, id) => `{"type":"probe","id":${id},"functionality":"x"}`));
  assert.equal((await turn).ok, false);
  assert.equal(served, MOST_CALLS_AT_ONCE);
});

test('a line without end is cut off', async () => {
  const { turnHasCome, raw, say, run } = scriptedSpoke();
  say(READY);
  const turn = run();
  await turnHasCome();
  raw.write('x'.repeat(5 * 1024 * 1024));
  const end = await turn;
  assert.match(end.ok ? '' : end.fault.message, /a line is longer than/);
});

test('a spoke that dies fails the turn with the reason', async () => {
  const { turnHasCome, say, run, killed } = scriptedSpoke();
  say(READY);
  const turn = run();
  await turnHasCome();
  killed.resolve('it was killed by SIGKILL');
  assert.deepEqual(await turn, {
    ok: false,
    fault: { kind: 'spoke-unavailable', message: 'the agent loop ended: it was killed by SIGKILL' },
  });
});

test('a loop that says nothing is ended', async () => {
  const { say, run } = scriptedSpoke({ idleSeconds: 0.05 });
  say(READY);
  const end = await run();
  assert.match(end.ok ? '' : end.fault.message, /said nothing for 0.05 s/);
});

test('the newest version that both speak is agreed on', async () => {
  const { say, run, turnHasCome, received } = scriptedSpoke();
  say('{"type":"ready","versions":[3,2,1]}');
  void run();
  await turnHasCome();
  assert.equal(received[0], '{"type":"welcome","version":2}');
});

test('a spoke without a common version is told which there are, before it is ended', async () => {
  const { say, run, received, killed } = scriptedSpoke();
  say('{"type":"ready","versions":[1]}');
  assert.equal((await run()).ok, false);
  await killed.promise;
  assert.deepEqual(received, ['{"type":"unsupported","versions":[2]}']);
});

test('a spoke whose turn is cancelled is told, heard no more, and ended if it stays', async () => {
  const { turnHasCome, say, run, received, dropped, killed } = scriptedSpoke();
  const controller = new AbortController();
  const over: AbortSignal[] = [];
  say(READY);
  const turn = run((request, signal) => {
    over.push(signal);
    return NOTHING(request, signal);
  }, controller.signal);
  await turnHasCome();
  say('{"type":"probe","id":3,"functionality":"x"}');
  while (over.length === 0) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(over[0]?.aborted, false);
  controller.abort();
  assert.equal((await turn).ok, false);
  assert.equal(over[0]?.aborted, true);
  say('{"type":"answer","id":1,"text":"late"}', 'garbage');
  assert.equal(await killed.promise, 'killed');
  assert.equal(received.at(-1), '{"type":"cancel","id":1}');
  assert.deepEqual(dropped, []);
});

for (const [end, line] of [
  ['answered', '{"type":"answer","id":1,"text":"done"}'],
  ['broke off', '{"type":"unfit","id":1}'],
] as const) {
  test(`nobody waits for what a turn that ${end} had begun`, async () => {
    const { turnHasCome, say, run } = scriptedSpoke();
    const over: AbortSignal[] = [];
    say(READY);
    const turn = run(async (_, signal) => {
      over.push(signal);
      return ok({ type: 'gone' });
    });
    await turnHasCome();
    say('{"type":"probe","id":3,"functionality":"x"}');
    while (over.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(over[0]?.aborted, false);
    say(line);
    await turn;
    assert.equal(over[0]?.aborted, true);
  });
}

test('stopping the query ends the process', async () => {
  const { turnHasCome, say, run, killed } = scriptedSpoke();
  const controller = new AbortController();
  say(READY);
  const turn = run(NOTHING, controller.signal);
  await turnHasCome();
  controller.abort();
  assert.deepEqual(await turn, { ok: false, fault: { kind: 'cancelled', message: 'the query was stopped' } });
  assert.equal(await killed.promise, 'killed');
});

test('each request beyond those that are served at once is refused, and none is left without an answer', async () => {
  const { turnHasCome, say, run, received, dropped } = scriptedSpoke({ droppedMessages: 10 });
  say(READY);
  void run();
  await turnHasCome();
  const ids = Array.from({ length: MOST_CALLS_AT_ONCE + 3 }, (_, id) => id);
  say(...ids.map((id) => `{"type":"open","id":${id},"reference":"$1"}`));
  const refusals = () => received.filter((line) => line.includes('"refusal"'));
  while (refusals().length < 3 || dropped.length < 3) await new Promise((resolve) => setImmediate(resolve));
  const refused = refusals().map((line) => JSON.parse(line).id);
  assert.deepEqual(refused, ids.slice(MOST_CALLS_AT_ONCE));
});
