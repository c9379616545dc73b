/** Questions that are answered from another process, by lines of JSON, and after the hub was killed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLeftOut } from '../../tools/cases.ts';
import { type Conversation, EXAMPLES, Home, type Printed, type Run } from '../harness/cordon.ts';

const QUERY = 'Summarize the newest email for me.';
const ASK = ['ask', QUERY, '--config', EXAMPLES, '--json'];

function isObject(value: unknown): value is Printed {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function questionOf(event: Printed): string {
  if (!isObject(event.prompt)) return '';
  const { question, asks } = event.prompt;
  const rules = Array.isArray(asks) ? asks.map((rule) => `A rule asks: ${rule}.`) : [];
  return [String(question), ...rules].join(' ');
}

/** Every further question is denied from elsewhere, all that wait at once. */
async function deniedToTheEnd(home: Home, asking: Conversation): Promise<Run> {
  let isOver = false;
  const ended = asking.end().finally(() => {
    isOver = true;
  });
  while (!isOver) await home.run(['prompts', 'answer', 'all', 'deny', '--config', EXAMPLES]);
  return ended;
}

test('a question waits for another process, and its answer is what counts', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const asking = home.start([...ASK, '--wait', '50s']);
  asking.child.stdin?.end();
  const asked = await asking.event('permission.asked');
  assert.equal(questionOf(asked), 'Let `mail` ask `drive` for `document-search`?');

  const listed = await home.run(['prompts', '--config', EXAMPLES, '--json']);
  assert.deepEqual(
    listed.events.map(({ kind, id, asks }) => [kind, id, asks]),
    [['prompt', asked.id, 'permission']],
  );
  const shown = await home.run(['prompts', '--config', EXAMPLES]);
  assert.match(shown.stdout, /WARNING: you did not ask for this: it is not part of the plan for your query/);
  const edited = await home.run([
    ...['prompts', 'answer', String(asked.id), 'allow', '--edit', 'query=none'],
    ...['--config', EXAMPLES],
  ]);
  assert.equal(edited.code, 2);
  assert.match(edited.stderr.replace(/\s+/g, ' '), /`query` cannot be changed: what can is document-search/);
  const denied = await home.run(['prompts', 'answer', String(asked.id), 'deny', '--config', EXAMPLES]);
  assert.equal(denied.code, 0);
  const { code, events } = await deniedToTheEnd(home, asking);
  assert.equal(code, 0);
  const answered = events.find(({ kind }) => kind === 'permission.answered');
  assert.deepEqual([answered?.allow, answered?.from], [false, 'elsewhere']);
  assert.ok(isObject(answered?.shown) && String(answered.shown.text).startsWith('▐ PERMISSION'));

  const late = await home.run(['prompts', 'answer', String(asked.id), 'allow', '--config', EXAMPLES]);
  assert.equal(late.code, 2);
  assert.match(late.stderr, /the question is over/);
});

test('lines of JSON answer questions by their id', async () => {
  using home = new Home();
  const asking = home.start([...ASK, '--answers', '-']);
  const exchange = await asking.event('permission.asked');
  asking.say(
    JSON.stringify({
      prompt: exchange.id,
      decision: 'once',
      edits: { 'document-search': '{"query":"none"}' },
    }),
  );
  const search = await asking.event('permission.asked', () => true, 2);
  assert.equal(
    questionOf(search),
    'Let `drive` do `search_documents`? A rule asks: the plan for your request does not name this, and a text of ' +
      'others that was read gives the agent instructions.',
  );
  asking.say(JSON.stringify({ prompt: search.id, decision: 'once' }));
  const mail = await asking.event('permission.asked', () => true, 3);
  assert.equal(
    questionOf(mail),
    'Let `mail` do `send_mail`? This cannot be undone. A rule asks: the plan for your request does not name this, and ' +
      'you did not write whom or what it acts upon.',
  );
  asking.say('{"prompt": "all", "decision": "deny"}');
  asking.child.stdin?.end();
  const { events } = await asking.end();
  const ran = events.filter(({ kind }) => kind === 'tool-call.proposed').map((event) => event.arguments);
  assert.deepEqual(ran.at(1), { query: 'none' });
  const sent = events.filter(({ kind, tool }) => kind === 'tool-call.executed' && tool === 'send_mail');
  assert.deepEqual(sent, []);
});

test('the question of a hub that was killed still waits, and can be answered', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const asking = home.start([...ASK, '--wait']);
  asking.child.stdin?.end();
  const asked = await asking.event('permission.asked');
  // It is kept right after it was told of; a hub that is killed in between asks it anew.
  while (!(await home.run(['prompts', '--config', EXAMPLES])).stdout.includes(String(asked.id)));
  asking.signal('SIGKILL');
  await asking.end();
  const listed = await home.run(['prompts', '--config', EXAMPLES]);
  assert.match(listed.stdout, new RegExp(`${String(asked.id)} {2}asked .*, session interrupted`));
  const answer = [
    'prompts',
    'answer',
    String(asked.id),
    'allow',
    '--session',
    '--config',
    EXAMPLES,
    '--json',
  ];
  const answered = await home.run(answer);
  assert.deepEqual(
    answered.events.map(({ prompt, answered: isAnswered }) => [prompt, isAnswered]),
    [[asked.id, true]],
  );
  const twice = await home.run(answer);
  assert.equal(twice.code, 2);
});

test('a permission is listed, given an end, revoked and exported with what was shown', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const grants = (...args: readonly string[]) =>
    home.run(['grants', ...args, '--config', EXAMPLES, '--json']);
  const answers = home.write('answers.json', [
    { match: { scope: 'exchange' }, decision: { until: '1h' } },
    { decision: 'deny' },
  ]);
  await home.run([...ASK, '--answers', answers]);
  const [given] = (await grants('list')).events;
  assert.equal(given?.duration, 'until');
  assert.equal((await grants('list', '--scope', 'egress')).events.length, 0);
  assert.equal((await grants('list', '--scope', 'egres')).code, 2);
  assert.equal((await grants('expire', String(given?.id), '--at', '2w')).code, 2);
  assert.equal((await grants('expire', String(given?.id), '--at', '30m')).code, 0);
  assert.equal((await grants('revoke', '--app', 'drive')).code, 0);
  assert.deepEqual((await grants('list')).events, []);
  const [all] = (await grants('list', '--all')).events;
  assert.equal(all?.state, 'revoked');
  const [document] = (await grants('export')).events;
  assert.deepEqual([document?.format, document?.version], ['cordon-grants', 1]);
});
