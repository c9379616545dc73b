import assert from 'node:assert/strict';
import { once } from 'node:events';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Workplace } from '@cordon/testkit/cordon-program.ts';
import { isLeftOut } from '../../../tools/cases.ts';

const POLICY = 'rule shouting:\nraise "somebody shouts" if:\n    (m: Message)\n    m.content == "HELP"\n';
const SHOUTED = '[{"role":"user","content":"HELP"}]\n';
const HARMLESS = '[{"role":"user","content":"hello"}]\n';
const RESUMED = ['scan', 'p.gr', 'a.jsonl', '--json', '--resume', 'state.json'];

const traces = (lines: readonly unknown[]): readonly unknown[] =>
  lines.flatMap((one) => (typeof one === 'object' && one !== null && 'trace' in one ? [one.trace] : []));

function lastOf(lines: readonly unknown[]): Readonly<Record<string, unknown>> {
  const last = lines.at(-1);
  assert.ok(typeof last === 'object' && last !== null);
  return { ...last };
}

test('a log that has grown goes on where the last scan stopped, with the numbers of its lines', (t) => {
  if (isLeftOut(t)) return;
  using place = new Workplace({ 'p.gr': POLICY, 'a.jsonl': HARMLESS + SHOUTED });
  const first = place.run(RESUMED);
  assert.deepEqual([first.code, traces(first.lines)], [1, ['a.jsonl:2']]);
  const second = place.run(RESUMED);
  assert.deepEqual([second.code, traces(second.lines), lastOf(second.lines).traces], [0, [], 0]);
  appendFileSync(join(place.root, 'a.jsonl'), HARMLESS + SHOUTED);
  const third = place.run(RESUMED);
  assert.deepEqual([third.code, traces(third.lines), lastOf(third.lines).traces], [1, ['a.jsonl:4'], 2]);
});

test('a last line that is not finished waits for its rest; one that is a trace without a line end does not', () => {
  using place = new Workplace({ 'p.gr': POLICY, 'a.jsonl': HARMLESS + SHOUTED.slice(0, 20) });
  const first = place.run(RESUMED);
  assert.deepEqual([first.code, traces(first.lines)], [0, []]);
  assert.match(first.err, /1 last lines are not finished/);
  appendFileSync(join(place.root, 'a.jsonl'), SHOUTED.slice(20, -1));
  const second = place.run(RESUMED);
  assert.deepEqual([second.code, traces(second.lines)], [1, ['a.jsonl:2']]);
  appendFileSync(join(place.root, 'a.jsonl'), `\n${SHOUTED}`);
  const third = place.run(RESUMED);
  assert.deepEqual([third.code, traces(third.lines)], [1, ['a.jsonl:3']]);
});

test('what goes on behind a trace without a line end is looked at, as part of that line', () => {
  using place = new Workplace({ 'p.gr': POLICY, 'a.jsonl': HARMLESS.trimEnd() });
  assert.equal(place.run(RESUMED).code, 0);
  appendFileSync(join(place.root, 'a.jsonl'), ` ${SHOUTED}${SHOUTED}`);
  const second = place.run(RESUMED);
  assert.deepEqual([second.code, traces(second.lines)], [1, ['a.jsonl:1', 'a.jsonl:2']]);
});

for (const [what, change, message] of [
  ['another policy', (place: Workplace) => place.write('p.gr', `${POLICY}# more\n`), /a policy has changed/],
  [
    'a log that is shorter',
    (place: Workplace) => place.write('a.jsonl', HARMLESS),
    /shorter than what was read/,
  ],
  [
    'a log with another beginning',
    (place: Workplace) => place.write('a.jsonl', `[${'x'.repeat(200)}\n`),
    /what was read of it has changed/,
  ],
  ['a file that is no state', (place: Workplace) => place.write('state.json', '{}'), /no state of a scan/],
] as const) {
  test(`${what} is refused with the reason, and nothing is scanned`, (t) => {
    if (isLeftOut(t, what === 'another policy' || what === 'a log with another beginning')) return;
    using place = new Workplace({ 'p.gr': POLICY, 'a.jsonl': HARMLESS + SHOUTED });
    assert.equal(place.run(RESUMED).code, 1);
    change(place);
    const { code, out, err } = place.run(RESUMED);
    assert.deepEqual({ code, out }, { code: 2, out: '' });
    assert.match(err, message);
  });
}

test('a place where no state can be kept is refused before anything is scanned', () => {
  using place = new Workplace({ 'p.gr': POLICY, 'a.jsonl': SHOUTED });
  const { code, out, err } = place.run(['scan', 'p.gr', 'a.jsonl', '--json', '--resume', 'nowhere/state']);
  assert.deepEqual({ code, out }, { code: 2, out: '' });
  assert.match(
    err.replace(/\s+/g, ' '),
    /nowhere\/state: error SCN003 the state of the scan cannot be kept: its folder does not exist or cannot be written/,
  );
});

test('other parameters or another output are refused', (t) => {
  if (isLeftOut(t)) return;
  using place = new Workplace({ 'p.gr': POLICY, 'a.jsonl': HARMLESS });
  assert.equal(place.run(RESUMED).code, 0);
  assert.match(place.run([...RESUMED, '--param', 'x=1']).err, /the parameters have changed/);
  assert.match(
    place.run([...RESUMED, '--out', 'o.jsonl']).err,
    /the form or place of the output has changed/,
  );
});

/** Enough for several seconds on any machine, so that it is certainly running when it is stopped. */
const LONG = Array.from({ length: 6000 }, (_, at) => {
  const content = at % 50 === 0 ? 'HELP' : `${at} `.repeat(2000);
  return `${JSON.stringify([{ role: 'user', content }])}\n`;
}).join('');

test('interrupted, it tells what was found and how to go on, and the next scan counts both parts', async (t) => {
  if (isLeftOut(t)) return;
  using place = new Workplace({ 'p.gr': POLICY });
  writeFileSync(join(place.root, 'a.jsonl'), LONG.repeat(2));
  const args = ['scan', 'p.gr', 'a.jsonl', '--json', '--jobs', '1', '--resume', 'state.json'];
  const child = place.start(args);
  let out = '';
  let err = '';
  child.stdout.on('data', (piece) => {
    if (out === '') child.kill('SIGINT');
    out += piece;
  });
  child.stderr.on('data', (piece) => {
    err += piece;
  });
  const [code] = await once(child, 'close');
  assert.equal(code, 2);
  assert.match(err, /interrupted; run the same command again to continue from here/);
  const told = out.trimEnd().split('\n');
  assert.match(told.at(-1) ?? '', /"complete":false/);
  const second = place.run(args);
  assert.equal(second.code, 1);
  assert.equal(told.length - 1 + second.lines.length - 1, 240);
  const { traces: all, violations, complete } = lastOf(second.lines);
  assert.deepEqual({ all, violations, complete }, { all: 12_000, violations: 240, complete: true });
});

test('what the scan writes is no log of it, and a log that it would write to is refused', (t) => {
  if (isLeftOut(t)) return;
  using place = new Workplace({ 'p.gr': POLICY, 'logs/a.jsonl': SHOUTED });
  const args = ['scan', 'p.gr', 'logs', '--json', '--out', 'logs/o.jsonl', '--resume', 'logs/state.json'];
  for (const code of [1, 0]) assert.equal(place.run(args).code, code);
  const log = join(place.root, 'logs/a.jsonl');
  const { code, err } = place.run(['scan', 'p.gr', 'logs/a.jsonl', '--json', '--out', log]);
  assert.equal(code, 2);
  assert.match(err, /the scan writes to it/);
  assert.equal(readFileSync(log, 'utf8'), SHOUTED);
});

test('a SARIF file that goes on is one document', (t) => {
  if (isLeftOut(t)) return;
  using place = new Workplace({ 'p.gr': POLICY, 'a.jsonl': HARMLESS });
  const args = ['scan', 'p.gr', 'a.jsonl', '--sarif', '--out', 'o.sarif', '--resume', 'state.json'];
  const found = (): unknown => {
    const document: { runs: { results: { ruleId: string }[] }[] } = JSON.parse(
      readFileSync(join(place.root, 'o.sarif'), 'utf8'),
    );
    return document.runs[0]?.results.map(({ ruleId }) => ruleId);
  };
  assert.deepEqual([place.run(args).code, found()], [0, []]);
  for (const count of [1, 2]) {
    appendFileSync(join(place.root, 'a.jsonl'), SHOUTED);
    assert.deepEqual([place.run(args).code, found()], [1, Array(count).fill('shouting')]);
  }
});
