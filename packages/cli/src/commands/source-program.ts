/**
 * Programs of the source repository that are no part of a published Cordon: benchmarks, escape attempts and case studies. A
 * command starts one as a process: the program has the terminal, and its exit code is the command's. No package imports one.
 */
import { type StdioOptions, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CODE_ROOT } from '@cordon/config/reading';
import { fault, isJsonObject, type JsonObject, parseJson } from '@cordon/core';
import type { HubNetwork } from '@cordon/dialler';
import type { CommandContext, Options } from '../context/command-context.ts';
import { EXIT, type ExitCode } from '../context/exit.ts';

interface SourceProgram {
  /** Below the root of the repository. */
  readonly file: string;
  /** As a sentence about it begins. */
  readonly what: string;
}

export const BENCHMARKS: SourceProgram = {
  file: 'bench/evaluation/command/main.ts',
  what: 'the benchmarks',
};
export const ESCAPE_ATTEMPTS: SourceProgram = {
  file: 'attacks/escape/main.ts',
  what: 'the escape attempts',
};
export const CASE_STUDIES: SourceProgram = { file: 'examples/cases/main.ts', what: 'the case studies' };

/** Ends with the program's exit code; a program that a signal ended has failed. */
export async function runSourceProgram(
  context: CommandContext,
  { file, what }: SourceProgram,
  words: readonly string[],
): Promise<ExitCode> {
  const path = join(CODE_ROOT, file);
  if (!existsSync(path)) {
    const message = `${what} are not installed: only the source repository contains them`;
    return context.reportFault(fault('usage', message, 'clone the repository, and run the command there'));
  }
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', path, ...words], {
    stdio: streamsFor(context.network),
  });
  // A terminal sends Ctrl-C to both processes, everybody else to this one alone.
  context.onInterrupt = () => child.kill(context.ending.aborted ? 'SIGTERM' : 'SIGINT');
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code === EXIT.done || code === EXIT.refused ? code : EXIT.failed));
  });
}

/** The program dials as this process does: through the dialling process, if this one has no network. */
function streamsFor({ pipe }: HubNetwork): StdioOptions {
  if (pipe === null) return 'inherit';
  const streams: ('inherit' | 'ignore')[] = ['inherit', 'inherit', 'inherit'];
  while (streams.length < pipe) streams.push('ignore');
  return [...streams, pipe];
}

/** Options that this process has read, as the first word for a program that reads none itself. */
export function optionsWord(options: Options): string {
  return JSON.stringify(options);
}

/** What a program was started with: the options of `cordon`, where it was `cordon`, and words. */
export function startedWith(words: readonly string[]): {
  readonly options: JsonObject;
  readonly words: readonly string[];
} {
  const [first = '', ...rest] = words;
  const parsed = parseJson(first);
  return parsed.ok && isJsonObject(parsed.value)
    ? { options: parsed.value, words: rest }
    : { options: {}, words };
}
