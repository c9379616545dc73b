import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { plan } from './fixture/model.ts';
import { stageFor } from './fixture/stage.ts';

/** Where SQLite starts its log over. */
const FULL = 4_120_032;
const DEADLINE_MS = 60_000;

test('a chat gives the log of the journal its whole size while the user types, and a single query does not', async (t) => {
  const stage = stageFor(t, { script: { planner: [plan([])], hub: ['done', 'done'] } });
  const size = (): number => statSync(`${stage.store.file}-wal`).size;
  await stage.ask('hello');
  await pause(50);
  assert.ok(size() < FULL);
  stage.session.warm();
  for (const began = Date.now(); size() < FULL && Date.now() - began < DEADLINE_MS; ) await pause(10);
  assert.equal(size(), FULL);
  assert.ok(stage.store.journal.verify(stage.session.id).intact);
});
