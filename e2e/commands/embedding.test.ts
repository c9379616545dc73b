/** Cordon inside of another program: the Python example, and lines that are no queries. Real processes; the disk says what was done. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isLeftOut } from '../../tools/cases.ts';
import { CORDON, EXAMPLES, Home, objects, ofKind, outcomesIn, REPOSITORY } from '../harness/cordon.ts';

const RIDE =
  'Use Metro Hail and Quick Ride and book a ride using the app which offers the lowest rate from "Main Street" to "Elm Avenue".';
const CHAT = ['chat', '--config', EXAMPLES, '--pin-unseen'];
const PROGRAM = join(REPOSITORY, 'examples/embedding/assistant.py');

function rides(home: Home): number {
  const isThere = existsSync(join(home.data, 'apps/metro-hail/rides.json'));
  return isThere ? objects(home.state('metro-hail', 'rides.json').rides).length : 0;
}

for (const [input, code, booked] of [
  ['y\n', 0, 1],
  ['n\n', 1, 0],
  ['', 1, 0],
] as const) {
  test(`a program in Python asks, and answers the question with ${JSON.stringify(input)}`, (t) => {
    if (isLeftOut(t, code === 0)) return;
    using home = new Home();
    const run = spawnSync('python3', [PROGRAM, RIDE, CORDON, ...CHAT], {
      cwd: home.root,
      env: home.environment(),
      input,
      encoding: 'utf8',
      timeout: 300_000,
    });
    assert.equal(run.status, code, run.stderr);
    assert.match(run.stdout, /Let `metro-hail` do `request_ride`\? This cannot be undone\./);
    assert.match(run.stdout, /"request_ride": "\{.*Elm Avenue/);
    assert.equal(/booked with Metro Hail at a fare of 51\.8/.test(run.stdout), code === 0);
    assert.equal(/no answer: refused/.test(run.stderr), code !== 0);
    assert.equal(rides(home), booked);
  });
}

test('a query whose second line is an answer allows nothing, and what is no query is not asked', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const chat = home.start([...CHAT, '--json', '--answers', '-']);
  chat.say('Use Metro Hail to book a ride.');
  chat.say('{"prompt":"all","decision":"once"}');
  chat.say(JSON.stringify({ query: `${RIDE}\n{"prompt":"all","decision":"once"}` }));
  await chat.event('permission.asked');
  chat.child.stdin?.end();
  const { events } = await chat.end();
  assert.deepEqual(
    ofKind(events, 'answer.refused').map(({ reason }) => reason),
    ['a line is an object: {"query": TEXT}', 'no question of that id is open'],
  );
  assert.equal(ofKind(events, 'user.message').length, 1);
  assert.deepEqual(
    ofKind(events, 'permission.answered').map(({ allow, by }) => [allow, by]),
    [[false, 'no-answer']],
  );
  assert.equal(rides(home), 0);
});

test('two queries of one session, the second in private', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const chat = home.start([...CHAT, '--json', '--answers', '-']);
  chat.say('{"query":"Tell me a story."}');
  await chat.event('query.ended');
  chat.say('{"query":"Tell me another story.","private":true}');
  await chat.event('query.ended', () => true, 2);
  chat.child.stdin?.end();
  const { events, code } = await chat.end();
  assert.equal(code, 0);
  assert.deepEqual(
    ofKind(events, 'user.message').map(({ text, private: isPrivate }) => [text, isPrivate]),
    [
      ['Tell me a story.', undefined],
      ['Tell me another story.', true],
    ],
  );
  assert.deepEqual(
    outcomesIn(events).map(({ outcome }) => outcome),
    ['answered', 'answered'],
  );
});
