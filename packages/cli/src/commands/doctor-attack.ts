/** `cordon doctor --attack`: after the layers, the attempts to get out of them, which a separate program makes. Ring 1. */

import type { CommandContext } from '../context/command-context.ts';
import { EXIT, type ExitCode } from '../context/exit.ts';
import { doctor } from './doctor.ts';
import { ESCAPE_ATTEMPTS, optionsWord, runSourceProgram } from './source-program.ts';

/** `wanted`: the group of attempts to make; true: all. */
export async function doctorAttack(context: CommandContext, wanted: string | true): Promise<ExitCode> {
  const code = await doctor(context);
  if (code !== EXIT.done) return code;
  const words = wanted === true ? [] : [wanted];
  return runSourceProgram(context, ESCAPE_ATTEMPTS, [optionsWord(context.options), ...words]);
}
