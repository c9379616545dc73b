// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders as the configuration writes them
/** A chat at a terminal, with a provider. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { calls, type FakeScript, fails, says, startFakeOpenAi } from '@cordon/testkit/fake-openai/server.ts';
import { isLeftOut } from '../../tools/cases.ts';
import { answersIn, Home, ofKind } from '../harness/cordon.ts';
import { ledgerApp } from '../harness/ledger.ts';
import { inTurns, planning, step } from '../harness/provider-script.ts';

const PROMPT = 'cordon> ';

/** A user whose model follows the script. */
async function userWith(agent: FakeScript, app: string | null = null) {
  const home = new Home();
  const fake = await startFakeOpenAi({ script: planning([step(app)], agent) });
  const model = ['--model', 'fake/model', '--base-url', fake.baseUrl];
  const dispose = async () => {
    home[Symbol.dispose]();
    await fake.close();
  };
  return { home, fake, model, [Symbol.asyncDispose]: dispose };
}

/** How often a text stands on the screen. */
const times = (screen: string, text: string) => screen.split(text).length - 1;

test('a paragraph is on the screen while the model still writes the next one, and stands there once', async () => {
  const written = Promise.withResolvers<void>();
  await using user = await userWith(() =>
    says('The first.\n\nThe second.', {
      beforeChunk: async (chunk) => {
        // A chunk has four characters: this is the last one.
        if (chunk.includes('nd.')) await written.promise;
      },
    }),
  );
  const chat = user.home.start(['chat', ...user.model], { terminal: true });
  await chat.shown(PROMPT);
  chat.type('go\r');
  await chat.shown('The first.');
  assert.equal(times(chat.stdout, 'The second'), 0);
  written.resolve();
  await chat.shown('The second.');
  await chat.shown(PROMPT, 2);
  chat.type('/exit\r');
  const { code, stdout } = await chat.end();
  assert.equal(code, 0);
  assert.equal(times(stdout, 'The first.'), 1);
});

test('a warning about the answer stands before what it is about', async (t) => {
  if (isLeftOut(t)) return;
  await using user = await userWith(() => says('The first.\n\nThe second.'));
  const { home, model } = user;
  home.write(
    'mine.gr',
    'warn "mind this" if:\n    (a: Message)\n    a.role == "assistant"\n    "second" in a.content\n',
  );
  const { stdout } = await home.run(['ask', 'go', ...model, '--policy', 'mine.gr'], { terminal: true });
  assert.match(stdout, /The first\.[\s\S]*mind this[\s\S]*The second\./);
  assert.equal(times(stdout, 'mind this'), 1);
});

test('what is typed in a chat besides queries is answered, and nothing of it is sent', async (t) => {
  if (isLeftOut(t)) return;
  await using user = await userWith(() => says('Done.'));
  const chat = user.home.start(['chat', ...user.model], { terminal: true });
  await chat.shown(PROMPT);
  for (const [line, told] of [
    ['/apps', 'no apps are installed'],
    ['/grants', 'there are no grants'],
    ['/memory', 'nothing is remembered'],
    ['/model', 'model: fake/model'],
    ['/policy', 'injection: stops'],
    ['/undo', 'Nothing to undo'],
    ['/grants all', 'takes nothing behind it'],
    ['/mod\t', 'model: fake/model'],
  ] as const) {
    const before = times(chat.stdout, told);
    chat.type(`${line}\r`);
    await chat.shown(told, before + 1);
  }
  chat.type('/exit\r');
  assert.equal((await chat.end()).code, 0);
  assert.equal(user.fake.requests.length, 0);
});

test('a pasted text of several lines is one query, and the next session brings it back, but nothing private', async (t) => {
  if (isLeftOut(t)) return;
  await using user = await userWith(() => says('Done.'));
  const { home, model, fake } = user;
  const asked = () => fake.requests.map(({ messages }) => messages.at(-1)?.content ?? '');
  const first = home.start(['chat', ...model], { terminal: true });
  await first.shown(PROMPT);
  first.type('\u001b[200~line one\nline two\u001b[201~\r');
  await first.shown(PROMPT, 2);
  first.type('/private my secret\r');
  await first.shown(PROMPT, 3);
  first.type('/exit\r');
  await first.end();
  assert.ok(
    asked().some((text) => text === 'line one\nline two'),
    String(asked()),
  );
  const count = asked().length;
  const second = home.start(['chat', ...model], { terminal: true });
  await second.shown(PROMPT);
  second.type('\u001b[A\r');
  await second.shown(PROMPT, 2);
  second.type('/exit\r');
  await second.end();
  const again = asked().slice(count);
  assert.ok(again.includes('line one\nline two'), String(again));
  assert.ok(!again.some((text) => text.includes('secret')), String(again));
});

test('a chat in which every query failed says so in its exit code, and one with an answer does not', async (t) => {
  if (isLeftOut(t)) return;
  await using user = await userWith(({ messages }) =>
    messages.at(-1)?.content === 'fail' ? fails(400) : says('Done.'),
  );
  const { home, model } = user;
  const failed = await home.run(['chat', ...model], { input: 'fail\nfail\n' });
  assert.equal(failed.code, 2);
  assert.equal((await home.run(['chat', ...model], { input: 'fail\ngo\n' })).code, 0);
  assert.equal((await home.run(['chat', ...model], { input: '/exit\n' })).code, 0);
});

test('`cordon start` with a key and nothing else is a chat with that provider, and offers `init`', async () => {
  await using user = await userWith(() => says('Done.'));
  const { home, fake } = user;
  const env = { OPENAI_API_KEY: 'sk-none', OPENAI_BASE_URL: fake.baseUrl };
  const { code, stdout, stderr } = await home.run(['start'], { env, input: 'go\n' });
  assert.equal(code, 0, stderr);
  assert.match(stdout, /Done\./);
  assert.match(
    stderr.replace(/\s+/g, ' '),
    /OPENAI_API_KEY is set, so `openai\/gpt-5-mini` answers.*`cordon init`/,
  );
  assert.equal(fake.requests.at(-1)?.model, 'gpt-5-mini');
  assert.equal(times(stderr, 'no isolation') + times(stderr, 'model openai'), 0);
});

test('/model switches to another provider for the next queries, with the key and the conversation that it may have', async () => {
  await using user = await userWith(() => says('By the first.'));
  const other = await startFakeOpenAi({
    script: planning([step(null)], () => says('By the second.')),
    key: 'the-other-key',
  });
  try {
    const { home, fake, model } = user;
    home.write('cordon.json', {
      providers: { other: { baseURL: other.baseUrl, apiKeyEnv: 'OTHER_KEY' } },
      memory: { facts: 'patterns', summaries: 'extract' },
    });
    const env = { OTHER_KEY: 'the-other-key', FAKE_KEY: 'the-first-key' };
    const input = 'one\n/model other/large\ntwo\n/model\n';
    const { code, stdout, stderr } = await home.run(['chat', ...model], { env, input });
    assert.equal(code, 0, stderr);
    assert.match(
      stdout,
      /By the first\.[\s\S]*model: other\/large[\s\S]*By the second\.[\s\S]*model: other\/large/,
    );
    const [first, second] = [fake.requests, other.requests];
    assert.deepEqual([...new Set(first.map((request) => request.model))], ['model']);
    assert.deepEqual([...new Set(second.map((request) => request.model))], ['large']);
    assert.ok(first.every(({ headers }) => !JSON.stringify(headers).includes('the-other-key')));
    assert.ok(second.at(-1)?.messages.some(({ content }) => content.includes('By the first.')));
  } finally {
    await other.close();
  }
});

test('a query is resumed with the model that /model chose for it, and not with the one of before', async (t) => {
  if (isLeftOut(t)) return;
  let isDown = true;
  await using user = await userWith(() => (isDown ? fails(400) : says('By the second.')));
  const { home, fake } = user;
  home.write('cordon.json', {
    providers: { other: { baseURL: fake.baseUrl } },
    memory: { facts: 'patterns', summaries: 'extract' },
  });
  const chat = home.start(['chat'], { terminal: true });
  await chat.shown(PROMPT);
  for (const [at, line] of ['/model other/large', 'go', '/model obedient'].entries()) {
    chat.type(`${line}\r`);
    await chat.shown(PROMPT, at + 2);
  }
  chat.type('\u0003');
  const { stdout } = await chat.end();
  const session = /finish the query: cordon resume (\w+) --config \S+ --model other\/large\b/.exec(
    stdout,
  )?.[1];
  assert.ok(session !== undefined, stdout);
  assert.match(stdout, new RegExp(`resume it later: cordon chat --resume ${session} --config`));
  assert.doesNotMatch(stdout, /chat --resume .*--model/);
  isDown = false;
  const refused = await home.run(['resume', session]);
  assert.equal(refused.code, 2);
  assert.match(refused.stderr.replace(/\s+/g, ' '), /model `other\/large`.*`--model other\/large`/);
  const resumed = await home.run(['resume', session, '--model', 'other/large', '--json']);
  assert.equal(resumed.code, 0, resumed.stderr);
  assert.deepEqual(
    ofKind(resumed.events, 'query.resumed').map(({ model }) => model),
    ['other/large'],
  );
  assert.deepEqual(answersIn(resumed.events), ['By the second.']);
});

test('/model with a name that cannot be used says why and changes nothing', async (t) => {
  if (isLeftOut(t)) return;
  await using user = await userWith(() => says('Done.'));
  const { home, fake, model } = user;
  const input = '/model large\n/model nobody/large\n/model anthropic/claude\ngo\n';
  const { stdout, stderr } = await home.run(['chat', ...model], { input });
  const told = stderr.replace(/\s+/g, ' ');
  assert.match(told, /`large` is no name of a model.*the models here: fake\/model, obedient/);
  assert.match(told, /the provider `nobody` is unknown.*the models here: fake\/model, obedient/);
  assert.match(told, /provider `anthropic` has no key.*ANTHROPIC_API_KEY/);
  assert.match(stdout, /Done\./);
  assert.equal(fake.requests.at(-1)?.model, 'model');
});

/** The ledger, of whose two tools one changes something. */
const ledger = (irreversible: readonly string[]) => ({
  apps: { ledger: ledgerApp(irreversible) },
  labels: { tools: { 'ledger/look': { readOnly: true } } },
});

const UNDO_IN_WORDS = '@ledger Undo the last change that you made for me.';

/** All texts that the model was shown. */
const heardBy = (fake: Awaited<ReturnType<typeof startFakeOpenAi>>) =>
  fake.requests.flatMap(({ messages }) => messages.map(({ content }) => content));

test('/undo asks the app that made the last change', async (t) => {
  if (isLeftOut(t)) return;
  const agent = inTurns(
    calls([{ name: 'pay', arguments: {} }]),
    calls([{ name: 'look', arguments: {} }]),
    says('Done.'),
  );
  await using user = await userWith(agent, 'ledger');
  const { home, fake, model } = user;
  home.write('cordon.json', ledger([]));
  const answers = home.write('answers.json', [{ match: {}, decision: 'once' }]);
  const { stderr } = await home.run(['chat', ...model, '--answers', answers], {
    input: '@ledger pay the rent\n/undo\n/exit\n',
  });
  assert.match(stderr.replace(/\s+/g, ' '), /Asks `ledger` to undo its last change, `pay` of `ledger`\./);
  assert.ok(heardBy(fake).includes(UNDO_IN_WORDS));
});

// Attack: the app remembers no private query, and asked to undo its last change it would undo the one before.
test('/undo asks no app to undo what it did for a private query', async () => {
  const agent = inTurns(calls([{ name: 'pay', arguments: {} }]), says('Done.'));
  await using user = await userWith(agent, 'ledger');
  const { home, fake, model } = user;
  home.write('cordon.json', ledger([]));
  const answers = home.write('answers.json', [{ match: {}, decision: 'once' }]);
  const { stderr } = await home.run(['chat', ...model, '--answers', answers], {
    input: '/private @ledger pay the rent\n/undo\n/exit\n',
  });
  assert.match(
    stderr.replace(/\s+/g, ' '),
    /The last change was `pay` of `ledger`, which the app does not remember: it was made for a private query/,
  );
  assert.ok(!heardBy(fake).includes(UNDO_IN_WORDS));
});

test('/undo calls the tool that a label names, once, and asks nobody where a change cannot be undone', async () => {
  const then = [calls([{ name: 'look', arguments: {} }]), says('Done.')];
  const owes = inTurns(calls([{ name: 'owe', arguments: {} }]), ...then);
  const pays = inTurns(calls([{ name: 'pay', arguments: {} }]), ...then);
  const agent: FakeScript = (request, number) => {
    const asked = request.messages.findLast(({ role }) => role === 'user')?.content ?? '';
    return (asked.includes('owe') ? owes : pays)(request, number);
  };
  await using user = await userWith(agent, 'ledger');
  const { home, fake, model } = user;
  const undo = { tool: 'take_back', with: {} };
  const labels = { tools: { 'ledger/look': { readOnly: true }, 'ledger/owe': { undo } } };
  home.write('cordon.json', { ...ledger(['pay']), labels });
  const answers = home.write('answers.json', [{ match: {}, decision: 'once' }]);
  const input = '@ledger owe the rent\n/undo\n/undo\n@ledger pay the rent\n/undo\n/exit\n';
  const { stdout, stderr } = await home.run(['chat', ...model, '--answers', answers], { input });
  assert.match(stdout, /`owe` of \d\d:\d\d is undone, by `take_back` of `ledger`\. It says: «taken back»/);
  assert.equal(times(stdout, 'is undone'), 1);
  assert.match(stderr.replace(/\s+/g, ' '), /Nothing to undo.*`pay` of `ledger`, which cannot be undone/);
  assert.ok(!heardBy(fake).includes(UNDO_IN_WORDS));
  // No model was asked to do it, though the app's next context has read of it.
  assert.equal(fake.requests.filter(({ messages }) => messages.at(-1)?.content === '/undo').length, 0);
});

test('a person who says no reads once that they said it', async (t) => {
  if (isLeftOut(t)) return;
  const agent = inTurns(calls([{ name: 'pay', arguments: {} }]), says('I did not pay.'));
  await using user = await userWith(agent, 'ledger');
  const { home, model } = user;
  home.write('cordon.json', ledger(['pay']));
  const ask = home.start(['ask', '@ledger pay the rent', ...model], { terminal: true });
  await ask.shown('Allow?');
  await ask.answer('n');
  const { code, stdout } = await ask.end();
  assert.equal(code, 1);
  assert.match(stdout, /I did not pay\./);
  assert.equal(times(stdout, 'the user said no'), 1, stdout);
});
