/**
 * Surroundings that fail `cordon`: a disk without room, a damaged store, streams and folders that are gone, too few
 * descriptors. One line says what is wrong and one what to do, never a stack, and what was recorded is kept.
 */
import assert from 'node:assert/strict';
import { closeSync, mkdirSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { isLeftOut } from '../../tools/cases.ts';
import { answersIn, EXAMPLES, Home, REPOSITORY, type Run } from '../harness/cordon.ts';

const HELLO = 'Say hello to me.';
const ROOT_AT_HOME = process.getuid?.() === 0 ? [] : ['--map-root-user'];

/** One app that answers. */
function install(home: Home, text = 'hello'): readonly string[] {
  const manifest = { description: 'An app for tests.', irreversible: [], untrusted: [], private: [] };
  const args = [join(REPOSITORY, 'e2e/apps/trouble.mjs')];
  const config = home.write('cordon.json', { apps: { test: { command: 'node', args, manifest } } });
  const call = { id: 'greeting', app: 'test', tool: 'echo', arguments: { text } };
  const answers = [{ text: `The app says: ${'$'}{greeting}` }];
  const scenario = home.write('scenario.json', {
    name: 'test',
    description: 'An app that greets.',
    tasks: [{ id: 'hello', query: HELLO, calls: [call], answers }],
    attacks: [],
  });
  return ['--config', config, '--scenario', scenario, '--deny-all'];
}

/** What a person reads, on one line. */
function flat({ stdout, stderr }: Run): string {
  return `${stdout} ${stderr}`.replace(/\s+/g, ' ');
}

function assertNoStack(run: Run): void {
  assert.doesNotMatch(run.stdout + run.stderr, /\bat .*:\d+:\d+|Unhandled|throw er|Node\.js v/);
}

describe('a disk without room', () => {
  for (const kib of [4, 256, 640]) {
    test(`of ${kib} KiB: it says so and what to do, and with room the session continues`, async (t) => {
      if (isLeftOut(t, kib === 256)) return;
      using home = new Home();
      const options = install(home);
      assert.equal((await home.run(['ask', HELLO, ...options])).code, 0);
      mkdirSync(join(home.root, 'small'));
      const script =
        'mount -t tmpfs -o size="$1"k tmpfs "$0"; mkdir -m 700 "$0/cordon"; shift; code=0; "$@" || code=$?; ' +
        'mount -o remount,size=64m "$0"; ' +
        `'${REPOSITORY}/node_modules/.bin/cordon' audit verify || code=90; exit $code`;
      const through = ['unshare', ...ROOT_AT_HOME, '--mount', 'sh', '-euc', script];
      const run = await home.run(['chat', ...options], {
        through: [...through, join(home.root, 'small'), String(kib)],
        env: { XDG_DATA_HOME: join(home.root, 'small') },
        input: `${HELLO}\n`.repeat(8),
      });
      assert.equal(run.code, 2, flat(run));
      assert.match(flat(run), /there is no room left for the store `.*\/small\/cordon\/cordon\.db`/);
      assert.match(flat(run), /help: free disk space; everything recorded so far is kept/);
      if (kib > 4) assert.match(flat(run), /resume it later: cordon chat --resume \w+/);
      assertNoStack(run);
    });
  }
});

describe('a damaged store', () => {
  test('ends the command with a line that names it and says what to do', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const options = install(home);
    assert.equal((await home.run(['ask', HELLO, ...options])).code, 0);
    const file = join(home.data, 'cordon.db');
    const pages = Math.floor(statSync(file).size / 4096);
    const descriptor = openSync(file, 'r+');
    for (let page = 2; page < pages; page++)
      writeSync(descriptor, Buffer.alloc(4096, 0xee), 0, 4096, page * 4096);
    closeSync(descriptor);
    const run = await home.run(['ask', HELLO, ...options]);
    assert.equal(run.code, 2);
    assert.match(flat(run), /the store `.*cordon\.db` is damaged or is not a database/);
    assert.match(flat(run), /help: restore it from a backup, or move it away/);
    assertNoStack(run);
  });

  test('a folder instead of the file ends the command with a line that says so', async () => {
    using home = new Home();
    const options = install(home);
    mkdirSync(join(home.data, 'cordon.db'), { recursive: true, mode: 0o700 });
    const run = await home.run(['ask', HELLO, ...options]);
    assert.equal(run.code, 2);
    assert.match(flat(run), /the store `.*cordon\.db` cannot be opened .* help: it must be a file/);
    assertNoStack(run);
  });
});

describe('streams and folders that are gone', () => {
  for (const [what, end, told] of [
    ['a standard error without room', '2>/dev/full', null],
    [
      'a standard output without room',
      '>/dev/full',
      /standard output cannot be written: there is no room left/,
    ],
  ] as const) {
    test(`${what} ends it with 2, and the session is kept`, async (t) => {
      if (isLeftOut(t, told !== null)) return;
      using home = new Home();
      const options = install(home);
      const run = await home.run(['ask', HELLO, ...options], { through: ['sh', '-c', `"$0" "$@" ${end}`] });
      assert.equal(run.code, 2);
      if (told !== null) assert.match(flat(run), told);
      assertNoStack(run);
      const sessions = await home.run(['audit', 'verify']);
      assert.equal(sessions.code, 0, flat(sessions));
    });
  }

  test('a reader that has gone is told nothing', async () => {
    using home = new Home();
    const run = await home.run(['policy', 'show'], { through: ['sh', '-c', '"$0" "$@" | exit 3'] });
    assert.deepEqual([run.code, run.stderr], [3, '']);
  });

  test('a home in which no folder can be made', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const env = { HOME: '/proc', XDG_DATA_HOME: '', XDG_CACHE_HOME: '', XDG_CONFIG_HOME: '' };
    const listed = await home.run(['sessions'], { env });
    assert.equal(listed.code, 2);
    assert.match(
      flat(listed),
      /the data folder `\/proc\/\.local\/share\/cordon` cannot be used \(ENOENT\) help: create it/,
    );
    const words = ['--', '/usr/bin/true'];
    mkdirSync(join(home.root, 'mine'));
    const writing = await home.run(['run', '--write', join(home.root, 'mine'), ...words], { env });
    assert.equal(writing.code, 2);
    assert.match(flat(writing), /`\/proc\/.*\/written-folders`, cannot be written \(ENOENT\)/);
    // What keeps nothing needs no folder.
    assert.equal((await home.run(['run', ...words], { env })).code, 0);
  });

  test('a current folder that was removed', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const gone = join(home.root, 'gone');
    mkdirSync(gone);
    const run = await home.run(['ask', HELLO, '--config', EXAMPLES], {
      through: ['sh', '-c', 'rmdir "$0"; exec "$@"', gone],
      cwd: gone,
    });
    rmSync(gone, { recursive: true, force: true });
    assert.equal(run.code, 2);
    assert.match(flat(run), /the current folder no longer exists help: change to another folder/);
    assertNoStack(run);
  });
});

describe('too few descriptors', () => {
  test('end the query or the command with a reason, and never with a stack', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const options = install(home);
    assert.equal((await home.run(['ask', HELLO, ...options])).code, 0);
    const told: string[] = [];
    for (const most of [26, 30, 36, 40, 44, 48]) {
      const through = ['sh', '-c', `ulimit -n ${most}; exec "$0" "$@"`];
      const run = await home.run(['ask', HELLO, ...options], { through });
      // Node itself needs some before any of ours runs.
      if (run.code === null || run.code > 2) continue;
      assertNoStack(run);
      assert.ok(run.code === 0 || flat(run).trim() !== '');
      told.push(flat(run));
    }
    assert.ok(
      told.some((text) => text.includes('ulimit -n')),
      told.join('\n'),
    );
  });
});

describe('what is typed', () => {
  test('a line that is too long is not asked in part, and the next query works', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const options = install(home);
    const run = await home.run(['chat', ...options], { input: `${'a'.repeat(1_000_000)}\n${HELLO}\n` });
    assert.equal(run.code, 0);
    assert.match(flat(run), /A line of more than 100000 characters is too long for a query and was not sent/);
    assert.match(run.stdout, /The app says: hello/);
    assertNoStack(run);
  });

  test('an answer with what a terminal obeys is harmless in a pipe too, and exact with `--json`', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const text = 'one\u001b]8;;http://evil.example\u0007two\u202e\nthree';
    const options = install(home, text);
    const piped = await home.run(['ask', HELLO, ...options]);
    assert.equal(
      piped.stdout,
      'The app says: one<U+001B>]8;;http://evil.example<U+0007>two<U+202E>\nthree\n',
    );
    const { events } = await home.run(['ask', HELLO, ...options, '--json']);
    assert.deepEqual(answersIn(events), [`The app says: ${text}`]);
  });

  test('bytes of any kind are shown harmlessly, and the next query works', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const options = install(home);
    const hostile = '\u0000\u001b[2J\u001b]0;owned\u0007\u009b31m\ufffd\u202e\ud83d';
    const run = await home.run(['chat', ...options, '--json'], { input: `${hostile}\n${HELLO}\n` });
    assert.equal(run.code, 0);
    assert.deepEqual(answersIn(run.events).at(-1), 'The app says: hello');
    const shown = await home.run(['chat', ...options], { input: `${hostile}\n${HELLO}\n` });
    assert.equal(shown.code, 0);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
    assert.doesNotMatch(shown.stdout + shown.stderr, /[\u0000\u0007\u001b\u009b\u202e]/);
  });
});
