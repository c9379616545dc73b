/**
 * A query whose hub is killed continues from what is finished, a call that may have happened is asked about, and the journal
 * tells whether it is what was written.
 */
import assert from 'node:assert/strict';
import { rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { isLeftOut } from '../../tools/cases.ts';
import { answersIn, descendantsOf, Home, object, ofKind, REPOSITORY, untilGone } from '../harness/cordon.ts';

const QUERY = 'Say hello and then wait.';

/**
 * An app whose `echo` answers and whose `hang`, which cannot be undone, does not. It is killed in the middle of that call, which
 * must not be over by then: a busy machine may take long to see that it has begun.
 */
function install(home: Home, callSeconds = 300): readonly string[] {
  const manifest = {
    description: 'An app for tests.',
    limits: { callSeconds },
    irreversible: ['hang'],
    untrusted: [],
    private: [],
  };
  const args = [join(REPOSITORY, 'e2e/apps/trouble.mjs')];
  const config = home.write('cordon.json', { apps: { test: { command: 'node', args, manifest } } });
  const calls = [
    {
      id: 'greeting',
      app: 'test',
      tool: 'echo',
      functionality: 'echo',
      purpose: 'say hello',
      arguments: { text: 'hello' },
    },
    {
      id: 'waiting',
      app: 'test',
      tool: 'hang',
      functionality: 'hang',
      purpose: 'wait',
      arguments: {},
    },
  ];
  const scenario = home.write('scenario.json', {
    name: 'test',
    description: 'An app that is asked to wait.',
    tasks: [
      {
        id: 'both',
        query: QUERY,
        calls,
        answers: [{ when: { has: { result: 'greeting' } }, text: `The app says: ${'$'}{greeting}` }],
      },
    ],
    attacks: [],
  });
  return ['--config', config, '--scenario', scenario, '--json'];
}

/** What a person reads, on one line. */
function flat({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }): string {
  return `${stdout} ${stderr}`.replace(/\s+/g, ' ');
}

/** Asks, and kills the hub in the middle of the call that cannot be undone. */
async function killedInDoubt(home: Home, options: readonly string[]): Promise<string> {
  const ask = home.start(['ask', QUERY, ...options, '--allow-rest']);
  await ask.event('tool-call.decided', undefined, 2);
  const children = descendantsOf(ask.pid).map(({ pid }) => pid);
  ask.signal('SIGKILL');
  const { events } = await ask.end();
  await untilGone(children);
  return String(events[0]?.session);
}

test('a finished call is not made again, and the one in doubt is a question with a warning', async () => {
  using home = new Home();
  const options = install(home);
  const session = await killedInDoubt(home, options);

  const listed = await home.run(['sessions', ...options.slice(0, 2), '--json']);
  assert.deepEqual(listed.events[0]?.unfinished, { query: QUERY, inDoubt: 1 });

  const { code, events } = await home.run(['resume', ...options, '--deny-warned', '--allow-rest']);
  assert.equal(events[0]?.session, session);
  const [doubt, ...others] = ofKind(events, 'tool-call.in-doubt');
  assert.equal(others.length, 0);
  assert.deepEqual(object(doubt?.fault).kind, 'interrupted');
  assert.deepEqual(
    ofKind(events, 'tool-call.proposed').map(({ tool }) => tool),
    ['hang'],
    'the finished one stands in the journal',
  );
  const [asked] = ofKind(events, 'permission.asked');
  const [warning] = object(asked?.prompt).warnings as readonly string[];
  assert.match(warning ?? '', /^This very call was made before, and it is not known whether it took effect/);
  assert.equal(ofKind(events, 'tool-call.executed').length, 0);
  assert.equal(code, 1, 'the user said no to something that the plan expected');
  assert.deepEqual(answersIn(events), ['The app says: hello\n\nThese were refused or failed: hang.']);
});

test('under a configuration without its apps the query stays as it was, and says what it needs', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const options = install(home);
  const session = await killedInDoubt(home, options);
  const other = home.write('other.json', { apps: {} });
  for (const wanted of [[], [session]]) {
    const run = await home.run(['resume', ...wanted, '--config', other, '--deny-all']);
    assert.equal(run.code, 2);
    assert.match(
      flat(run),
      /the query was begun with `test`, which this configuration does not have help: name the configuration that it was begun with, by `--config FILE`/,
    );
  }
  const again = await home.run(['resume', ...options, '--deny-all']);
  assert.deepEqual(answersIn(again.events), ['The app says: hello\n\nThese were refused or failed: hang.']);
  const left = await killedInDoubt(home, options);
  const chat = await home.run(['chat', '--resume', left, '--config', other, '--deny-all'], {
    input: '/continue\n',
  });
  assert.match(flat(chat), /the query was begun with `test`/);
});

test('how to go on is said with the options that were given', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const options = install(home, 15).filter((option) => option !== '--json');
  const data = join(home.root, 'my data');
  const run = await home.run(['ask', QUERY, ...options, '--allow-rest', '--data', data]);
  const again = `--config ${options[1]} --data '${data}' --scenario ${options[3]}`;
  assert.match(run.stderr, new RegExp(`^finish the query: cordon resume \\w+ ${again}$`, 'm'));
});

test('a query that the built-in model began after /model is resumed without another one', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const options = install(home);
  const model = ['--model', 'fake/model', '--base-url', 'http://127.0.0.1:9/v1'];
  const chat = home.start(['chat', ...options, ...model, '--allow-rest']);
  chat.type(`/model obedient\n${QUERY}\n`);
  await chat.event('tool-call.decided', undefined, 2);
  const children = descendantsOf(chat.pid).map(({ pid }) => pid);
  chat.signal('SIGKILL');
  const { events } = await chat.end();
  await untilGone(children);
  assert.equal(ofKind(events, 'session.started')[0]?.model, 'fake/model');
  const { events: again, stderr } = await home.run(['resume', ...options, '--deny-all']);
  assert.deepEqual(answersIn(again), ['The app says: hello\n\nThese were refused or failed: hang.'], stderr);
});

test('a new chat tells what earlier sessions left, and only then', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const options = install(home).filter((option) => option !== '--json');
  const before = await home.run(['chat', ...options, '--allow-rest']);
  assert.equal(before.code, 0);
  assert.doesNotMatch(flat(before), /without an end/);
  await killedInDoubt(home, [...options, '--json']);
  const after = await home.run(['chat', ...options, '--allow-rest']);
  assert.equal(after.code, 0);
  assert.match(flat(after), /interrupted queries: 1, see `cordon sessions`/);
  assert.doesNotMatch(flat(after), /questions that wait/);
});

test('nothing to resume is said, and so is a session that there is not', async () => {
  using home = new Home();
  const options = install(home);
  const none = await home.run(['resume', ...options, '--deny-all']);
  assert.equal(none.code, 2);
  assert.match(flat(none), /no interrupted query to resume/);
  const unknown = await home.run(['resume', 'nosuchsession', ...options, '--deny-all']);
  assert.equal(unknown.code, 2);
  assert.match(flat(unknown), /there is no session `nosuchsession`/);
});

test('the audit finds the first event that was changed, and a kept head what was cut', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const options = install(home);
  const session = await killedInDoubt(home, options);
  const shared = options.slice(0, 2);

  const whole = await home.run(['audit', 'verify', ...shared]);
  assert.equal(whole.code, 0);
  assert.match(flat(whole), new RegExp(`intact ${session}: \\d+ events, not signed`));
  const heads = await home.run(['audit', 'heads', ...shared]);
  const head = heads.stdout.trim();
  assert.match(head, new RegExp(`^${session}:\\d+:[0-9a-f]{64}$`));
  const shown = await home.run(['audit', 'show', session, ...shared, '--json']);
  assert.equal(shown.events[0]?.kind, 'session.started');

  const change = (sql: string) => {
    const database = new DatabaseSync(join(home.data, 'cordon.db'));
    database.exec(
      'DROP TRIGGER IF EXISTS events_are_never_changed; DROP TRIGGER IF EXISTS events_are_never_deleted',
    );
    database.exec(sql);
    database.close();
  };
  change(`UPDATE sessions SET events = 3, head = (SELECT hash FROM events WHERE sequence = 2);
    DELETE FROM events WHERE sequence > 2;
    UPDATE sessions SET last_at = (SELECT json_extract(event, '$.time') FROM events WHERE sequence = 2),
      first_query = (SELECT json_quote(json_extract(event, '$.text')) FROM events
        WHERE json_extract(event, '$.kind') = 'user.message')`);
  const shortened = await home.run(['audit', 'verify', ...shared]);
  assert.equal(shortened.code, 1);
  assert.match(flat(shortened), /at event 3: \d+ events were acknowledged, and it has 3 \(shortened\)/);
  // Without a key whoever writes the folder takes that away as well.
  rmSync(join(home.data, 'acknowledged'), { recursive: true });
  change('UPDATE sessions SET acknowledged = 0');
  assert.equal(
    (await home.run(['audit', 'verify', ...shared])).code,
    0,
    'nothing within the folder shows it',
  );
  const cut = await home.run(['audit', 'verify', ...shared, '--head', head]);
  assert.equal(cut.code, 1);
  assert.match(flat(cut), /at event 3: it had \d+ events when the given head was taken, and has fewer/);

  change(`UPDATE events SET event = replace(event, 'wait', 'stay') WHERE sequence = 1`);
  const changed = await home.run(['audit', 'verify', session, ...shared, '--json']);
  assert.equal(changed.code, 1);
  assert.deepEqual(
    { ...changed.events[0], session: '' },
    {
      kind: 'audit.session',
      session: '',
      intact: false,
      breach: 'changed',
      sequence: 1,
      reason: 'the event or its hash was changed',
    },
  );
  const refused = await home.run(['resume', session, ...options, '--deny-all']);
  assert.equal(refused.code, 2);
  assert.match(flat(refused), /the journal of the session `\w+` was changed/);
});

test('with a key the journal is signed, and without it a signed session is not resumed', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const options = install(home);
  const shared = options.slice(0, 2);
  const session = await killedInDoubt(home, options);
  const env = { CORDON_JOURNAL_KEY: 'k'.repeat(32) };
  const unsigned = await home.run(['audit', 'verify', ...shared], { env });
  assert.equal(unsigned.code, 1);
  assert.match(flat(unsigned), /it was written without the key, or its signature was taken away/);
  assert.equal((await home.run(['audit', 'sign', session, ...shared], { env })).code, 0);
  const signed = await home.run(['audit', 'verify', ...shared], { env });
  assert.match(flat(signed), /events, signed/);
  const refused = await home.run(['resume', session, ...options, '--deny-all']);
  assert.equal(refused.code, 2);
  assert.match(flat(refused), /is signed, and this process has no key of the journal/);
  const short = await home.run(['audit', 'verify', ...shared], { env: { CORDON_JOURNAL_KEY: 'short' } });
  assert.equal(short.code, 2);
});

test('if the log lost the newest events of a session, `audit` and `sessions` say so, and Cordon resumes it only if the user agrees', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const options = install(home).filter((option) => option !== '--json');
  const session = await killedInDoubt(home, [...options, '--json']);
  const log = join(home.data, 'cordon.db-wal');
  truncateSync(log, Math.floor(statSync(log).size * 0.7));

  const verified = await home.run(['audit', 'verify']);
  assert.equal(verified.code, 1);
  assert.match(flat(verified), /\d+ events were acknowledged, and it has \d+ \(shortened\)/);
  assert.match(flat(await home.run(['sessions'])), /events lost .* a journal lacks acknowledged events/);

  const unasked = await home.run(['resume', session, ...options, '--allow-rest']);
  assert.equal(unasked.code, 2);
  assert.match(flat(unasked), /events of the session `\w+` may be lost: \d+ of its events were acknowledged/);

  const question = 'Resume it anyway?';
  const args = ['chat', '--resume', session, ...options];
  for (const [answer, code] of [
    ['n', 2],
    ['y', 0],
  ] as const) {
    const chat = home.start(args, { terminal: true });
    await chat.shown(question);
    await chat.shown('[n] no (default)');
    await chat.answer(answer);
    if (answer === 'y') {
      await chat.shown('/help lists the commands');
      await chat.shown('cordon> ');
      chat.type('/exit\r');
    }
    assert.equal((await chat.end()).code, code, answer);
  }
  assert.equal((await home.run(['audit', 'verify'])).code, 0);
  const { events } = await home.run(['audit', 'show', session, '--json']);
  assert.ok(Number(ofKind(events, 'session.resumed')[0]?.lost) > 0);
});
