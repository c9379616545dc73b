/**
 * What an app sees of /proc beside its own processes. What is not listed here is covered, also what only this machine or a later
 * kernel has. Attack: counters of the whole machine tell when the user types, and what their other programs do.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';

/** Entries of /proc that are shown, and why. Links lead to the process itself, and are always shown. */
export const SHOWN_PROC: ReadonlyMap<string, string> = new Map([
  ...each(
    'cpuinfo meminfo uptime loadavg version',
    'programs choose by it; sysinfo(2) and uname(2) say much of the same',
  ),
  ...each(
    'filesystems consoles crypto devices dma execdomains misc mtrr partitions',
    'the same since the machine started',
  ),
  ...each(
    'acpi config.gz driver iomem ioports tty',
    'the same since the machine started; addresses are zeros',
  ),
  ['sysvipc', 'of its own namespace'],
  ['sys', 'settings, of which `SHOWN_SETTINGS` are shown'],
  ['stat', 'the processors by their numbers, and zeros: `syntheticStat`'],
]);

/** Folders of /proc/sys that are shown, read-only: programs look there how many processes, maps or connections there may be. */
export const SHOWN_SETTINGS = ['kernel', 'net', 'vm'] as const;

export interface CoveredEntry {
  readonly path: string;
  readonly kind: 'file' | 'folder';
}

function each(names: string, why: string): readonly (readonly [string, string])[] {
  return names.split(' ').map((name) => [name, why]);
}

/** What is to be covered on this machine. What only root may read the kernel refuses to apps that are not. */
export function coveredEntries(appsAreRoot: boolean): readonly CoveredEntry[] {
  return readdirSync('/proc', { withFileTypes: true }).flatMap((entry): readonly CoveredEntry[] => {
    const isProcess = /^\d+$/.test(entry.name);
    if (isProcess || entry.isSymbolicLink() || SHOWN_PROC.has(entry.name)) return [];
    const path = `/proc/${entry.name}`;
    const isReadable = appsAreRoot || ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o004) !== 0;
    return isReadable ? [{ path, kind: entry.isDirectory() ? 'folder' : 'file' }] : [];
  });
}

/** Those of them that are there at this moment: a module of the kernel may have gone, with its entry. */
export function present(entries: readonly CoveredEntry[]): readonly CoveredEntry[] {
  return entries.filter(({ path }) => statSync(path, { throwIfNoEntry: false }) !== undefined);
}

/**
 * A /proc/stat for apps: programs count processors in it, and read when the machine was started. The kernel's own says
 * how often each interrupt came, the keyboard's among them.
 */
export function syntheticStat(): string {
  const lines = readFileSync('/proc/stat', 'latin1').split('\n');
  const processors = lines.map((line) => line.split(' ')[0] ?? '').filter((name) => /^cpu\d*$/.test(name));
  const started = lines.find((line) => /^btime \d+$/.test(line)) ?? 'btime 0';
  return [
    ...processors.map((name) => `${name} 0 0 0 0 0 0 0 0 0 0`),
    ...['intr 0', 'ctxt 0', started, 'processes 0', 'procs_running 1', 'procs_blocked 0', 'softirq 0'],
    '',
  ].join('\n');
}
