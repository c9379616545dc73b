/** `cordon doctor --attack`: after the layers, the attempts to get out of them, by a program of their own. Ring 1. */
import { EXIT, type ExitCode } from '../exit.ts';
import { doctor } from './doctor.ts';
import { ESCAPE_ATTEMPTS, optionsWord, runSourceProgram } from './source-program.ts';
import type { Surroundings } from './surroundings.ts';

/** `wanted`: the group of attempts to make; true: all. */
export async function doctorAttack(surroundings: Surroundings, wanted: string | true): Promise<ExitCode> {
  const code = await doctor(surroundings);
  if (code !== EXIT.done) return code;
  const words = wanted === true ? [] : [wanted];
  return runSourceProgram(surroundings, ESCAPE_ATTEMPTS, [optionsWord(surroundings.options), ...words]);
}
