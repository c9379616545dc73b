import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';

import { openStore, type StoreFault } from '@cordon/trace';

import { append, openOrThrow, say, startChild, storeIn, temporaryFolder } from './fixture.ts';

test('the folder and its files are for their owner alone', (t) => {
  const folder = join(temporaryFolder(t), 'data', 'cordon');
  const store = storeIn(t, folder);
  append(store, store.sessions.create(), say('x'));
  assert.equal(modeOf(folder), 0o700);
  assert.equal(modeOf(join(folder, 'claims')), 0o700);
  assert.equal(store.file, join(folder, 'cordon.db'));
  const files = ['cordon.db', 'cordon.db-shm', 'cordon.db-wal'];
  assert.deepEqual(readdirSync(folder).sort(), ['acknowledged', 'claims', ...files]);
  assert.equal(modeOf(join(folder, 'acknowledged')), 0o700);
  for (const name of ['cordon.db', 'cordon.db-shm', 'cordon.db-wal'])
    assert.equal(modeOf(join(folder, name)), 0o600);
  for (const kind of ['claims', 'acknowledged'])
    for (const name of readdirSync(join(folder, kind))) assert.equal(modeOf(join(folder, kind, name)), 0o600);
});

test('a file that others could read is closed to them', (t) => {
  const folder = temporaryFolder(t);
  openOrThrow(folder).close();
  chmodSync(join(folder, 'cordon.db'), 0o644);
  openOrThrow(folder).close();
  assert.equal(modeOf(join(folder, 'cordon.db')), 0o600);
});

test('a folder that others may write into is refused, one that they may read is not', (t) => {
  const folder = temporaryFolder(t);
  chmodSync(folder, 0o775);
  assert.deepEqual(faultIn(folder), {
    kind: 'folder-exposed',
    path: folder,
    message: `other users may write into the data folder \`${folder}\``,
    help: 'take the right away (`chmod go-w` on the folder, which must belong to you), or use another folder',
  });
  assert.deepEqual(readdirSync(folder), []);
  chmodSync(folder, 0o755);
  openOrThrow(folder).close();
});

test('a path that is no folder is refused', (t) => {
  const path = join(temporaryFolder(t), 'file');
  writeFileSync(path, '');
  assert.equal(faultIn(path).kind, 'folder-unavailable');
  assert.equal(faultIn(join(path, 'below')).kind, 'folder-unavailable');
});

test('a folder that cannot be made is refused at once, also where Node would try for ever', () => {
  const folder = new URL('../src/folder.ts', import.meta.url).href;
  const script = `import { prepareFolder } from '${folder}';
    const made = prepareFolder('/proc/cordon-test/data');
    process.stdout.write(made.ok ? 'made' : made.fault.kind);`;
  // In a process of its own: what goes on for ever there hears nothing but the end.
  const { stdout, signal } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    timeout: 300_000,
    killSignal: 'SIGKILL',
  });
  assert.deepEqual({ stdout, signal }, { stdout: 'folder-unavailable', signal: null });
});

test('a store of a newer version is refused and left as it is', (t) => {
  const folder = temporaryFolder(t);
  openOrThrow(folder).close();
  const database = new DatabaseSync(join(folder, 'cordon.db'));
  database.exec('PRAGMA user_version = 1000');
  database.close();
  const before = readFileSync(join(folder, 'cordon.db'));
  const file = join(folder, 'cordon.db');
  const { message, ...fault } = faultIn(folder);
  assert.deepEqual(fault, {
    kind: 'newer-schema',
    path: file,
    help: 'upgrade Cordon, or use another data folder',
  });
  assert.match(
    message,
    /^the store `.+` was written by a newer version of Cordon \(schema 1000, this version knows \d+\)$/,
  );
  assert.deepEqual(readFileSync(file), before);
});

for (const [name, change] of [
  ['an older version by its number alone', 'PRAGMA user_version = 0'],
  ['a version that there never was', 'PRAGMA user_version = -3'],
  ['this version without one of its tables', 'DROP TABLE turns'],
] as const) {
  test(`a store of ${name} is told to have other tables, and not to be on a broken disk`, (t) => {
    const folder = temporaryFolder(t);
    openOrThrow(folder).close();
    const database = new DatabaseSync(join(folder, 'cordon.db'));
    database.exec(`PRAGMA foreign_keys = OFF; ${change}`);
    database.close();
    const { kind, message, help } = faultIn(folder);
    assert.equal(kind, 'other-schema');
    assert.match(message, /^the store `.+` has other tables than this version of Cordon/);
    assert.doesNotMatch(help, /disk/);
  });
}

test('a file that is not a database is refused, named, and left as it is', (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'cordon.db');
  writeFileSync(file, 'This is not a database. '.repeat(100));
  const before = readFileSync(file);
  const fault = faultIn(folder);
  assert.equal(fault.kind, 'corrupt');
  assert.equal(
    fault.message,
    `the store \`${file}\` is damaged or is not a database (file is not a database)`,
  );
  assert.equal(
    fault.help,
    'restore it from a backup, or move it away (keep its `-wal` file with it) and start with a new one',
  );
  assert.deepEqual(readFileSync(file), before);
});

test('damage inside the database is a fault when it is met, never an answer', (t) => {
  const folder = temporaryFolder(t);
  const store = openOrThrow(folder);
  const session = store.sessions.create();
  for (let n = 0; n < 200; n++) append(store, session, say('x'.repeat(500)));
  store.close();
  const file = join(folder, 'cordon.db');
  const bytes = readFileSync(file);
  // The newest pages hold events and nothing of the schema, which is read when the file is opened.
  bytes.fill(0xff, bytes.length - 16 * 4096);
  writeFileSync(file, bytes);
  const damaged = storeIn(t, folder);
  assert.throws(() => damaged.journal.events(session), {
    name: 'StoreFailure',
    message: /is damaged or is not a database \(database disk image is malformed\)$/,
  });
});

test('the database of another program is refused and left as it is', (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'cordon.db');
  const database = new DatabaseSync(file);
  database.exec('CREATE TABLE mails (text)');
  database.close();
  const before = readFileSync(file);
  assert.equal(faultIn(folder).kind, 'foreign-file');
  assert.deepEqual(readFileSync(file), before);
});

test('a file or folder that may not be written is refused, a writable one is opened', async (t) => {
  const folder = join(temporaryFolder(t), 'data');
  openOrThrow(folder).close();
  chmodSync(join(folder, '..'), 0o755);
  // Root may write everything, so the child gives root up; then the folder must be its own.
  const owner = process.getuid?.() === 0 ? 65534 : (process.getuid?.() ?? 0);
  for (const path of [folder, join(folder, 'claims'), join(folder, 'cordon.db')])
    chownSync(path, owner, owner);
  const opening = () => startChild(t, 'open-unprivileged', [folder]).line();

  assert.equal(await opening(), 'opened');
  chmodSync(join(folder, 'cordon.db'), 0o400);
  assert.equal(await opening(), 'read-only');
  chmodSync(join(folder, 'cordon.db'), 0o600);
  chmodSync(folder, 0o500);
  assert.equal(await opening(), 'read-only');
  chmodSync(folder, 0o000);
  assert.equal(await opening(), 'folder-unavailable');
  // An ordinary user cannot clear away what it cannot enter.
  chmodSync(folder, 0o700);
});

test('a lock that another program keeps is a fault after the time limit', (t) => {
  const folder = temporaryFolder(t);
  const store = storeIn(t, folder, { busyMs: 1 });
  const session = store.sessions.create();
  const database = new DatabaseSync(join(folder, 'cordon.db'));
  t.after(() => database.close());
  database.exec('BEGIN IMMEDIATE');
  assert.throws(() => append(store, session, say('x')), {
    name: 'StoreFailure',
    message: /locked by another process/,
  });
  database.exec('ROLLBACK');
  assert.equal(append(store, session, say('x')).sequence, 0);
});

test('a data folder whose claims folder is gone is put right at the next start', (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'unrelated'));
  const store = storeIn(t, folder);
  store.sessions.create();
  assert.deepEqual(readdirSync(folder).sort().slice(0, 3), ['acknowledged', 'claims', 'cordon.db']);
});

function modeOf(path: string): number {
  return statSync(path).mode & 0o777;
}

function faultIn(folder: string): StoreFault {
  const opened = openStore(folder, () => 0);
  assert.ok(!opened.ok);
  return opened.fault;
}
