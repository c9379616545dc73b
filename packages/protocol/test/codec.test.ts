import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeSpokeMessage, encode, type SpokeMessage } from '../src/index.ts';

const MESSAGES: readonly SpokeMessage[] = [
  { type: 'ready', version: 1 },
  { type: 'tool', id: 1, name: 'read_mail', arguments: { message_id: 'msg-1' } },
  { type: 'probe', id: 2, functionality: 'send-mail' },
  { type: 'request', id: 3, peer: 'peer-x', message: { to: ['a@example.com'] } },
  { type: 'open', id: 4, reference: '$1' },
  { type: 'answer', id: 5, text: 'done' },
  { type: 'exhausted', id: 5, steps: 24 },
  {
    type: 'model',
    id: 6,
    messages: [
      { role: 'system', text: 's' },
      { role: 'user', text: 'u' },
      { role: 'assistant', text: '', calls: [{ id: 'c', name: 'n', arguments: {} }] },
      { role: 'tool', callId: 'c', name: 'n', text: 't', isError: false },
    ],
  },
];

for (const message of MESSAGES) {
  test(`a ${message.type} message survives the way to the hub`, () => {
    assert.deepEqual(decodeSpokeMessage(encode(message)), { ok: true, value: message });
  });
}

const REFUSED: readonly (readonly [string, string])[] = [
  ['nothing', ''],
  ['no JSON', '{"type":'],
  ['no object', '[]'],
  ['an unknown type', '{"type":"grant","id":1}'],
  ['an unknown field', '{"type":"probe","id":1,"functionality":"x","from":"mail"}'],
  ['a missing field', '{"type":"tool","id":1,"name":"x"}'],
  ['a negative id', '{"type":"open","id":-1,"reference":"$1"}'],
  ['an id that is text', '{"type":"open","id":"1","reference":"$1"}'],
  ['a fractional id', '{"type":"open","id":1.5,"reference":"$1"}'],
  ['arguments that are a list', '{"type":"tool","id":1,"name":"x","arguments":[]}'],
  ['a prototype', '{"type":"tool","id":1,"name":"x","arguments":{"__proto__":{"admin":1}}}'],
  ['a name of a thousand letters', `{"type":"probe","id":1,"functionality":"${'x'.repeat(1000)}"}`],
  ['an unknown role', '{"type":"model","id":1,"messages":[{"role":"hub","text":"x"}]}'],
  [
    'values nested a thousand deep',
    `{"type":"request","id":1,"peer":"p","message":${'['.repeat(1000)}${']'.repeat(1000)}}`,
  ],
];

for (const [what, line] of REFUSED) {
  test(`a message with ${what} is refused`, () => {
    assert.equal(decodeSpokeMessage(line).ok, false);
  });
}

test('any text decodes to a message or a fault, never to a throw', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        fc.object().map((value) => JSON.stringify(value)),
      ),
      (line) => {
        const decoded = decodeSpokeMessage(line);
        assert.equal(typeof decoded.ok, 'boolean');
      },
    ),
    { verbose: 1 },
  );
});
