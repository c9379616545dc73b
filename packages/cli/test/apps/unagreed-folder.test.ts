/** In a cloned folder whose `cordon.json` nobody agreed to, no command does what the file says. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { COMPILED, Workplace } from '@cordon/testkit/cordon-program.ts';
import { isLeftOut } from '../../../../tools/cases.ts';

const FILE = {
  data: './planted',
  memory: { keepDays: 1 },
  sandbox: { weaker: ['watchdog'] },
  apps: { demo: { command: 'touch', args: ['started'] } },
};

/** Each command, with arguments by which it would reach what it does. */
const COMMANDS: readonly (readonly string[])[] = [
  ['ask', 'x'],
  ['chat'],
  ['resume'],
  ['resume', 'abc'],
  ['start', '--model', 'openai/x', '--base-url', 'http://127.0.0.1:1/'],
  ['apps'],
  ['apps', 'list'],
  ['apps', 'show', 'demo'],
  ['apps', 'review', 'demo'],
  ['apps', 'pin', 'demo', `sha256:${'0'.repeat(64)}`],
  ['apps', 'unpin', 'demo'],
  ['apps', 'install'],
  ['apps', 'install', '--', 'npx', '-y', 'x'],
  ['doctor'],
  ['init', '--yes'],
  ['sessions'],
  ['sessions', 'delete', '--older-than', '1', '--yes'],
  ['audit', 'verify'],
  ['audit', 'heads'],
  ['audit', 'show', 'abc'],
  ['audit', 'sign', 'abc'],
  ['memory'],
  ['memory', 'show'],
  ['memory', 'search', 'x'],
  ['memory', 'correct', 'abc', 'x'],
  ['memory', 'delete', '--everything', '--yes'],
  ['memory', 'export'],
  ['memory', 'prune'],
  ['memory', 'prune', '--days', '1'],
  ['memory', 'rekey', '--none'],
  ['grants', 'list'],
  ['grants', 'revoke', '--all'],
  ['grants', 'expire', 'abc'],
  ['grants', 'export'],
  ['prompts'],
  ['prompts', 'answer', 'all', 'deny'],
  ['policy', 'show'],
  ['check', '--apps', 'x.gr'],
];
/** They read no `cordon.json`, or only one that they bring or that must be agreed to first (`--ask-models`). */
const WITHOUT_FILE = ['demo', 'run', 'analyze', 'monitor', 'explain', 'test', 'fmt', 'scan', 'bench', 'help'];

/** The exit code. */
function run(place: Workplace, args: readonly string[]): Promise<number> {
  return new Promise((resolve) => {
    const env = {
      PATH: process.env.PATH ?? '',
      HOME: join(place.root, 'home'),
      LANG: 'C.UTF-8',
      ...COMPILED,
    };
    const main = join(import.meta.dirname, '../../src/main.ts');
    const child = execFile(
      process.execPath,
      [main, ...args],
      { cwd: join(place.root, 'clone'), env, timeout: 300_000 },
      (error, _out, told) => {
        assert.doesNotMatch(told, /error CFG/, 'the file is a good one, and not refused for its content');
        resolve(error === null ? 0 : Number(error.code ?? -1));
      },
    );
    child.stdin?.end();
  });
}

test('every command is looked at here', () => {
  using place = new Workplace();
  const { out } = place.run(['--help']);
  const listed = out.slice(out.indexOf('Use:')).matchAll(/^ {2}([a-z]+)/gm);
  const names = new Set([...listed].map(([, name = '']) => name));
  assert.ok(names.size > 20);
  const known = new Set([...COMMANDS.map(([name = '']) => name), ...WITHOUT_FILE]);
  assert.deepEqual(
    [...names].filter((name) => !known.has(name)),
    [],
  );
});

test('no command makes a folder or database, starts a program or changes a file as an unagreed file says', async (t) => {
  if (isLeftOut(t)) return;
  using place = new Workplace({
    'clone/cordon.json': FILE,
    'clone/x.gr': 'raise "x" if:\n    (m: Message)\n',
  });
  place.write('home/.config/.keep', '');
  const before = readdirSync(join(place.root, 'clone'));
  const left = [...COMMANDS];
  const work = async () => {
    for (let args = left.shift(); args !== undefined; args = left.shift()) {
      await run(place, args);
      assert.deepEqual(readdirSync(join(place.root, 'clone')), before, args.join(' '));
    }
  };
  await Promise.all([work(), work()]);
});

test('once the file is agreed to, its data folder is used; the user’s own is used without a word', async () => {
  using place = new Workplace({ 'clone/cordon.json': FILE });
  place.write('home/.config/.keep', '');
  assert.equal(await run(place, ['sessions']), 2);
  assert.equal(await run(place, ['sessions', '--config', 'cordon.json']), 0, 'named is agreed to');
  assert.equal(existsSync(join(place.root, 'clone/planted/cordon.db')), true);
  using own = new Workplace({ 'clone/cordon.json': { apps: {} } });
  own.write('home/.config/.keep', '');
  assert.equal(await run(own, ['sessions']), 0);
  assert.equal(existsSync(join(own.root, 'home/.local/share/cordon/cordon.db')), true);
});
