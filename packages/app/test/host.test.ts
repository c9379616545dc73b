/** Requests that an app asks its host to make, over the same lines as the calls that need them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isJsonObject, type Json, type JsonObject } from '../src/json.ts';
import { serve } from '../src/serve.ts';
import { tool } from '../src/tool.ts';

const CAN_FETCH = { experimental: { 'cordon/fetch': {} } };

/** An app whose tool tells what its host answered, and the host's side of its lines. */
class Talk {
  readonly sent: JsonObject[] = [];
  readonly #lines: string[] = [];
  #wake = Promise.withResolvers<void>();
  #heard = Promise.withResolvers<void>();
  #isOver = false;
  readonly ended: Promise<void>;

  constructor(concurrency = 16) {
    const get = tool({
      description: 'Gets a page.',
      input: { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] },
      run: async ({ url }, { fetch }) => {
        const fetched = await fetch(url, { credential: 'token', headers: { accept: 'text/plain' } });
        return fetched.ok
          ? `${fetched.status} ${fetched.text} ${fetched.body.length}`
          : `no: ${fetched.reason}`;
      },
    });
    const wire = {
      input: this.#chunks(),
      log: () => {},
      write: async (text: string) => {
        const message: Json = JSON.parse(text);
        if (isJsonObject(message)) this.sent.push(message);
        this.#heard.resolve();
        this.#heard = Promise.withResolvers();
      },
    };
    this.ended = serve({ name: 'a', version: '1', tools: { get } }, { lineBytes: 4096, concurrency }, wire);
  }

  say(message: JsonObject): void {
    this.#lines.push(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    this.#wake.resolve();
  }

  greet(capabilities: JsonObject = CAN_FETCH): void {
    this.say({ id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities } });
  }

  call(id: number, url = 'https://good.com/'): void {
    this.say({ id, method: 'tools/call', params: { name: 'get', arguments: { url } } });
  }

  end(): void {
    this.#isOver = true;
    this.#wake.resolve();
  }

  async until(count: number): Promise<void> {
    while (this.sent.length < count) await this.#heard.promise;
  }

  /** The text of the answer to a call. */
  text(id: number): Json | undefined {
    const answer = this.sent.find((message) => message.id === id)?.result;
    const content = isJsonObject(answer) ? answer.content : null;
    return Array.isArray(content) ? content[0].text : undefined;
  }

  async *#chunks(): AsyncGenerator<Uint8Array> {
    for (;;) {
      for (let line = this.#lines.shift(); line !== undefined; line = this.#lines.shift())
        yield Buffer.from(line);
      if (this.#isOver) return;
      await this.#wake.promise;
      this.#wake = Promise.withResolvers();
    }
  }
}

const page = { status: 200, headers: { 'content-type': 'text/plain' }, body: 'aMOk', encoding: 'base64' };

test('a tool asks its host for a page, and its answer waits for the host’s', async () => {
  const talk = new Talk();
  talk.greet();
  talk.call(1);
  await talk.until(2);
  const asked = talk.sent.find(({ method }) => method === 'cordon/fetch');
  assert.deepEqual(asked, {
    jsonrpc: '2.0',
    id: 'cordon/fetch#1',
    method: 'cordon/fetch',
    params: {
      url: 'https://good.com/',
      credential: 'token',
      headers: { accept: 'text/plain' },
      body: '',
      encoding: 'utf8',
    },
  });
  talk.say({ id: 'cordon/fetch#1', result: page });
  await talk.until(3);
  assert.equal(talk.text(1), '200 hä 3');
  talk.end();
  await talk.ended;
});

test('a refusal, an answer that is none and a host that is gone are reasons and no exceptions', async () => {
  const talk = new Talk();
  talk.greet();
  for (const id of [1, 2, 3]) talk.call(id);
  await talk.until(4);
  talk.say({ id: 'cordon/fetch#1', error: { code: -32001, message: 'the request was denied' } });
  talk.say({ id: 'cordon/fetch#2', result: { status: 'fine' } });
  await talk.until(6);
  talk.end();
  await talk.ended;
  assert.deepEqual(
    [1, 2, 3].map((id) => talk.text(id)),
    ['no: the request was denied', 'no: the host’s answer cannot be read', 'no: the host is gone'],
  );
});

test('a host that does not offer it is not asked', async () => {
  for (const capabilities of [{}, { experimental: {} }, { experimental: [] }]) {
    const talk = new Talk();
    talk.greet(capabilities);
    talk.call(1);
    await talk.until(2);
    assert.match(String(talk.text(1)), /^no: the host makes no requests/);
    talk.end();
    await talk.ended;
  }
});

test('as many calls as may run, all waiting for the host, do not keep its answers from being read', async () => {
  const talk = new Talk(1);
  talk.greet();
  talk.call(1);
  talk.call(2);
  await talk.until(2);
  talk.say({ id: 'cordon/fetch#1', result: page });
  await talk.until(4);
  talk.say({ id: 'cordon/fetch#2', result: page });
  await talk.until(5);
  assert.deepEqual([talk.text(1), talk.text(2)], ['200 hä 3', '200 hä 3']);
  talk.end();
  await talk.ended;
});

test('a request longer than a line is refused here', async () => {
  const talk = new Talk();
  talk.greet();
  talk.call(1, `https://good.com/${'a'.repeat(3950)}`);
  await talk.until(2);
  assert.match(String(talk.text(1)), /^no: it would be longer than 4096 bytes/);
  talk.end();
  await talk.ended;
});
