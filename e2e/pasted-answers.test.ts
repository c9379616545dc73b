/** At a real terminal: what is pasted or typed ahead answers no question, and a person's keys do. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { type Conversation, EXAMPLES, Home, REPOSITORY } from './cordon.ts';

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

for (const gap of [1, 25]) {
  test(`lines that arrive ${gap} ms apart, before and after the question, allow nothing`, async () => {
    using home = new Home();
    const ask = asking(home);
    let isAsked = false;
    const asked = ask.shown('Allow?').then(() => {
      isAsked = true;
    });
    const isPasting = () => !isAsked || Date.now() < end;
    let end = Number.POSITIVE_INFINITY;
    const pasting = (async () => {
      while (isPasting()) {
        ask.type('o\r');
        await pause(gap);
      }
    })();
    await asked;
    end = Date.now() + 1000;
    await pasting;
    await ask.shown('Ignored: this input arrived before you could read');
    assert.doesNotMatch(ask.stdout, ALLOWED);
    await ask.answer('o');
    await ask.shown('allowed, this once');
    assert.equal((await ask.end()).code, 0);
  });
}

test('a marked paste of 30,000 lines allows nothing, and is shown so that it does nothing', async () => {
  using home = new Home();
  const ask = asking(home);
  await ask.shown('\u001b[?2004h');
  await ask.shown('Allow?');
  await pause(700);
  ask.type(`\u001b[200~${'o\r'.repeat(30_000)}\u001b[201~`);
  await ask.shown('Ignored, because it was pasted: o<U+000D>');
  assert.doesNotMatch(ask.stdout, ALLOWED);
  await ask.answer('n');
  await ask.shown('not allowed');
  const { code, stdout } = await ask.end();
  assert.equal(code, 1);
  assert.ok(stdout.lastIndexOf('\u001b[?2004l') > stdout.lastIndexOf('\u001b[?2004h'));
});
