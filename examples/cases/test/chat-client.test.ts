/** The chat client of case 16, with its real server on loopback. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ChatMessage, showMessages } from '../chat-client.ts';

const withPreviews = (text: string): ChatMessage => ({ text, hasPreviews: true });

const OPENED: readonly (readonly [string, string, readonly string[]])[] = [
  ['a link without a scheme', 'See www.shop.example/holidays', ['www.shop.example /holidays']],
  ['a link with a query', 'https://shop.example/a?b=c d', ['shop.example /a?b=c']],
  ['each link of two', 'a.example/1 and b.example/2', ['a.example /1', 'b.example /2']],
  ['a host alone', 'See MDIw.attacker.example: slow', ['mdiw.attacker.example /']],
  ['a port', 'http://attacker.example:8080/MDIw', ['attacker.example:8080 /MDIw']],
  [
    'only what stands before the first space',
    'a.example/feedback-Contact of',
    ['a.example /feedback-Contact'],
  ],
  ['no link', 'The customer finds it slow. See above.', []],
];

for (const [what, text, expected] of OPENED)
  test(`of a message with previews the server logs ${what}`, async () => {
    const log = await showMessages([withPreviews(text)]);
    assert.deepEqual(
      log.map(({ host, path }) => `${host} ${path}`),
      expected,
    );
  });

test('links of a message without previews are not opened, those of the next with previews are', async () => {
  const log = await showMessages([
    { text: 'www.attacker.example/feedback-MDIw', hasPreviews: false },
    withPreviews('www.shop.example/holidays'),
  ]);
  assert.deepEqual(log, [{ host: 'www.shop.example', path: '/holidays' }]);
});
