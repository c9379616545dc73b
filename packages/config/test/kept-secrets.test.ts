/** Secrets that the user typed once: for one file, readable by nobody else, and absent rather than empty. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders as people write them
import assert from 'node:assert/strict';
import { readdirSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ConfigurationFolder, problemsOf } from '@cordon/testkit/configuration-folder.ts';
import { keepSecret, keptSecret } from '../src/keys/index.ts';

const FILE = '{"apps": {"a": {"command": "x", "env": {"TOKEN": "Bearer ${secret:a.TOKEN}"}}}}';

test('a secret that is kept reaches the app, and its name is told', () => {
  using folder = new ConfigurationFolder();
  folder.write('cordon.json', FILE);
  const place = { ownDataFolder: join(folder.home, '.local/share/cordon'), folder: folder.project };
  assert.deepEqual(problemsOf(folder.load()), [
    '1:50 error CFG019 apps.a.env.TOKEN: the secret `a.TOKEN` is not kept for this file (`cordon init`, at a terminal, asks for it)',
  ]);
  assert.equal(keepSecret(place, 'a.TOKEN', 's3cret').ok, true);
  const loaded = folder.load();
  assert.ok(loaded.ok);
  const [app] = loaded.value.apps;
  assert.deepEqual(app?.source.kind === 'command' && app.source.env, { TOKEN: 'Bearer s3cret' });
  assert.deepEqual(
    loaded.value.handedVariables.map(({ key, variable }) => [key, variable]),
    [['TOKEN', 'secret a.TOKEN']],
  );
  assert.doesNotMatch(JSON.stringify([...loaded.value.entries.values()]), /s3cret/);
});

// Attack: the cordon.json of a stranger names a secret of another project.
test('a file in another folder does not get it; one that is reached by a link does', () => {
  using folder = new ConfigurationFolder();
  const ownDataFolder = join(folder.home, 'data');
  keepSecret({ ownDataFolder, folder: folder.project }, 'key', 'mine');
  assert.equal(keptSecret({ ownDataFolder, folder: folder.home }, 'key'), null);
  symlinkSync(folder.project, join(folder.home, 'link'));
  assert.equal(keptSecret({ ownDataFolder, folder: join(folder.home, 'link') }, 'key'), 'mine');
});

test('it is readable by the user alone, and a newer one takes its place', () => {
  using folder = new ConfigurationFolder();
  const place = { ownDataFolder: join(folder.home, 'data'), folder: folder.project };
  keepSecret(place, 'key', 'old');
  keepSecret(place, 'key', 'new');
  assert.equal(keptSecret(place, 'key'), 'new');
  const secrets = join(place.ownDataFolder, 'secrets');
  const [owner = ''] = readdirSync(secrets);
  assert.deepEqual(readdirSync(join(secrets, owner)), ['key']);
  assert.equal(statSync(join(secrets, owner, 'key')).mode & 0o777, 0o600);
  assert.equal(statSync(join(secrets, owner)).mode & 0o777, 0o700);
});

// Attack: a name that leads out of the folder of the secrets.
test('a name that is a path is no name', () => {
  using folder = new ConfigurationFolder();
  const place = { ownDataFolder: join(folder.home, 'data'), folder: folder.project };
  for (const name of ['../key', 'a/b', '..', '.', '']) {
    assert.equal(keepSecret(place, name, 'x').ok, false, name);
    assert.equal(keptSecret(place, name), null, name);
  }
});

test('a secret stands in env and headers alone: an argument can be read by every program', () => {
  using folder = new ConfigurationFolder();
  folder.write('cordon.json', '{"apps": {"a": {"command": "x", "args": ["${secret:key}"]}}}');
  keepSecret({ ownDataFolder: join(folder.home, '.local/share/cordon'), folder: folder.project }, 'key', 'x');
  assert.deepEqual(problemsOf(folder.load()), [
    '1:42 error CFG018 apps.a.args[0]: `${secret:key}` is no placeholder that Cordon knows (secrets stand in the values of `env` and `headers` of an app, and in `packages`)',
  ]);
});
