/**
 * `npm run bench`: the whole evaluation, then the documentation from its results.
 *
 *     npm run bench                            all suites, full; goes on where it was interrupted
 *     npm run bench -- overhead --again        one suite, measured anew
 *     npm run bench -- --data FOLDER           with the data that are not part of the sources
 *     npm run bench:docs                       only the documentation, from the results of the repository
 *
 * Ends with 1 if an aim is missed, and with 2 if something could not be measured; what could be is taken over then, too.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { commit, writePages } from './evaluation/documentation/committed.ts';
import { readResults } from './evaluation/result.ts';
import { codeVersion } from './evaluation/running/code-version.ts';
import { CODE_ROOT, CORDON } from './places.ts';

/** Not part of the repository; an interrupted run continues from it. */
const RUN_FOLDER = join(CODE_ROOT, 'tmp', 'bench');

async function main(args: readonly string[]): Promise<number> {
  if (args[0] === 'docs') return document();
  const named = args[0] !== undefined && !args[0].startsWith('-');
  const { code } = codeVersion();
  const ended = await run(['bench', ...(named ? args : ['all', ...args]), '--out', RUN_FOLDER]);
  const results = readResults(RUN_FOLDER);
  if (!results.ok) return 2;
  for (const reason of commit(results.value, code)) console.error(`not taken over: ${reason}`);
  return Math.max(document(), ended);
}

/** Signals are for the run, which ends in order; this process waits for it. */
function run(words: readonly string[]): Promise<number> {
  const child = spawn(CORDON, words, { stdio: 'inherit' });
  // A terminal tells both of Ctrl-C; a signal to this process alone has to be handed on.
  process.on('SIGINT', () => child.kill('SIGINT'));
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  return new Promise((resolve) => {
    child.once('error', () => resolve(2));
    child.once('close', (code) => resolve(code ?? 2));
  });
}

function document(): number {
  const changed = writePages();
  if (!changed.ok) {
    console.error(`bench: ${changed.fault.message}`);
    return 2;
  }
  console.error(
    changed.value.length === 0
      ? 'the documentation is as the results have it'
      : `written: ${changed.value.join(', ')}`,
  );
  return 0;
}

process.exitCode = await main(process.argv.slice(2));
