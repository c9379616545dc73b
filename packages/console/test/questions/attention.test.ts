/** What a person types answers a question; what arrives by itself does not, however it is cut into pieces. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { permissionPrompt } from '@cordon/testkit/permission-prompt.ts';
import { TerminalConsent } from '../../src/questions/consent.ts';
import type { Question, Reply } from '../../src/terminal/terminal.ts';
import { terminalClock } from '../../src/terminal/terminal-clock.ts';
import { ManualClock, type ScriptedTerminal, scriptedTerminal, untilShown } from '../scripted-terminal.ts';

const NEVER = new AbortController().signal;
const ANSWER: Question = { prompt: 'Allow? > ', takes: 'answer' };
const QUERY: Question = { prompt: 'query> ', takes: 'line' };
const PASTE = (text: string) => `\u001b[200~${text}\u001b[201~`;
/** A person has read the question, or looks whether anything happens. */
const LOOK_MS = 1000;

interface Timed extends ScriptedTerminal {
  readonly clock: ManualClock;
  /** Sends each piece, so many milliseconds after the one before. */
  readonly send: (gap: number, pieces: readonly string[]) => Promise<void>;
}

function timed(options: { marksPastes?: boolean } = {}): Timed {
  const clock = new ManualClock();
  const scripted = scriptedTerminal({ isInteractive: true, clock, ...options });
  const send = async (gap: number, pieces: readonly string[]) => {
    for (const piece of pieces) {
      await settled();
      clock.advance(gap);
      scripted.input.write(piece);
    }
    await settled();
  };
  return { ...scripted, clock, send };
}

function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The reply, or null where there is none when all is quiet. */
async function replyTo(reply: Promise<Reply>, { clock }: Timed): Promise<Reply | null> {
  await settled();
  clock.advance(LOOK_MS);
  return Promise.race([
    reply,
    settled()
      .then(() => settled())
      .then(() => null),
  ]);
}

for (const gap of [1, 5, 25, 99]) {
  test(`lines that arrive ${gap} ms apart answer no question, however many there are`, async () => {
    const terminal = timed();
    const { screen, clock } = terminal;
    const consent = new TerminalConsent({ screen, terminal: terminal.terminal, now: () => 0 });
    const lines = Array.from({ length: 24 }, () => 'o\r');
    let allowed = 0;
    for (let question = 0; question < 4; question++) {
      const asked = new AbortController();
      const answer = consent.permission(permissionPrompt(), asked.signal);
      await settled();
      // The paste begins before the question could be read, in the moment that it can, and long after.
      if (question > 1) clock.advance(question === 2 ? 400 : 5000);
      await terminal.send(gap, lines);
      clock.advance(LOOK_MS);
      await settled();
      asked.abort();
      if ((await answer).allow) allowed++;
    }
    assert.equal(allowed, 0);
    terminal.terminal.close();
  });
}

test('several lines that arrive at once answer nothing, whenever they come', async () => {
  for (const wait of [0, 399, 400, 5000]) {
    for (const lines of ['o\ro\ro\r', 'o\rx', 'o\r\u001b[200~x\u001b[201~']) {
      const terminal = timed();
      const reply = terminal.terminal.ask(ANSWER, NEVER);
      await settled();
      terminal.clock.advance(wait);
      await terminal.send(0, [lines]);
      assert.equal(await replyTo(reply, terminal), null);
      terminal.terminal.close();
    }
  }
});

test('what arrived while the process was busy came before the question could be read', async () => {
  let heard = 0;
  const input = setTimeout(() => heard++, 20);
  await new Promise<void>((resolve) => {
    terminalClock.after(10, () => {
      assert.equal(heard, 1, 'what was due meanwhile ran first');
      resolve();
    });
    const end = performance.now() + 40;
    while (performance.now() < end) {
      // Busy.
    }
  });
  clearTimeout(input);
});

test('a person who reads the question and types is heard, in whatever pieces the keys come', async () => {
  for (const pieces of [['o\r'], ['o', '\r'], ['x', '\u007f', 'o', '\r']]) {
    const terminal = timed();
    const reply = terminal.terminal.ask(ANSWER, NEVER);
    await settled();
    terminal.clock.advance(400);
    await terminal.send(30, pieces);
    assert.deepEqual(await replyTo(reply, terminal), { kind: 'line', text: 'o' });
    assert.doesNotMatch(terminal.shown(), /Ignored/);
    terminal.terminal.close();
  }
});

test('an answer takes effect a tenth of a second after its Enter', async () => {
  const terminal = timed();
  const reply = terminal.terminal.ask(ANSWER, NEVER);
  let isHeard = false;
  void reply.then(() => {
    isHeard = true;
  });
  terminal.clock.advance(400);
  await terminal.send(0, ['n\r']);
  terminal.clock.advance(99);
  await settled();
  assert.equal(isHeard, false);
  terminal.clock.advance(1);
  await settled();
  assert.equal(isHeard, true);
  terminal.terminal.close();
});

test('keys that came before the question could be read are no answer, and the user is told so', async () => {
  const terminal = timed();
  const reply = terminal.terminal.ask(ANSWER, NEVER);
  await terminal.send(100, ['o', '\r', 'o', '\r']);
  assert.doesNotMatch(terminal.shown(), /Ignored/, 'told once, when the input is quiet');
  assert.equal(await replyTo(reply, terminal), null);
  assert.equal(terminal.shown().match(/Ignored: this input arrived before/g)?.length, 1);
  await terminal.send(30, ['o', '\r']);
  assert.deepEqual(await replyTo(reply, terminal), { kind: 'line', text: 'o' });
  terminal.terminal.close();
});

test('each byte begins the quiet anew', async () => {
  const terminal = timed();
  const reply = terminal.terminal.ask(ANSWER, NEVER);
  await terminal.send(399, ['o\r', 'o\r', 'o\r']);
  assert.equal(await replyTo(reply, terminal), null);
  terminal.terminal.close();
});

test('lines and half lines that were typed before the question was drawn are told of, and are no answer', async () => {
  for (const early of ['o\r', 'o']) {
    const terminal = timed();
    const query = terminal.terminal.ask(QUERY, NEVER);
    await terminal.send(30, ['hello\r', early]);
    assert.deepEqual(await query, { kind: 'line', text: 'hello' });
    const reply = terminal.terminal.ask(ANSWER, NEVER);
    assert.equal(await replyTo(reply, terminal), null);
    assert.match(terminal.shown(), /Ignored: this input arrived before/);
    terminal.terminal.close();
  }
});

test('a marked paste is no answer, and is shown so that it does nothing', async () => {
  const terminal = timed();
  const reply = terminal.terminal.ask(ANSWER, NEVER);
  terminal.clock.advance(LOOK_MS);
  await terminal.send(0, [PASTE('o\r\u001b[2J')]);
  assert.equal(await replyTo(reply, terminal), null);
  assert.match(terminal.shown(), /▐ Ignored, because it was pasted: o<U\+000D><U\+001B>\[2J\n/);
  await terminal.send(30, ['o', '\r']);
  assert.deepEqual(await replyTo(reply, terminal), { kind: 'line', text: 'o' });
  terminal.terminal.close();
});

test('a paste that pretends to have ended does not answer behind its end', async () => {
  const terminal = timed();
  const reply = terminal.terminal.ask(ANSWER, NEVER);
  terminal.clock.advance(LOOK_MS);
  await terminal.send(5, [PASTE('harmless'), 'o\r']);
  assert.equal(await replyTo(reply, terminal), null);
  terminal.terminal.close();
});

test('a paste that begins before a question and ends behind it answers nothing', async () => {
  const terminal = timed();
  const query = terminal.terminal.ask(QUERY, NEVER);
  await terminal.send(30, ['hello\r', '\u001b[200~o\r']);
  await query;
  const reply = terminal.terminal.ask(ANSWER, NEVER);
  await settled();
  terminal.clock.advance(500);
  await terminal.send(0, ['o\r', 'o\r\u001b[201~']);
  assert.equal(await replyTo(reply, terminal), null);
  terminal.terminal.close();
});

test('a paste of 30,000 lines is one query that is too long, and nothing else', async () => {
  const terminal = timed();
  const query = terminal.terminal.ask(QUERY, NEVER);
  await terminal.send(0, [PASTE('o\n'.repeat(60_000))]);
  assert.deepEqual(await query, { kind: 'too-long' });
  const reply = terminal.terminal.ask(ANSWER, NEVER);
  assert.equal(await replyTo(reply, terminal), null);
  terminal.terminal.close();
});

test('a paste of several lines is one query, shown escaped in one line, and sent with its line breaks', async () => {
  const terminal = timed();
  const query = terminal.terminal.ask(QUERY, NEVER);
  await terminal.send(30, ['say: ', PASTE('one\r\ntwo\u202e\tthree'), ' please', '\r']);
  assert.deepEqual(await query, { kind: 'line', text: 'say: one\ntwo<U+202E>\tthree please' });
  assert.match(terminal.shown(), /one⏎two<U\+202E>⇥three/);
  terminal.terminal.close();
});

test('a text may be pasted where a text is asked for; its Enter is typed', async () => {
  const terminal = timed();
  const reply = terminal.terminal.ask({ prompt: '> ', takes: 'text' }, NEVER);
  terminal.clock.advance(LOOK_MS);
  await terminal.send(0, [PASTE('line\n')]);
  assert.equal(await replyTo(reply, terminal), null);
  await terminal.send(0, ['\r']);
  assert.deepEqual(await replyTo(reply, terminal), { kind: 'line', text: 'line\n' });
  terminal.terminal.close();
});

// Attack: whoever stands behind the user, or reads the terminal's scrollback, reads the secret.
test('a secret is typed or pasted, and nothing of it is shown', async () => {
  const terminal = timed();
  const reply = terminal.terminal.ask({ prompt: 'key> ', takes: 'secret' }, NEVER);
  await terminal.send(0, [PASTE('too-early')]);
  terminal.clock.advance(LOOK_MS);
  await terminal.send(30, ['ab', PASTE('pasted'), 'c', '\u007f', '\r']);
  assert.deepEqual(await replyTo(reply, terminal), { kind: 'line', text: 'abpasted' });
  assert.match(terminal.shown(), /key> /);
  assert.doesNotMatch(terminal.shown(), /ab|pasted|early/);
  terminal.terminal.close();
});

test('marks that arrive in pieces, in each other, or without an end leave the user in charge', async () => {
  for (const pieces of [
    ['\u001b', '[20', '0~o\r\u001b[2', '01', '~'],
    [`\u001b[200~o\r\u001b[200~o\r\u001b[201~`],
    ['\u001b[200~o\r'],
  ]) {
    const terminal = timed();
    const reply = terminal.terminal.ask(ANSWER, NEVER);
    terminal.clock.advance(LOOK_MS);
    await terminal.send(1, pieces);
    assert.equal(await replyTo(reply, terminal), null);
    await terminal.send(3000, ['n']);
    terminal.clock.advance(LOOK_MS);
    await terminal.send(30, ['n', '\r']);
    assert.equal((await replyTo(reply, terminal))?.kind, 'line');
    terminal.terminal.close();
  }
});

test('Ctrl-C denies at once, also in the middle of a paste that is not marked', async () => {
  const terminal = timed();
  const reply = terminal.terminal.ask(ANSWER, NEVER);
  await terminal.send(1, ['o\r', 'o\r', '\u0003']);
  assert.deepEqual(await replyTo(reply, terminal), { kind: 'interrupted' });
  terminal.terminal.close();
});

test('a new question in the middle of an answer takes nothing of it', async () => {
  const terminal = timed();
  const { screen, clock } = terminal;
  const consent = new TerminalConsent({ screen, terminal: terminal.terminal, now: () => 0 });
  const first = consent.permission(permissionPrompt({ question: 'First?' }), NEVER);
  await untilShown(terminal, 'Allow?');
  clock.advance(LOOK_MS);
  await terminal.send(0, ['1 o']);
  const second = consent.permission(permissionPrompt({ question: 'Second?' }), NEVER);
  await untilShown(terminal, 'Answer by number');
  await terminal.send(50, ['\r', '1 o\r']);
  clock.advance(LOOK_MS);
  await settled();
  clock.advance(LOOK_MS);
  await terminal.send(0, ['all n\r']);
  clock.advance(LOOK_MS);
  assert.deepEqual(
    (await Promise.all([first, second])).map(({ allow }) => allow),
    [false, false],
  );
  terminal.terminal.close();
});

test('the terminal marks pastes while it asks, and is given back as it was', async () => {
  for (const marksPastes of [true, false]) {
    const terminal = timed({ marksPastes });
    const reply = terminal.terminal.ask(ANSWER, NEVER);
    await settled();
    assert.equal(terminal.shown().includes('\u001b[?2004h'), marksPastes);
    terminal.terminal.close();
    await reply;
    await settled();
    assert.equal(terminal.shown().includes('\u001b[?2004l'), marksPastes);
  }
});

test('a pipe answers with its next line, without a pause', async () => {
  const scripted = scriptedTerminal({ clock: new ManualClock() });
  scripted.input.end('o\n');
  assert.deepEqual(await scripted.terminal.ask(ANSWER, NEVER), { kind: 'line', text: 'o' });
});
