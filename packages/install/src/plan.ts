/**
 * What is run in an install step for each package manager, and what its own report says about the result.
 *
 * No code of a package is run: no scripts of npm's life-cycle, no source distributions of Python.
 */
import { existsSync } from 'node:fs';
import { type Fault, failed, fault, isJsonObject, type Json, ok, parseJson, type Result } from '@cordon/core';
import { checkPath, type Mount, NODE_INSIDE, type PackageCall } from '@cordon/sandbox';
import { type InstalledPackage, packageOf } from './record.ts';
import type { Registry } from './registry.ts';

export interface InstallPlan {
  readonly mounts: readonly Mount[];
  readonly env: Readonly<Record<string, string>>;
  /** Variables of the package manager that hold credentials. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Whether the programs of the system are needed. */
  readonly usr: boolean;
  readonly steps: readonly (readonly string[])[];
  /** Paths in the tree that are not part of the result. */
  readonly without: readonly string[];
  readonly report: string;
  /** What the package manager writes about its requests, for one that does not say why it failed; null: nothing. */
  readonly log: string | null;
}

/** Folders inside, all in the private /tmp, which is gone with the step. */
const TREE = '/tmp/tree';
const NPM_INSIDE = '/opt/npm';
const AUTHORITIES_INSIDE = '/opt/authorities.pem';
/** Node reads it. */
export const AUTHORITIES = 'NODE_EXTRA_CA_CERTS';

export { TREE as TREE_INSIDE };

/** The user's npm. */
export interface Npm {
  /** Null if there is none. */
  readonly folder: string | null;
  /** Settings (`@x:registry`) of scopes that have another registry: packages of theirs are not installed. */
  readonly foreignScopes: ReadonlyMap<string, string>;
  /** The user's file of certificate authorities, for a registry that has its own; null: there is none. */
  readonly authorities: string | null;
}

export function planOf(call: PackageCall, registry: Registry, npm: Npm): Result<InstallPlan, Fault> {
  return call.ecosystem === 'npm' ? npmPlan(call, registry, npm) : pythonPlan(call, registry);
}

function npmPlan(
  call: PackageCall,
  registry: Registry,
  { folder: npm, foreignScopes, authorities }: Npm,
): Result<InstallPlan, Fault> {
  if (npm === null)
    return failed(
      fault(
        'app-unavailable',
        'npm was not found, and packages are fetched with it',
        'install Node.js with npm',
      ),
    );
  const host = checkPath(npm);
  if (!host.ok) return host;
  const options = [
    ...['--prefix', TREE, '--cache', '/tmp/cache', '--userconfig', '/tmp/none', '--globalconfig', '/tmp/no'],
    ...['--registry', registry.url, '--replace-registry-host', 'always'],
    ...[...foreignScopes].map(([key, url]) => `--${key}=${url}`),
    ...['--ignore-scripts', '--no-bin-links', '--omit', 'dev', '--no-audit', '--no-fund'],
    ...['--no-update-notifier', '--no-progress', '--loglevel', 'http', '--color', 'false'],
    ...['--fetch-retries', '1', '--fetch-retry-mintimeout', '1000', '--fetch-timeout', '60000'],
    ...['--maxsockets', '8', '--package-lock', 'true', '--install-strategy', 'hoisted'],
  ];
  const specs = call.packages.map(({ spec }) => spec);
  const trusted = authorities === null ? null : checkPath(authorities);
  if (trusted !== null && !trusted.ok) return trusted;
  const mounts: Mount[] = [{ host: host.value, inside: NPM_INSIDE, access: 'read' }];
  if (trusted !== null) mounts.push({ host: trusted.value, inside: AUTHORITIES_INSIDE, access: 'read' });
  return ok({
    mounts,
    env: trusted === null ? {} : { [AUTHORITIES]: AUTHORITIES_INSIDE },
    secrets: npmSecrets(registry),
    usr: false,
    steps: [[NODE_INSIDE, `${NPM_INSIDE}/bin/npm-cli.js`, 'install', ...options, '--', ...specs]],
    without: ['package.json', 'package-lock.json', 'node_modules/.package-lock.json'],
    report: `${TREE}/package-lock.json`,
    log: null,
  });
}

/** npm reads a setting for one place from a variable, too. */
function npmSecrets({ credential }: Registry): Readonly<Record<string, string>> {
  if (credential === undefined) return {};
  const { place, kind, value } = credential;
  return { [`npm_config_${place}:${kind === 'token' ? '_authToken' : '_auth'}`]: value };
}

const PYTHON = '/usr/bin/python3';
/** pip calls an index that wants credentials one without the package, and says otherwise only here. */
const PIP_LOG = '/tmp/pip.log';

function pythonPlan(call: PackageCall, registry: Registry): Result<InstallPlan, Fault> {
  const url = new URL(registry.url);
  if (!existsSync(PYTHON))
    return failed(
      fault(
        'app-unavailable',
        `\`${PYTHON}\` was not found`,
        'install Python 3 with pip for the whole system',
      ),
    );
  const secrets = pipSecrets(registry);
  // `--isolated` ignores variables, and a variable holds the address with the credentials.
  const index = secrets === null ? ['--isolated', '--index-url', registry.url] : [];
  const options = [
    ...['--disable-pip-version-check', '--no-input', '--no-cache-dir', '--no-color', '--quiet'],
    ...['--proxy', 'http://127.0.0.1:3128', '--timeout', '60', '--retries', '1'],
    ...['install', '--target', TREE, '--only-binary', ':all:', '--no-compile', '--progress-bar', 'off'],
    ...['--report', '/tmp/report.json', '--log', PIP_LOG],
    ...(url.protocol === 'http:' ? ['--trusted-host', url.hostname] : []),
    ...index,
  ];
  const specs = call.packages.map(({ spec }) => spec);
  return ok({
    mounts: [],
    env: { PIP_CONFIG_FILE: '/dev/null' },
    secrets: secrets ?? {},
    usr: true,
    steps: [
      [PYTHON, '-m', 'pip', ...options, '--', ...specs],
      // The app cannot write bytecode, and times of files do not outlive the way out of here.
      [PYTHON, '-m', 'compileall', '-q', '--invalidation-mode', 'unchecked-hash', '-s', TREE, TREE],
    ],
    without: [],
    report: '/tmp/report.json',
    log: PIP_LOG,
  });
}

/** A token is a password of the user `__token__`, as PyPI has it. */
function pipSecrets({ url, credential }: Registry): Readonly<Record<string, string>> | null {
  if (credential === undefined) return null;
  const { kind, value } = credential;
  const login = kind === 'token' ? `__token__:${value}` : Buffer.from(value, 'base64').toString();
  const [user = ''] = login.split(':', 1);
  const index = new URL(url);
  index.username = encodeURIComponent(user);
  index.password = encodeURIComponent(login.slice(user.length + 1));
  return { PIP_INDEX_URL: index.href };
}

/** The packages that came, sorted; refused where the report is invalid or names one without its digest. */
export function reportedPackages(
  call: PackageCall,
  report: string | null,
): Result<readonly InstalledPackage[], Fault> {
  const parsed = parseJson(report ?? '');
  const entries = parsed.ok ? (call.ecosystem === 'npm' ? ofLock : ofReport)(parsed.value) : null;
  const packages = entries?.map(packageOf).filter((entry) => entry !== null);
  if (
    entries == null ||
    packages === undefined ||
    packages.length !== entries.length ||
    packages.length === 0
  )
    return failed(
      fault(
        'app-unavailable',
        'the package manager did not say what it installed, with a digest of each package',
      ),
    );
  const byName = (a: InstalledPackage, b: InstalledPackage) =>
    a.name < b.name ? -1 : a.name > b.name ? 1 : a.version < b.version ? -1 : 1;
  return ok(packages.sort(byName));
}

/** `package-lock.json`, version 2 or 3: keys are folders. What a package brings along inside of it has no digest. */
function ofLock(lock: Json): readonly Json[] | null {
  const packages = isJsonObject(lock) ? lock.packages : undefined;
  if (!isJsonObject(packages)) return null;
  return Object.entries(packages).flatMap(([folder, entry]) => {
    if (folder === '' || !isJsonObject(entry) || entry.inBundle === true) return [];
    const [name = ''] = folder.split('node_modules/').slice(-1);
    // What this machine does not take, an optional package for another system, is in the lock as well.
    if (entry.optional === true && !fitsHere(entry)) return [];
    return [{ name, version: entry.version ?? null, integrity: entry.integrity ?? null }];
  });
}

function fitsHere(entry: { readonly [key: string]: Json }): boolean {
  const fits = (key: string, value: string) => {
    const listed = entry[key];
    if (!Array.isArray(listed)) return true;
    return (
      listed.includes(value) ||
      (!listed.includes(`!${value}`) && listed.every((one) => String(one).startsWith('!')))
    );
  };
  return fits('os', process.platform) && fits('cpu', process.arch);
}

/** pip's installation report, version 1. */
function ofReport(report: Json): readonly Json[] | null {
  const installed = isJsonObject(report) ? report.install : undefined;
  if (!Array.isArray(installed)) return null;
  return installed.map((entry: Json) => {
    const about = isJsonObject(entry) ? entry : {};
    const metadata = isJsonObject(about.metadata) ? about.metadata : {};
    const download = isJsonObject(about.download_info) ? about.download_info : {};
    const archive = isJsonObject(download.archive_info) ? download.archive_info : {};
    return {
      name: metadata.name ?? null,
      version: metadata.version ?? null,
      integrity: archive.hash ?? null,
    };
  });
}

/** The version of the app's own package among those that came; null: it did not come. */
export function ownVersion(call: PackageCall, packages: readonly InstalledPackage[]): string | null {
  const normal = (name: string) =>
    call.ecosystem === 'npm' ? name : name.toLowerCase().replace(/[-_.]+/g, '-');
  const own = packages.filter(({ name }) => normal(name) === call.packages[0]?.name);
  return own.at(-1)?.version ?? null;
}
