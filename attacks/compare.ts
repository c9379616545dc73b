/**
 * `npm run attacks:compare`: the attempts of the escape suite in Cordon, without a sandbox and in three others, as an
 * ordinary user; writes the table of docs/isolation.md. Sandboxes that are not installed are said to be so.
 *
 * Ring 1.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';
import { type Column, compared, renderComparison, replaceComparison } from './comparison.ts';
import type { Job } from './escape/hub.ts';
import { OTHERS } from './escape/others.ts';
import type { Outcome } from './escape/program.ts';
import { runJobs } from './escape/suite.ts';

const PAGE = join(import.meta.dirname, '../docs/isolation.md');

const NEEDED: Readonly<Record<string, string>> = {
  bubblewrap: '/usr/bin/bwrap',
  firejail: '/usr/bin/firejail',
  'sandbox-runtime': join(import.meta.dirname, '../node_modules/@anthropic-ai/sandbox-runtime/package.json'),
};

if (process.getuid?.() === 0) {
  console.error('attacks: as an ordinary user only; without a sandbox these attempts really happen');
  process.exit(2);
}

const attempts = compared();
const names = ['Cordon', ...OTHERS] as const;
const columns: Column[] = [];
for (const name of names) {
  const needed = NEEDED[name];
  if (needed !== undefined && !existsSync(needed)) {
    columns.push({ name, version: 'not installed', outcomes: new Map() });
    continue;
  }
  const outcomes = new Map<string, { outcome?: Outcome; twin?: Outcome }>();
  const job: Job = { in: name, weaker: [], ids: attempts.map(({ id }) => id), twins: true };
  await runJobs([job], ({ id, isTwin, outcome }) => {
    const known = outcomes.get(id) ?? {};
    outcomes.set(id, isTwin ? { ...known, twin: outcome } : { ...known, outcome });
  });
  columns.push({ name, version: versionOf(name), outcomes });
  const through = [...outcomes.values()].filter(({ outcome }) => outcome?.kind === 'through').length;
  console.error(`${name}: ${through} of ${attempts.length} got through`);
}
cleanSharedMemory();
const table = renderComparison(columns, `Linux ${release()}`);
if (process.argv.includes('--print')) console.log(table);
else writeFileSync(PAGE, replaceComparison(readFileSync(PAGE, 'utf8'), table));

function versionOf(name: (typeof names)[number]): string {
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
