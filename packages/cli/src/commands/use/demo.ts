/** `cordon demo [CASE]`: attacks without and with Cordon, which a separate program plays. */

import type { CommandContext } from '../../context/command-context.ts';
import type { ExitCode } from '../../context/exit.ts';
import { CASE_STUDIES, optionsWord, runSourceProgram } from '../source-program.ts';

/** @param wanted a case's number, or `all`; undefined: those of the paper */
export function demo(context: CommandContext, wanted: string | undefined): Promise<ExitCode> {
  const words = wanted === undefined ? [] : [wanted];
  return runSourceProgram(context, CASE_STUDIES, [optionsWord(context.options), ...words]);
}
