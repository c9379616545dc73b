/**
 * Apps that break, processes that are killed, machines that lack something: one query fails with a reason, and the
 * next one works.
 */
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { isLeftOut } from '../../tools/cases.ts';
import {
  answersIn,
  type Conversation,
  descendantsOf,
  Home,
  killBelow,
  object,
  ofKind,
  outcomesIn,
  REPOSITORY,
  untilGone,
} from '../harness/cordon.ts';

const HELLO = 'Say hello to me.';
const WORD = 'Remember that the word is pelican.';
const REPEAT = 'Which one was it?';

const TOOLS = [
  'hang',
  'stop',
  'grumble',
  'crash',
  'chatter',
  'notify',
  'bytes',
  'huge-line',
  'forged-answer',
];
const request = (tool: string) => `Please do the thing called ${tool}.`;

/**
 * One app named `test`, whose script is that file below `e2e/apps`, and what the model is to do with it. Limits are
 * short where a test waits for them, and nowhere else.
 */
function install(
  home: Home,
  script: string,
  limits: Readonly<Record<string, number>> = {},
): readonly string[] {
  const config = home.write('cordon.json', {
    apps: {
      test: {
        command: 'node',
        args: [join(REPOSITORY, 'e2e/apps', script)],
        manifest: {
          description: 'An app for tests.',
          // A busy machine may take longer to start an app than the ten seconds it usually has.
          limits: { startSeconds: 60, ...limits },
          irreversible: [],
          untrusted: [],
          private: [],
        },
      },
    },
  });
  const call = (id: string, tool: string, purpose: string, args: object = {}) => ({
    calls: [{ id, app: 'test', tool, functionality: tool, purpose, arguments: args }],
    answers: [
      { when: { has: { result: id } }, text: `The app says: \${${id}}` },
      { text: 'The app says nothing.' },
    ],
  });
  const scenario = home.write('scenario.json', {
    name: 'test',
    description: 'An app that is asked to break.',
    tasks: [
      { id: 'hello', query: HELLO, ...call('greeting', 'echo', 'say hello', { text: 'hello' }) },
      { id: 'word', query: WORD, ...call('noted', 'echo', 'note the word', { text: 'noted' }) },
      {
        id: 'repeat',
        query: REPEAT,
        ...call('again', 'echo', 'repeat the word', { text: { visible: 'the word is (\\w+)' } }),
      },
      ...TOOLS.map((tool) => ({ id: tool, query: request(tool), ...call(`do-${tool}`, tool, `do ${tool}`) })),
    ],
    attacks: [],
  });
  return ['--config', config, '--scenario', scenario, '--deny-all', '--json'];
}

/** How a query ends that was interrupted and that nobody resumes. */
const GIVEN_UP = 'it was interrupted, and another query was asked';

/** Asks one query in a chat and waits for its end. */
async function asked(chat: Conversation, query: string): Promise<{ outcome: string; reason: string }> {
  const isAsked = ({ reason }: { readonly reason?: unknown }) => reason !== GIVEN_UP;
  const before = outcomesIn(chat.events).filter(isAsked).length;
  chat.say(query);
  await chat.event('query.ended', isAsked, before + 1);
  return outcomesIn(chat.events).filter(isAsked)[before] ?? assert.fail();
}

const ANSWERED = { outcome: 'answered', reason: 'null' };

/** The chat still serves, and ends as it should, leaving no process behind. */
async function assertServes(chat: Conversation): Promise<void> {
  assert.deepEqual(await asked(chat, HELLO), ANSWERED);
  assert.equal(answersIn(chat.events).at(-1), 'The app says: hello');
  const children = descendantsOf(chat.pid).map(({ pid }) => pid);
  chat.say('/exit');
  assert.equal((await chat.end()).code, 0);
  await untilGone(children);
}

/** These never answer, so that the limit is what ends them. Long enough for a busy machine to serve the query after it. */
const SHORT_START: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  'broken/hang-at-start.mjs': { startSeconds: 3 },
  'broken/garbage-only.mjs': { startSeconds: 30 },
};
const SHORT_CALL: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  hang: { callSeconds: 10 },
  stop: { silentSeconds: 10 },
};

describe('an app that breaks at its start', () => {
  for (const [script, reason] of [
    [
      'broken/crash-at-start.mjs',
      /^`test` could not be started: .*its last words: `there is no licence file`$/,
    ],
    ['broken/hang-at-start.mjs', /^`test` did not answer within 3 s of its start$/],
    [
      'broken/garbage-only.mjs',
      /^`test` does not speak MCP on its standard output: `Welcome to Notes 3\.1! Type help\.`$/,
    ],
    [
      'odd-tools.mjs',
      /^`test` could not be started: its answer to `tools\/list` is not that of MCP: `tools\.0\.description`: .*string/,
    ],
    ['broken/flood-at-start.mjs', /^`test` does not speak MCP on its standard output: /],
    ['missing.mjs', /^the script `.*\/missing\.mjs` does not exist/],
  ] as const) {
    test(`${script}: the query fails with the reason`, async (t) => {
      if (isLeftOut(t)) return;
      using home = new Home();
      const { code, events, stderr } = await home.run([
        'ask',
        HELLO,
        ...install(home, script, SHORT_START[script]),
      ]);
      assert.equal(code, 2);
      const [outcome] = outcomesIn(events);
      assert.equal(outcome?.outcome, 'failed');
      assert.match(outcome?.reason ?? '', reason);
      assert.equal(ofKind(events, 'tool-call.proposed').length, 0);
      assert.doesNotMatch(stderr, /\bat .*\.ts:\d+/, 'no stack is shown');
    });
  }

  test('logs on standard output before the first answer do no harm', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const { code, events } = await home.run(['ask', HELLO, ...install(home, 'broken/garbage-first.mjs')]);
    assert.deepEqual(answersIn(events), ['The app says: hello']);
    assert.equal(code, 0);
  });

  test('a start that failed is tried anew by the next query', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const chat = home.start(['chat', ...install(home, 'broken/crash-at-start.mjs')]);
    for (const _ of [1, 2]) {
      const { outcome, reason } = await asked(chat, HELLO);
      assert.equal(outcome, 'failed');
      assert.match(reason, /no licence file/);
    }
    chat.say('/exit');
    // No query of the session was answered.
    assert.equal((await chat.end()).code, 2);
  });
});

describe('an app that breaks in a call', () => {
  for (const [tool, reason] of [
    ['hang', /^`test` did not answer `hang` within 10 s and was stopped$/],
    ['stop', /^`test` gave no sign of life for 10 s during `stop` and was stopped$/],
    ['crash', /^`test` ended during `crash`; its last words: `out of paper`$/],
    ['chatter', /^`test` was stopped: it prints text on its standard output instead of MCP messages$/],
    ['notify', /^`test` was stopped: it sends more than \d+ messages a second$/],
    [
      'grumble',
      /^`test` ended during `grumble`: it wrote more than 256 KiB a second to standard error; its last words: /,
    ],
    ['bytes', /^`test` was stopped: a line is not UTF-8$/],
    ['huge-line', /^`test` was stopped: .*line/],
  ] as const) {
    test(`${tool}: the query fails with the reason, and the next one works`, async (t) => {
      if (isLeftOut(t)) return;
      using home = new Home();
      const chat = home.start(['chat', ...install(home, 'trouble.mjs', SHORT_CALL[tool])]);
      const ended = await asked(chat, request(tool));
      assert.equal(ended.outcome, 'failed');
      assert.match(ended.reason, reason);
      await assertServes(chat);
    });
  }

  test('answers that nobody asked for change nothing', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const chat = home.start(['chat', ...install(home, 'trouble.mjs')]);
    assert.deepEqual(await asked(chat, request('forged-answer')), ANSWERED);
    assert.equal(answersIn(chat.events).at(-1), 'The app says: still here');
    await assertServes(chat);
  });
});

describe('a process that is killed', () => {
  const SPOKE = 'packages/spoke/src/main.ts';

  test("the app's, in the middle of a call: that query fails, the next one works", async () => {
    using home = new Home();
    const chat = home.start(['chat', ...install(home, 'trouble.mjs')]);
    chat.say(request('hang'));
    await chat.event('tool-call.decided');
    killBelow(chat.pid, 'trouble.mjs');
    const { outcome, reason } = await chat.event('query.ended');
    assert.equal(outcome, 'failed');
    assert.match(String(reason), /^`test` ended during `hang`/);
    await assertServes(chat);
  });

  test("the agent loop's, in the middle of a call: that query fails, the next one works", async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const chat = home.start(['chat', ...install(home, 'trouble.mjs')]);
    chat.say(request('hang'));
    await chat.event('tool-call.decided');
    killBelow(chat.pid, SPOKE);
    const { outcome, reason } = await chat.event('query.ended');
    assert.equal(outcome, 'failed');
    assert.match(String(reason), /^the agent loop ended: /);
    // What the dead loop had asked for ends with its query: it must not run into the next one.
    const { fault } = await chat.event('tool-call.failed');
    assert.deepEqual(fault, { kind: 'cancelled', message: 'the query was stopped', outcome: 'unknown' });
    await assertServes(chat);
  });

  test('every one, between two queries: the next query works', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const chat = home.start(['chat', ...install(home, 'trouble.mjs')]);
    assert.deepEqual(await asked(chat, HELLO), ANSWERED);
    const children = () => descendantsOf(chat.pid).map(({ pid }) => pid);
    // The loop for the next query starts in the background.
    await chat.until(() => running(chat, SPOKE) > 0, 'it starts the next loop');
    const killed = children();
    killBelow(chat.pid, 'trouble.mjs');
    killBelow(chat.pid, SPOKE);
    await untilGone(killed);
    await assertServes(chat);
  });

  test("the hub's: no process is left behind, and the session can be resumed with its history", async () => {
    using home = new Home();
    const options = install(home, 'trouble.mjs');
    const chat = home.start(['chat', ...options]);
    assert.deepEqual(await asked(chat, WORD), ANSWERED);
    chat.say(request('hang'));
    await chat.event('tool-call.decided', undefined, 2);
    const children = descendantsOf(chat.pid).map(({ pid }) => pid);
    assert.ok(children.length >= 4, 'an app and a loop are running');
    chat.signal('SIGKILL');
    await chat.end();
    await untilGone(children);
    await assertResumes(home, options, sessionOf(chat));
  });
});

describe('processes that wait to be needed', () => {
  const SPOKE = 'packages/spoke/src/main.ts';

  /** A chat in which the app of an earlier one waits, unused, beside two agent loops. */
  async function warmChat(home: Home, options: readonly string[]): Promise<Conversation> {
    const { code } = await home.run(['ask', HELLO, ...options]);
    assert.equal(code, 0);
    const chat = home.start(['chat', ...options]);
    const isWarm = () => running(chat, 'trouble.mjs') > 0 && running(chat, SPOKE) >= 2;
    await chat.until(isWarm, 'an app and two loops wait');
    assert.equal(ofKind(chat.events, 'app.started').length, 0, 'nobody has needed it');
    return chat;
  }

  test('an app that was used before waits, and serves the first query', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const chat = await warmChat(home, install(home, 'trouble.mjs'));
    await assertServes(chat);
    const [started] = ofKind(chat.events, 'app.started');
    assert.equal(started?.app, 'test');
  });

  test('they end with the hub, also when it is killed', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const chat = await warmChat(home, install(home, 'trouble.mjs'));
    const children = descendantsOf(chat.pid).map(({ pid }) => pid);
    chat.signal('SIGKILL');
    await chat.end();
    await untilGone(children);
  });

  test('one that is killed while it waits costs no query', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const chat = await warmChat(home, install(home, 'trouble.mjs'));
    const killed = descendantsOf(chat.pid).map(({ pid }) => pid);
    killBelow(chat.pid, 'trouble.mjs');
    killBelow(chat.pid, SPOKE);
    await untilGone(killed);
    await assertServes(chat);
  });

  test('an app that nobody uses for its time is ended, and started anew for the next query', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const chat = home.start(['chat', ...install(home, 'trouble.mjs', { idleSeconds: 3 })]);
    assert.deepEqual(await asked(chat, HELLO), ANSWERED);
    const { reason } = await chat.event('app.stopped');
    assert.equal(reason, 'nobody used it for 3 s');
    await assertServes(chat);
    assert.equal(ofKind(chat.events, 'app.started').length, 2);
  });
});

describe('Ctrl-C', () => {
  test('ends the running query, and the chat continues', async () => {
    using home = new Home();
    const chat = home.start(['chat', ...install(home, 'trouble.mjs')]);
    chat.say(request('hang'));
    await chat.event('tool-call.decided');
    chat.signal('SIGINT');
    const { outcome, reason } = await chat.event('query.ended');
    assert.deepEqual({ outcome, reason }, { outcome: 'cancelled', reason: 'the query was stopped' });
    await assertServes(chat);
    const faults = ofKind(chat.events, 'tool-call.failed').map(({ fault }) => object(fault).kind);
    assert.deepEqual(faults, ['cancelled'], 'it was not the app that was too slow');
  });

  test('ends `cordon ask` with 1 and says how to go on, and that works', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const options = install(home, 'trouble.mjs');
    const ask = home.start(['ask', request('hang'), ...options]);
    await ask.event('tool-call.decided');
    const children = descendantsOf(ask.pid).map(({ pid }) => pid);
    ask.signal('SIGINT');
    const { code, stderr } = await ask.end();
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`cordon chat --resume ${sessionOf(ask)}`));
    await untilGone(children);
    const chat = home.start(['chat', '--resume', sessionOf(ask), ...options]);
    await assertServes(chat);
  });

  test('at a terminal: in a query it ends the query, at the prompt it leaves a session that can be resumed', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const options = install(home, 'trouble.mjs');
    const chat = home.start(['chat', ...options], { terminal: true });
    await chat.shown('cordon> ');
    chat.type(`${WORD}\r`);
    await chat.shown('"query.ended"');
    chat.type(`${request('hang')}\r`);
    await chat.shown('"tool-call.decided"', 2);
    chat.type('\u0003');
    await chat.shown('"query.ended"', 2);
    await chat.shown('cordon> ', 3);
    chat.type('\u0003');
    const { code, stdout } = await chat.end();
    assert.equal(code, 0, stdout);
    const session = /cordon chat --resume (\w+)/.exec(stdout)?.[1] ?? assert.fail('no word of resuming');
    await assertResumes(home, options, session);
  });

  test('Ctrl-Z stops it at the prompt, and what is typed after it goes on is asked', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const options = install(home, 'trouble.mjs');
    const chat = home.start(['chat', ...options], { terminal: true });
    await chat.shown('cordon> ');
    chat.type('\u001a');
    let isBack = false;
    const back = chat.shown('cordon> ', 2).finally(() => {
      isBack = true;
    });
    // As the shell's `fg`, whenever the key has come.
    while (!isBack) {
      for (const pid of [chat.pid, ...descendantsOf(chat.pid).map((one) => one.pid)]) continueProcess(pid);
      await Promise.race([back, pause()]);
    }
    chat.type(`${WORD}\r`);
    await chat.shown('"query.ended"');
    chat.type('/exit\r');
    assert.equal((await chat.end()).code, 0);
  });

  test('as a signal, where no key can be pressed, it does the same; SIGTERM leaves in either case', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const options = install(home, 'trouble.mjs');
    const chat = home.start(['chat', ...options]);
    assert.deepEqual(await asked(chat, WORD), ANSWERED);
    chat.signal('SIGINT');
    const left = await chat.end();
    assert.equal(left.code, 0);
    assert.match(left.stderr, new RegExp(`cordon chat --resume ${sessionOf(chat)}`));

    const resumed = home.start(['chat', '--resume', sessionOf(chat), ...options]);
    resumed.say(request('hang'));
    await resumed.event('tool-call.decided');
    const children = descendantsOf(resumed.pid).map(({ pid }) => pid);
    resumed.signal('SIGTERM');
    const { code, events } = await resumed.end();
    assert.equal(code, 0);
    assert.deepEqual(
      outcomesIn(events).map(({ outcome }) => outcome),
      ['cancelled'],
    );
    await untilGone(children);
    await assertResumes(home, options, sessionOf(chat));
  });

  test('a session that has ended cannot be resumed', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const options = install(home, 'trouble.mjs');
    const { events } = await home.run(['ask', HELLO, ...options]);
    const session = String(events[0]?.session);
    const { code, stderr } = await home.run(['chat', '--resume', session, ...options]);
    assert.equal(code, 2);
    assert.match(stderr, new RegExp(`the session \`${session}\` has ended`));
  });
});

describe('streams that end', () => {
  test('a chat whose input ends serves what was said, and ends its session', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const options = install(home, 'trouble.mjs');
    const run = await home.run(['chat', ...options], { input: `${WORD}\n${REPEAT}\n` });
    assert.equal(run.code, 0);
    assert.deepEqual(answersIn(run.events), ['The app says: noted', 'The app says: pelican']);
    assert.equal(run.events.at(-1)?.kind, 'session.ended');
  });

  test('when nobody reads the output any more, the process ends and takes its apps along', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const chat = home.start(['chat', ...install(home, 'trouble.mjs')]);
    assert.deepEqual(await asked(chat, HELLO), ANSWERED);
    const children = descendantsOf(chat.pid).map(({ pid }) => pid);
    chat.child.stdout?.destroy();
    chat.say(HELLO);
    assert.equal((await chat.end()).code, 2);
    await untilGone(children);
  });
});

describe('two processes on one data folder', () => {
  test('both work at the same time', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const options = install(home, 'trouble.mjs');
    const chats = [home.start(['chat', ...options]), home.start(['chat', ...options])];
    for (const chat of chats) chat.say(HELLO);
    for (const chat of chats) await chat.event('query.ended');
    for (const chat of chats) await assertServes(chat);
    const [first, second] = chats.map(sessionOf);
    assert.notEqual(first, second);
  });

  test('a session that a living process holds is refused to another, and says by which', async () => {
    using home = new Home();
    const options = install(home, 'trouble.mjs');
    const chat = home.start(['chat', ...options]);
    await asked(chat, HELLO);
    const { code, stderr } = await home.run(['chat', '--resume', sessionOf(chat), ...options]);
    assert.equal(code, 2);
    const told = new RegExp(
      `the session \`${sessionOf(chat)}\` is in use by another process \\(${chat.pid}\\)`,
    );
    assert.match(stderr.replace(/\s+/g, ' '), told);
    await assertServes(chat);
  });
});

describe('a machine that lacks something', () => {
  // Mounts of its own: nothing outside the command sees them.
  const namespace = [
    'unshare',
    ...(process.getuid?.() === 0 ? [] : ['--map-root-user']),
    '--mount',
    'sh',
    '-euc',
  ];

  test('a data folder that cannot be written is refused with its name', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const options = install(home, 'trouble.mjs');
    mkdirSync(home.data, { mode: 0o700 });
    const readOnly = 'mount --bind "$0" "$0"; mount -o remount,bind,ro "$0"; exec "$@"';
    const through = [...namespace, readOnly, home.data];
    for (const args of [['ask', HELLO, ...options], ['doctor']]) {
      const { code, stdout, stderr } = await home.run(args, { through });
      assert.equal(code, 2);
      assert.ok((stdout + stderr).replace(/\s+/g, '').includes(home.data), stdout + stderr);
      assert.doesNotMatch(stderr, /\bat .*\.ts:\d+/, 'no stack is shown');
    }
    assert.deepEqual(readdirSync(home.data), []);
    assert.equal((await home.run(['ask', HELLO, ...options])).code, 0, 'the same folder, writable');
  });

  test('without bubblewrap no app is started, whatever an earlier self-test said', async (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const options = install(home, 'trouble.mjs');
    assert.equal((await home.run(['ask', HELLO, ...options])).code, 0);

    const bin = join(home.root, 'bin');
    mkdirSync(bin);
    for (const program of ['sh', 'dirname', 'readlink', 'mkdir', 'prlimit', 'setpriv'])
      copyFileSync(`/usr/bin/${program}`, join(bin, program));
    assert.equal(existsSync('/usr/local/bin/bwrap'), false, 'bubblewrap is where Debian puts it');
    const through = [...namespace, 'mount --bind "$0" /usr/bin; exec "$@"', bin];

    const ask = await home.run(['ask', HELLO, ...options], { through });
    assert.equal(ask.code, 2);
    assert.deepEqual(outcomesIn(ask.events), [{ outcome: 'failed', reason: 'bubblewrap is not installed' }]);
    assert.equal(ofKind(ask.events, 'app.started').length, 0);

    const doctor = await home.run(['doctor'], { through });
    assert.equal(doctor.code, 2);
    const told = doctor.stdout.replace(/\s+/g, ' ');
    assert.match(told, /NO bubblewrap/);
    assert.match(told, /run `apt-get install bubblewrap` as root/);

    const words = await home.run(['ask', HELLO, ...options.filter((word) => word !== '--json')], { through });
    assert.match(
      words.stderr.replace(/\s+/g, ' '),
      /bubblewrap is not installed.*apt-get install bubblewrap/,
    );
  });
});

/** The resumed session knows what was said before. */
async function assertResumes(home: Home, options: readonly string[], session: string): Promise<void> {
  const chat = home.start(['chat', '--resume', session, ...options]);
  const resumed = await chat.event('session.resumed');
  assert.equal(resumed.session, session);
  assert.deepEqual(await asked(chat, REPEAT), ANSWERED);
  assert.equal(answersIn(chat.events).at(-1), 'The app says: pelican');
  const calls = ofKind(chat.events, 'tool-call.proposed');
  assert.deepEqual(object(calls[0]?.arguments), { text: 'pelican' });
  await assertServes(chat);
}

/** How many processes below the chat have this text in their command line. */
function running(chat: Conversation, text: string): number {
  return descendantsOf(chat.pid).filter(({ commandLine }) => commandLine.includes(text)).length;
}

function sessionOf(command: Conversation): string {
  return String(command.events[0]?.session);
}

function pause(): Promise<void> {
  return new Promise((settle) => setTimeout(settle, 20));
}

/** A short-lived process, of the self-test say, may have ended since it was listed. */
function continueProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGCONT');
  } catch (error) {
    assert.match(String(error), /ESRCH/);
  }
}
