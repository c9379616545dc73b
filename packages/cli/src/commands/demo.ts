/** `cordon demo [CASE]`: attacks without and with Cordon, played by a program of their own. Ring 1. */
import type { ExitCode } from '../exit.ts';
import { CASE_STUDIES, optionsWord, runSourceProgram } from './source-program.ts';
import type { Surroundings } from './surroundings.ts';

/** @param wanted a case's number, or `all`; undefined: those of the paper */
export function demo(surroundings: Surroundings, wanted: string | undefined): Promise<ExitCode> {
  const words = wanted === undefined ? [] : [wanted];
  return runSourceProgram(surroundings, CASE_STUDIES, [optionsWord(surroundings.options), ...words]);
}
