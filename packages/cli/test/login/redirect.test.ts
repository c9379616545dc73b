/** The listener to which a browser comes back from a login: it takes the one answer that belongs to it. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { openRedirect, pastedAnswer } from '../../src/commands/login/redirect.ts';

/** The status of one request. */
function statusOf(
  url: string,
  { method = 'GET', host }: { method?: string; host?: string } = {},
): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, ...(host === undefined ? {} : { headers: { host } }) }, (answer) => {
      void text(answer).then(() => resolve(answer.statusCode ?? 0));
    });
    asked.on('error', reject).end();
  });
}

test('the answer with the state of this login is taken, and no other', async () => {
  const opened = await openRedirect(0);
  assert.ok(opened.ok);
  const { url, answerTo, close } = opened.value;
  try {
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    // Before anybody waits for an answer there is none.
    assert.equal(await statusOf(`${url}?code=evil&state=undefined`), 404);
    const answered = answerTo('mine');
    // Attacks: a page in the same browser, and a name of the attacker's that leads to this machine (DNS rebinding).
    assert.equal(await statusOf(`${url}?code=evil&state=other`), 404);
    assert.equal(await statusOf(`${url}?code=evil`), 404);
    assert.equal(await statusOf(`${url}?code=evil&state=mine`, { host: 'evil.example' }), 404);
    assert.equal(await statusOf(`${url}?code=evil&state=mine`, { method: 'POST' }), 404);
    assert.equal(await statusOf(`${url}/more?code=evil&state=mine`), 404);
    assert.equal(await statusOf(`${url}?code=good&state=mine&iss=a`), 200);
    const query = await answered;
    assert.deepEqual([query.get('code'), query.get('iss')], ['good', 'a']);
  } finally {
    close();
  }
});

test('a port that is taken is a fault with what to do', async () => {
  const opened = await openRedirect(0);
  assert.ok(opened.ok);
  try {
    const again = await openRedirect(Number(new URL(opened.value.url).port));
    assert.ok(!again.ok);
    assert.match(again.fault.message, /nothing can listen on port \d+: .*EADDRINUSE/);
    assert.match(again.fault.help ?? '', /--port/);
  } finally {
    opened.value.close();
  }
});

test('a pasted address counts if it is the one of this login', () => {
  const own = 'http://127.0.0.1:4711/callback';
  assert.equal(pastedAnswer(` ${own}?code=a&state=mine\n`, own, 'mine')?.get('code'), 'a');
  for (const wrong of [
    '',
    'mine',
    `${own}?code=a&state=other`,
    `http://evil.example/callback?code=a&state=mine`,
  ])
    assert.equal(pastedAnswer(wrong, own, 'mine'), null);
});
