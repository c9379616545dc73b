/**
 * `cordon run`: what a command is given, what becomes of its requests to the network, and what is kept of it. No
 * network is needed: an allowed request fails at the look-up of a name that does not exist (RFC 6761).
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { readRights } from '@cordon/config/run-manifest';
import type { Event } from '@cordon/core';
import { Workplace } from '@cordon/testkit/cordon-program.ts';
import { lendResults } from '@cordon/testkit/lent-results.ts';
import { openStore } from '@cordon/trace';
import { isLeftOut } from '../../../../tools/cases.ts';

const DATA = '.local/share/cordon';

/** With the result of an earlier self-test, where there is one. */
function workplace(files: Readonly<Record<string, unknown>> = {}): Workplace {
  const place = new Workplace(files);
  lendResults(join(place.root, DATA));
  return place;
}

const SITE = 'cordon-test.invalid';

/** Tries to fetch an address, and says what came of it. */
const FETCH = `
  fetch(process.argv[1]).then((r) => r.text(), (e) => e.cause?.code ?? e.cause?.message ?? e.message)
    .then((said) => console.log(said));`;

const fetching = (options: readonly string[], address: string) => [
  ...['run', ...options, '--', 'node', '-e', FETCH, address],
];

function sessionsIn(place: Workplace): readonly (readonly Event[])[] {
  const store = openStore(join(place.root, DATA), Date.now);
  if (!store.ok) throw new Error(store.fault.message);
  try {
    return store.value.sessions.list(10).map(({ id }) => store.value.journal.events(id));
  } finally {
    store.value.close();
  }
}

function traceIn(place: Workplace): readonly Event[] {
  const sessions = sessionsIn(place);
  assert.equal(sessions.length, 1);
  return sessions[0] ?? [];
}

const kindsOf = (events: readonly Event[]) => events.map(({ kind }) => kind);

describe('the network', () => {
  test('a site of the manifest is let out, with nobody asked, and the trace has the request', () => {
    using place = workplace({ 'fetcher.json': { network: [SITE] } });
    const { code, out, err } = place.run(fetching(['--manifest', 'fetcher.json'], `https://${SITE}/`));
    assert.equal(code, 0);
    assert.notEqual(out, '');
    const events = traceIn(place);
    assert.equal(events.filter(({ kind }) => kind === 'permission.asked').length, 0);
    const decided = events.filter((event) => event.kind === 'egress.decided');
    assert.deepEqual(
      decided.map((event) => (event.kind === 'egress.decided' ? event.verdict : '')),
      ['allow'],
    );
    const kinds = kindsOf(events);
    assert.deepEqual(kinds.slice(0, 2), ['session.started', 'app.started']);
    assert.deepEqual(kinds.slice(-2), ['app.stopped', 'session.ended']);
    assert.ok(events.some((event) => event.kind === 'app.started' && event.app === 'fetcher'));
    assert.doesNotMatch(err, /denied: .*policy/);
  });

  test('a program that is not Node has its proxy, too', (t) => {
    if (isLeftOut(t)) return;
    using place = workplace();
    const { code, out } = place.run(['run', '--network', SITE, '--', 'sh', '-c', 'echo $HTTPS_PROXY']);
    assert.deepEqual([code, out.trim()], [0, 'http://127.0.0.1:3128']);
  });

  test('another site is refused before anything decides, and told once', () => {
    using place = workplace();
    const { err } = place.run(fetching(['--network', 'example.com'], `https://${SITE}/`));
    assert.match(err, new RegExp(`^cordon: denied: ${SITE}: `, 'm'));
    const kinds = kindsOf(traceIn(place));
    assert.ok(!kinds.includes('egress.proposed'));
    assert.ok(kinds.includes('egress.refused'));
  });

  test('without a site there is no way out, and no journal', (t) => {
    if (isLeftOut(t)) return;
    using place = workplace();
    const { code, out } = place.run(fetching([], `https://${SITE}/`));
    assert.equal(code, 0);
    assert.match(out, /^(EAI_AGAIN|ENOTFOUND|ENETUNREACH|EPERM|ERR_ACCESS_DENIED)/);
    assert.ok(!existsSync(join(place.root, DATA, 'cordon.db')));
  });

  for (const [what, effect] of [
    ['denies', 'raise'],
    ['asks, which nobody can answer', 'ask'],
  ] as const) {
    test(`what a rule ${what} stays here, with the rule told`, (t) => {
      if (isLeftOut(t, effect === 'raise')) return;
      using place = workplace({
        'mine.gr': `rule no-fetching:\n${effect} "nothing is fetched on Sundays" if:\n    (request: Egress)\n    request.host == "${SITE}"\n`,
      });
      const { err } = place.run(fetching(['--network', SITE, '--policy', 'mine.gr'], `https://${SITE}/`));
      assert.match(err, new RegExp(`^cordon: denied: ${SITE}: `, 'm'));
      const events = traceIn(place);
      const decided = events.flatMap((event) => (event.kind === 'egress.decided' ? [event.verdict] : []));
      assert.deepEqual(decided, ['deny']);
      assert.ok(!kindsOf(events).includes('egress.executed'));
    });
  }

  test('a policy that cannot be used keeps the command from running', () => {
    using place = workplace({ 'broken.gr': 'raise "x" if:\n    (c: ToolCal)\n' });
    const { code, out, err } = place.run([
      ...['run', '--network', SITE, '--policy', 'broken.gr', '--', 'echo', 'ran'],
    ]);
    assert.deepEqual([code, out], [2, '']);
    assert.match(err, /broken\.gr:2:\d+: POL\d{3}/);
  });

  test('so does one that there is not, also where there is nothing to decide', (t) => {
    if (isLeftOut(t)) return;
    using place = workplace();
    const { code, out, err } = place.run(['run', '--policy', 'none.gr', '--', 'echo', 'ran']);
    assert.deepEqual([code, out], [2, '']);
    assert.match(err, /none\.gr: CFG001/);
  });
});

describe('a weaker sandbox', () => {
  test('is said for each layer, and kept in the trace with the layers in force', () => {
    using place = workplace();
    const { code, out, err } = place.run([
      'run',
      '--sandbox',
      'weaker=seccomp,watchdog',
      '--',
      'echo',
      'ran',
    ]);
    assert.deepEqual([code, out], [0, 'ran\n']);
    const told = err.trimEnd().split('\n');
    assert.match(told[0] ?? '', /^cordon: WEAKER SANDBOX: without `seccomp`, apps reach every part/);
    assert.match(told[1] ?? '', /^cordon: WEAKER SANDBOX: without `watchdog`, /);
    const [started, app] = traceIn(place);
    assert.ok(started?.kind === 'session.started' && app?.kind === 'app.started');
    assert.deepEqual(
      started.notices.map((notice) => /`(.*?)`/.exec(notice)?.[1]),
      ['seccomp', 'watchdog'],
    );
    assert.ok(!app.layers.includes('seccomp') && !app.layers.includes('watchdog'));
    assert.ok(app.layers.includes('network-namespace'));
  });

  test('lets through what the layer would have stopped, and nothing weakens by itself', () => {
    using place = workplace();
    const hostname = ['--', 'uname', '-n'];
    assert.equal(place.run(['run', ...hostname]).out, 'spoke\n');
    assert.notEqual(place.run(['run', '--sandbox', 'weaker=uts-namespace', ...hostname]).out, 'spoke\n');
    assert.equal(place.run(['run', ...hostname]).out, 'spoke\n');
  });

  test('is said by `ask` too, and stands in its trace', (t) => {
    if (isLeftOut(t)) return;
    using place = workplace({ 'cordon.json': { apps: {}, sandbox: { weaker: ['watchdog'] } } });
    const { err } = place.run(['ask', 'Hello.', '--config', 'cordon.json', '--sandbox', 'weaker=seccomp']);
    const told = err.replace(/\s+/g, ' ');
    assert.match(told, /!! WEAKER SANDBOX: without `watchdog`, /);
    assert.match(told, /!! WEAKER SANDBOX: without `seccomp`, apps reach every part of the kernel\./);
    const [started] = traceIn(place);
    assert.ok(started?.kind === 'session.started');
    assert.equal(started.notices.length, 2);
  });
});

describe('rights', () => {
  const read = (manifest: string | null, options: Readonly<Record<string, readonly string[]>> = {}) => {
    using place = workplace(manifest === null ? {} : { 'm/manifest.json': manifest });
    const rights = readRights(
      {
        ...(manifest === null ? {} : { manifest: join(place.root, 'm/manifest.json') }),
        ...{ read: [], write: [], network: [], env: [] },
        ...options,
      },
      {
        cwd: '/srv/here',
        home: '/home/me',
        environment: { TOKEN: 'secret' },
        dataFolder: '/home/me/data',
        ownPaths: [],
      },
    );
    const text = JSON.stringify(rights, (_, value: unknown) => value);
    return text.replaceAll(place.root, '/place');
  };
  const rightsOf = (text: string) => JSON.parse(text).value;
  const problemsOf = (text: string): readonly string[] =>
    (JSON.parse(text).fault ?? []).map(
      (problem: { code: string; message: string }) => `${problem.code}: ${problem.message}`,
    );

  test('of the file and of the options are both given', (t) => {
    if (isLeftOut(t)) return;
    const rights = rightsOf(
      read('{"files": {"read": ["notes", "~/photos"]}, "env": {"A": "1"}, "limits": {"memoryMiB": 99}}', {
        read: ['here'],
        write: ['/srv/out'],
        env: ['TOKEN', 'B=$' + '{state}=2'],
      }),
    );
    assert.deepEqual(rights.files, {
      read: ['/place/m/notes', '/home/me/photos', '/srv/here/here'],
      write: ['/srv/out'],
    });
    assert.deepEqual(rights.env, { A: '1', TOKEN: 'secret', B: '$' + '{state}=2' });
    assert.equal(rights.limits.memoryMiB, 99);
    assert.equal(rights.state, null);
  });

  test('nothing is what nobody gave', () => {
    const rights = rightsOf(read('{}'));
    assert.deepEqual([rights.files, rights.network, rights.env], [{ read: [], write: [] }, [], {}]);
  });

  test('a private folder has a name, and is `/state` inside', () => {
    const rights = rightsOf(read('{"state": "notes", "env": {"DB": "$' + '{state}/db"}}'));
    assert.equal(rights.state, 'notes');
    assert.deepEqual(rights.env, { DB: '/state/db' });
    assert.deepEqual(problemsOf(read('{"env": {"DB": "$' + '{state}/db"}}')), [
      'CFG018: `$' + '{state}` stands for a private folder, and none is asked for',
    ]);
    assert.match(
      problemsOf(read('{"state": "../../other"}'))[0] ?? '',
      /^CFG008: .* is no name for a private folder$/,
    );
  });

  test('every problem of file and options is told at once', () => {
    const problems = problemsOf(
      read('{"filez": 1, "files": {"read": [1]}}', { env: ['1X'], network: ['https://x.org'] }),
    );
    assert.deepEqual(
      problems.map((problem) => problem.slice(0, 6)),
      ['CFG006', 'CFG005', 'CFG014', 'CFG008'],
    );
  });

  test('of the page are those that it says', (t) => {
    if (isLeftOut(t)) return;
    const page = readFileSync(join(import.meta.dirname, '../../../../docs/cli.md'), 'utf8');
    const [, manifest = ''] = /^```json run\n(.*?)^```$/ms.exec(page) ?? [];
    const rights = rightsOf(read(manifest.replace('NOTES_TOKEN', 'TOKEN')));
    assert.deepEqual(rights.files, { read: ['/home/me/notes'], write: [] });
    assert.deepEqual(rights.env, { TOKEN: 'secret', CACHE: '/state/cache' });
    assert.equal(rights.state, 'notes');
    assert.equal(rights.limits.memoryMiB, 512);
    assert.equal(rights.network.length, 1);
  });

  test('a variable named like a part of every object is refused, not obeyed', (t) => {
    if (isLeftOut(t)) return;
    assert.match(problemsOf(read(null, { env: ['__proto__=x'] }))[0] ?? '', /^CFG002: /);
  });
});
