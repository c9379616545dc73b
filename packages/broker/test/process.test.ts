/** A provider's process from its start to its end: what it answers, and what becomes of a query when it dies, stands still or is not needed. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FakeAnswer, fails, hangs, inOrder, says } from '@cordon/testkit/fake-openai/server.ts';
import { isLeftOut } from '../../../tools/cases.ts';
import { ask, KEY, never, until, withProvider } from './fixture.ts';

const GOOD = {
  text: 'four',
  calls: [],
  finish: 'stop',
  usage: { inputTokens: 10, outputTokens: 5 },
} as const;
const SLOW = says('a long answer that comes in many pieces', { chunkDelayMs: 200 });

test('a call is answered with its tokens, and the process serves the next one, too', async () => {
  await withProvider(inOrder(says('four'), says('five')), async ({ complete, started, fake }) => {
    assert.equal(started.length, 0);
    assert.deepEqual(await complete(ask('2 + 2?'), { signal: never() }), { ok: true, value: GOOD });
    const next = await complete(ask('2 + 3?'), { signal: never() });
    assert.equal(next.ok && next.value.text, 'five');
    assert.equal(started.length, 1);
    assert.equal(fake.requests[0]?.headers.authorization, `Bearer ${KEY}`);
  });
});

test('calls run side by side, and each gets its own answer', async () => {
  const script = ({ messages }: { readonly messages: readonly { readonly content: string }[] }) =>
    says(`you said ${messages.at(-1)?.content}`);
  await withProvider(script, async ({ complete }) => {
    const texts = ['one', 'two', 'three', 'four'];
    const answers = await Promise.all(texts.map((text) => complete(ask(text), { signal: never() })));
    assert.deepEqual(
      answers.map((answer) => answer.ok && answer.value.text),
      texts.map((text) => `you said ${text}`),
    );
  });
});

test('text comes as the provider sends it', async () => {
  await withProvider(inOrder(says('streamed text', { chunkDelayMs: 50 })), async ({ complete }) => {
    const pieces: string[] = [];
    const answer = await complete(ask('go'), { signal: never(), onText: (text) => pieces.push(text) });
    assert.equal(answer.ok && answer.value.text, 'streamed text');
    assert.equal(pieces.join(''), 'streamed text');
    assert.ok(pieces.length > 1, 'it came in one piece');
  });
});

test('a failure of the provider keeps its kind and its remedy', async () => {
  await withProvider(inOrder(fails(401, 'no such key'), says('four')), async ({ complete, started }) => {
    const refused = await complete(ask('2 + 2?'), { signal: never() });
    assert.equal(!refused.ok && refused.fault.kind, 'unauthorised');
    assert.match(refused.ok ? '' : refused.fault.message, /answered 401: `no such key`/);
    assert.deepEqual(await complete(ask('2 + 2?'), { signal: never() }), { ok: true, value: GOOD });
    assert.equal(started.length, 1);
  });
});

test('a cancelled call ends at once and at the provider, and others go on', async () => {
  const answers: readonly FakeAnswer[] = [hangs('first-chunk'), says('four')];
  await withProvider(inOrder(...answers), async ({ complete, fake, started }) => {
    const stop = new AbortController();
    const cancelled = complete(ask('wait'), { signal: stop.signal });
    await until(() => fake.requests.length === 1);
    stop.abort();
    const answer = await cancelled;
    assert.equal(!answer.ok && answer.fault.kind, 'cancelled');
    assert.deepEqual(await complete(ask('2 + 2?'), { signal: never() }), { ok: true, value: GOOD });
    await until(() => fake.pending() === 0);
    assert.equal(started.length, 1);
  });
});

test('killed in the middle of a stream, the call fails, is not repeated, and the next one works', async () => {
  await withProvider(inOrder(SLOW, says('four')), async ({ complete, started, fake }) => {
    let hasBegun = false;
    const onText = () => {
      hasBegun = true;
    };
    const broken = complete(ask('go'), { signal: never(), onText });
    await until(() => hasBegun);
    started[0]?.deliver('SIGKILL');
    const answer = await broken;
    assert.equal(!answer.ok && answer.fault.kind, 'unavailable');
    assert.match(answer.ok ? '' : answer.fault.message, /the process that calls the provider failed/);
    assert.equal(fake.requests.length, 1);
    assert.deepEqual(await complete(ask('2 + 2?'), { signal: never() }), { ok: true, value: GOOD });
    assert.deepEqual([started.length, fake.requests.length], [2, 2]);
  });
});

test('stopped with SIGSTOP it is noticed and killed, and the next call works', async () => {
  await withProvider(
    inOrder(SLOW, says('four')),
    async ({ complete, started, fake }) => {
      const broken = complete(ask('go'), { signal: never() });
      await until(() => fake.requests.length === 1);
      started[0]?.deliver('SIGSTOP');
      const answer = await broken;
      assert.match(answer.ok ? '' : answer.fault.message, /it does not respond/);
      assert.equal((await started[0]?.exited)?.cause, 'killed');
      assert.deepEqual(await complete(ask('2 + 2?'), { signal: never() }), { ok: true, value: GOOD });
    },
    // Twelve times as long a process may take to start.
    { tickMs: 2_000 },
  );
});

test('a slow provider is waited for: a process that responds is not killed', async (t) => {
  if (isLeftOut(t)) return;
  // Longer in all than a process may be silent.
  const slow = says('slow', { chunkDelayMs: 4_000 });
  await withProvider(
    inOrder(slow),
    async ({ complete, started }) => {
      const answer = await complete(ask('go'), { signal: never() });
      assert.equal(answer.ok && answer.value.text, 'slow');
      assert.equal(started.length, 1);
    },
    { tickMs: 2_000 },
  );
});

test('a process that was idle is ended, and the next call starts another', async () => {
  await withProvider(
    inOrder(says('four'), says('four')),
    async ({ complete, started }) => {
      assert.equal((await complete(ask('2 + 2?'), { signal: never() })).ok, true);
      assert.equal((await started[0]?.exited)?.cause, 'killed');
      assert.equal((await complete(ask('2 + 2?'), { signal: never() })).ok, true);
      assert.equal(started.length, 2);
    },
    { idleMs: 100 },
  );
});
