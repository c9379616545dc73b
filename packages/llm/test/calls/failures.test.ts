import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import {
  calls,
  cuts,
  fails,
  garbage,
  hangs,
  inOrder,
  rateLimits,
  says,
} from '@cordon/testkit/fake-openai/server.ts';
import { ask, brokerFor, never, READ_TOOL, withFake } from '../fixture.ts';

for (const status of [401, 403]) {
  test(`${status} fails at once and names the remedy`, () =>
    withFake(
      inOrder(fails(status, 'Incorrect API key provided')),
      async ({ broker, fake, waits }) => {
        const result = await broker.complete(ask('hello'), { signal: never() });
        assert.deepEqual(result, {
          ok: false,
          fault: {
            kind: 'unauthorised',
            message: `provider \`local\` answered ${status}: \`Incorrect API key provided\``,
            help: 'check LOCAL_KEY in the environment of cordon',
            attempts: 1,
          },
        });
        assert.equal(fake.requests.length, 1);
        assert.deepEqual(waits, []);
      },
      { config: { keyVariable: 'LOCAL_KEY' } },
    ));
}

for (const status of [400, 404, 413]) {
  test(`${status} is not tried again`, () =>
    withFake(inOrder(fails(status, 'no such model')), async ({ broker, fake }) => {
      const result = await broker.complete(ask('hello'), { signal: never() });
      assert.equal(!result.ok && result.fault.kind, 'bad-request');
      assert.equal(!result.ok && result.fault.attempts, 1);
      assert.equal(fake.requests.length, 1);
    }));
}

test('an answer that announces tool calls and has none is told apart, whatever text it has', () =>
  withFake(
    inOrder(...['', 'Let me look.', ''].map((text) => says(text, { finish: 'tool_calls' }))),
    async ({ broker, fake }) => {
      const result = await broker.complete(ask('hello'), { signal: never() });
      assert.deepEqual(!result.ok && [result.fault.kind, result.fault.message], [
        'invalid-response',
        'the model of provider `local` said that it calls a tool, and named none',
      ]);
      assert.equal(fake.requests.length, 3);
    },
  ));

test('the next answer counts after one that announces tool calls and has none', () =>
  withFake(inOrder(says('', { finish: 'tool_calls' }), says('Good morning')), async ({ broker }) => {
    const result = await broker.complete(ask('hello'), { signal: never() });
    assert.equal(result.ok && result.value.text, 'Good morning');
  }));

test('white space is no answer', () =>
  withFake(inOrder(says(' \n'), says('Good morning')), async ({ broker }) => {
    const result = await broker.complete(ask('hello'), { signal: never() });
    assert.equal(result.ok && result.value.text, 'Good morning');
  }));

test('a model that has nothing to add to the results of its tools has answered', () =>
  withFake(inOrder(says('')), async ({ broker, fake }) => {
    const call = { id: 'c1', name: 'read_file', arguments: { path: 'a' } };
    const messages = [
      { role: 'user', text: 'hello' },
      { role: 'assistant', text: '', calls: [call] },
      { role: 'tool', callId: 'c1', name: 'read_file', text: 'done', isError: false },
    ] as const;
    const result = await broker.complete(ask('hello', { tools: [READ_TOOL], messages }), { signal: never() });
    assert.equal(result.ok && result.value.text, '');
    assert.equal(fake.requests.length, 1);
  }));

for (const [what, failure] of [
  ['429', rateLimits()],
  ['500', fails(500)],
  ['503', fails(503)],
  ['a cut stream', cuts(says('Good morning'), 3)],
  ['a reset connection', cuts(says('Good morning'), 3, 'reset')],
  ['broken arguments', calls([{ name: 'read_file', arguments: '{"path":' }])],
  ['an answer without a word', says('')],
  ['a call without a name', says('', { finish: 'tool_calls' })],
  ['arguments that are a list', calls([{ name: 'read_file', arguments: '["a"]' }])],
  ['a page of HTML', garbage('<html><body>proxy login</body></html>')],
  ['a stream of garbage', garbage('data: {"choices": nonsense}\n\n', 'text/event-stream')],
  [
    'an error inside the stream',
    garbage('data: {"error":{"message":"overloaded"}}\n\n', 'text/event-stream'),
  ],
] as const) {
  test(`${what} and then an answer is an answer`, () =>
    withFake(inOrder(failure, says('Good morning')), async ({ broker, fake, waits }) => {
      const deltas: string[] = [];
      const result = await broker.complete(ask('hello', { tools: [READ_TOOL] }), {
        signal: never(),
        onText: (delta) => deltas.push(delta),
      });
      assert.equal(result.ok && result.value.text, 'Good morning');
      assert.equal(deltas.join(''), 'Good morning', 'what was shown before the cut is not shown twice');
      assert.equal(fake.requests.length, 2);
      assert.deepEqual(waits, [100]);
    }));
}

for (const [what, failure, kind] of [
  ['429', rateLimits(), 'rate-limited'],
  ['500', fails(500), 'unavailable'],
  ['529', fails(529), 'unavailable'],
  ['a cut stream', cuts(says('Good morning'), 3), 'cut-stream'],
  ['a stream cut before its first chunk', cuts(says('Good morning'), 0), 'cut-stream'],
  [
    'a cut inside a tool call',
    cuts(calls([{ name: 'read_file', arguments: { path: 'a' } }]), 3),
    'cut-stream',
  ],
  ['a reset connection', cuts(says('Good morning'), 3, 'reset'), 'cut-stream'],
  ['broken arguments', calls([{ name: 'read_file', arguments: '{"path":' }]), 'invalid-response'],
  [
    'arguments with __proto__',
    calls([{ name: 'read_file', arguments: '{"__proto__":{}}' }]),
    'invalid-response',
  ],
  [
    'arguments of great depth',
    calls([{ name: 'f', arguments: '['.repeat(999), id: 'c' }]),
    'invalid-response',
  ],
  ['a page of HTML', garbage('<html></html>'), 'invalid-response'],
  ['JSON that is no completion', garbage('{"hello":1}', 'application/json'), 'invalid-response'],
  ['half a JSON body', garbage('{"choices":[{"mess', 'application/json'), 'invalid-response'],
  ['an empty body', garbage('', 'application/json'), 'invalid-response'],
  ['a stream of garbage', garbage('data: {"choices": 7}\n\n', 'text/event-stream'), 'invalid-response'],
] as const) {
  test(`${what} for ever is the fault ${kind} after all attempts`, () =>
    withFake(
      () => failure,
      async ({ broker, fake, waits }) => {
        const result = await broker.complete(ask('hello', { tools: [READ_TOOL] }), { signal: never() });
        assert.equal(!result.ok && result.fault.kind, kind);
        assert.equal(!result.ok && result.fault.attempts, 3);
        assert.match((!result.ok && result.fault.message) || '', /`local`/);
        assert.match((!result.ok && result.fault.help) || '', /\w/);
        assert.equal(fake.requests.length, 3);
        assert.deepEqual(waits, [100, 200]);
      },
    ));
}

test('Retry-After is honoured', () =>
  withFake(inOrder(rateLimits('2'), says('hi')), async ({ broker, waits }) => {
    const result = await broker.complete(ask('hello'), { signal: never() });
    assert.equal(result.ok, true);
    assert.deepEqual(waits, [2000]);
  }));

test('a Retry-After beyond the longest wait ends the call with the time to wait', () =>
  withFake(inOrder(rateLimits('3600')), async ({ broker, waits }) => {
    const result = await broker.complete(ask('hello'), { signal: never() });
    assert.equal(!result.ok && result.fault.kind, 'rate-limited');
    assert.equal(!result.ok && result.fault.help, 'the provider asks to wait 3600 s; try again after that');
    assert.deepEqual(waits, []);
  }));

test('an account without credit is not asked again', () =>
  withFake(
    inOrder({
      kind: 'failure',
      status: 429,
      body: '{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}',
      headers: {},
    }),
    async ({ broker }) => {
      const result = await broker.complete(ask('hello'), { signal: never() });
      assert.equal(!result.ok && result.fault.attempts, 1);
      assert.match((!result.ok && result.fault.help) || '', /no credit left/);
    },
  ));

test('arguments cut off by the length limit are not asked for again', () =>
  withFake(
    inOrder(calls([{ name: 'read_file', arguments: '{"path":"a' }], { finish: 'length' })),
    async ({ broker }) => {
      const result = await broker.complete(ask('hello', { tools: [READ_TOOL] }), { signal: never() });
      assert.deepEqual(!result.ok && [result.fault.kind, result.fault.attempts], ['invalid-response', 1]);
      assert.match((!result.ok && result.fault.message) || '', /length limit/);
    },
  ));

test('a server that is not there is unavailable after all attempts', async () => {
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const address = probe.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  await new Promise((resolve) => probe.close(resolve));
  const local = { kind: 'openai-compatible', baseUrl: `http://127.0.0.1:${port}/v1` } as const;
  const { broker, waits } = brokerFor({ local });
  const result = await broker.complete(ask('hello'), { signal: never() });
  assert.equal(!result.ok && result.fault.kind, 'unavailable');
  assert.match((!result.ok && result.fault.message) || '', /cannot be reached: `.*ECONNREFUSED/);
  assert.deepEqual(waits, [100, 200]);
});

test('redirects are not followed, so that a key goes nowhere else', () =>
  withFake(
    inOrder(fails(307, 'moved', { location: 'http://127.0.0.1:1/v1/chat/completions' })),
    async (at) => {
      const result = await at.broker.complete(ask('hello'), { signal: never() });
      assert.deepEqual(!result.ok && [result.fault.kind, result.fault.attempts], ['bad-request', 1]);
      assert.match((!result.ok && result.fault.help) || '', /base URL/);
    },
  ));

test('an answer beyond the size limit is refused', async () => {
  const huge = 'x'.repeat(1024 * 1024);
  const chunk = `data: ${JSON.stringify({ choices: [{ delta: { content: huge } }] })}\n\n`;
  const body = () =>
    new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new TextEncoder().encode(chunk)),
    });
  const { broker } = brokerFor(
    { local: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1' } },
    { fetch: async () => new Response(body(), { headers: { 'content-type': 'text/event-stream' } }) },
  );
  const result = await broker.complete(ask('hello'), { signal: never() });
  assert.deepEqual(!result.ok && [result.fault.kind, result.fault.attempts], ['invalid-response', 1]);
  assert.match((!result.ok && result.fault.message) || '', /longer than 16777216 bytes/);
});

for (const after of ['request', 'headers', 'first-chunk'] as const) {
  test(`a server that hangs after ${after} runs into the time limit`, () => {
    const late = new AbortController();
    return withFake(
      () => hangs(after),
      async ({ broker, fake }) => {
        const running = broker.complete(ask('hello'), { signal: never() });
        await until(() => fake.requests.length === 1);
        late.abort();
        assert.deepEqual(await running, {
          ok: false,
          fault: {
            kind: 'timeout',
            message: 'provider `local` did not finish its answer within 60 s',
            help: 'check that the server is up, use a faster model, or raise the time limit of a model call',
            attempts: 1,
          },
        });
        await until(() => fake.pending() === 0);
      },
      { deadline: () => late.signal },
    );
  });

  test(`cancelling ends a call that hangs after ${after}, and the connection`, () =>
    withFake(
      () => hangs(after),
      async ({ broker, fake }) => {
        const user = new AbortController();
        const running = broker.complete(ask('hello'), { signal: user.signal });
        await until(() => fake.requests.length === 1);
        user.abort();
        assert.deepEqual(await running, {
          ok: false,
          fault: { kind: 'cancelled', message: 'the model call was cancelled', attempts: 1 },
        });
        await until(() => fake.pending() === 0);
      },
    ));
}

test('cancelling in the middle of an answer ends the connection and shows no more of it', () =>
  withFake(
    () => says('x'.repeat(4000), { chunkDelayMs: 5 }),
    async ({ broker, fake }) => {
      const user = new AbortController();
      let shown = 0;
      const result = await broker.complete(ask('hello'), {
        signal: user.signal,
        onText: (delta) => {
          shown += delta.length;
          user.abort();
        },
      });
      assert.equal(!result.ok && result.fault.kind, 'cancelled');
      await until(() => fake.pending() === 0);
      assert.equal(shown, 4);
    },
  ));

test('calls at the same time do not mix', () =>
  withFake(
    (request) => says(`answer to ${request.messages.at(-1)?.content}`, { chunkDelayMs: 1 }),
    async ({ broker }) => {
      const questions = ['a', 'b', 'c', 'd', 'e', 'f'];
      const shown = questions.map(() => '');
      const results = await Promise.all(
        questions.map((question, index) =>
          broker.complete(ask(question), {
            signal: never(),
            onText: (delta) => {
              shown[index] += delta;
            },
          }),
        ),
      );
      const expected = ['a', 'b', 'c', 'd', 'e', 'f'].map((question) => `answer to ${question}`);
      assert.deepEqual(
        results.map((result) => result.ok && result.value.text),
        expected,
      );
      assert.deepEqual(shown, expected);
    },
  ));

test('the default deadline is real time', () =>
  withFake(
    () => hangs(),
    async ({ broker }) => {
      const result = await broker.complete(ask('hello'), { signal: never() });
      assert.equal(!result.ok && result.fault.kind, 'timeout');
    },
    { limits: { attempts: 3, firstWaitMs: 1, longestWaitMs: 1, callSeconds: 0.05 } },
  ));

test('cancelling during a wait ends the call without another attempt', () => {
  const user = new AbortController();
  return withFake(
    () => fails(500),
    async ({ broker, fake }) => {
      const result = await broker.complete(ask('hello'), { signal: user.signal });
      assert.equal(!result.ok && result.fault.kind, 'cancelled');
      assert.equal(fake.requests.length, 1);
    },
    { sleep: async () => user.abort() },
  );
});

test('a call that was cancelled before it began asks nobody', () =>
  withFake(
    () => says('hi'),
    async ({ broker, fake }) => {
      const result = await broker.complete(ask('hello'), { signal: AbortSignal.abort() });
      assert.deepEqual(!result.ok && [result.fault.kind, result.fault.attempts], ['cancelled', 0]);
      assert.equal(fake.requests.length, 0);
    },
  ));

test('cancelling works even if `fetch` never settles', async () => {
  const user = new AbortController();
  const { broker } = brokerFor(
    { local: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1' } },
    {
      fetch: () => {
        queueMicrotask(() => user.abort());
        return new Promise(() => undefined);
      },
    },
  );
  const result = await broker.complete(ask('hello'), { signal: user.signal });
  assert.equal(!result.ok && result.fault.kind, 'cancelled');
});

/** A stream that is written from the test and knows nothing of signals. */
function deafStream() {
  const { promise: opened, resolve } = Promise.withResolvers<ReadableStreamDefaultController<Uint8Array>>();
  const body = new ReadableStream<Uint8Array>({ start: resolve });
  const fetch = async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  const write = async (event: object) =>
    (await opened).enqueue(new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\n`));
  return { fetch, write, text: (content: string) => write({ choices: [{ delta: { content } }] }) };
}

test('nothing is shown after the cancellation, even if the stream goes on', async () => {
  const user = new AbortController();
  const { fetch, text } = deafStream();
  const { broker } = brokerFor(
    { local: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1' } },
    { fetch },
  );
  const deltas: string[] = [];
  const running = broker.complete(ask('hello'), {
    signal: user.signal,
    onText: (delta) => deltas.push(delta),
  });
  await text('before');
  await until(() => deltas.length === 1);
  user.abort();
  assert.equal((await running).ok, false);
  await text('after');
  await new Promise((resolve) => setTimeout(resolve, 30));
  assert.deepEqual(deltas, ['before']);
});

test('a stream that reports an error and stays open is not waited for', async () => {
  const { fetch, write } = deafStream();
  const { broker } = brokerFor(
    { local: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1' } },
    { fetch, limits: { attempts: 1, firstWaitMs: 1, longestWaitMs: 1, callSeconds: 60 } },
  );
  const running = broker.complete(ask('hello'), { signal: never() });
  await write({ error: { message: 'engine died', code: 500 } });
  const result = await running;
  assert.deepEqual(!result.ok && [result.fault.kind, result.fault.message], [
    'unavailable',
    'provider `local` answered 500: `engine died`',
  ]);
});

test('a failure of one call leaves the next one alone', () =>
  withFake(inOrder(fails(401), says('hi')), async ({ broker }) => {
    const first = await broker.complete(ask('hello'), { signal: never() });
    const second = await broker.complete(ask('hello'), { signal: never() });
    assert.deepEqual([first.ok, second.ok], [false, true]);
  }));

/** What the other process or socket does a moment later; the bound only keeps a broken test from hanging. */
async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; !condition(); tries++) {
    assert.ok(tries < 5000, 'the condition did not come true');
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
