// biome-ignore-all lint/suspicious/noTemplateCurlyInString: as npm's files write it
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { findNpm } from '../src/npm-program.ts';
import { foreignScopes, npmRegistry, pythonIndex, type RegistryPlaces } from '../src/registry.ts';

/** As npm itself says what it takes by default. */
const DEFINITIONS = "  registry: new Definition('registry', {\n    default: 'https://public.example/',\n";

interface Settings {
  readonly registries?: Record<string, string>;
  readonly privateAddresses?: Record<string, readonly string[]>;
  readonly credentials?: Record<string, string>;
}

function places(
  files: Record<string, string>,
  environment: Record<string, string> = {},
  settings: Settings = {},
): RegistryPlaces {
  return {
    environment,
    registries: new Map(Object.entries(settings.registries ?? {})),
    privateAddresses: new Map(Object.entries(settings.privateAddresses ?? {})),
    credentials: new Map(Object.entries(settings.credentials ?? {})),
    home: '/home/me',
    folder: '/home/me/project',
    npm: '/opt/n/lib/node_modules/npm',
    read: (path) => files[path] ?? (path.endsWith('/definitions.js') ? DEFINITIONS : null),
  };
}

function npm(
  files: Record<string, string>,
  environment: Record<string, string> = {},
  scope: string | null = null,
) {
  const found = npmRegistry(scope, places(files, environment));
  return found.ok
    ? found.value
    : { url: found.fault.message, reach: [], hasCredentials: false, namedBy: null };
}

const PROJECT = '/home/me/project/.npmrc';
const USER = '/home/me/.npmrc';
const MACHINE = '/opt/n/etc/npmrc';

/** Attack: `@my-corp/tool` is published in the registry that everybody uses. */
test('a variable names the registry of a scope with a hyphen, as it does for npm', () => {
  const own = { 'npm_config_@my-corp:registry': 'https://corp.example' };
  assert.equal(npm({}, own, '@my-corp').url, 'https://corp.example/');
  assert.equal(npm({}, own, '@other').url, 'https://public.example/');
  const used = npmRegistry(null, places({}, own));
  assert.ok(used.ok);
  const foreign = foreignScopes(used.value, places({}, own));
  assert.deepEqual([...foreign], [['@my-corp:registry', 'https://corp.example/']]);
});

test("the registry is npm's own choice: variable, project, user, machine, default", () => {
  const of = (host: string) => `registry = https://${host}.example/\n`;
  const files = { [PROJECT]: of('project'), [USER]: of('user'), [MACHINE]: of('machine') };
  assert.equal(npm(files, { NPM_CONFIG_REGISTRY: 'https://env.example' }).url, 'https://env.example/');
  assert.equal(npm(files).url, 'https://project.example/');
  assert.equal(npm({ [USER]: files[USER], [MACHINE]: files[MACHINE] }).url, 'https://user.example/');
  assert.equal(npm({ [MACHINE]: files[MACHINE] }).url, 'https://machine.example/');
  assert.equal(npm({}).url, 'https://public.example/');
  assert.equal(
    npm({ [USER]: '; registry=https://no.example\n# registry=https://no.example' }).url,
    'https://public.example/',
  );
});

test('where npm does not tell its default, nothing is guessed', () => {
  const found = npmRegistry(null, { ...places({}), read: () => null });
  assert.match(found.ok ? found.value.url : found.fault.message, /does not say which registry/);
});

test('the npm of this machine tells its default', () => {
  const npm = findNpm(process.env.PATH ?? '');
  const read = (path: string) => (path.startsWith(npm ?? '/none') ? readFileSync(path, 'utf8') : null);
  const found = npmRegistry(null, {
    ...places({}),
    npm,
    read: (path) => (existsSync(path) ? read(path) : null),
  });
  assert.match(found.ok ? found.value.url : found.fault.message, /^https:\/\/[a-z.]+\/$/);
});

test('a scope may have a registry of its own', () => {
  const files = { [USER]: '@x:registry=https://x.example/npm\nregistry=https://all.example/' };
  assert.equal(npm(files, {}, '@x').url, 'https://x.example/npm/');
  assert.equal(npm(files, {}, '@y').url, 'https://all.example/');
  assert.equal(npm(files).url, 'https://all.example/');
});

test('only its host and port are reached, by name, address and scheme', () => {
  assert.deepEqual(npm({ [USER]: 'registry=http://127.0.0.1:4873/' }).reach, [
    { host: '127.0.0.1', port: 4873 },
  ]);
  assert.deepEqual(npm({ [USER]: 'registry=http://a.example' }).reach, [{ host: 'a.example', port: 80 }]);
  assert.deepEqual(npm({}).reach, [{ host: 'public.example', port: 443 }]);
});

test('credentials are seen and not taken', () => {
  const inAddress = npm({ [USER]: 'registry=https://me:secret@a.example/npm/?token=secret#secret' });
  assert.deepEqual(inAddress, {
    url: 'https://a.example/npm/',
    reach: [{ host: 'a.example', port: 443 }],
    hasCredentials: true,
    namedBy: null,
  });
  const token = (host: string) => ({
    [USER]: `registry=https://a.example/npm/\n//${host}:_authToken=secret`,
  });
  assert.equal(npm(token('a.example/npm/')).hasCredentials, true);
  assert.equal(npm(token('a.example/')).hasCredentials, true);
  assert.equal(npm(token('b.example/')).hasCredentials, false);
  assert.equal(npm({ [USER]: '_auth=secret' }).hasCredentials, true);
  assert.equal(JSON.stringify(npm(token('a.example/'))).includes('secret'), false);
});

test('a variable in a file is replaced, and what is no http address is refused', () => {
  assert.equal(
    npm({ [USER]: 'registry=${HERE}/npm' }, { HERE: 'https://a.example' }).url,
    'https://a.example/npm/',
  );
  for (const bad of ['file:///etc', 'ftp://a.example', 'nonsense', 'javascript:1'])
    assert.match(npm({ [USER]: `registry=${bad}` }).url, /no http address/);
});

test('a file of the folder is given no variable, and what it names is marked as its word', () => {
  const secret = { AWS_SECRET: 'hunter2' };
  const file = 'registry=https://evil.example/${AWS_SECRET}/\n';
  assert.match(npm({ [PROJECT]: file }, secret).url, /holds a variable of your environment/);
  assert.equal(npm({ [USER]: file }, secret).url, 'https://evil.example/hunter2/');
  const plain = npmRegistry(null, places({ [PROJECT]: 'registry=https://team.example/' }));
  assert.deepEqual(plain.ok && plain.value.namedBy, {
    path: PROJECT,
    text: 'registry=https://team.example/',
  });
  const own = npmRegistry(null, places({ [USER]: 'registry=https://mine.example/' }));
  assert.equal(own.ok && own.value.namedBy, null);
  const home = npmRegistry(null, {
    ...places({ [USER]: 'registry=https://mine.example/' }),
    folder: '/home/me',
  });
  assert.equal(
    home.ok && home.value.namedBy,
    null,
    'the home’s file is the user’s, wherever the command runs',
  );
});

test('what npm puts into variables out of the folder’s file counts as the file’s word', () => {
  const file = 'registry=https://evil.example/${AWS_SECRET}/\nuserconfig=/home/me/project/more\n';
  const more = { '/home/me/project/more': 'registry=https://evil.example/' };
  const expanded = {
    npm_execpath: '/opt/n/lib/node_modules/npm/bin/npm-cli.js',
    npm_config_registry: 'https://evil.example/hunter2/',
    npm_config_userconfig: '/home/me/project/more',
    npm_config_local_prefix: '/home/me/project',
  };
  assert.match(npm({ [PROJECT]: file, ...more }, expanded).url, /holds a variable of your environment/);
  const above = { ...expanded, npm_config_local_prefix: '/home/me/above' };
  assert.equal(npm({ '/home/me/above/.npmrc': file, ...more }, above).url, 'https://public.example/');
  const typed = { npm_config_registry: 'https://mine.example/' };
  assert.equal(npm({ [PROJECT]: file }, typed).url, 'https://mine.example/', 'without npm, the user set it');
  const mine = { ...typed, npm_execpath: expanded.npm_execpath };
  assert.equal(npm({}, mine).url, 'https://mine.example/');
});

test('a program of the current folder is not taken for the npm of this machine', (context) => {
  const root = mkdtempSync(join(tmpdir(), 'cordon-npm-'));
  context.after(() => rmSync(root, { recursive: true, force: true }));
  for (const folder of ['clone/node_modules', 'opt']) {
    mkdirSync(join(root, folder, 'npm/bin'), { recursive: true });
    mkdirSync(join(root, folder, '.bin'));
    writeFileSync(join(root, folder, 'npm/package.json'), '{"name":"npm"}');
    writeFileSync(join(root, folder, 'npm/bin/npm-cli.js'), '');
    symlinkSync('../npm/bin/npm-cli.js', join(root, folder, '.bin/npm'));
  }
  const path = `${join(root, 'clone/node_modules/.bin')}:${join(root, 'opt/.bin')}`;
  assert.equal(findNpm(path), realpathSync(join(root, 'opt/npm')));
});

function python(files: Record<string, string>, environment: Record<string, string> = {}) {
  const found = pythonIndex(places(files, environment));
  return found.ok
    ? found.value
    : { url: found.fault.message, reach: [], hasCredentials: false, namedBy: null };
}

test('the index of Python is that of uv or pip, and further indexes are not used', () => {
  const file = {
    '/home/me/.config/pip/pip.conf':
      '[global]\nindex-url = https://a.example/simple\nextra-index-url = https://b.example/',
  };
  assert.deepEqual(python(file), {
    url: 'https://a.example/simple/',
    reach: [{ host: 'a.example', port: 443 }],
    hasCredentials: false,
    namedBy: null,
  });
  assert.equal(python(file, { PIP_INDEX_URL: 'https://c.example/' }).url, 'https://c.example/');
  assert.equal(python(file, { UV_DEFAULT_INDEX: 'https://d.example/' }).url, 'https://d.example/');
  assert.deepEqual(python({}).reach, [
    { host: 'pypi.org', port: 443 },
    { host: 'files.pythonhosted.org', port: 443 },
  ]);
});

test('what the configuration says goes before the settings of npm, for a scope and for all', () => {
  const settings = {
    registries: { registry: 'https://npm.corp.example', '@corp:registry': 'https://own.corp.example/npm' },
    privateAddresses: { 'own.corp.example': ['10.20.0.15'] },
  };
  const files = {
    [PROJECT]: 'registry = https://evil.example/\n',
    [USER]: '@corp:registry = https://user.example/',
  };
  const given = places(files, { npm_config_registry: 'https://variable.example/' }, settings);
  const all = npmRegistry(null, given);
  assert.ok(all.ok);
  assert.deepEqual(
    [all.value.url, all.value.namedBy, all.value.privateAddresses],
    ['https://npm.corp.example/', null, undefined],
  );
  const scoped = npmRegistry('@corp', given);
  assert.ok(scoped.ok);
  assert.deepEqual(
    [scoped.value.url, scoped.value.privateAddresses],
    ['https://own.corp.example/npm/', ['10.20.0.15']],
  );
  // The twin: a file of the folder alone is its own word.
  assert.equal(npm(files).namedBy?.path, PROJECT);
});

// Attack: a cloned `cordon.json` names a registry with a key in its address, which no manifest may name.
test('an address of the configuration gets no variable of the environment', () => {
  const settings = { registries: { registry: 'https://evil.example/${OPENAI_API_KEY}/' } };
  const found = npmRegistry(null, places({}, { OPENAI_API_KEY: 'sk-1' }, settings));
  assert.ok(!found.ok);
  assert.match(found.fault.message, /`packages` of `cordon.json` holds a variable/);
  const own = npmRegistry(null, places({ [USER]: 'registry=https://corp.example/${TEAM}' }, { TEAM: 'one' }));
  assert.equal(own.ok && own.value.url, 'https://corp.example/one/');
});

const CORP = { registries: { registry: 'https://npm.corp.example/own/' } };

/** The credential for npm's registry of the company. */
function credentialOf(credentials: Record<string, string>, settings: Settings = CORP) {
  const found = npmRegistry(null, places({}, {}, { ...settings, credentials }));
  assert.ok(found.ok, found.ok ? '' : found.fault.message);
  return found.value.credential;
}

test('credentials are for the registries of their place, and the longest place counts', () => {
  const own = { '//npm.corp.example/own/:_authToken': 'own' };
  assert.deepEqual(credentialOf(own), { place: '//npm.corp.example/own/', kind: 'token', value: 'own' });
  const both = { '//npm.corp.example/:_authToken': 'all', ...own };
  assert.equal(credentialOf(both)?.value, 'own');
  assert.deepEqual(credentialOf({ '//npm.corp.example/:_auth': 'me:secret' }), {
    place: '//npm.corp.example/',
    kind: 'password',
    value: 'bWU6c2VjcmV0',
  });
  assert.equal(credentialOf({ '//npm.corp.example/:_auth': 'bWU6c2VjcmV0' })?.value, 'bWU6c2VjcmV0');
});

// Attack: a registry gets the credentials of another one whose name or path begins alike.
for (const place of [
  '//npm.corp.example.evil.example/',
  '//npm.corp.example:8443/',
  '//corp.example/',
  '//npm.corp.example/ow/',
  '//npm.corp.example/own/deeper/',
]) {
  test(`credentials for ${place} are not for another place`, () => {
    assert.equal(credentialOf({ [`${place}:_authToken`]: 'secret' }), undefined);
  });
}

test('credentials go through the internet by TLS alone', () => {
  const credentials = { '//nexus/:_authToken': 'secret', '//10.0.0.1:8081/:_authToken': 'secret' };
  const at = (registry: string, more: Settings = {}) =>
    npmRegistry(null, places({}, {}, { ...more, registries: { registry }, credentials }));
  const open = at('http://nexus/');
  assert.match(open.ok ? '' : open.fault.message, /in the clear/);
  assert.equal(at('http://nexus/', { privateAddresses: { nexus: ['10.0.0.1'] } }).ok, true);
  assert.equal(at('https://nexus/').ok, true);
  assert.equal(at('http://10.0.0.1:8081/').ok, true);
});

test('the index of Python has the credentials of its place', () => {
  const settings = { credentials: { '//a.example/simple/:_auth': 'me:secret' } };
  const found = pythonIndex(places({}, { PIP_INDEX_URL: 'https://a.example/simple' }, settings));
  assert.deepEqual(found.ok && found.value.credential?.kind, 'password');
  const other = pythonIndex(places({}, { PIP_INDEX_URL: 'https://b.example/simple' }, settings));
  assert.deepEqual(other.ok && other.value.credential, undefined);
});
