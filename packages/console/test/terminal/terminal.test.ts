/** Lines that a pipe brings: none is lost, and none is cut into one that nobody wrote. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Question } from '../../src/terminal/terminal.ts';
import { scriptedTerminal } from '../scripted-terminal.ts';

const QUESTION: Question = { prompt: '> ', takes: 'line' };
const NEVER = new AbortController().signal;

test('a pipe that is far ahead loses no line', async () => {
  const { terminal, input } = scriptedTerminal({ isInteractive: false });
  const lines = Array.from({ length: 25_000 }, (_, number) => `query ${number}`);
  for (let at = 0; at < lines.length; at += 500) input.write(`${lines.slice(at, at + 500).join('\n')}\n`);
  input.end();
  const heard: string[] = [];
  for (;;) {
    const reply = await terminal.ask(QUESTION, NEVER);
    if (reply.kind !== 'line') {
      assert.equal(reply.kind, 'ended');
      break;
    }
    heard.push(reply.text);
    // Whoever asks is busy meanwhile, and the pipe goes on.
    if (heard.length % 1000 === 0) await new Promise((settle) => setImmediate(settle));
  }
  assert.deepEqual(heard, lines);
});

test('a line that is too long is told as such, and the next one counts', async () => {
  const { terminal, input } = scriptedTerminal({ isInteractive: false });
  input.end(`${'a'.repeat(100_000)}\n${'a'.repeat(100_001)}\nnext\n`);
  const kinds: string[] = [];
  for (const _ of [1, 2, 3, 4]) kinds.push((await terminal.ask(QUESTION, NEVER)).kind);
  assert.deepEqual(kinds, ['line', 'too-long', 'line', 'ended']);
});

const turn = () => new Promise((settle) => setImmediate(settle));

test('a line that is typed while something is told stands again below it, and is taken whole', async () => {
  const { terminal, input, screen, shown } = scriptedTerminal({ isInteractive: true });
  const asked = terminal.ask(QUESTION, NEVER);
  input.write('half a li');
  await turn();
  terminal.whenFree(() => screen.line('Noted: city = Lyon.'));
  await turn();
  const below = shown().slice(shown().indexOf('Noted: city = Lyon.'));
  assert.match(below, /> .*half a li/s);
  input.write('ne\r');
  assert.deepEqual(await asked, { kind: 'line', text: 'half a line' });
});

test('where nothing is told the line is not drawn anew', async () => {
  const { terminal, input, shown } = scriptedTerminal({ isInteractive: true });
  const asked = terminal.ask(QUESTION, NEVER);
  input.write('half');
  await turn();
  const before = shown();
  terminal.whenFree(() => undefined);
  assert.equal(shown(), before);
  input.write('\r');
  assert.deepEqual(await asked, { kind: 'line', text: 'half' });
});

const UP = '\u001b[A';

test('the arrow keys bring back what was recalled, with its line breaks, newest first', async () => {
  const { terminal, types } = scriptedTerminal({ isInteractive: true });
  terminal.recall(['older', 'two\nlines']);
  const first = terminal.ask(QUESTION, NEVER);
  await types(`${UP}\r`);
  assert.deepEqual(await first, { kind: 'line', text: 'two\nlines' });
  const second = terminal.ask(QUESTION, NEVER);
  await types(`${UP}${UP}\r`);
  assert.deepEqual(await second, { kind: 'line', text: 'older' });
});

// Attack: a query of an earlier session answers a question.
test('a question that takes an answer brings nothing back and completes nothing', async () => {
  const { terminal, types } = scriptedTerminal({ isInteractive: true });
  terminal.recall(['yes']);
  const asked = terminal.ask({ prompt: '> ', takes: 'answer' }, NEVER);
  await types(`${UP}\r`);
  assert.deepEqual(await asked, { kind: 'line', text: '' });
});

test('Tab completes a line to what begins like it', async () => {
  const { terminal, types, input } = scriptedTerminal({ isInteractive: true });
  const asked = terminal.ask({ ...QUESTION, completions: ['/apps ', '/model', '@mail '] }, NEVER);
  await types('@m\t');
  await turn();
  input.write('read\r');
  assert.deepEqual(await asked, { kind: 'line', text: '@mail read' });
});

// Attack: what a user typed into a form stands in the next query, and Enter sends it to a provider.
test('half an answer to a question that is over is no half of a query', async () => {
  const { terminal, types, input } = scriptedTerminal({ isInteractive: true });
  const over = new AbortController();
  const asked = terminal.ask({ prompt: '> ', takes: 'text' }, over.signal);
  await types('secret');
  await turn();
  over.abort();
  assert.deepEqual(await asked, { kind: 'aborted' });
  const query = terminal.ask(QUESTION, NEVER);
  input.write('go\r');
  assert.deepEqual(await query, { kind: 'line', text: 'go' });
});

test('half a query that was typed before the prompt stands behind it, and half an answer does not', async () => {
  const { terminal, types, input } = scriptedTerminal({ isInteractive: true });
  const first = terminal.ask(QUESTION, NEVER);
  await types('one\r');
  await first;
  input.write('half ');
  await turn();
  const second = terminal.ask(QUESTION, NEVER);
  await types('more\r');
  assert.deepEqual(await second, { kind: 'line', text: 'half more' });
  input.write('y');
  await turn();
  const answer = terminal.ask({ prompt: '> ', takes: 'answer' }, NEVER);
  await types('\r');
  assert.deepEqual(await answer, { kind: 'line', text: '' });
});
