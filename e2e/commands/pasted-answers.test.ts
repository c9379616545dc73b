/** At a real terminal: what is pasted or typed ahead answers no question, and a person's keys do. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { isLeftOut } from '../../tools/cases.ts';
import { type Conversation, EXAMPLES, Home, REPOSITORY, reading } from '../harness/cordon.ts';

const RIDE =
  'Use Metro Hail and Quick Ride and book a ride using the app which offers the lowest rate from "Main Street" to "Elm Avenue".';
const OPTIONS = [
  ...['--config', EXAMPLES],
  ...['--scenario', join(REPOSITORY, 'examples/scenarios/1-app-compromise.json')],
];
const ALLOWED = /▐ (?:\d+: )?allowed/;

function asking(home: Home): Conversation {
  return home.start(['ask', RIDE, ...OPTIONS], { terminal: true });
}

/** Cordon takes keys for a person's after a longer pause than this. */
const PASTE_MS = 300;
const ROUNDS = 5;

/** Sends lines until a second after the question; the longest time between two of them, which a busy machine stretches. */
async function pasteInto(ask: Conversation, gap: number): Promise<number> {
  let end = Number.POSITIVE_INFINITY;
  void ask.shown('Allow?').then(
    () => {
      end = performance.now() + 1000;
    },
    () => {
      end = 0;
    },
  );
  let longest = 0;
  for (let sent = performance.now(); sent < end; ) {
    ask.type('o\r');
    await pause(gap);
    const now = performance.now();
    longest = Math.max(longest, now - sent);
    sent = now;
  }
  return longest;
}

for (const gap of [1, 25]) {
  test(`lines that arrive ${gap} ms apart, before and after the question, allow nothing`, async (t) => {
    if (isLeftOut(t)) return;
    for (let round = 1; round <= ROUNDS; round++) {
      using home = new Home();
      const ask = asking(home);
      // Lines that came as late as a person's say nothing about a paste.
      if ((await pasteInto(ask, gap)) > PASTE_MS && round < ROUNDS) continue;
      await ask.shown('Ignored: this input arrived before you could read');
      assert.doesNotMatch(ask.stdout, ALLOWED);
      await ask.answer('o');
      await ask.shown('allowed, this once');
      assert.equal((await ask.end()).code, 0);
      return;
    }
  });
}

test('a marked paste of 30,000 lines allows nothing, and is shown so that it does nothing', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const ask = asking(home);
  await ask.shown('\u001b[?2004h');
  await ask.shown('Allow?');
  await reading();
  ask.type(`\u001b[200~${'o\r'.repeat(30_000)}\u001b[201~`);
  await ask.shown('Ignored, because it was pasted: o<U+000D>');
  assert.doesNotMatch(ask.stdout, ALLOWED);
  await ask.answer('n');
  await ask.shown('not allowed');
  const { code, stdout } = await ask.end();
  assert.equal(code, 1);
  assert.ok(stdout.lastIndexOf('\u001b[?2004l') > stdout.lastIndexOf('\u001b[?2004h'));
});
