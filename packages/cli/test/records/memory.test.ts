/** `cordon memory` and `cordon sessions delete`, as a person or a script runs them, over a real store. */
import assert from 'node:assert/strict';
import { chmodSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { DEFAULT_LABEL, HUB_LABEL, id, type SessionId, USER_LABEL } from '@cordon/core';
import { type RunOptions, Workplace } from '@cordon/testkit/cordon-program.ts';
import { openStore, parseStoreKey, type Store } from '@cordon/trace';
import { isLeftOut } from '../../../../tools/cases.ts';

const KEY = 'ab'.repeat(32);
const OTHER = 'cd'.repeat(32);
const USER = { origin: null, source: id<'event'>('said1'), label: USER_LABEL } as const;
const EVIL = '\u001b[2J\u202eALLOWED\u0007';

function storeAt(place: Workplace): Store {
  const opened = openStore(join(place.root, 'data'), Date.now);
  assert.ok(opened.ok);
  return opened.value;
}

/** Two owners, one session, a hostile text. */
function filled(): { readonly place: Workplace; readonly session: SessionId } {
  const place = new Workplace();
  const store = storeAt(place);
  const session = store.sessions.create();
  const append = (text: string) =>
    store.journal.append(session, null, null, [], USER_LABEL, { kind: 'user.message', text });
  append('a ride to MARKER');
  const system = store.memory({ kind: 'system' });
  system.record(session, 'user', 'a ride to MARKER', USER);
  system.learn('home', 'Main Street 1', USER);
  const mail = store.memory({ kind: 'spoke', app: id('mail') });
  mail.record(session, 'assistant', `answer ${EVIL}`, { ...USER, origin: id('mail'), label: DEFAULT_LABEL });
  mail.learn('home', 'Main Street 1', USER);
  store.sessions.release(session);
  store.close();
  return { place, session };
}

function run(place: Workplace, args: readonly string[], options?: RunOptions) {
  return place.run([...args, '--data', 'data'], options);
}

function filesWith(place: Workplace, text: string): readonly string[] {
  const folder = join(place.root, 'data');
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && readFileSync(join(folder, entry.name)).includes(text))
    .map(({ name }) => name);
}

test('what is remembered is listed, shown and exported, every owner by name', () => {
  using place = filled().place;
  const listed = run(place, ['memory']);
  assert.equal(listed.code, 0);
  assert.match(listed.out, /system +1 +1 +0 +1 /);
  assert.match(listed.out, /app:mail +1 +1 +0 +1 /);
  const shown = run(place, ['memory', 'show', 'mail']);
  assert.equal(shown.out.includes('system'), false);
  assert.match(shown.out, /home {2}\(you said it\)/);
  const kinds = (args: readonly string[]) => run(place, args).lines.map((line) => Object(line).kind);
  assert.deepEqual(kinds(['memory', 'list', '--json']), ['memory.owner', 'memory.owner']);
  const all = ['memory.fact', 'memory.turn', 'memory.fact', 'memory.turn'];
  assert.deepEqual(kinds(['memory', 'export']), all);
  assert.deepEqual(kinds(['memory', 'show', '--json']), all);
  assert.deepEqual(kinds(['memory', 'export', '--owner', 'app:mail']), ['memory.fact', 'memory.turn']);
  assert.deepEqual(kinds(['memory', 'show', '--kind', 'fact', '--json']), ['memory.fact', 'memory.fact']);
});

test('a hostile text does nothing to the terminal, and is exported as it is', (t) => {
  if (isLeftOut(t)) return;
  using place = filled().place;
  for (const args of [
    ['memory', 'show'],
    ['memory', 'search', 'answer'],
  ]) {
    const { out } = run(place, args);
    for (const character of EVIL.match(/[^A-Z[2]/gu) ?? []) assert.equal(out.includes(character), false);
    assert.equal(out.includes('<U+202E>ALLOWED'), true, args.join(' '));
  }
  const texts = run(place, ['memory', 'export']).lines.map((line) => Object(line).text);
  assert.equal(texts.includes(`answer ${EVIL}`), true);
});

for (const [words, found] of [
  [['marker'], 1],
  [['MARK'], 1],
  [['main', 'street'], 2],
  [['main', 'marker'], 0],
  [['"OR', '*)'], 0],
] as const) {
  test(`a search for ${words.join(' ')} finds ${found}`, (t) => {
    if (isLeftOut(t, words.join(' ') === 'main street')) return;
    using place = filled().place;
    const { code, lines } = run(place, ['memory', 'search', ...words, '--json']);
    assert.deepEqual([code, lines.length], [0, found]);
  });
}

test('a corrected fact is corrected for all who have it, and the old one is in no file', (t) => {
  if (isLeftOut(t)) return;
  using place = filled().place;
  const [fact] = run(place, ['memory', 'export']).lines;
  const corrected = run(place, ['memory', 'correct', String(Object(fact).id), 'Oak Lane 2', '--json']);
  assert.equal(corrected.code, 0);
  const values = run(place, ['memory', 'show', '--kind', 'fact', '--json']).lines.map(
    (line) => Object(line).value,
  );
  assert.deepEqual(values, ['Oak Lane 2', 'Oak Lane 2']);
  assert.deepEqual(filesWith(place, 'Main Street'), []);
  assert.equal(run(place, ['memory', 'correct', 'nothing1', 'x']).code, 2);
});

test('nothing is deleted without a yes, and what is deleted is in no file', () => {
  using place = filled().place;
  const refused = run(place, ['memory', 'delete', '--everything'], { input: 'y\n' });
  assert.equal(refused.code, 1);
  assert.match(refused.err, /nothing was deleted: `--yes` means yes/);
  assert.equal(run(place, ['memory', 'export']).lines.length, 4);
  const some = run(place, ['memory', 'delete', '--owner', 'mail', '--yes', '--json']);
  assert.deepEqual(some.lines, [
    { kind: 'memory.deleted', turns: 1, summaries: 0, facts: 1, scrubbed: true },
  ]);
  assert.equal(run(place, ['memory', 'delete', '--everything', '--yes']).code, 0);
  assert.deepEqual(run(place, ['memory', 'export']).lines, []);
  assert.deepEqual(filesWith(place, 'Main Street'), []);
});

test('a deletion names one thing, and an unknown id deletes nothing', (t) => {
  if (isLeftOut(t)) return;
  using place = filled().place;
  const [fact] = run(place, ['memory', 'export']).lines;
  for (const args of [
    [],
    ['--everything', '--owner', 'mail'],
    [String(Object(fact).id), '--everything'],
    [String(Object(fact).id), 'nothing1'],
  ])
    assert.equal(run(place, ['memory', 'delete', ...args, '--yes']).code, 2, args.join(' '));
  assert.equal(run(place, ['memory', 'export']).lines.length, 4);
  assert.equal(run(place, ['memory', 'delete', String(Object(fact).id), '--yes']).code, 0);
  assert.equal(run(place, ['memory', 'export']).lines.length, 2);
});

test('a deleted session leaves nothing of its words in the file but facts', (t) => {
  if (isLeftOut(t)) return;
  const { place, session } = filled();
  using _ = place;
  assert.equal(run(place, ['sessions', 'delete', session]).code, 1);
  assert.notDeepEqual(filesWith(place, 'MARKER'), []);
  const deleted = run(place, ['sessions', 'delete', session, '--yes', '--json']);
  assert.deepEqual(deleted.lines, [{ kind: 'sessions.deleted', sessions: 1, events: 1, scrubbed: true }]);
  assert.deepEqual(filesWith(place, 'MARKER'), []);
  assert.notDeepEqual(filesWith(place, 'Main Street'), []);
  const again = run(place, ['sessions', 'delete', session, '--yes']);
  assert.equal(again.code, 2);
  assert.equal(again.err.split(session).length, 2, 'the session is named once');
  assert.equal(run(place, ['sessions', 'delete', '--yes']).code, 2);
});

test('sessions in which nothing happened for long are deleted by their age', (t) => {
  if (isLeftOut(t)) return;
  const { place } = filled();
  using _ = place;
  const counts = (days: string) =>
    run(place, ['sessions', 'delete', '--older-than', days, '--yes', '--json']).lines.map(
      (line) => Object(line).sessions,
    );
  assert.deepEqual(counts('1'), [0]);
  assert.deepEqual(counts('0'), [1]);
});

test('limits of the configuration or of the command decide what is kept', (t) => {
  if (isLeftOut(t)) return;
  using place = filled().place;
  assert.equal(run(place, ['memory', 'prune']).code, 2);
  assert.match(run(place, ['memory', 'prune', '--days', '1']).out, /deleted: nothing/);
  place.write('keep.json', { memory: { keepMiB: 1, keepDays: 1 } });
  assert.match(run(place, ['memory', 'prune', '--config', 'keep.json']).out, /deleted: nothing/);
  assert.match(run(place, ['memory', 'prune', '--mib', '0']).out, /deleted: 2 turns/);
  assert.equal(run(place, ['memory', 'prune', '--days', '0']).code, 0);
  assert.deepEqual(run(place, ['memory', 'export']).lines, []);
});

test('an existing store is encrypted, given another key and decrypted, and opens with the right key only', (t) => {
  if (isLeftOut(t)) return;
  using place = filled().place;
  const read = (env: Readonly<Record<string, string>>) => run(place, ['memory', 'export'], { env });
  const unused = read({ CORDON_KEY: KEY });
  assert.equal(unused.code, 2);
  assert.match(unused.err, /cordon memory rekey/);
  assert.equal(run(place, ['memory', 'rekey']).code, 2);
  assert.equal(run(place, ['memory', 'rekey'], { env: { CORDON_KEY: KEY } }).code, 0);
  assert.deepEqual(filesWith(place, 'MARKER'), []);
  assert.deepEqual(filesWith(place, 'Main Street'), []);
  assert.deepEqual([read({}).code, read({ CORDON_KEY: OTHER }).code], [2, 2]);
  assert.equal(read({ CORDON_KEY: KEY }).lines.length, 4);
  chmodSync(place.write('new.key', `${OTHER}\n`), 0o600);
  const env = { CORDON_KEY: KEY };
  assert.equal(run(place, ['memory', 'rekey', '--new-key-file', 'new.key'], { env }).code, 0);
  assert.deepEqual([read(env).code, read({ CORDON_KEY: OTHER }).lines.length], [2, 4]);
  assert.equal(read({ CORDON_KEY_FILE: join(place.root, 'new.key') }).lines.length, 4);
  assert.equal(run(place, ['memory', 'rekey', '--none'], { env: { CORDON_KEY: OTHER } }).code, 0);
  assert.equal(read({}).lines.length, 4);
});

test('a running session keeps its store from being given another key', (t) => {
  if (isLeftOut(t)) return;
  using place = filled().place;
  const store = storeAt(place);
  store.sessions.create();
  const refused = run(place, ['memory', 'rekey'], { env: { CORDON_KEY: KEY } });
  assert.equal(refused.code, 2);
  assert.match(refused.err, /a session is running/);
  store.close();
  assert.equal(run(place, ['memory', 'rekey'], { env: { CORDON_KEY: KEY } }).code, 0);
});

test('a store with the tokens of an app is not decrypted', () => {
  using place = filled().place;
  const env = { CORDON_KEY: KEY };
  assert.equal(run(place, ['memory', 'rekey'], { env }).code, 0);
  const key = parseStoreKey(KEY);
  assert.ok(key.ok);
  const store = openStore(join(place.root, 'data'), Date.now, { key: key.value });
  assert.ok(store.ok);
  store.value.logins.put('/here', id('notes'), 'tokens');
  store.value.close();
  const refused = run(place, ['memory', 'rekey', '--none'], { env });
  assert.equal(refused.code, 2);
  assert.match(refused.err, /the store holds tokens of `notes`/);
  assert.match(refused.err, /cordon apps logout notes/);
});

for (const [name, key, mode, ends] of [
  ['a command', { command: ['printf', KEY] }, 0o600, 0],
  ['a command that fails', { command: ['false'] }, 0o600, 2],
  ['a command that is not there', { command: ['/no/such/program'] }, 0o600, 2],
  ['a file', { file: 'the.key' }, 0o600, 0],
  ['a file that others may read', { file: 'the.key' }, 0o644, 2],
  ['a variable that is not set', { env: 'NO_SUCH_VARIABLE' }, 0o600, 2],
] as const) {
  test(`a key of ${name} ${ends === 0 ? 'opens' : 'does not open'} the store, and is never shown`, (t) => {
    if (isLeftOut(t, key.file === 'the.key')) return;
    using place = filled().place;
    assert.equal(run(place, ['memory', 'rekey'], { env: { CORDON_KEY: KEY } }).code, 0);
    chmodSync(place.write('the.key', KEY), mode);
    place.write('own.json', { memory: { key } });
    const { code, out, err } = run(place, ['memory', 'list', '--config', 'own.json']);
    assert.equal(code, ends, err);
    assert.equal(`${out}${err}`.includes(KEY), false);
  });
}

test('a configuration that was found in the current folder names no command for the key', (t) => {
  if (isLeftOut(t)) return;
  using place = filled().place;
  place.write('cordon.json', { memory: { key: { command: ['touch', 'RAN'] } } });
  const { code, err } = run(place, ['memory', 'list']);
  assert.equal(code, 2);
  assert.match(err, /CFG043/);
  assert.equal(readdirSync(place.root).includes('RAN'), false);
});

test('what is remembered of a session does not keep its journal from being told apart', (t) => {
  if (isLeftOut(t)) return;
  const { place, session } = filled();
  using _ = place;
  assert.equal(run(place, ['memory', 'delete', '--session', session, '--yes']).code, 0);
  const store = storeAt(place);
  assert.equal(store.journal.verify(session).intact, true);
  assert.equal(store.journal.events(session).length, 1);
  assert.deepEqual(store.journal.events(session)[0]?.label, { ...HUB_LABEL, confidentiality: 'private' });
  store.close();
});

test('a session whose journal was changed is listed as damaged, and the others as they are', (t) => {
  if (isLeftOut(t)) return;
  const { place: used, session } = filled();
  using place = used;
  const store = storeAt(place);
  const other = store.sessions.create();
  store.journal.append(other, null, null, [], USER_LABEL, { kind: 'user.message', text: 'the other' });
  store.sessions.release(other);
  store.close();
  assert.equal(run(place, ['sessions']).out.includes('damaged'), false);
  const file = new DatabaseSync(join(place.root, 'data', 'cordon.db'));
  file.exec(`DROP TRIGGER events_are_never_changed; UPDATE events SET event = '{' WHERE session = 1`);
  file.close();
  const listed = run(place, ['sessions']);
  assert.equal(listed.code, 0);
  assert.match(listed.out, new RegExp(`${session} +damaged`));
  assert.match(listed.out, new RegExp(`${other} +unfinished`));
  const audited = run(place, ['audit', 'verify']);
  assert.equal(audited.code, 1);
  assert.match(audited.out, new RegExp(`intact +${other}[^]*BROKEN +${session}`));
});
