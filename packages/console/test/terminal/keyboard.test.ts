/** What a person types or pastes reaches the line editor whole, in order, and a paste in few pieces. */
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { Keyboard } from '../../src/terminal/keyboard.ts';
import { PasteSplitter } from '../../src/terminal/pasted-text.ts';
import type { Question } from '../../src/terminal/terminal.ts';
import { scriptedTerminal } from '../scripted-terminal.ts';

const QUERY: Question = { prompt: '> ', takes: 'line' };
const NEVER = new AbortController().signal;

function heard(chunks: readonly string[]): Promise<readonly string[]> {
  const input = new PassThrough();
  const pieces: string[] = [];
  const keyboard = new Keyboard({
    input,
    pastes: new PasteSplitter({ now: () => 0, mostPasted: 1000 }),
    onHeard: () => undefined,
    takesKey: () => true,
    onPaste: (text) => pieces.push(`<paste ${text}>`),
    onSuspend: () => undefined,
  });
  keyboard.on('keypress', (text: string | undefined, key: { name?: string }) =>
    pieces.push(text === undefined || key.name === 'return' ? `<${key.name}>` : text),
  );
  for (const chunk of chunks) input.write(chunk);
  return new Promise((settle) => {
    setImmediate(() => settle(pieces));
  });
}

test('characters that are read at once are handed on at once', async () => {
  const pasted = 'a paste with ümlauts, 漢字 and 👩‍👩‍👧 '.repeat(1000);
  assert.deepEqual(await heard([pasted]), [pasted]);
});

test('keys that do something keep their place between characters', async () => {
  assert.deepEqual(await heard(['one\rtw\u001b[Do\r']), ['one', '<return>', 'tw', '<left>', 'o', '<return>']);
});

test('a marked paste comes whole, in its place, and cut where it is too long', async () => {
  assert.deepEqual(await heard(['one\u001b[200~t\rwo\u001b[201~three']), ['one', '<paste t\rwo>', 'three']);
  assert.deepEqual(await heard([`\u001b[200~${'x'.repeat(5000)}\u001b[201~`]), [
    `<paste ${'x'.repeat(1001)}>`,
  ]);
});

test('a pasted line of 90,000 characters is the answer, and what follows its end is the next', async () => {
  const { terminal, input } = scriptedTerminal({ isInteractive: true });
  const line = 'word '.repeat(18_000);
  const first = terminal.ask(QUERY, NEVER);
  for (let at = 0; at < line.length; at += 4096) input.write(line.slice(at, at + 4096));
  input.write('\r');
  assert.deepEqual(await first, { kind: 'line', text: line });
  const second = terminal.ask(QUERY, NEVER);
  input.write('next\r');
  assert.deepEqual(await second, { kind: 'line', text: 'next' });
});

test('a pasted line is changed with the arrow keys and the rubout like a typed one', async () => {
  const { terminal, input } = scriptedTerminal({ isInteractive: true });
  const reply = terminal.ask(QUERY, NEVER);
  input.write('abcd\u007f\u001b[D-\r');
  assert.deepEqual(await reply, { kind: 'line', text: 'ab-c' });
});

test('Ctrl-C after characters ends the question', async () => {
  const { terminal, input } = scriptedTerminal({ isInteractive: true });
  const reply = terminal.ask(QUERY, NEVER);
  input.write('half a line\u0003');
  assert.deepEqual(await reply, { kind: 'interrupted' });
});

test('half a line before a question that takes no earlier words is no part of its answer', async () => {
  const { terminal, input, types } = scriptedTerminal({ isInteractive: true });
  const query = terminal.ask(QUERY, NEVER);
  input.write('query\rye');
  assert.deepEqual(await query, { kind: 'line', text: 'query' });
  const answer = terminal.ask({ prompt: 'sure? ', takes: 'answer' }, NEVER);
  await types('no\r');
  assert.deepEqual(await answer, { kind: 'line', text: 'no' });
});
