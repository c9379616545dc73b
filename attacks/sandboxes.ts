/**
 * The attempts of the escape suite in Cordon, in sandboxes of others and without any. As an ordinary user only: where
 * nothing stops an attempt it happens, bounded by its own numbers.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Column, compared } from './comparison.ts';
import type { Job } from './escape/hub.ts';
import { OTHERS } from './escape/others.ts';
import type { Outcome } from './escape/program.ts';
import { runJobs } from './escape/suite.ts';

export { type Column, compared } from './comparison.ts';

export const SANDBOXES = ['Cordon', ...OTHERS] as const;
export type Sandbox = (typeof SANDBOXES)[number];

const NEEDED: Readonly<Partial<Record<Sandbox, string>>> = {
  bubblewrap: '/usr/bin/bwrap',
  firejail: '/usr/bin/firejail',
  'sandbox-runtime': join(import.meta.dirname, '../node_modules/@anthropic-ai/sandbox-runtime/package.json'),
};

export function isInstalled(name: Sandbox): boolean {
  const needed = NEEDED[name];
  return needed === undefined || existsSync(needed);
}

/** All attempts that make sense everywhere, each with its twin. Throws for root. */
export async function columnOf(name: Sandbox): Promise<Column> {
  if (process.getuid?.() === 0) throw new Error('as an ordinary user only: these attempts may really happen');
  if (!isInstalled(name)) return { name, version: 'not installed', outcomes: new Map() };
  const outcomes = new Map<string, { outcome?: Outcome; twin?: Outcome }>();
  const job: Job = { in: name, weaker: [], ids: compared().map(({ id }) => id), twins: true };
  try {
    await runJobs([job], ({ id, isTwin, outcome }) => {
      const known = outcomes.get(id) ?? {};
      outcomes.set(id, isTwin ? { ...known, twin: outcome } : { ...known, outcome });
    });
  } finally {
    cleanSharedMemory();
  }
  return { name, version: versionOf(name), outcomes };
}

/** How many attempts got what they wanted. */
export function throughIn({ outcomes }: Column): number {
  return [...outcomes.values()].filter(({ outcome }) => outcome?.kind === 'through').length;
}

function versionOf(name: Sandbox): string {
  switch (name) {
    case 'Cordon':
    case 'no sandbox':
      return '';
    case 'bubblewrap':
      return said('/usr/bin/bwrap', /bubblewrap (\S+)/);
    case 'firejail':
      return said('/usr/bin/firejail', /version (\S+)/);
    case 'sandbox-runtime':
      return String(JSON.parse(readFileSync(NEEDED[name] ?? '', 'utf8')).version);
  }
}

function said(program: string, pattern: RegExp): string {
  const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' });
  return pattern.exec(stdout)?.[1] ?? '';
}

/** What attempts without a sandbox left in the host's /dev/shm. */
function cleanSharedMemory(): void {
  for (const name of readdirSync('/dev/shm'))
    if (/^cordon-attack-\d+$/.test(name)) rmSync(join('/dev/shm', name), { force: true });
}
