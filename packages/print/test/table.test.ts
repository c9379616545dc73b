import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Screen } from '@cordon/console/text';
import { renderTable } from '../src/table.ts';

function drawn(columns: number, draw: (screen: Screen) => void): string {
  let shown = '';
  const output = {
    write: (text: string) => {
      shown += text;
    },
  };
  draw(new Screen({ output, columns: () => columns, hasColor: false }));
  return shown;
}

const HEADERS = ['app', 'may'];
const ROWS = [
  ['mail', 'network: example.com'],
  ['quick-ride', 'nothing'],
];

test('a table lines its columns up', () => {
  assert.equal(
    drawn(60, (screen) => renderTable(screen, HEADERS, ROWS)),
    `  app         may
  mail        network: example.com
  quick-ride  nothing
`,
  );
});

test('where words would hang over their columns, each row is a block', () => {
  const rows = [
    ['21681f7db6f4a88ef27f5333', 'interrupted', '2026-11-22 01:55Z', 'Look it up.'],
    ['a7b84caf4f6ca2771a993747', 'ended', '2026-11-22 01:51Z', '(no query)'],
  ];
  assert.equal(
    drawn(60, (screen) => renderTable(screen, ['id', 'state', 'begun', 'query'], rows)),
    `  id: 21681f7db6f4a88ef27f5333
  state: interrupted
  begun: 2026-11-22 01:55Z
  query: Look it up.

  id: a7b84caf4f6ca2771a993747
  state: ended
  begun: 2026-11-22 01:51Z
  query: (no query)

`,
  );
});

test('a first column of several words is wrapped when the others can give no more', () => {
  const rows = [['tasks whose calls are those of the reference', '1.00', '0.95', 'worse than before']];
  assert.equal(
    drawn(60, (screen) => renderTable(screen, ['figure', 'before', 'after', ''], rows)),
    `  figure                        before  after
  tasks whose calls are those   1.00    0.95   worse than
  of the reference                             before
`,
  );
});

test('the first column, which names the row, stays whole while the others can give', () => {
  const rows = [['3a281cbaa30229daa5f3358c', 'data of travel-mate', 'permanent']];
  assert.equal(
    drawn(52, (screen) => renderTable(screen, ['id', 'what', 'how long'], rows)),
    `  id                        what          how long
  3a281cbaa30229daa5f3358c  data of       permanent
                            travel-mate
`,
  );
});

test('a table that is too wide wraps its widest column', () => {
  assert.equal(
    drawn(30, (screen) => renderTable(screen, HEADERS, ROWS)),
    `  app         may
  mail        network:
              example.com
  quick-ride  nothing
`,
  );
});

test('a table with no room for its columns becomes blocks', () => {
  assert.equal(
    drawn(20, (screen) => renderTable(screen, HEADERS, ROWS)),
    `  app: mail
  may: network:
  example.com

  app: quick-ride
  may: nothing

`,
  );
});

test('a cell can neither leave its column nor fill the screen', () => {
  const hostile = `a\u001b[2J\n  mail  network: everything\n${'x\n'.repeat(1000)}`;
  const lines = drawn(60, (screen) => renderTable(screen, HEADERS, [['evil', hostile]])).split('\n');
  assert.equal(lines.length, 1 + 20 + 1);
  for (const line of lines.slice(2, -1)) assert.match(line, /^ {8}/);
  assert.equal(lines[1], '  evil  a<U+001B>[2J');
});
