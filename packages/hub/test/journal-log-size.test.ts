import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { test } from 'node:test';
import { plan } from './fixture/model.ts';
import { stageFor } from './fixture/stage.ts';
import { settled, until } from './fixture/time.ts';

/** Where SQLite starts its log over. */
const FULL = 4_120_032;

test('a chat gives the log of the journal its whole size while the user types, and a single query does not', async (t) => {
  const stage = stageFor(t, { script: { planner: [plan([])], hub: ['done', 'done'] } });
  const size = (): number => statSync(`${stage.store.file}-wal`).size;
  await stage.ask('hello');
  await settled();
  assert.ok(size() < FULL);
  stage.session.warm();
  await until(() => size() >= FULL);
  assert.equal(size(), FULL);
  assert.ok(stage.store.journal.verify(stage.session.id).intact);
});
