import assert from 'node:assert/strict';
import { chmodSync, lstatSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Workplace } from '@cordon/testkit/cordon-program.ts';
import { isLeftOut } from '../../../../tools/cases.ts';

const CARELESS = `# Mail stays inside.
raise 'no mail' if:
  (c:ToolCall)   # any
  c is tool:send( {to:'.*'} )
`;
const CANONICAL = `# Mail stays inside.
raise "no mail" if:
    (c: ToolCall)  # any
    c is tool:send({to: ".*"})
`;
const BROKEN = 'raise "x" if\n    (c: ToolCall)\n';

test('a file is put in canonical form, with its comments, and named', () => {
  using place = new Workplace({ 'a.gr': CARELESS, 'b.gr': CANONICAL });
  const { code, out, err } = place.run(['fmt', 'a.gr', 'b.gr']);
  assert.deepEqual({ code, out, err }, { code: 0, out: 'formatted a.gr\n', err: '' });
  assert.equal(readFileSync(join(place.root, 'a.gr'), 'utf8'), CANONICAL);
  assert.equal(readFileSync(join(place.root, 'b.gr'), 'utf8'), CANONICAL);
});

test('a file in canonical form is not written, and nothing is said', (t) => {
  if (isLeftOut(t)) return;
  using place = new Workplace({ 'b.gr': CANONICAL });
  const before = statSync(join(place.root, 'b.gr')).ino;
  assert.deepEqual(place.run(['fmt', 'b.gr']).out, '');
  assert.equal(statSync(join(place.root, 'b.gr')).ino, before);
});

test('the mode of the file stays, and nothing is left beside it', (t) => {
  if (isLeftOut(t)) return;
  using place = new Workplace({ 'a.gr': CARELESS });
  chmodSync(join(place.root, 'a.gr'), 0o640);
  assert.equal(place.run(['fmt', 'a.gr']).code, 0);
  assert.equal(statSync(join(place.root, 'a.gr')).mode & 0o7777, 0o640);
  assert.deepEqual(
    readdirSync(place.root).filter((name) => name.startsWith('.cordon-')),
    [],
  );
});

test('a link stays a link, and the file that it leads to is formatted', (t) => {
  if (isLeftOut(t)) return;
  using place = new Workplace({ 'rules/a.gr': CARELESS });
  symlinkSync('rules/a.gr', join(place.root, 'link.gr'));
  assert.equal(place.run(['fmt', 'link.gr']).out, 'formatted link.gr\n');
  assert.ok(lstatSync(join(place.root, 'link.gr')).isSymbolicLink());
  assert.equal(readFileSync(join(place.root, 'rules/a.gr'), 'utf8'), CANONICAL);
});

test('with --check nothing is written, the difference is shown, and the exit code is 1', () => {
  using place = new Workplace({ 'a.gr': CARELESS });
  const { code, out } = place.run(['fmt', '--check', 'a.gr']);
  const shown = `a.gr is not formatted
@@ line 1
  # Mail stays inside.
- raise 'no mail' if:
-   (c:ToolCall)   # any
-   c is tool:send( {to:'.*'} )
+ raise "no mail" if:
+     (c: ToolCall)  # any
+     c is tool:send({to: ".*"})
  
`;
  assert.deepEqual({ code, out }, { code: 1, out: shown });
  assert.equal(readFileSync(join(place.root, 'a.gr'), 'utf8'), CARELESS);
});

test('with --check a file in canonical form is exit code 0', () => {
  using place = new Workplace({ 'b.gr': CANONICAL });
  const { code, out, err } = place.run(['fmt', '--check', 'b.gr']);
  assert.deepEqual({ code, out, err }, { code: 0, out: '', err: '' });
});

test('a broken file is left alone with its diagnostics, and the others are formatted', () => {
  using place = new Workplace({ 'broken.gr': BROKEN, 'a.gr': CARELESS });
  const { code, out, err } = place.run(['fmt', 'broken.gr', 'missing.gr', 'a.gr']);
  assert.deepEqual({ code, out }, { code: 2, out: 'formatted a.gr\n' });
  assert.match(err, /^broken\.gr:1:11: error POL003\n {2}`:` was expected behind `if`\n/);
  assert.match(err, /missing\.gr: error CFG001\n/);
  assert.equal(readFileSync(join(place.root, 'broken.gr'), 'utf8'), BROKEN);
});

test('standard input is written to standard output', () => {
  using place = new Workplace();
  const { code, out } = place.run(['fmt', '-'], { input: CARELESS.replaceAll('\n', '\r\n') });
  assert.deepEqual({ code, out }, { code: 0, out: CANONICAL });
});

test('a broken text on standard input gives no text', (t) => {
  if (isLeftOut(t)) return;
  using place = new Workplace();
  const { code, out, err } = place.run(['fmt', '-'], { input: BROKEN });
  assert.deepEqual({ code, out }, { code: 2, out: '' });
  assert.match(err, /^-:1:11: error POL003\n/);
});

test('with --json each file is one line', (t) => {
  if (isLeftOut(t)) return;
  using place = new Workplace({ 'a.gr': CARELESS, 'b.gr': CANONICAL, 'broken.gr': BROKEN });
  const { code, lines } = place.run(['fmt', '--json', '--check', 'a.gr', 'b.gr', 'broken.gr']);
  const place11 = { line: 1, column: 11, endLine: 1, endColumn: 13 };
  const diagnostic = { file: 'broken.gr', ...place11, severity: 'error', code: 'POL003' };
  assert.equal(code, 2);
  assert.deepEqual(lines, [
    { file: 'a.gr', changed: true },
    { file: 'b.gr', changed: false },
    {
      file: 'broken.gr',
      changed: false,
      diagnostics: [{ ...diagnostic, message: '`:` was expected behind `if`' }],
    },
  ]);
});

test('what a terminal would obey is made visible in differences', () => {
  using place = new Workplace({ 'a.gr': 'X:="\u001b[2J\u202e"\n' });
  const { out } = place.run(['fmt', '--check', 'a.gr']);
  assert.ok(out.includes('- X:="<U+001B>[2J<U+202E>"\n'), out);
});

test('text that is not UTF-8 is left alone', (t) => {
  if (isLeftOut(t)) return;
  using place = new Workplace();
  const { code, err } = place.run(['fmt', '-'], { input: new Uint8Array([0x58, 0xff]) });
  assert.equal(code, 2);
  assert.match(err, /it is not text in UTF-8/);
});
