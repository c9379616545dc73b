/**
 * Runs test files: up to twelve files of a package, or of a room such as `e2e/commands`, one after the other in a process that they
 * share, several processes at the same time. A process for each file would spend a fifth of the time on loading the same code again; one
 * for each package would leave the longest for the end, alone.
 *
 *   node tools/runner/run-tests.ts GLOB...    the packages in the order of the globs: the slowest first, so that none of them is left for the end
 */
import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { styleText } from 'node:util';
import { NO_TIME_LEFT } from '../cases.ts';
import { ROOT } from '../imports.ts';

/** Files that share a process. */
const FILES_AT_MOST = 12;
/** Many tests wait for processes and time limits: with only three more than cores, the cores are idle a fifth of the time. */
const AT_ONCE = availableParallelism() + 4;
const COUNTS = ['tests', 'pass', 'fail', 'cancelled', 'skipped', 'todo'] as const;
const FLAGS = ['--test', '--test-isolation=none', '--test-reporter=spec', '--test-timeout=1800000'];

type Counts = Readonly<Record<(typeof COUNTS)[number], number>>;

interface Ended {
  readonly name: string;
  readonly seconds: number;
  readonly said: string;
  /** Null: the process ended before it had counted its tests. */
  readonly counts: Counts | null;
  readonly isGood: boolean;
}

async function main(globs: readonly string[]): Promise<number> {
  const begun = performance.now();
  const waiting = groupsOf(globs.flatMap(filesOf));
  const all: Ended[] = [];
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const ended = await runGroup(...next);
      all.push(ended);
      process.stdout.write(`\n${ended.name} (${ended.seconds.toFixed(1)} s)\n${ended.said}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return report(all, (performance.now() - begun) / 1000);
}

/** A glob without a file is a slip of the caller. */
function filesOf(glob: string): readonly string[] {
  const files = globSync(glob, { cwd: ROOT, exclude: ['**/node_modules'] }).sort();
  if (files.length === 0) throw new Error(`no test file is named ${glob}`);
  return files;
}

/** Of files of one package or room each, as equal in number as can be. */
function groupsOf(files: readonly string[]): [name: string, files: readonly string[]][] {
  return [...Map.groupBy(files, placeOf)].flatMap(([place, all]) => {
    const count = Math.ceil(all.length / FILES_AT_MOST);
    return Array.from({ length: count }, (_, part): [string, readonly string[]] => [
      count === 1 ? place : `${place}, part ${part + 1} of ${count}`,
      all.filter((_, index) => index % count === part),
    ]);
  });
}

/** `packages/hub`, `e2e/commands`. */
function placeOf(file: string): string {
  return dirname(file).split('/').slice(0, 2).join('/');
}

async function runGroup(name: string, files: readonly string[]): Promise<Ended> {
  const begun = performance.now();
  const child = spawn(process.execPath, [...FLAGS, ...files], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  const code = await new Promise<number | null>((settle) => child.once('close', settle));
  const counts = countsIn(said);
  const isGood = code === 0 && counts !== null && counts.tests > 0 && counts.fail + counts.cancelled === 0;
  return { name, seconds: (performance.now() - begun) / 1000, said, counts, isGood };
}

/** What the reporter says at its very end. */
function countsIn(said: string): Counts | null {
  const found = COUNTS.map((name) => [name, new RegExp(`^ℹ ${name} (\\d+)$`, 'm').exec(said)?.[1]] as const);
  if (found.some(([, count]) => count === undefined)) return null;
  return Object.fromEntries(found.map(([name, count]) => [name, Number(count)])) as Counts;
}

function report(all: readonly Ended[], seconds: number): number {
  const bad = all.filter((one) => !one.isGood);
  for (const { name, said, counts } of bad) {
    const failures = said.indexOf('\n✖ failing tests:');
    console.log(styleText('red', `\n✖ ${name}${counts === null ? ' ended before its tests did' : ''}`));
    console.log(failures === -1 ? said.slice(-4000) : said.slice(failures));
  }
  console.log(`\nall parts: ${all.length}, ${bad.length} failed, in ${seconds.toFixed(0)} s`);
  const late = all.reduce((sum, { said }) => sum + said.split(`# ${NO_TIME_LEFT}`).length - 1, 0);
  if (late > 0)
    console.log(
      styleText('yellow', `${late} tests of the full command were left out: no time was left for them`),
    );
  for (const name of COUNTS)
    console.log(`ℹ ${name} ${all.reduce((sum, { counts }) => sum + (counts?.[name] ?? 0), 0)}`);
  return bad.length === 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
