/** What this machine has: programs, libraries, the hub's own limits and identity. Read once and handed on. */
import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { type Fault, failed, fault, ok, type Result } from '@cordon/core';
import { errorCode } from '../kernel/error-code.ts';
import { coveredEntries, SHOWN_SETTINGS, syntheticStat } from '../kernel/proc-view.ts';
import type { ExplainHost } from '../spec/host-problem.ts';
import { readUnits } from '../watch/watchdog.ts';
import type { HostPrograms } from './bubblewrap.ts';
import { librariesOf } from './libraries.ts';

/** Fixed places, not PATH: what confines must not be chosen by the environment. */
const PROGRAM_FOLDERS = ['/usr/bin', '/usr/local/bin', '/bin'];

export function findProgram(name: string): string | null {
  return PROGRAM_FOLDERS.map((folder) => `${folder}/${name}`).find((path) => existsSync(path)) ?? null;
}

/** Everything that the argument vectors need; a fault names the missing program and its package. */
export function readHost(
  bwrap: string | null,
  node: string,
  isRoot: boolean,
  appsAreRoot: boolean,
  explain: ExplainHost,
): Result<HostPrograms, Fault> {
  const lacking = (program: string, name: string) =>
    unavailable(`${program} is not installed`, installRemedy(explain, name));
  const programs = {
    bwrap: bwrap ?? findProgram('bwrap'),
    prlimit: findProgram('prlimit'),
    setpriv: findProgram('setpriv'),
  };
  if (programs.bwrap === null || !existsSync(programs.bwrap)) return lacking('bubblewrap', 'bubblewrap');
  if (programs.prlimit === null || (isRoot && programs.setpriv === null))
    return lacking('util-linux (prlimit, setpriv)', 'util-linux');
  try {
    return ok({
      bwrap: programs.bwrap,
      prlimit: realpathSync(programs.prlimit),
      setpriv: programs.setpriv ?? '/usr/bin/setpriv',
      libraries: [...new Set([...librariesOf(node), ...librariesOf(programs.prlimit)])],
      rootLinks: rootLinks(),
      topFolders: topFolders(),
      publicEtc: ['/etc/alternatives', '/etc/ssl/certs'].filter((path) => existsSync(path)),
      hardLimits: hardLimits(),
      coveredProc: coveredEntries(appsAreRoot),
      shownSettings: SHOWN_SETTINGS.filter((name) => existsSync(`/proc/sys/${name}`)),
      stat: syntheticStat(),
      units: readUnits(),
    });
  } catch (error) {
    const code = errorCode(error);
    const isLimit = code === 'EMFILE' || code === 'ENFILE';
    return unavailable(
      `this machine's programs cannot be read: ${code}`,
      isLimit ? 'raise the limit of open files (`ulimit -n`)' : `check that \`${node}\` is a Node program`,
    );
  }
}

/** Where it was looked for is said, because some systems keep programs elsewhere. */
function installRemedy(explain: ExplainHost, name: string): string {
  const remedy = explain({ kind: 'missing-program', package: name })?.remedy ?? `install ${name}`;
  return `${remedy}; it is looked for in ${PROGRAM_FOLDERS.join(', ')}`;
}

function unavailable(message: string, help: string) {
  return failed(fault('sandbox-unavailable', message, help));
}

function rootLinks(): HostPrograms['rootLinks'] {
  return ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']
    .filter((path) => existsSync(path))
    .map((path) => ({ path, target: lstatSync(path).isSymbolicLink() ? readlinkSync(path) : null }));
}

const MADE_INSIDE = new Set(['proc', 'sys', 'dev', 'tmp', 'run', 'opt', 'usr', 'lost+found']);

function topFolders(): readonly string[] {
  return readdirSync('/', { withFileTypes: true })
    .filter(
      (entry) => entry.isDirectory() && !MADE_INSIDE.has(entry.name) && !/^(s?bin|lib.*)$/.test(entry.name),
    )
    .map(({ name }) => `/${name}`);
}

/** Rows of proc(5) `/proc/self/limits`, by the names that prlimit uses. */
const LIMIT_ROWS: ReadonlyMap<string, string> = new Map([
  ['Max cpu time', 'cpu'],
  ['Max data size', 'data'],
  ['Max open files', 'nofile'],
  ['Max locked memory', 'memlock'],
  ['Max msgqueue size', 'msgqueue'],
  ['Max core file size', 'core'],
  ['Max processes', 'nproc'],
  ['Max file size', 'fsize'],
]);

function hardLimits(): ReadonlyMap<string, number> {
  const text = readFileSync('/proc/self/limits', 'latin1');
  const limits = new Map<string, number>();
  for (const [, row, hard] of text.matchAll(/^(Max [a-z ]+?)\s{2,}\S+\s+(\d+|unlimited)/gm)) {
    const name = LIMIT_ROWS.get(row ?? '');
    if (name !== undefined) limits.set(name, hard === 'unlimited' ? Number.POSITIVE_INFINITY : Number(hard));
  }
  return limits;
}

/** Whether another user can get to the path: every folder above it can be searched. */
export function isReachable(path: string, uid: number): boolean {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (!permits(statSync(folder), uid, 'search')) return false;
    if (folder === '/') return true;
  }
}

const BITS = { read: 4, write: 2, search: 1 } as const;

/** The classic permission bits for a user whose only group has the same number. */
export function permits(stats: Stats, uid: number, what: keyof typeof BITS): boolean {
  const shift = stats.uid === uid ? 6 : stats.gid === uid ? 3 : 0;
  return ((stats.mode >> shift) & BITS[what]) !== 0;
}
