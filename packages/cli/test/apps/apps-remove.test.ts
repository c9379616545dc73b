/** `cordon apps remove`: what is taken out of the file, what is told to be left, and what `--purge` deletes. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { keepSecret, keptSecretNames } from '@cordon/config/keys';
import { id, USER_LABEL } from '@cordon/core';
import { recordFile } from '@cordon/sandbox';
import { Workplace } from '@cordon/testkit/cordon-program.ts';
import { openStore, type Store } from '@cordon/trace';
import { isLeftOut } from '../../../../tools/cases.ts';

const CONFIG = ['--config', 'cordon.json', '--data', 'data'];
const USER = { origin: null, source: id<'event'>('said1'), label: USER_LABEL } as const;

const FILE = `// what I use
{
  "apps": {
    /* mine */
    "notes": { "command": "node", "args": ["notes.js"] }, // since May
    "mail": {
      // the account of work
      "command": "npx",
      "args": ["-y", "mail-app"]
    }
  },
  "installable": { "rides": { "command": "npx", "args": ["rides"] }, "taxi": ["ride-fare"] }
}
`;

const WITHOUT: Readonly<Record<string, string>> = {
  notes: FILE.replace('"notes": { "command": "node", "args": ["notes.js"] }, // since May', '// since May'),
  mail: FILE.replace(/,( \/\/ since May\n) {4}"mail"[^}]*}\n/, '$1'),
  rides: FILE.replace('"rides": { "command": "npx", "args": ["rides"] }, ', ''),
  taxi: FILE.replace(', "taxi": ["ride-fare"]', ''),
};

const fileOf = (place: Workplace): string => readFileSync(join(place.root, 'cordon.json'), 'utf8');
const remove = (place: Workplace, ...args: readonly string[]) =>
  place.run(['apps', 'remove', ...args, ...CONFIG]);

for (const [name, text] of Object.entries(WITHOUT)) {
  test(`\`${name}\` is taken out, and comments and all else stay as they are`, (t) => {
    if (isLeftOut(t, name === 'notes')) return;
    using place = new Workplace({ 'cordon.json': FILE });
    const { code, out } = remove(place, name);
    assert.equal(code, 0);
    assert.match(out, new RegExp(`\`${name}\` is removed from`));
    assert.equal(fileOf(place), text);
    assert.equal(place.run(['apps', ...CONFIG]).code, 0, 'the file is still a configuration');
    assert.equal(existsSync(join(place.root, 'data')), false, 'no store is made');
  });
}

test('an app that is the only one leaves an empty list', (t) => {
  if (isLeftOut(t)) return;
  using place = new Workplace({ 'cordon.json': '{"apps":{"notes":{"command":"node","args":["n.js"]},}}' });
  assert.equal(remove(place, 'notes').code, 0);
  assert.equal(fileOf(place), '{"apps":{}}');
});

for (const [name, says] of [
  ['note', /there is no app `note` in the configuration.*did you mean `notes`\?/s],
  ['zebra', /there is no app `zebra` in the configuration.*`cordon apps`\s+lists them/s],
  ['..', /there is no app `\.\.` in the configuration/],
] as const) {
  test(`a name that is not there changes nothing: ${name}`, (t) => {
    if (isLeftOut(t, name === 'note')) return;
    using place = new Workplace({ 'cordon.json': FILE, 'data/kept': 'x' });
    for (const more of [[], ['--purge', '--yes']]) {
      const { code, err } = remove(place, name, ...more);
      assert.equal(code, 2);
      assert.match(err, says);
    }
    assert.equal(fileOf(place), FILE);
    assert.equal(existsSync(join(place.root, 'data/kept')), true);
  });
}

/** Agreed to, with a grant, a memory, files of its own and a package; and another app that has the like. */
function used(): Workplace {
  const place = new Workplace({ 'cordon.json': FILE });
  const data = join(place.root, 'data');
  withStore(place, (store) => {
    const session = store.sessions.create();
    for (const name of ['mail', 'notes']) {
      const app = id<'app'>(name);
      const description = { instructions: '', tools: [] };
      store.pins.pin({ place: place.root, app, configured: {}, description, digest: 'sha256:x', by: 'user' });
      const subject = { scope: 'data-release', from: null, to: app, what: 'home' } as const;
      assert.ok(store.grants.give({ subject, session, digest: 'x', duration: 'permanent' }).ok);
      store.memory({ kind: 'spoke', app }).learn('home', 'Main Street 1', USER);
      mkdirSync(join(data, 'apps', name), { recursive: true });
    }
    store.sessions.release(session);
  });
  mkdirSync(dirname(recordOf(place)), { recursive: true });
  mkdirSync(join(data, 'packages/work'));
  writeFileSync(recordOf(place), RECORD);
  return place;
}

const REQUEST = 'npm:mail-app';
const RECORD = JSON.stringify({
  ...{
    format: 1,
    request: REQUEST,
    ecosystem: 'npm',
    name: 'mail-app',
    version: '1.0.0',
    digest: 'ab'.repeat(32),
  },
  ...{
    files: 1,
    bytes: 1,
    registry: 'https://packages.example/',
    installedAt: '2026-01-01T00:00:00Z',
    packages: [],
  },
});
const recordOf = (place: Workplace): string => recordFile(join(place.root, 'data'), REQUEST);

function withStore<T>(place: Workplace, use: (store: Store) => T): T {
  const opened = openStore(join(place.root, 'data'), Date.now);
  assert.ok(opened.ok);
  try {
    return use(opened.value);
  } finally {
    opened.value.close();
  }
}

/** What is left of each of the two. */
function leftOf(place: Workplace) {
  return withStore(place, ({ pins, grants, memories }) =>
    ['mail', 'notes'].map((name) => [
      pins.find(place.root, id(name)) !== null,
      grants.list({ live: true, app: id(name) }).length,
      memories.owners().filter((owner) => owner.kind === 'spoke' && owner.app === name).length,
      existsSync(join(place.root, 'data/apps', name)),
    ]),
  );
}

const ALL = [true, 1, 1, true];
const NOTHING = [false, 0, 0, false];

test('what an app leaves behind is reported, and kept', (t) => {
  if (isLeftOut(t)) return;
  using place = used();
  const { code, out, err } = remove(place, 'mail');
  assert.equal(code, 0);
  const told = out.replace(/\s+/g, ' ');
  assert.match(told, /left of it: what you agreed to of it, 1 grant, its memory \(1 fact\)/);
  assert.match(
    err.replace(/\s+/g, ' '),
    /another program under this name gets its memory and files, but no permission/,
  );
  assert.match(err.replace(/\s+/g, ' '), /`cordon apps remove mail --purge` deletes it/);
  assert.deepEqual(leftOf(place), [ALL, ALL]);
});

test('--purge deletes it, of this app alone, also when the app is no longer in the file', () => {
  using place = used();
  assert.equal(remove(place, 'mail').code, 0);
  const { code, lines } = remove(place, 'mail', '--purge', '--yes', '--json');
  assert.equal(code, 0);
  const files = join(place.root, 'data/apps/mail');
  const rest = { files, package: null, installed: false, scrubbed: true };
  const counts = { pin: true, grants: 1, turns: 0, summaries: 0, facts: 1 };
  assert.deepEqual(lines, [{ kind: 'app.purged', id: 'mail', ...counts, ...rest }]);
  assert.deepEqual(leftOf(place), [NOTHING, ALL]);
  assert.equal(remove(place, 'mail', '--purge', '--yes').code, 2, 'nothing is left');
});

test('--purge deletes the record of its package, so that nothing is installed for it', (t) => {
  if (isLeftOut(t)) return;
  using place = used();
  assert.equal(existsSync(recordOf(place)), true);
  const { code, out } = remove(place, 'mail', '--purge', '--yes');
  assert.equal(code, 0);
  assert.match(out.replace(/\s+/g, ' '), /deleted: .* and the package mail-app/);
  assert.equal(existsSync(recordOf(place)), false);
});

test('a package that another app is started from stays', (t) => {
  if (isLeftOut(t)) return;
  using place = used();
  const text = FILE.replace('"notes.js"', '"notes.js"] }, "post": { "command": "npx", "args": ["mail-app"');
  place.write('cordon.json', text);
  assert.equal(remove(place, 'mail', '--purge', '--yes').code, 0);
  assert.equal(existsSync(recordOf(place)), true);
});

test('--purge without a terminal needs `--yes`, and does nothing else either', () => {
  using place = used();
  const { code, err } = remove(place, 'mail', '--purge');
  assert.equal(code, 1);
  assert.match(err, /nothing was deleted: `--yes` means yes/);
  assert.equal(fileOf(place), FILE);
  assert.deepEqual(leftOf(place), [ALL, ALL]);
});

test('with --json each thing is a line', (t) => {
  if (isLeftOut(t)) return;
  using place = used();
  const { lines } = remove(place, 'notes', '--json');
  assert.deepEqual(lines, [
    { kind: 'app.removed', id: 'notes', file: join(place.root, 'cordon.json'), section: 'apps' },
    {
      kind: 'app.left',
      id: 'notes',
      pin: true,
      grants: 1,
      turns: 0,
      summaries: 0,
      facts: 1,
      files: join(place.root, 'data/apps/notes'),
      package: null,
      installed: false,
    },
  ]);
});

// Attack: a key stays on the disk of a user who removed the app and all that was left of it.
test('--purge deletes the secrets of the app, and those that another app or a registry has stay', (t) => {
  if (isLeftOut(t)) return;
  const entry = (...names: readonly string[]) => ({
    command: 'x',
    env: Object.fromEntries(names.map((name, at) => [`KEY_${at}`, `\${secret:${name}}`])),
  });
  const registry = (name: string) => `\${secret:${name}}`;
  using place = new Workplace({
    'cordon.json': JSON.stringify({
      apps: { mail: entry('mail.KEY', 'shared', 'npm'), notes: entry('shared') },
      packages: {
        '//npm.corp.example/:_authToken': registry('npm'),
        '//npm.corp.example/own/:_authToken': registry('mail.NPM'),
      },
    }),
  });
  const kept = { ownDataFolder: join(place.root, 'data'), folder: place.root };
  for (const name of ['mail.KEY', 'mail.NPM', 'npm', 'shared'])
    assert.equal(keepSecret(kept, name, 'x').ok, true);
  const { out } = remove(place, 'mail', '--purge', '--yes');
  assert.match(out, /deleted: 1 secret/);
  assert.deepEqual([...keptSecretNames(kept)].sort(), ['mail.NPM', 'npm', 'shared']);
});
