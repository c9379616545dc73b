/**
 * Where things are on this machine: the configuration file, the data and cache folders, and paths as people write
 * them (`~/notes`, `./policy.gr`) made absolute.
 */
import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Places {
  readonly environment: Environment;
  readonly cwd: string;
  readonly home: string;
}

/**
 * The places of `cordon.json`, in order: the current folder, then the user's configuration folder. Folders above the
 * current one are not searched: a file that starts programs should not take effect from far away.
 */
export function configurationCandidates(places: Places): readonly string[] {
  return [
    join(places.cwd, 'cordon.json'),
    join(xdgFolder(places, 'XDG_CONFIG_HOME', '.config'), 'cordon', 'cordon.json'),
  ];
}

export function defaultDataFolder(places: Places): string {
  return join(xdgFolder(places, 'XDG_DATA_HOME', join('.local', 'share')), 'cordon');
}

export function cacheFolder(places: Places): string {
  return join(xdgFolder(places, 'XDG_CACHE_HOME', '.cache'), 'cordon');
}

/** The folder that holds `packages/`, `examples/` and `policies/`. */
export const CODE_ROOT = resolve(import.meta.dirname, '../../../..');

/** Folders of what runs as the hub: who writes there is the hub, from its next start on. */
export const PROGRAM_FOLDERS: readonly string[] = ['packages', 'node_modules', 'policies'].map((name) =>
  join(CODE_ROOT, name),
);

/** A file or folder of Cordon's own, links resolved. */
export interface OwnPath {
  readonly path: string;
  /** `the data folder` */
  readonly name: string;
  /** `write`: an app may read it. */
  readonly closedFor: 'read and write' | 'write';
}

/** What no app may read, with keys and the data of others, or what none may write, since it says what runs and with which rights. */
export function ownPath(closedFor: OwnPath['closedFor'], path: string, name: string): OwnPath {
  return { path: realPath(path), name, closedFor };
}

/** What there is whatever else is configured; `closed`: data folders, with what each is. */
export function ownPaths(
  places: Places,
  closed: readonly (readonly [path: string, name: string])[],
  configurations: readonly string[],
  policyFiles: readonly string[],
): readonly OwnPath[] {
  return [
    ...closed.map(([path, name]) => ownPath('read and write', path, name)),
    ownPath('read and write', defaultDataFolder(places), 'the default data folder'),
    ownPath('write', cacheFolder(places), 'the cache folder'),
    ...PROGRAM_FOLDERS.map((path) => ownPath('write', path, 'the program')),
    ...configurations.map((path) => ownPath('write', path, 'the configuration')),
    ...policyFiles.map((path) => ownPath('write', path, 'a policy')),
  ];
}

/** The private folder of one app, writable by it alone. */
export function stateFolder(dataFolder: string, app: string): string {
  return join(dataFolder, 'apps', app);
}

/**
 * What any app of the user was ever granted for writing. `userData`: the default data folder, whatever `--data` or a
 * configuration says, so that all of them know.
 */
export function writtenFolders(userData: string): string {
  return join(userData, 'written-folders');
}

/** XDG Base Directory Specification: a relative path in these variables is to be ignored. */
function xdgFolder(places: Places, variable: string, fallback: string): string {
  const named = places.environment[variable];
  return named !== undefined && isAbsolute(named) ? named : join(places.home, fallback);
}

/** Absolute and normalised. `~` and `~/…` mean the user's home; what is relative starts at `folder`. */
export function absolutePath(path: string, folder: string, home: string): string {
  if (path === '~') return home;
  return path.startsWith('~/') ? join(home, path.slice(2)) : resolve(folder, path);
}

/** Whether a regular file stands there; false too where that cannot be found out. */
export function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/**
 * The path with every link in its existing part resolved, so that a link to the data folder is seen as what it is.
 * Where nothing exists or may be looked at, the path as written.
 */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPath(parent), basename(path));
  }
}

/** Whether `inner` is `outer` or lies below it. Both absolute. */
export function covers(outer: string, inner: string): boolean {
  const way = relative(outer, inner);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}
