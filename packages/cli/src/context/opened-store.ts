/**
 * The store from the command line: opened, used, and closed whatever happens. Reports why it cannot be opened.
 * A configuration that was found in the current folder names a data folder only once the user has agreed to it.
 */

import type { Configuration } from '@cordon/config';
import { openJournal } from '@cordon/runtime/journal';
import type { Store } from '@cordon/trace';
import type { CommandContext } from './command-context.ts';
import { EXIT, type ExitCode } from './exit.ts';

/** The store of the configuration that the user has. */
export async function withStore(
  context: CommandContext,
  use: (store: Store) => ExitCode | Promise<ExitCode>,
): Promise<ExitCode> {
  const configuration = context.configuration();
  return configuration === null ? EXIT.failed : usingStore(context, configuration, use);
}

/**
 * Whether the data folder of a configuration may be opened; false: the reason is reported. Attack: a `cordon.json` in a
 * cloned folder names the folder in which a database is made, read or cleared.
 */
export async function mayOpen(context: CommandContext, configuration: Configuration): Promise<boolean> {
  return configuration.dataFolder === configuration.ownDataFolder || context.agrees(configuration);
}

/** The store of a configuration that is read already. */
export async function usingStore(
  context: CommandContext,
  configuration: Configuration,
  use: (store: Store) => ExitCode | Promise<ExitCode>,
): Promise<ExitCode> {
  if (!(await mayOpen(context, configuration))) return EXIT.failed;
  const store = openJournal(configuration);
  if (!store.ok) return context.reportSetupError({ kind: 'fault', fault: store.fault });
  try {
    return await use(store.value);
  } finally {
    store.value.close();
  }
}
