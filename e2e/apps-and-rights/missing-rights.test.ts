/**
 * An app fails because it lacks a right: a person is shown exactly what would be added, and after a yes the app runs with it
 * and the query is served. Real processes, at a terminal.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { calls, type FakeScript, says, startFakeOpenAi } from '@cordon/testkit/fake-openai/server.ts';
import { isLeftOut } from '../../tools/cases.ts';
import { type Conversation, Home } from '../harness/cordon.ts';
import { inTurns, planning, step } from '../harness/provider-script.ts';

const READER = join(import.meta.dirname, '../apps/reader.mjs');
const GRANT = 'Grant this? [y] yes  [n] no (default) > ';

async function grant(conversation: Conversation): Promise<void> {
  await conversation.shown(GRANT);
  await conversation.answer('y');
}

/** A model that has the app read files, and says what came of the last. */
function doing(...paths: readonly string[]): FakeScript {
  return planning(
    [step('reader', ['look'])],
    inTurns(calls(paths.map((path) => ({ name: 'look', arguments: { path } }))), (results) =>
      says(`It said: ${results.at(-1)}`),
    ),
  );
}

function configured(home: Home, more: object = {}): string {
  const app = {
    command: 'node',
    args: [READER],
    manifest: { description: 'Reads files.', irreversible: [], ...more },
  };
  return home.write('cordon.json', { apps: { reader: app } });
}

/** A folder of the user with one file. The sandbox of the superuser runs apps as another user. */
function notes(home: Home): string {
  const folder = join(home.root, 'home/notes');
  mkdirSync(folder, { mode: 0o755 });
  const file = join(realpathSync(folder), 'today.txt');
  writeFileSync(file, 'buy milk', { mode: 0o644 });
  return file;
}

/** Asks at a terminal; the app is agreed to before. */
async function asking(
  home: Home,
  command: readonly string[],
  script: FakeScript,
  talk: (conversation: Conversation) => Promise<void>,
) {
  const fake = await startFakeOpenAi({ script });
  try {
    assert.equal((await home.run(['apps', 'review', '--yes'])).code, 0);
    const model = ['--model', 'local/x', '--base-url', fake.baseUrl];
    const conversation = home.start([...command, ...model], { terminal: true, reviews: true });
    await talk(conversation);
    return await conversation.end();
  } finally {
    await fake.close();
  }
}

test('a file that an app cannot see is granted with one key, and the query is served', async () => {
  using home = new Home();
  const file = notes(home);
  const config = configured(home);
  const run = await asking(home, ['ask', 'Look.'], doing(file), async (conversation) => {
    await grant(conversation);
  });
  assert.equal(run.code, 0, run.stdout);
  assert.match(run.stdout, /MISSING RIGHT: an app says why it failed/);
  assert.match(run.stdout, /│ .*ENOENT/);
  assert.match(run.stdout.replace(/\r?\n▐ +/g, ' '), /adds to manifest\.files\.read: \S+\/notes\/today\.txt/);
  assert.match(run.stdout, /granted; the query is asked again[\s\S]*It said: [\s\S]*buy milk/);
  // Neither the file nor the app is a question again: the yes was to this very change.
  assert.doesNotMatch(run.stdout, /CONFIGURATION:|REVIEW:/);
  assert.deepEqual(JSON.parse(readFileSync(config, 'utf8')).apps.reader.manifest.files, { read: [file] });
});

// Attack: an app names a file of the user in an error, and hopes that it is granted unseen.
test('after a no nothing is granted', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const config = configured(home);
  const before = readFileSync(config, 'utf8');
  const run = await asking(home, ['ask', 'Look.'], doing(notes(home)), async (conversation) => {
    await conversation.shown(GRANT);
    await conversation.answer('n');
  });
  assert.match(run.stdout, /It said: [\s\S]*ENOENT/);
  assert.doesNotMatch(run.stdout, /asked again/);
  assert.equal(readFileSync(config, 'utf8'), before);
});

test('without a person nothing is asked or granted', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const config = configured(home);
  const before = readFileSync(config, 'utf8');
  const fake = await startFakeOpenAi({ script: doing(notes(home)) });
  try {
    const model = ['--model', 'local/x', '--base-url', fake.baseUrl, '--config', config, '--pin-unseen'];
    const piped = await home.run(['ask', 'Look.', '--allow-rest', ...model], { input: 'y\ny\n' });
    assert.match(piped.stdout, /It said: /);
    assert.doesNotMatch(piped.stdout + piped.stderr, /MISSING RIGHT/);
  } finally {
    await fake.close();
  }
  assert.equal(readFileSync(config, 'utf8'), before);
});

// Attack: the app names the data folder of Cordon, the home folder, or keys.
test('Cordon offers no right that no app may have', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  for (const folder of ['home/.ssh', 'home/My backup/.ssh', 'home/.config/gh']) {
    mkdirSync(join(home.root, folder), { recursive: true });
    writeFileSync(join(home.root, folder, 'id_ed25519'), 'key');
  }
  configured(home);
  const keys = ['home/My backup/.ssh/id_ed25519', 'home/My backup', 'home/.config', 'home/.ssh/id_ed25519'];
  const named = ['data/cordon', 'home', ...keys].map((path) => join(home.root, path));
  const run = await asking(home, ['ask', 'Look.'], doing(...named), async () => undefined);
  assert.match(run.stdout, /It said: [\s\S]*id_ed25519/);
  assert.doesNotMatch(run.stdout, /MISSING RIGHT/);
});

test('in a chat the session is resumed with the right, and the query asked again in it', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const file = notes(home);
  configured(home);
  const run = await asking(home, ['chat'], doing(file), async (conversation) => {
    await conversation.shown('cordon> ');
    await conversation.answer('Look.');
    await grant(conversation);
    await conversation.shown('buy milk');
    await conversation.answer('/exit');
  });
  assert.equal(run.code, 0, run.stdout);
  assert.equal(run.stdout.split('/help lists the commands').length, 2);
});

// Attack: an app names another file in its error, and hopes that the grant of one covers what the model does with the other.
test('what an error names and nobody granted stays the word of the app', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const file = notes(home);
  const other = join(realpathSync(join(home.root, 'home')), 'elsewhere', 'secret.txt');
  configured(home);
  const run = await asking(home, ['chat'], doing(file, other), async (conversation) => {
    await conversation.shown('cordon> ');
    await conversation.answer('Look.');
    await grant(conversation);
    await conversation.shown('a rule asks: whom or what this acts upon');
    await conversation.answer('n');
    await conversation.shown('It said: ', 2);
    await conversation.answer('/exit');
  });
  assert.equal(run.code, 0, run.stdout);
  const asked = run.stdout.slice(run.stdout.indexOf('a rule asks'));
  assert.match(asked.replace(/\r?\n▐ +/g, ' '), /secret\.txt/);
});

// Attack: a grant has the same thing posted twice.
test('a query that did something for good is not asked again, and the next one has the right', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const file = notes(home);
  configured(home, { irreversible: ['post'] });
  const look = { name: 'look', arguments: { path: file } };
  const script = planning([step('reader', ['post', 'look'])], (request, number) => {
    const asked = request.messages.findLast(({ role }) => role === 'user')?.content ?? '';
    const wanted = asked.includes('Look') ? [look] : [{ name: 'post', arguments: {} }, look];
    const answer = inTurns(calls(wanted), (results) => says(`It said: ${results.at(-1)}`));
    return answer(request, number);
  });
  const run = await asking(home, ['chat'], script, async (conversation) => {
    await conversation.shown('cordon> ');
    await conversation.answer('Post.');
    await conversation.shown('▐ Allow? ');
    await conversation.answer('o');
    await grant(conversation);
    await conversation.shown('granted, from the next query on');
    await conversation.shown('resumed after');
    await conversation.answer('Look.');
    await conversation.shown('buy milk');
    await conversation.answer('/exit');
  });
  assert.equal(run.code, 0, run.stdout);
  assert.equal(run.stdout.split('→ reader post').length, 2);
});

// Attack: an app of a private chat fails, and what is asked after the grant is remembered.
test('a private chat stays private after a grant', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const file = notes(home);
  configured(home);
  const run = await asking(home, ['chat'], doing(file), async (conversation) => {
    await conversation.shown('cordon> ');
    await conversation.answer('/private');
    await conversation.shown('cordon (private)> ');
    await conversation.answer('Look.');
    await grant(conversation);
    await conversation.shown('buy milk');
    await conversation.shown('cordon (private)> ', 2);
    await conversation.answer('/exit');
  });
  assert.equal(run.code, 0, run.stdout);
});

// Attack: what may write the file gives the running app another entry, and the yes to one right lets it through unseen.
test('an entry that was changed meanwhile is reviewed, also after a grant', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const file = notes(home);
  const config = configured(home);
  const run = await asking(home, ['chat', '--config', config], doing(file), async (conversation) => {
    await conversation.shown('cordon> ');
    const text = readFileSync(config, 'utf8');
    writeFileSync(config, text.replace('"command"', '"env": { "ADDED": "1" }, "command"'));
    await conversation.answer('Look.');
    await grant(conversation);
    await conversation.shown('Agree to this?');
    await conversation.answer('n');
    await conversation.shown('cordon> ', 2);
    await conversation.answer('/exit');
  });
  assert.match(run.stdout, /ADDED/);
});

test('a query that failed because its app did not start is not called unfinished before it is served', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const manifest = { description: 'Reads files.', irreversible: [] };
  const app = { command: 'node', args: [READER, 'READER_TOKEN'], manifest };
  const config = home.write('cordon.json', { apps: { reader: app } });
  const fake = await startFakeOpenAi({ script: doing('/nowhere') });
  try {
    const model = ['--model', 'local/x', '--base-url', fake.baseUrl, '--config', config];
    const env = { READER_TOKEN: 'x' };
    const chat = home.start(['chat', ...model], { terminal: true, env });
    await chat.shown('cordon> ');
    await chat.answer('Look.');
    await grant(chat);
    await chat.shown('It said: ');
    await chat.shown('cordon> ', 2);
    await chat.answer('/exit');
    const { stdout, code } = await chat.end();
    assert.equal(code, 0, stdout);
    assert.doesNotMatch(stdout, /unfinished|\/continue/);
  } finally {
    await fake.close();
  }
});
