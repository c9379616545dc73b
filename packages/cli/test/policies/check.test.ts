import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Ended, Workplace } from '@cordon/testkit/cordon-program.ts';
import { isLeftOut } from '../../../../tools/cases.ts';

const CLEAN = 'raise "no mail" if:\n    (c: ToolCall)\n    c is tool:send_mail\n';
const WARNED = 'raise "x" if:\n    (m: Message)\n    m.role == "asistant"\n';
const WRONG = 'raise "x" if:\n    (c: ToolCall)\n    c.functon.name == "f"\n';
const TOOLS = [
  { name: 'send_mail', inputSchema: { type: 'object', properties: { to: { type: 'string' } } } },
];

function run(files: Readonly<Record<string, unknown>>, args: readonly string[], input = ''): Ended {
  using place = new Workplace(files);
  return place.run(['check', ...args], { input });
}

test('a policy with nothing to say about it', () => {
  const { code, out, err } = run({ 'a.gr': CLEAN }, ['a.gr']);
  assert.deepEqual({ code, out, err }, { code: 0, out: 'no problem in 1 file\n', err: '' });
});

test('a warning has its line, carets and help, and does not fail', () => {
  const { code, out } = run({ 'a.gr': WARNED, 'b.gr': CLEAN }, ['a.gr', 'b.gr']);
  const shown = `a.gr:3:15: warning POL063
  there is no role \`asistant\`
  3 |     m.role == "asistant"
    |               ^^^^^^^^^^
  help: did you mean \`assistant\`?

1 warning in 2 files
`;
  assert.deepEqual({ code, out }, { code: 0, out: shown });
});

test('with --strict a warning fails, and a policy without one does not', () => {
  assert.equal(run({ 'a.gr': WARNED }, ['--strict', 'a.gr']).code, 2);
  assert.equal(run({ 'a.gr': CLEAN }, ['--strict', 'a.gr']).code, 0);
});

test('with --json all diagnostics of all files are one line, each with every key', (t) => {
  if (isLeftOut(t)) return;
  const { code, out, lines } = run({ 'a.gr': WARNED, 'b.gr': WRONG }, ['--json', 'a.gr', 'b.gr', 'none.gr']);
  assert.equal(code, 2);
  assert.equal(out.split('\n').length, 2);
  assert.deepEqual(lines, [
    {
      diagnostics: [
        {
          file: 'a.gr',
          line: 3,
          column: 15,
          endLine: 3,
          endColumn: 25,
          severity: 'warning',
          code: 'POL063',
          message: 'there is no role `asistant`',
          help: 'did you mean `assistant`?',
        },
        {
          file: 'b.gr',
          line: 3,
          column: 7,
          endLine: 3,
          endColumn: 14,
          severity: 'error',
          code: 'POL013',
          message: 'a ToolCall has no field `functon`',
          help: 'did you mean `function`?',
        },
        {
          file: 'none.gr',
          line: null,
          column: null,
          endLine: null,
          endColumn: null,
          severity: 'error',
          code: 'CFG001',
          message: 'the file cannot be used: there is no such file',
          help: 'name a text file that you may read',
        },
      ],
    },
  ]);
});

test('with --json a clean policy is an empty list', (t) => {
  if (isLeftOut(t)) return;
  const { code, out } = run({ 'a.gr': CLEAN }, ['--json', 'a.gr']);
  assert.deepEqual({ code, out }, { code: 0, out: '{"diagnostics":[]}\n' });
});

test('what cannot be read is an error, and the other files are checked', () => {
  using place = new Workplace({ 'a.gr': WARNED, 'folder/b.gr': CLEAN });
  place.write('bytes.gr', 'raise');
  const { code, out } = place.run(['check', 'none.gr', 'folder', 'a.gr', '-'], {
    input: new Uint8Array([0xff, 0xfe, 0x00]),
  });
  assert.equal(code, 2);
  assert.match(out, /^none\.gr: error CFG001\n {2}the file cannot be used: there is no such file$/m);
  assert.match(out, /^folder: error CFG001\n {2}the file cannot be used: it is a folder$/m);
  assert.match(out, /^-: error CFG001\n {2}the file cannot be used: it is not text in UTF-8$/m);
  assert.match(out, /^a\.gr:3:15: warning POL063$/m);
  assert.match(out, /^3 errors and 1 warning in 4 files$/m);
});

test('standard input that is larger than any policy is not taken into memory', (t) => {
  if (isLeftOut(t)) return;
  const { code, out } = run({}, ['-'], '#'.repeat(17 * 1024 * 1024));
  assert.equal(code, 2);
  assert.match(out, /^-: error CFG002$/m);
  assert.match(out, /help: split it into several policies/);
});

test('an addition is an error in the dialect invariant, and none in cordon', (t) => {
  if (isLeftOut(t)) return;
  const policy = CLEAN.replace('raise', 'warn');
  assert.equal(run({ 'a.gr': policy }, ['--dialect', 'invariant', 'a.gr']).code, 2);
  assert.equal(run({ 'a.gr': policy }, ['a.gr']).code, 0);
});

test('tools and arguments are held against descriptions', () => {
  const files = {
    'a.gr': CLEAN.replace('send_mail', 'send_mial'),
    'b.gr': CLEAN,
    'tools.json': { tools: TOOLS },
  };
  const { code, out } = run(files, ['a.gr', 'b.gr', '--tools', 'tools.json']);
  assert.equal(code, 0);
  assert.match(out, /^a\.gr:3:15: warning POL066$/m);
  assert.match(out, /help: did you mean `send_mail`\?/);
  assert.match(out, /^1 warning in 2 files$/m);
});

test('descriptions that cannot be used are an error, and the policy is checked without them', (t) => {
  if (isLeftOut(t)) return;
  const files = { 'a.gr': WARNED, 'tools.json': '{"tools": 5}', 'broken.json': '[' };
  const { code, out } = run(files, ['a.gr', '--tools', 'tools.json', '--tools', 'broken.json']);
  assert.equal(code, 2);
  assert.match(out, /^tools\.json: error CFG005$/m);
  assert.match(out, /^broken\.json: error CFG003$/m);
  assert.match(out, /^a\.gr:3:15: warning POL063$/m);
});

test('of installed apps only the names in manifests are known, and no app is started', (t) => {
  if (isLeftOut(t)) return;
  const configuration = (manifest: object) => ({
    apps: { mail: { command: 'touch', args: ['started'], manifest } },
  });
  const named = run(
    {
      'cordon.json': configuration({ irreversible: ['send_mail'] }),
      'a.gr': CLEAN.replace('send_mail', 'send_mial'),
    },
    ['a.gr', '--config', 'cordon.json'],
  );
  assert.match(named.out, /^a\.gr:3:15: warning POL066$/m);
  assert.match(named.err, /only the names in manifests are known/);
  const silent = run({ 'cordon.json': configuration({}), 'a.gr': CLEAN.replace('send_mail', 'send_mial') }, [
    'a.gr',
    '--config',
    'cordon.json',
    '--json',
  ]);
  assert.equal(silent.out, '{"diagnostics":[]}\n');
  assert.match(silent.err, /are not known before the apps are started/);
});

test('a flow between calls of two installed apps is told, with and without descriptions', (t) => {
  if (isLeftOut(t)) return;
  const rule = (operator: string) =>
    `raise "x" if:\n    (a: ToolCall) ${operator} (b: ToolCall)\n    a is tool:search_mail\n    b is tool:book_flight\n`;
  const app = (manifest: object) => ({ command: 'true', manifest });
  const files = {
    'cordon.json': {
      apps: { mail: app({ untrusted: ['search_mail'] }), travel: app({ irreversible: ['book_flight'] }) },
    },
    'tools.json': [{ name: 'search_mail' }, { name: 'book_flight' }],
    'a.gr': rule('->'),
    'b.gr': rule('before'),
  };
  const named = run(files, ['a.gr', 'b.gr', '--config', 'cordon.json']);
  assert.match(named.out, /^a\.gr:2:5: warning POL072$/m);
  assert.doesNotMatch(named.out, /^b\.gr/m);
  const described = run(files, ['a.gr', '--config', 'cordon.json', '--tools', 'tools.json']);
  assert.match(described.out, /^a\.gr:2:5: warning POL072$/m);
  const unknown = run(files, ['a.gr', '--tools', 'tools.json']);
  assert.doesNotMatch(unknown.out, /POL072/);
});

test('a configuration that cannot be used fails, and standard output stays one line of JSON', (t) => {
  if (isLeftOut(t)) return;
  const { code, out, err } = run({ 'a.gr': CLEAN, 'cordon.json': '{' }, [
    'a.gr',
    '--config',
    'cordon.json',
    '--json',
  ]);
  assert.deepEqual({ code, out }, { code: 2, out: '{"diagnostics":[]}\n' });
  assert.match(err, /CFG003/);
});

test('a long line is cut around the place, and the caret stands below it', (t) => {
  if (isLeftOut(t)) return;
  const policy = `raise "x" if:\n    (m: Message)\n    "${'a'.repeat(300)}" in m.content and m.role == "asistant" and "${'b'.repeat(300)}" in m.content\n`;
  const { out } = run({ 'a.gr': policy }, ['a.gr']);
  const lines = out.split('\n');
  const at = lines.findIndex((line) => line.includes('warning POL063'));
  const [, , text = '', carets = ''] = lines.slice(at);
  assert.ok(text.length <= 80 && text.includes('…'));
  const place = text.indexOf('"asistant"');
  assert.equal(carets, `    |${' '.repeat(place - 5)}${'^'.repeat(10)}`);
});

test('tabs and wide characters move the caret by what they take on the screen', (t) => {
  if (isLeftOut(t)) return;
  const policy = 'raise "x" if:\n\t(m: Message)\n\tm.content == "世界" and m.role == "asistant"\n';
  const { out } = run({ 'a.gr': policy }, ['a.gr']);
  assert.ok(
    out.includes(
      `  3 |     m.content == "世界" and m.role == "asistant"\n    |${' '.repeat(39)}^^^^^^^^^^\n`,
    ),
    out,
  );
});

test('what a terminal would obey is written out, in the line and in the message', (t) => {
  if (isLeftOut(t)) return;
  const policy = 'raise "x" if:\n    (m: Message)\n    m.role == "\u001b[31m\u202esystm"\n    m.\u001b[2J\n';
  const { out } = run({ 'a.gr': policy }, ['a.gr']);
  const json = run({ 'a.gr': policy }, ['a.gr', '--json']);
  for (const character of ['\u001b', '\u202e'])
    assert.ok(!out.includes(character) && !json.out.includes(character));
  assert.match(out, /<U\+001B>/);
});

test('docs/cli.md shows what is printed', (t) => {
  if (isLeftOut(t)) return;
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/cli.md'), 'utf8');
  const [, policy = '', shown] =
    /^### `check`$.*?^```gr\n(.*?)^```$.*?^```\n(rules\.gr:.*?)^```$/ms.exec(page) ?? [];
  const { out } = run({ 'rules.gr': policy, 'tools.json': TOOLS }, ['rules.gr', '--tools', 'tools.json']);
  assert.equal(out, shown);
});
