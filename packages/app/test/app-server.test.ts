import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppServer } from '../src/app-server.ts';
import { tool } from '../src/index.ts';

const input = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const;
const twice = tool({
  description: 'Doubles.',
  input,
  output: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  annotations: { readOnlyHint: true },
  run: ({ n }) => ({ n: 2 * n }),
});
const shown = tool({ description: 'Shows.', input, run: ({ n }) => String(n) });

async function ask(method: string, params: object = {}): Promise<unknown> {
  const server = new AppServer(
    { name: 'a', version: '1', instructions: 'Do.', tools: { twice, shown } },
    () => {},
  );
  const reply = Object(await server.answer(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })));
  return reply.result ?? reply.error;
}

test('each known revision is agreed to, and an unknown one gets the newest with a handshake', async () => {
  const agreed = async (protocolVersion: string) =>
    Object(await ask('initialize', { protocolVersion, capabilities: {}, clientInfo: {} })).protocolVersion;
  assert.equal(await agreed('2024-11-05'), '2024-11-05');
  assert.equal(await agreed('2025-03-26'), '2025-03-26');
  assert.equal(await agreed('2025-06-18'), '2025-06-18');
  assert.equal(await agreed('2025-11-25'), '2025-11-25');
  assert.equal(await agreed('2026-07-28'), '2025-11-25');
  assert.equal(await agreed('1999-01-01'), '2025-11-25');
  assert.deepEqual(await ask('initialize'), { code: -32602, message: '`protocolVersion` must be a string' });
});

test('the handshake carries name, version, instructions and what the app offers', async () => {
  assert.deepEqual(await ask('initialize', { protocolVersion: '2025-06-18' }), {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'a', version: '1' },
    instructions: 'Do.',
  });
});

test('tools are listed with closed schemas and their annotations', async () => {
  const closed = {
    additionalProperties: false,
    type: 'object',
    properties: { n: { type: 'number' } },
    required: ['n'],
  };
  assert.deepEqual(await ask('tools/list'), {
    tools: [
      {
        name: 'twice',
        description: 'Doubles.',
        inputSchema: closed,
        outputSchema: closed,
        annotations: { readOnlyHint: true },
      },
      { name: 'shown', description: 'Shows.', inputSchema: closed, annotations: {} },
    ],
    ttlMs: 0,
    cacheScope: 'private',
  });
  assert.deepEqual(await ask('tools/list', { cursor: 'x' }), {
    code: -32602,
    message: 'there are no further pages',
  });
});

test('a call is answered in both forms, a call of another form is an error of the protocol', async () => {
  assert.deepEqual(await ask('tools/call', { name: 'twice', arguments: { n: 2 } }), {
    content: [{ type: 'text', text: '{"n":4}' }],
    structuredContent: { n: 4 },
  });
  assert.deepEqual(await ask('tools/call', { name: 'shown', arguments: { n: 2 } }), {
    content: [{ type: 'text', text: '2' }],
  });
  const unknown = { code: -32602, message: 'unknown tool (known: twice, shown)' };
  assert.deepEqual(await ask('tools/call', { name: 'toString' }), unknown);
  assert.deepEqual(await ask('tools/call', { name: 5 }), {
    code: -32602,
    message: '`name` must be a string',
  });
  assert.deepEqual(await ask('tools/call', { name: 'twice', arguments: [] }), {
    code: -32602,
    message: '`arguments` must be an object',
  });
});

test('arguments that do not fit are an answer that the model can learn from', async () => {
  assert.deepEqual(await ask('tools/call', { name: 'twice', arguments: { n: '2' } }), {
    content: [{ type: 'text', text: 'invalid arguments: /n must be a number' }],
    isError: true,
  });
});

test('the revision without a handshake is served, and one that nobody knows is named as such', async () => {
  const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
  assert.deepEqual(await ask('server/discover', { _meta }), {
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: {} },
    instructions: 'Do.',
    ttlMs: 0,
    cacheScope: 'private',
    _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'a', version: '1' } },
    resultType: 'complete',
  });
  assert.equal(
    Object(await ask('tools/call', { name: 'shown', arguments: { n: 1 }, _meta })).resultType,
    'complete',
  );
  assert.deepEqual(
    await ask('tools/list', { _meta: { 'io.modelcontextprotocol/protocolVersion': '2030-01-01' } }),
    {
      code: -32022,
      message: 'unsupported protocol version',
      data: { supported: ['2026-07-28'], requested: '2030-01-01' },
    },
  );
});

test('a name that no host could call is refused when the app is made', () => {
  assert.throws(
    () => new AppServer({ name: 'a', version: '1', tools: { 'two words': shown } }, () => {}),
    TypeError,
  );
  assert.doesNotThrow(
    () => new AppServer({ name: 'a', version: '1', tools: { two_words: shown } }, () => {}),
  );
});
