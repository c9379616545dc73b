/**
 * From which registry packages come: the one that the user's package manager is configured for. Its address is all
 * that is taken from there: its credentials stay where they are, and only those of `cordon.json` are used. What a file in the
 * current folder says comes marked as such: someone else may have put it there.
 */
import { join } from 'node:path';
import type { Environment } from '@cordon/config/reading';
import { bareAddress, type Fault, failed, fault, isThisMachine, ok, portOf, type Result } from '@cordon/core';
import { isPrivateAddress } from '@cordon/egress/resolver';

export interface Registry {
  /** Without user and password; ends in `/`. */
  readonly url: string;
  /** Which `host:port` the install step may reach, and no other. */
  readonly reach: readonly { readonly host: string; readonly port: number }[];
  /** To which alone it may lead, because the user's configuration says so; absent: to public ones. */
  readonly privateAddresses?: readonly string[];
  /** Whether the user has credentials for it elsewhere, which an install step does not get. */
  readonly hasCredentials: boolean;
  /** What it gets from the user; absent: nothing. */
  readonly credential?: RegistryCredential;
  /** The file of the current folder that names it; null: the user's own settings do. */
  readonly namedBy: FolderFile | null;
}

/** What shows a registry who asks. It is in no argument, file or record. */
export interface RegistryCredential {
  /** `//host/path/`, as npm names it: whatever is below. */
  readonly place: string;
  readonly kind: 'token' | 'password';
  /** The token; or user and password, in base64. */
  readonly value: string;
}

/** A file that the user may not have written. */
export interface FolderFile {
  readonly path: string;
  readonly text: string;
}

export interface RegistryPlaces {
  readonly environment: Environment;
  readonly home: string;
  /** What `packages` of the configuration says, which goes before npm's and pip's own settings; by npm's keys. */
  readonly registries: ReadonlyMap<string, string>;
  /** Of `packages`: by host. */
  readonly privateAddresses: ReadonlyMap<string, readonly string[]>;
  /** Of `packages`: secrets by npm's keys. */
  readonly credentials: ReadonlyMap<string, string>;
  /** The folder of the configuration: its `.npmrc` counts, as it does for `npx` there, once the user has agreed to it. */
  readonly folder: string;
  /** The folder of the user's npm; null where there is none. */
  readonly npm: string | null;
  /** The text of a file; null if it cannot be read. */
  readonly read: (path: string) => string | null;
}

const PYTHON_DEFAULT = 'https://pypi.org/simple/';

/** Where PyPI itself keeps the files that its index names. */
const PYPI_FILES = { host: 'files.pythonhosted.org', port: 443 };

/** `scope`: of the package (`@x`), or null. A scope may have its own registry. */
export function npmRegistry(scope: string | null, places: RegistryPlaces): Result<Registry, Fault> {
  const folder = folderFile(places);
  const layers = npmLayers(places, folder);
  const [, , ofFolder] = layers;
  const own = `${scope}:registry`;
  // A scope has its own registry where anything names one.
  const key = scope !== null && layers.some((layer) => layer.has(own)) ? own : 'registry';
  const wanted = layers.find((layer) => layer.has(key));
  const setting = wanted?.get(key) ?? npmDefault(places);
  if (setting === null)
    return failed(
      fault('app-unavailable', 'npm does not say which registry it uses', 'set `registry` in `~/.npmrc`'),
    );
  const namedBy = wanted === ofFolder ? folder : null;
  const writer = wanted === places.registries ? OWN_FILE : namedBy === null ? null : `\`${namedBy.path}\``;
  const address = writer === null ? ok(expanded(setting, places.environment)) : unexpanded(setting, writer);
  if (!address.ok) return address;
  const found = registryOf(address.value, [], places);
  if (!found.ok) return found;
  const { host, pathname } = new URL(found.value.url);
  const hasCredentials = layers.some((layer) =>
    [...layer.keys()].some((key) => isCredential(key) && belongsTo(key, host, pathname)),
  );
  return ok({ ...found.value, namedBy, hasCredentials: found.value.hasCredentials || hasCredentials });
}

/**
 * For npm: the scopes that have another registry than the one that is used, each with an address that the install step does not
 * reach. Attack: what the user's own registry holds as `@corp/tool` is published in the public one, and taken from there because
 * another package needs it.
 */
export function foreignScopes({ url, reach }: Registry, places: RegistryPlaces): ReadonlyMap<string, string> {
  const layers = npmLayers(places, folderFile(places));
  const keys = new Set(layers.flatMap((layer) => [...layer.keys()]).filter((key) => SCOPE_KEY.test(key)));
  const foreign = new Map<string, string>();
  for (const key of keys) {
    const own = registryOf(expanded(settingOf(layers, key) ?? '', places.environment), [], places);
    if (own.ok && own.value.url === url) continue;
    const isReached = !own.ok || reach.some(({ host }) => host === new URL(own.value.url).hostname);
    foreign.set(key, isReached ? NOWHERE : `https://${new URL(own.value.url).hostname}/`);
  }
  return foreign;
}

const SCOPE_KEY = /^@[^\s:/=]{1,214}:registry$/;
/** For another registry of the same host, and for what is no address. */
const NOWHERE = 'https://another-registry.invalid/';

/** The `.npmrc` beside the configuration; null if there is none, or if it is the user's own. */
function folderFile({ folder, home, read }: RegistryPlaces): FolderFile | null {
  const path = join(folder, NPM_SETTINGS);
  const text = path === join(home, NPM_SETTINGS) ? null : read(path);
  return text === null ? null : { path, text };
}

/** Attack: an address with `${AWS_SECRET_ACCESS_KEY}` in a cloned folder sends the variable to the author of the file. */
function unexpanded(setting: string, writer: string): Result<string, Fault> {
  if (!setting.includes('${')) return ok(setting);
  const message = `the registry in ${writer} holds a variable of your environment, which no file of a folder is given`;
  return failed(fault('app-unavailable', message, HOW_TO_NAME_A_REGISTRY));
}

const OWN_FILE = '`packages` of `cordon.json`';
const HOW_TO_NAME_A_REGISTRY = 'name the registry yourself: `npm_config_registry=URL`, or in `~/.npmrc`';

/** What npm takes where nothing is configured is in its own source; null: not where it was looked for. */
function npmDefault({ npm, read }: RegistryPlaces): string | null {
  const text = npm === null ? null : read(join(npm, NPM_DEFINITIONS));
  return /\('registry', \{\s*default: '([^']+)'/.exec(text ?? '')?.[1] ?? null;
}

const NPM_DEFINITIONS = 'node_modules/@npmcli/config/lib/definitions/definitions.js';

type Settings = ReadonlyMap<string, string>;

function settingOf(layers: readonly Settings[], key: string): string | undefined {
  return layers.find((layer) => layer.has(key))?.get(key);
}

/**
 * npm reads `npm_config_registry` in any case. Attack: npm, which starts this program for `npx cordon`, puts what the
 * current folder's `.npmrc` says into these variables, expanded. Of what that file sets they say nothing.
 */
function npmVariables({ environment, folder, read }: RegistryPlaces): Settings {
  const { npm_execpath: npm, npm_config_local_prefix: prefix = folder } = environment;
  const folders = npm === undefined ? [] : [folder, prefix];
  const unknown = new Set(
    folders.flatMap((one) => [...settingsIn(read(join(one, NPM_SETTINGS)) ?? '').keys()].map(variableKey)),
  );
  const settings = Object.entries(environment).flatMap(([name, value]) => {
    const key = variableKey(name);
    if (!key.startsWith(VARIABLE) || value === undefined || value === '') return [];
    const setting = key.slice(VARIABLE.length);
    // A scope has its hyphens in npm's settings, also where a variable names it.
    const named = setting.startsWith('@') ? setting.replaceAll('_', '-') : setting;
    return unknown.has(setting) ? [] : [[named, value] as const];
  });
  return new Map(settings);
}

const NPM_SETTINGS = '.npmrc';
const VARIABLE = 'npm_config_';

function variableKey(name: string): string {
  return name.toLowerCase().replaceAll('-', '_');
}

/** The configuration of Cordon, then npm's order: variables, the project's file, the user's, the machine's, npm's own. */
function npmLayers(places: RegistryPlaces, folder: FolderFile | null): readonly Settings[] {
  const { home, npm, read } = places;
  const variables = npmVariables(places);
  const prefix = npm === null ? '/usr/local' : join(npm, '../../..');
  const paths = [
    variables.get('userconfig') ?? join(home, NPM_SETTINGS),
    variables.get('globalconfig') ?? join(prefix, 'etc/npmrc'),
    ...(prefix === '/usr' ? ['/etc/npmrc'] : []),
    ...(npm === null ? [] : [join(npm, 'npmrc')]),
  ];
  const files = paths.map((path) => settingsIn(read(path) ?? ''));
  return [places.registries, variables, settingsIn(folder?.text ?? ''), ...files];
}

/** Lines `key = value`, sections ignored; as both npm and pip write them. */
function settingsIn(text: string): Settings {
  const settings = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, key, value] = /^\s*([^#;[\s][^=]*?)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (key !== undefined && value !== undefined && !settings.has(key))
      settings.set(key, value.replace(/^(["'])(.*)\1$/, '$2'));
  }
  return settings;
}

const CREDENTIALS = /(?:^|:)(?:_authToken|_auth|_password|username|certfile|keyfile)$/;

function isCredential(key: string): boolean {
  return CREDENTIALS.test(key);
}

/** `//host/path/:_authToken` is for that host; without a host it is for the registry, whichever it is. */
function belongsTo(key: string, host: string, path: string): boolean {
  if (!key.startsWith('//')) return true;
  const place = key.slice(2, key.lastIndexOf(':'));
  return `${host}${path}`.startsWith(place.replace(/\/$/, ''));
}

/** `${NAME}` is the variable, as npm reads it. */
function expanded(text: string, environment: Environment): string {
  return text.replace(/\$\{([^}]+)\}/g, (whole, name: string) => environment[name] ?? whole);
}

/** The index of pip or uv. Further indexes (`extra-index-url`) are not used: a name could come from either. */
export function pythonIndex(places: RegistryPlaces): Result<Registry, Fault> {
  const { environment, home, read } = places;
  const files = [
    environment.PIP_CONFIG_FILE ?? null,
    join(environment.XDG_CONFIG_HOME ?? join(home, '.config'), 'pip/pip.conf'),
    join(home, '.pip/pip.conf'),
    '/etc/xdg/pip/pip.conf',
    '/etc/pip.conf',
  ];
  const layers = files.map((path) => settingsIn((path === null ? null : read(path)) ?? ''));
  const fromFile = settingOf(layers, 'index-url') ?? settingOf(layers, 'index_url');
  const { UV_DEFAULT_INDEX, UV_INDEX_URL, PIP_INDEX_URL } = environment;
  const wanted = [UV_DEFAULT_INDEX, UV_INDEX_URL, PIP_INDEX_URL, fromFile].find(
    (value) => value !== undefined && value !== '',
  );
  const address = wanted ?? PYTHON_DEFAULT;
  return registryOf(address, /^https:\/\/pypi\.org\//.test(address) ? [PYPI_FILES] : [], places);
}

function registryOf(text: string, also: Registry['reach'], places: RegistryPlaces): Result<Registry, Fault> {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['https:', 'http:'].includes(url.protocol))
    return failed(
      fault('app-unavailable', 'the registry in the configuration of the package manager is no http address'),
    );
  const hasCredentials = url.username !== '' || url.password !== '';
  url.username = '';
  url.password = '';
  url.search = '';
  url.hash = '';
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  const reach = [{ host: url.hostname, port: portOf(url) }, ...also];
  const listed = places.privateAddresses.get(url.hostname);
  const credential = credentialFor(url, places.credentials);
  // Attack: somebody on the way reads the credentials, and publishes packages with them.
  if (credential !== null && !isPrivateWay(url, listed)) return failed(inTheClear(url.host));
  return ok({
    url: url.href,
    reach,
    ...(listed === undefined ? {} : { privateAddresses: listed }),
    hasCredentials,
    ...(credential === null ? {} : { credential }),
    namedBy: null,
  });
}

/** That of the longest place. */
function credentialFor(
  { host, pathname }: URL,
  credentials: RegistryPlaces['credentials'],
): RegistryCredential | null {
  const [found] = [...credentials]
    .map(([key, value]) => credentialOf(key, value))
    .filter(({ place }) => `//${host}${pathname}`.startsWith(place))
    .toSorted((a, b) => b.place.length - a.place.length);
  return found ?? null;
}

/** People type `user:password`, and npm's files hold it in base64, where there is no colon. */
function credentialOf(key: string, value: string): RegistryCredential {
  const place = key.slice(0, key.lastIndexOf(':'));
  if (key.endsWith(':_authToken')) return { place, kind: 'token', value };
  const isPlain = value.includes(':');
  return { place, kind: 'password', value: isPlain ? Buffer.from(value).toString('base64') : value };
}

/** Whether only the user's own networks see what is sent. */
function isPrivateWay({ protocol, hostname }: URL, listed: readonly string[] = []): boolean {
  const isOwn = isThisMachine(hostname) || isPrivateAddress(bareAddress(hostname));
  return protocol === 'https:' || listed.length > 0 || isOwn;
}

function inTheClear(host: string): Fault {
  const message = `the credentials for the registry \`${host}\` would go through the internet in the clear`;
  return fault('app-unavailable', message, 'name the registry by `https`');
}
