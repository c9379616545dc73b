/** What happens to the newest events when the write-ahead log, the database or the file of acknowledged events is damaged. */
import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';

import type { SessionId } from '@cordon/core';
import type { Store, StoreKey, StoreOptions } from '@cordon/trace';
import { runs } from '../../../../tools/cases.ts';
import { SEED } from '../../../../tools/seed.ts';
import { ChainKey } from '../../src/database/chain-key.ts';
import { bytesOf, textOf } from '../../src/database/row.ts';
import { sealOf } from '../../src/database/seal.ts';
import { placeOf } from '../../src/database/sealed-column.ts';
import {
  acknowledge,
  append,
  DECIDED,
  EXECUTED,
  openOrThrow,
  PROPOSED,
  say,
  storeIn,
  temporaryFolder,
} from '../fixture.ts';

const KEY: StoreKey = { kind: 'bytes', bytes: Buffer.alloc(32, 7) };
const EVENTS = 32;
const KEYS: readonly (readonly [string, StoreOptions])[] = [
  ['without a key', {}],
  ['with the key of the store', { key: KEY }],
  ['with the key of the journal', { journalKey: Buffer.alloc(32, 9) }],
];

interface Left {
  readonly folder: string;
  readonly session: SessionId;
  readonly options: StoreOptions;
}

/** The data folder as a hub that was killed leaves it: what was committed is in the log and not in the database. */
function killedHub(t: TestContext, options: StoreOptions, events = EVENTS): Left {
  const folder = temporaryFolder(t);
  const store = openOrThrow(join(folder, 'store'), options);
  const session = store.sessions.create();
  // The session itself is in the database, the events in the log.
  store.scrub();
  for (let n = 0; n < events; n++) append(store, session, eventOf(n));
  return left(t, folder, store, session, options);
}

function eventOf(n: number) {
  return [PROPOSED, DECIDED, EXECUTED, say(`message ${n}`)][n % 4] ?? say('');
}

function left(t: TestContext, folder: string, store: Store, session: SessionId, options: StoreOptions): Left {
  t.after(() => store.close());
  const killed = join(folder, 'killed');
  cpSync(join(folder, 'store'), killed, { recursive: true });
  return { folder: killed, session, options };
}

let copies = 0;

/** The same folder once more, changed by `damage`. */
function damaged({ folder, ...rest }: Left, damage: (copy: string) => void): Left {
  const copy = `${folder}-${copies++}`;
  cpSync(folder, copy, { recursive: true });
  damage(copy);
  return { ...rest, folder: copy };
}

function flip(file: string, position: number): void {
  const bytes = readFileSync(file);
  const at = Math.floor(position / 8);
  bytes[at] = (bytes[at] ?? 0) ^ (1 << (position % 8));
  writeFileSync(file, bytes);
}

/** How many events are there, what `verify` makes of it, and whether it can be gone on with unasked. */
function look({ folder, session, options }: Left) {
  const store = openOrThrow(folder, options);
  try {
    const verification = store.journal.verify(session);
    const resumed = store.sessions.resume(session);
    return {
      events: store.sessions.find(session)?.events ?? null,
      breach: verification.intact ? null : verification.kind,
      resumed: resumed.ok ? 'resumed' : resumed.fault.kind,
      lost: store.sessions.lost().length,
    };
  } finally {
    store.close();
  }
}

/** Bits of a log, each flipped in a copy of it. */
const FLIPS = runs(30, 50, 100);

const WHOLE = { events: EVENTS, breach: null, resumed: 'resumed', lost: 0 };

for (const [name, options] of KEYS) {
  test(`${name} no bit that flips in the log loses an event unseen`, (t) => {
    t.diagnostic(`CORDON_SEED=${SEED}`);
    const hub = killedHub(t, options);
    assert.deepEqual(look(damaged(hub, () => undefined)), WHOLE);
    const bits = statSync(join(hub.folder, 'cordon.db-wal')).size * 8;
    let random = SEED;
    let losses = 0;
    for (let n = 0; n < FLIPS; n++) {
      random = (Math.imul(random, 1664525) + 1013904223) >>> 0;
      const position = Math.floor((random / 2 ** 32) * bits);
      const found = look(damaged(hub, (copy) => flip(join(copy, 'cordon.db-wal'), position)));
      if (found.events === EVENTS) assert.deepEqual(found, WHOLE, `bit ${position}`);
      else {
        losses++;
        assert.deepEqual(
          [found.breach, found.resumed],
          ['shortened', 'session-shortened'],
          `bit ${position}`,
        );
      }
      assert.equal(found.lost, 0);
    }
    assert.ok(losses > FLIPS / 2, `${losses} of ${FLIPS} lost something`);
  });

  test(`${name} a log that was cut, or is gone, is found; without its index nothing is missing`, (t) => {
    const hub = killedHub(t, options);
    const log = (copy: string) => join(copy, 'cordon.db-wal');
    const { size } = statSync(log(hub.folder));
    for (const part of [0, 1 / 8, 1 / 2, 0.99]) {
      const found = look(damaged(hub, (copy) => truncateSync(log(copy), Math.floor(size * part))));
      assert.ok((found.events ?? 0) < EVENTS);
      assert.deepEqual([found.breach, found.resumed], ['shortened', 'session-shortened'], `${part}`);
    }
    const gone = look(damaged(hub, (copy) => rmSync(log(copy))));
    assert.deepEqual([gone.breach, gone.resumed], ['shortened', 'session-shortened']);
    const withoutIndex = damaged(hub, (copy) => rmSync(join(copy, 'cordon.db-shm'), { force: true }));
    assert.deepEqual(look(withoutIndex), WHOLE);
  });

  test(`${name} an old copy of database and log is found, also where the session is not in it`, (t) => {
    const folder = temporaryFolder(t);
    const store = openOrThrow(join(folder, 'store'), options);
    t.after(() => store.close());
    const copyTo = (name: string) => cpSync(join(folder, 'store'), join(folder, name), { recursive: true });
    copyTo('before');
    const session = store.sessions.create();
    for (let n = 0; n < 4; n++) append(store, session, eventOf(n));
    copyTo('early');
    for (let n = 4; n < EVENTS; n++) append(store, session, eventOf(n));
    copyTo('late');
    const acknowledged = join(folder, 'late/acknowledged');
    for (const name of ['early', 'before'])
      cpSync(acknowledged, join(folder, name, 'acknowledged'), { recursive: true });
    assert.deepEqual(look({ folder: join(folder, 'late'), session, options }), WHOLE);
    const early = look({ folder: join(folder, 'early'), session, options });
    assert.deepEqual(early, { events: 4, breach: 'shortened', resumed: 'session-shortened', lost: 0 });
    const before = look({ folder: join(folder, 'before'), session, options });
    assert.deepEqual(before, { events: null, breach: 'unknown', resumed: 'session-unknown', lost: 1 });
  });

  test(`${name} a file of acknowledged events that is gone or broken is told, and one bit of it hides nothing`, (t) => {
    const hub = killedHub(t, options);
    const file = (copy: string) => join(copy, 'acknowledged', hub.session);
    for (const damage of [
      (copy: string) => rmSync(file(copy)),
      (copy: string) => truncateSync(file(copy), 100),
      (copy: string) => truncateSync(file(copy), 0),
      (copy: string) => writeFileSync(file(copy), 'x'.repeat(1024)),
    ]) {
      const found = look(damaged(hub, damage));
      assert.deepEqual(found, { events: EVENTS, breach: 'uncounted', resumed: 'session-shortened', lost: 0 });
    }
    // One slot is broken by it, or none: the other one asks for an event less.
    for (let bit = 0; bit < 1024 * 8; bit += runs(485, 194, 97))
      assert.deepEqual(look(damaged(hub, (copy) => flip(file(copy), bit))), WHOLE, `bit ${bit}`);
  });

  test(`${name} a hub that was killed between the journal and the file leaves nothing to be told`, (t) => {
    const folder = temporaryFolder(t);
    const store = openOrThrow(join(folder, 'store'), options);
    const session = store.sessions.create();
    const copy = () => cpSync(join(folder, 'store/acknowledged'), join(folder, 'file'), { recursive: true });
    for (let n = 0; n < EVENTS; n++) {
      copy();
      append(store, session, eventOf(n));
      const killed = left(t, folder, store, session, options);
      cpSync(join(folder, 'file'), join(killed.folder, 'acknowledged'), { recursive: true });
      assert.deepEqual(look(killed), { ...WHOLE, events: n + 1 });
      rmSync(killed.folder, { recursive: true });
    }
  });
}

test('without the key nobody makes a file that says less was acknowledged, or says that there never was one', (t) => {
  for (const options of [{ key: KEY }, { journalKey: Buffer.alloc(32, 9) }]) {
    const hub = killedHub(t, options);
    const cut = damaged(hub, (copy) => truncateSync(join(copy, 'cordon.db-wal'), 20_000));
    acknowledge(cut.folder, hub.session, 0, Buffer.alloc(32));
    assert.equal(look(cut).breach, 'uncounted');
    const denied = damaged(cut, (copy) => {
      rmSync(join(copy, 'acknowledged'), { recursive: true });
      const raw = new DatabaseSync(join(copy, 'cordon.db'));
      raw.exec('UPDATE sessions SET acknowledged = 0');
      raw.close();
    });
    const store = storeIn(t, denied.folder, options);
    assert.match(String(Object(store.journal.verify(hub.session)).kind), /^(head|signature)$/);
  }
});

test('after a failure of the machine what was synced must be there, and what was not need not', (t) => {
  const folder = temporaryFolder(t);
  const store = openOrThrow(join(folder, 'store'), { machineRun: 'one' });
  const session = store.sessions.create();
  append(store, session, PROPOSED);
  append(store, session, DECIDED);
  const synced = statSync(`${store.file}-wal`).size;
  append(store, session, EXECUTED);
  append(store, session, say('one'));
  const hub = left(t, folder, store, session, { machineRun: 'two' });
  const cut = (bytes: number, machineRun: string | null) =>
    look({
      ...damaged(hub, (copy) => truncateSync(join(copy, 'cordon.db-wal'), bytes)),
      options: { machineRun },
    });
  for (const run of ['two', null]) {
    assert.deepEqual(cut(synced, run), { ...WHOLE, events: 2 });
    assert.equal(cut(synced - 1, run).breach, 'shortened');
  }
  // On the same run the kernel has it all, whatever became of the hub.
  assert.equal(cut(synced, 'one').breach, 'shortened');
});

test('who accepts the loss goes on, and the session is intact from then on', (t) => {
  const hub = killedHub(t, {});
  const cut = damaged(hub, (copy) => truncateSync(join(copy, 'cordon.db-wal'), 40_000));
  const store = openOrThrow(cut.folder);
  const loss = store.sessions.loss(hub.session);
  assert.equal(loss?.acknowledged, EVENTS);
  assert.ok(store.sessions.resume(hub.session, { acceptsLoss: true }).ok);
  append(store, hub.session, say('goes on'));
  assert.equal(store.sessions.loss(hub.session), null);
  assert.ok(store.journal.verify(hub.session).intact);
  store.close();
  assert.equal(look(cut).breach, null);
});

test('a journal that begins otherwise than what was acknowledged is not gone on with', (t) => {
  const hub = killedHub(t, {}, 4);
  const other = killedHub(t, {}, 4);
  const mixed = damaged(hub, (copy) => acknowledge(copy, hub.session, 3, Buffer.alloc(32, 1)));
  assert.equal(look(mixed).breach, 'replaced');
  assert.equal(look(other).breach, null);
});

test('a session that has ended or was deleted has no file, and is not missed', (t) => {
  const folder = temporaryFolder(t);
  const store = storeIn(t, folder);
  const files = () => readdirSync(join(folder, 'acknowledged'));
  const [ended, erased] = [store.sessions.create(), store.sessions.create()];
  for (const session of [ended, erased]) append(store, session, say('one'));
  assert.equal(files().length, 2);
  store.journal.end(ended);
  assert.deepEqual(files(), [erased]);
  store.sessions.release(erased);
  assert.ok(store.eraseSession(erased).ok);
  assert.deepEqual(files(), []);
  assert.ok(store.journal.verify(ended).intact);
  assert.deepEqual(store.sessions.lost(), []);
});

test('the end of a session that the log has lost is missed', (t) => {
  const folder = temporaryFolder(t);
  const store = openOrThrow(join(folder, 'store'));
  const session = store.sessions.create();
  append(store, session, say('one'));
  store.scrub();
  store.journal.end(session);
  const hub = left(t, folder, store, session, {});
  assert.equal(look(damaged(hub, () => undefined)).breach, null);
  assert.equal(look(damaged(hub, (copy) => rmSync(join(copy, 'cordon.db-wal')))).breach, 'uncounted');
});

test('a session of an earlier version needs no file until it is gone on with', (t) => {
  for (const [, options] of KEYS) {
    const folder = temporaryFolder(t);
    const store = openOrThrow(folder, options);
    const session = store.sessions.create();
    append(store, session, say('one'));
    store.close();
    asBefore(folder, session, options);
    const opened = openOrThrow(folder, options);
    assert.ok(opened.journal.verify(session).intact);
    assert.ok(opened.sessions.resume(session).ok);
    assert.ok(opened.journal.verify(session).intact);
    append(opened, session, say('two'));
    opened.close();
    assert.equal(existsSync(join(folder, 'acknowledged', session)), true);
    rmSync(join(folder, 'acknowledged'), { recursive: true });
    assert.equal(look({ folder, session, options }).breach, 'uncounted');
  }
});

test('another key of the store keeps what was acknowledged, also for a process that is killed before it has the key', (t) => {
  const hub = killedHub(t, { key: KEY });
  const next: StoreKey = { kind: 'bytes', bytes: Buffer.alloc(32, 8) };
  const before = damaged(hub, () => undefined);
  const store = openOrThrow(before.folder, { key: KEY });
  const file = join(before.folder, 'acknowledged');
  store.reseal(next);
  // As a process leaves it that is killed behind the files and before the commit.
  const killed = damaged(hub, (copy) => cpSync(file, join(copy, 'acknowledged'), { recursive: true }));
  assert.deepEqual(look(killed), WHOLE);
  store.close();
  assert.deepEqual(look({ ...before, options: { key: next } }), WHOLE);
});

/** A session as a version left it that had no such file. */
function asBefore(folder: string, session: SessionId, options: StoreOptions): void {
  rmSync(join(folder, 'acknowledged'), { recursive: true });
  const raw = new DatabaseSync(join(folder, 'cordon.db'));
  const row = raw.prepare('SELECT head, signature FROM sessions').get() ?? {};
  let head = bytesOf(row, 'head');
  if (options.key !== undefined && options.key !== null) {
    const { mark, salt } = raw.prepare('SELECT mark, salt FROM seal').get() ?? {};
    const seal = sealOf(options.key, {
      derivation: 'hkdf',
      mark: textOf({ mark: mark ?? null }, 'mark'),
      salt: bytesOf({ salt: salt ?? null }, 'salt'),
    });
    const place = (acknowledged: number) => placeOf('sessions.head', { id: session, acknowledged });
    head = seal.closeBytes(seal.openBytes(head, place(1)), place(0));
  }
  const chainKey =
    options.journalKey === undefined || options.journalKey === null ? null : new ChainKey(options.journalKey);
  const signature = chainKey?.sign({ session, events: 1, head, isAcknowledged: false }) ?? null;
  raw.prepare('UPDATE sessions SET acknowledged = 0, head = ?, signature = ?').run(head, signature);
  raw.close();
}
