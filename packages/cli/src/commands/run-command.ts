/** Runs one command in its context, for the cli and for programs that it starts. */

import type { CommandContext, Options } from '../context/command-context.ts';
import { EXIT, type ExitCode } from '../context/exit.ts';
import { thrownFault } from '../context/thrown.ts';

const UNCAUGHT = 'recorded events are kept; `cordon sessions` lists what you can resume';

/** Runs a command in its context; whatever is thrown is a bug, told in one line, and never success. */
export async function runCommand(
  raw: Record<string, unknown>,
  command: (context: CommandContext) => Promise<ExitCode> | ExitCode,
): Promise<void> {
  await import('../context/compilation.ts');
  const { CommandContext: Built } = await import('../context/command-context.ts');
  const { baseUrl, ...rest } = raw as Options & { baseUrl?: string };
  const context = new Built({ ...rest, ...(baseUrl === undefined ? {} : { baseURL: baseUrl }) });
  // Thrown where nothing catches it: by a timer, or by a stream that breaks. Apps end with this process.
  process.once('uncaughtException', (error) => {
    context.reportFault({ help: UNCAUGHT, ...thrownFault(error) });
    if (raw.verbose === true) console.error(error.stack);
    process.exit(EXIT.failed);
  });
  try {
    process.exitCode = await command(context);
  } catch (error) {
    context.reportFault(thrownFault(error));
    if (raw.verbose === true && error instanceof Error) console.error(error.stack);
    process.exitCode = EXIT.failed;
  } finally {
    await context.close();
  }
}
