/** Runs one command in its surroundings, for the cli and for programs that it starts. Ring 1. */
import { EXIT, type ExitCode } from '../exit.ts';
import { thrownFault } from '../thrown.ts';
import type { Options, Surroundings } from './surroundings.ts';

const UNCAUGHT = 'recorded events are kept; `cordon sessions` lists what you can resume';

/** Runs a command in its surroundings; whatever is thrown is a bug, told in one line, and never success. */
export async function runCommand(
  raw: Record<string, unknown>,
  command: (surroundings: Surroundings) => Promise<ExitCode> | ExitCode,
): Promise<void> {
  await import('../compilation.ts');
  const { Surroundings: Built } = await import('./surroundings.ts');
  const { baseUrl, ...rest } = raw as Options & { baseUrl?: string };
  const surroundings = new Built({ ...rest, ...(baseUrl === undefined ? {} : { baseURL: baseUrl }) });
  // Thrown where nobody waits for it: by a timer, or by a stream that breaks. Apps end with this process.
  process.once('uncaughtException', (error) => {
    surroundings.tellFault({ help: UNCAUGHT, ...thrownFault(error) });
    if (raw.verbose === true) console.error(error.stack);
    process.exit(EXIT.failed);
  });
  try {
    process.exitCode = await command(surroundings);
  } catch (error) {
    surroundings.tellFault(thrownFault(error));
    if (raw.verbose === true && error instanceof Error) console.error(error.stack);
    process.exitCode = EXIT.failed;
  } finally {
    await surroundings.close();
  }
}
