import assert from 'node:assert/strict';
import { test } from 'node:test';
import { garbage, inOrder } from '@cordon/testkit/fake-openai/server.ts';
import { completionToEvents } from '../../src/transport/plain-completion.ts';
import { ask, never, READ_TOOL, withFake } from '../fixture.ts';

function completion(message: object, more: object = {}): string {
  return JSON.stringify({ choices: [{ message }], ...more }, null, 2);
}

test('a completion that comes in one piece may lack a finish reason, and give arguments as an object', () => {
  const call = { id: 'c1', type: 'function', function: { name: 'read_file', arguments: { path: 'a' } } };
  const body = completion({ role: 'assistant', content: null, tool_calls: [call] });
  return withFake(inOrder(garbage(body, 'application/json')), async ({ broker }) => {
    const result = await broker.complete(ask('read', { tools: [READ_TOOL] }), { signal: never() });
    assert.deepEqual(result.ok && [result.value.calls, result.value.finish], [
      [{ id: 'c1', name: 'read_file', arguments: { path: 'a' } }],
      'tool-calls',
    ]);
  });
});

test('an event stream without its content type is still one', () => {
  const chunk = { choices: [{ delta: { content: 'hi' }, finish_reason: 'stop' }] };
  const body = `\ndata: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`;
  return withFake(inOrder(garbage(body, 'text/plain')), async ({ broker }) => {
    const result = await broker.complete(ask('hello'), { signal: never() });
    assert.equal(result.ok && result.value.text, 'hi');
  });
});

for (const body of [
  null,
  7,
  [],
  {},
  { choices: [] },
  { choices: [null] },
  { choices: [{ message: 'hi' }] },
]) {
  test(`${JSON.stringify(body)} is no completion`, () => {
    assert.equal(completionToEvents(body), null);
  });
}
