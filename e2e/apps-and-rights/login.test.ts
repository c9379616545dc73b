/**
 * Logins to apps that run elsewhere, with the real command, a real authorization server and a browser that agrees to everything:
 * from the first refusal to the logout, and no token in any file, event or message.
 */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { calls, says, startFakeOpenAi } from '@cordon/testkit/fake-openai/server.ts';
import { RemoteApp, type RemoteAppOptions } from '@cordon/testkit/remote-app/remote-app.ts';
import { openStore, parseStoreKey } from '@cordon/trace';
import { isLeftOut } from '../../tools/cases.ts';
import { Place, type Run } from '../harness/provider-harness.ts';
import { inTurns, planning, step } from '../harness/provider-script.ts';
import { eventsOf, fieldOf } from '../harness/provider-trace.ts';

const KEY = '6f'.repeat(32);
/** For a busy machine. */
const PATIENT = { limits: { startSeconds: 120 } };

const READS = planning(
  [step('notes', ['read'])],
  inTurns(calls([{ name: 'read_note', arguments: {} }]), ([said]) => says(`It says: ${said}`)),
);

/** A user with a key for the store, a browser, and one app that runs elsewhere. */
class User {
  readonly place = new Place();
  readonly remote: RemoteApp;
  readonly runs: Run[] = [];

  constructor(remote: RemoteApp) {
    this.remote = remote;
    this.place.write('cordon.json', { apps: { notes: { url: remote.url, manifest: PATIENT } } });
    mkdirSync(join(this.place.folder, 'bin'));
    const browser = `#!${process.execPath}\nfetch(process.argv[2]).then((page) => page.text());\n`;
    chmodSync(this.place.write('bin/xdg-open', browser), 0o700);
  }

  async cordon(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Run> {
    const run = await this.place.cordon([...args, '--config', 'cordon.json'], {
      environment: {
        PATH: `${join(this.place.folder, 'bin')}:${process.env.PATH ?? ''}`,
        DISPLAY: ':0',
        CORDON_KEY: KEY,
        OPENAI_API_KEY: 'none',
        ...environment,
      },
    });
    this.runs.push(run);
    return run;
  }

  async ask(...more: readonly string[]): Promise<Run> {
    const fake = await startFakeOpenAi({ script: READS });
    try {
      const args = ['ask', 'Read my note.', '--model', 'openai/x', '--base-url', fake.baseUrl];
      return await this.cordon([...args, '--allow-rest', '--deny-warned', ...more]);
    } finally {
      await fake.close();
    }
  }

  /** Every event of every session, as it was before it was encrypted. */
  journal(): string {
    const key = parseStoreKey(KEY);
    const store = key.ok ? openStore(this.place.data, Date.now, { key: key.value }) : key;
    assert.ok(store.ok);
    try {
      const { sessions, journal } = store.value;
      return JSON.stringify(sessions.list().map(({ id }) => journal.events(id)));
    } finally {
      store.value.close();
    }
  }

  /** Files below the user's folder that hold one of the texts. */
  filesWith(texts: readonly string[]): readonly string[] {
    const { folder } = this.place;
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
      .map(({ parentPath, name }) => join(parentPath, name))
      .filter((path) => texts.some((text) => readFileSync(path).includes(text)));
  }
}

async function userOf(t: TestContext, options?: RemoteAppOptions): Promise<User> {
  const remote = await RemoteApp.start(options);
  const user = new User(remote);
  t.after(() => {
    user.place[Symbol.dispose]();
    return remote[Symbol.asyncDispose]();
  });
  return user;
}

function plain(text: string): string {
  return text.replace(/\s+/g, ' ');
}

test('the user logs in, grants more when a call needs it, uses the app past the end of a token, and logs out', async (t) => {
  if (isLeftOut(t)) return;
  const user = await userOf(t, { callScope: 'notes:write' });
  const { remote } = user;
  const refused = await user.ask();
  assert.equal(refused.code, 2);
  assert.match(
    plain(refused.stderr),
    /you are not logged in to `notes` help: log in: `cordon apps login notes`/,
  );

  const login = await user.cordon(['apps', 'login', 'notes', '--yes']);
  assert.equal(login.code, 0, login.stderr);
  assert.match(
    plain(login.stderr),
    new RegExp(`where: ${remote.issuer} for: ${remote.url} grants: notes:read`),
  );
  assert.match(login.stdout, new RegExp(`you are logged in to \`notes\` through ${remote.issuer}`));

  const more = await user.ask('--json');
  assert.match(
    plain(more.stderr + more.stdout),
    /`notes` wants `notes:write` granted for this.*log in: `cordon apps login notes --scope .{0,2}notes:write/,
  );
  // It is known that the call did not happen: nobody is asked whether to repeat it.
  const [failed] = fieldOf(more.events, 'tool-call.failed', 'fault') as { outcome?: string }[];
  assert.deepEqual([failed !== undefined, failed?.outcome], [true, undefined]);
  const again = await user.cordon(['apps', 'login', 'notes', '--yes', '--scope', 'notes:write']);
  assert.equal(again.code, 0, again.stderr);
  const [, asked] = remote.heard.filter(({ path }) => path === '/authorize');
  assert.equal(asked?.form.get('scope'), 'notes:read offline_access notes:write');

  remote.expire();
  const answered = await user.ask('--json');
  assert.deepEqual(fieldOf(answered.events, 'answer.proposed', 'text'), ['It says: milk, bread']);
  assert.equal(remote.grants('refresh_token').length, 1);
  // Each request was decided: those for tokens like those to the app.
  const reached = eventsOf(answered.events, 'egress.proposed').map(
    ({ host, port, path }) => `${host}:${port}${path}`,
  );
  assert.ok(reached.includes(new URL('/token', remote.issuer).href.slice('http://'.length)), String(reached));
  assert.equal(eventsOf(answered.events, 'egress.decided').length, reached.length);

  const shown = await user.cordon(['apps']);
  assert.match(plain(shown.stdout), new RegExp(`login: ${remote.issuer} since .*, granted: notes:read`));
  // Nothing that lets anybody in is in a file, an event or a message.
  assert.ok(remote.secrets.length >= 8);
  assert.deepEqual(user.filesWith(remote.secrets), []);
  const journal = user.journal();
  assert.ok(journal.includes('"host":"127.0.0.1"'));
  const said = journal + user.runs.map(({ stdout, stderr }) => stdout + stderr).join('\n');
  for (const secret of remote.secrets) assert.ok(!said.includes(secret));

  const logout = await user.cordon(['apps', 'logout', 'notes']);
  assert.equal(logout.code, 0, logout.stderr);
  assert.match(logout.stdout, /you are logged out of `notes`, and its tokens are revoked/);
  assert.equal(remote.heard.filter(({ path }) => path === '/revoke').length, 2);
  assert.equal((await user.cordon(['apps', 'logout', 'notes'])).code, 1);
});

test('an app that is removed with all that is left of it is logged out where its tokens came from, or the user reads why not', async (t) => {
  if (isLeftOut(t)) return;
  let refuses = false;
  const user = await userOf(t, {
    instead: ({ path }, response) => {
      if (path !== '/revoke' || !refuses) return false;
      response.writeHead(503).end();
      return true;
    },
  });
  const revocations = () => user.remote.heard.filter(({ path }) => path === '/revoke').length;
  assert.equal((await user.cordon(['apps', 'login', 'notes', '--yes'])).code, 0);
  // Attack: nothing could be tried, the tokens are deleted here all the same, and stay valid.
  const apps = { notes: { url: user.remote.url, manifest: PATIENT } };
  const file = user.place.write('cordon.json', { apps, model: 'openai/x' });
  const text = readFileSync(file, 'utf8');
  const untried = await user.cordon(['apps', 'remove', 'notes', '--purge', '--yes'], { OPENAI_API_KEY: '' });
  assert.equal(untried.code, 2);
  assert.match(plain(untried.stderr), /nothing was deleted: the revocation of your login to `notes`/);
  assert.equal(untried.stdout, '');
  assert.equal(readFileSync(file, 'utf8'), text);
  assert.equal(revocations(), 0);
  const kept = await user.cordon(['apps', 'remove', 'notes']);
  assert.match(plain(kept.stdout), /left of it: .*your login/);
  assert.equal(revocations(), 0);
  // The entry is gone by now.
  const purged = await user.cordon(['apps', 'remove', 'notes', '--purge', '--yes']);
  assert.equal(purged.code, 0, purged.stderr);
  assert.match(plain(purged.stdout), /the tokens of your login are revoked deleted: .*your login/);
  assert.equal(revocations(), 2);

  refuses = true;
  user.place.write('cordon.json', { apps: { notes: { url: user.remote.url, manifest: PATIENT } } });
  assert.equal((await user.cordon(['apps', 'login', 'notes', '--yes'])).code, 0);
  const refused = await user.cordon(['apps', 'remove', 'notes', '--purge', '--yes']);
  assert.equal(refused.code, 2);
  assert.match(
    plain(refused.stderr),
    /its tokens could not be revoked: .*\(503\) help: revoke the access of Cordon in the settings of your account there/,
  );
  assert.match(plain(refused.stdout), /deleted: .*your login/);
  assert.equal(
    (await user.cordon(['apps', 'remove', 'notes', '--purge', '--yes'])).code,
    2,
    'nothing is left',
  );
});

test('without a yes, without a key and against the policy nobody is logged in, and the issuer is not even asked', async (t) => {
  if (isLeftOut(t)) return;
  const user = await userOf(t);
  const { remote } = user;
  const unasked = await user.cordon(['apps', 'login', 'notes']);
  assert.equal(unasked.code, 1);
  assert.match(plain(unasked.stderr), /you are not logged in: `--yes` means yes/);
  const keyless = await user.cordon(['apps', 'login', 'notes', '--yes', '--data', 'other'], {
    CORDON_KEY: '',
  });
  assert.equal(keyless.code, 2);
  assert.match(plain(keyless.stderr), /tokens are kept encrypted or not at all, and the store has no key/);
  user.place.write('quiet.gr', 'raise "no egress" if:\n    (e: Egress)\n');
  user.place.write('cordon.json', {
    apps: { notes: { url: remote.url, manifest: PATIENT } },
    policy: ['quiet.gr'],
  });
  const before = remote.heard.length;
  const forbidden = await user.cordon(['apps', 'login', 'notes', '--yes']);
  assert.equal(forbidden.code, 2);
  assert.match(plain(forbidden.stderr), /was refused: no egress/);
  assert.equal(remote.heard.length, before);
  assert.deepEqual(
    remote.heard.filter(({ at }) => at === 'issuer'),
    [],
  );
});

test('a server that says nothing but 401 is asked for its metadata all the same', async (t) => {
  if (isLeftOut(t)) return;
  const user = await userOf(t, {
    instead: ({ path, authorization }, response) => {
      if (path !== '/mcp' || authorization !== null) return false;
      response.writeHead(401).end();
      return true;
    },
  });
  const login = await user.cordon(['apps', 'login', 'notes', '--yes']);
  assert.equal(login.code, 0, login.stderr);
  assert.match(plain(login.stderr), /grants: notes:read/);
});

// Attack: the app's server, or somebody before it, sends the request on to a machine that collects tokens.
test('a redirect of the app’s server takes no token along', async (t) => {
  if (isLeftOut(t)) return;
  const other = await RemoteApp.start();
  t.after(() => other[Symbol.asyncDispose]());
  const user = await userOf(t, {
    instead: ({ at, authorization }, response) => {
      if (at !== 'app' || authorization === null) return false;
      response.writeHead(307, { location: other.url }).end();
      return true;
    },
  });
  assert.equal((await user.cordon(['apps', 'login', 'notes', '--yes'])).code, 0);
  const asked = await user.ask();
  assert.equal(asked.code, 2);
  assert.match(plain(asked.stderr), /redirects to another address/);
  assert.deepEqual(other.heard, []);
});

// Attack: an app's server names a machine in the user's network as its authorization server.
test('an issuer that the app names is not asked at an address that is not public, and one that the user names is', async (t) => {
  if (isLeftOut(t)) return;
  const elsewhere = (usual: Record<string, unknown>) => ({
    ...usual,
    authorization_servers: [
      String((usual.authorization_servers as string[])[0]).replace('127.0.0.1', 'localhost'),
    ],
  });
  const user = await userOf(t, {
    resourceMetadata: elsewhere,
    issuerMetadata: (usual) => ({ ...usual, issuer: String(usual.issuer).replace('127.0.0.1', 'localhost') }),
    answer: (query) => query.set('iss', String(query.get('iss')).replace('127.0.0.1', 'localhost')),
  });
  const refused = await user.cordon(['apps', 'login', 'notes', '--yes']);
  assert.equal(refused.code, 2);
  assert.match(plain(refused.stderr), /`localhost:\d+` cannot be reached: its address is not public/);
  assert.deepEqual(
    user.remote.heard.filter(({ at }) => at === 'issuer'),
    [],
  );
  const issuer = user.remote.issuer.replace('127.0.0.1', 'localhost');
  const named = await user.cordon(['apps', 'login', 'notes', '--yes', '--issuer', issuer]);
  assert.equal(named.code, 0, named.stderr);
});

// Attack: an issuer so long that its host has left the screen when the question comes.
test('an address of the app’s server takes a few lines, and begins with its host', async (t) => {
  if (isLeftOut(t)) return;
  const long = (usual: Record<string, unknown>) => ({
    ...usual,
    authorization_servers: [`${(usual.authorization_servers as string[])[0]}/${'x'.repeat(1_900)}`],
  });
  const user = await userOf(t, { resourceMetadata: long });
  const { stderr } = await user.cordon(['apps', 'login', 'notes']);
  assert.match(plain(stderr), new RegExp(`where: ${user.remote.issuer}/x`));
  assert.ok(stderr.split('\n').length < 16, stderr);
});
