/** `cordon audit heads` and `cordon sessions` over a real store, some of which cannot or must not be shown. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { type SessionId, USER_LABEL } from '@cordon/core';
import { Workplace } from '@cordon/testkit/cordon-program.ts';
import { openStore, parseStoreKey } from '@cordon/trace';

const KEY = 'ab'.repeat(32);
const OPTIONS = { env: { CORDON_KEY: KEY } };

/** A session for each list of queries, the private ones in brackets. */
function filled(...queries: readonly (readonly string[])[]) {
  const place = new Workplace();
  const key = parseStoreKey(KEY);
  assert.ok(key.ok);
  const opened = openStore(join(place.root, 'data'), Date.now, { key: key.value });
  assert.ok(opened.ok);
  const store = opened.value;
  const sessions = queries.map((texts): SessionId => {
    const session = store.sessions.create();
    for (const text of texts) {
      const isPrivate = text.startsWith('(');
      const body = { kind: 'user.message', text, ...(isPrivate ? { private: true as const } : {}) } as const;
      store.journal.append(session, null, null, [], USER_LABEL, body);
    }
    store.sessions.release(session);
    return session;
  });
  store.close();
  return { place, sessions };
}

for (const [what, damages, code] of [
  ['is damaged', true, 1],
  ['is whole', false, 0],
] as const) {
  test(`the heads of other sessions are told where one ${what}, with exit code ${code}`, () => {
    const { place, sessions } = filled(['one'], ['two'], ['three']);
    using used = place;
    const [, second = ''] = sessions;
    if (damages) {
      const raw = new DatabaseSync(join(used.root, 'data/cordon.db'));
      raw.prepare('UPDATE sessions SET head = zeroblob(60) WHERE id = ?').run(second);
      raw.close();
    }
    const ended = used.run(['audit', 'heads', '--data', 'data'], OPTIONS);
    const told = ended.out
      .trim()
      .split('\n')
      .map((line) => line.split(':')[0]);
    assert.deepEqual(
      [...told].sort(),
      [...sessions].filter((session) => !damages || session !== second).sort(),
    );
    assert.equal(ended.code, code);
    assert.equal(ended.err.includes(second), damages);
  });
}

test('a private query is no first query of a session, and an open one behind it is', () => {
  const { place } = filled(['(a secret wish)'], ['(a secret wish)', 'a ride']);
  using used = place;
  const listed = used.run(['sessions', '--data', 'data'], OPTIONS);
  const json = used.run(['sessions', '--data', 'data', '--json'], OPTIONS);
  assert.equal(listed.out.includes('secret') || json.out.includes('secret'), false);
  assert.match(listed.out, /a ride/);
});
