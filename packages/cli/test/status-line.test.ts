import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusLine } from '../src/print/status-line.ts';

function stand(isTerminal = true) {
  let shown = '';
  let draw = () => {};
  const state = { isFree: true, isRepeating: false };
  const output = { write: (text: string) => (shown += text) };
  const status = new StatusLine({
    output: isTerminal ? output : null,
    columns: () => 12,
    isFree: () => state.isFree,
    hasUnicode: false,
    repeat: (drawing) => {
      draw = drawing;
      state.isRepeating = true;
      return () => {
        state.isRepeating = false;
      };
    },
  });
  return { status, state, tick: () => draw(), shown: () => shown, screen: status.around(output) };
}

const CLEAR = '\r\u001b[K';

test('the line replaces itself, is cut at the width, and goes before anything is printed', () => {
  const { status, tick, shown, screen } = stand();
  let seconds = 0;
  const hide = status.show(() => `${seconds++} s, and more`);
  tick();
  tick();
  assert.equal(shown(), `${CLEAR}| 0 s, and ${CLEAR}/ 1 s, and `);
  screen.write('text\n');
  assert.equal(shown().endsWith(`${CLEAR}text\n`), true);
  screen.write('more\n');
  assert.equal(shown().endsWith('text\nmore\n'), true);
  tick();
  hide();
  assert.equal(shown().endsWith(CLEAR), true);
});

test('nothing is drawn into a question', () => {
  const { status, state, tick, shown } = stand();
  status.show(() => 'words');
  state.isFree = false;
  tick();
  assert.equal(shown(), '');
});

test('nothing is drawn, and nothing repeats, where there is no terminal', () => {
  const { status, state, shown, screen } = stand(false);
  const hide = status.show(() => 'words');
  screen.write('text\n');
  hide();
  assert.deepEqual([shown(), state.isRepeating], ['text\n', false]);
});
