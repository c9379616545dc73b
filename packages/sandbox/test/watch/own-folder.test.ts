import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import { isLeftOut } from '../../../../tools/cases.ts';
import { DEEPEST, OwnFolder, OwnFolders } from '../../src/watch/own-folder.ts';

/** The pause between two measurements of a folder on a disk that nobody fills. */
const PAUSE_MS = 2_000;

/** Room that is taken more slowly may be gone only after the next measurement: then nothing is known. */
const MOST_TAKING_MS = 500;

/**
 * Whether the folder is found too large before its next measurement, after `mebibytes` were taken at once; null: too
 * slowly. The room is allocated, not written: a busy disk writes 48 MiB in seconds.
 */
async function isFoundAtOnce(mebibytes: number): Promise<boolean | null> {
  const folder = mkdtempSync(join(tmpdir(), 'own-folder-'));
  let isFound = false;
  const stop = new OwnFolders().watch(folder, { storageMiB: 8, files: 100 }, () => {
    isFound = true;
  });
  try {
    const began = performance.now();
    execFileSync('fallocate', ['-l', `${mebibytes}MiB`, join(folder, 'filled')]);
    if (performance.now() - began > MOST_TAKING_MS) return null;
    while (!isFound && performance.now() - began < PAUSE_MS - 500) await wait(10);
    return isFound;
  } finally {
    stop();
    rmSync(folder, { recursive: true });
  }
}

// Attack: gigabytes in the two seconds between two measurements.
test('a folder is measured at once when the room on the disk vanishes', async () => {
  const rounds: (boolean | null)[] = [];
  // Somebody else may give back at the same moment what is taken here, and may keep the machine busy.
  const isOpen = () => rounds.filter((found) => found === false).length < 5 && rounds.length < 60;
  while (isOpen() && rounds.at(-1) !== true) rounds.push(await isFoundAtOnce(48));
  assert.equal(rounds.at(-1), true, JSON.stringify(rounds));
});

test('what is written within the limit ends nobody', async () => {
  assert.notEqual(await isFoundAtOnce(4), true);
});

// Attack: many small files, so that a measurement takes long and none is due for twenty times as long; then large ones.
test('a folder that may be too large by now is measured before it is due', async (t) => {
  if (isLeftOut(t)) return;
  const folder = mkdtempSync(join(tmpdir(), 'own-folder-'));
  try {
    for (let n = 0; n < 3_000; n++) writeFileSync(join(folder, String(n)), '');
    const found: string[] = [];
    const own = new OwnFolder(
      folder,
      { storageMiB: 32, files: 10_000 },
      ({ limit, message }) => found.push(`${limit}: ${message}`),
      () => [],
    );
    const began = performance.now();
    own.measure();
    for (let round = 0; round < 1_000; round++) await setImmediate();
    const tookMs = performance.now() - began;
    writeFileSync(join(folder, 'large'), Buffer.alloc(40 << 20, 1));
    own.measureIfDue(performance.now(), FREE);
    own.measureIfDue(performance.now() + tookMs, FREE - (40 << 20));
    for (let round = 0; round < 1_000; round++) await setImmediate();
    assert.deepEqual(found, ['storageMiB: it keeps more than 32 MiB in its own folder']);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** More than any disk of the machine has, so that what is free there plays no part. */
const FREE = 2 ** 50;

test('folders nested too deep are told apart from a limit of the manifest', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'own-folder-'));
  try {
    mkdirSync(join(folder, ...Array.from({ length: DEEPEST + 1 }, () => 'd')), { recursive: true });
    const found: string[] = [];
    const roomy = { storageMiB: 32, files: 10_000 };
    new OwnFolder(
      folder,
      roomy,
      ({ limit }) => found.push(limit),
      () => [],
    ).measure();
    for (let round = 0; round < 1_000; round++) await setImmediate();
    assert.deepEqual(found, ['nesting']);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
