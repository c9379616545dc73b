/**
 * The store from the command line: opened, used, and closed whatever happens. Why it cannot be opened is told.
 *
 * Ring 1.
 */
import type { Store } from '@cordon/trace';
import type { Configuration } from '../config.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { openJournal } from '../journal.ts';
import type { Surroundings } from './surroundings.ts';

/** The store of the configuration that the user has. */
export async function withStore(
  surroundings: Surroundings,
  use: (store: Store) => ExitCode | Promise<ExitCode>,
): Promise<ExitCode> {
  const configuration = surroundings.configuration();
  return configuration === null ? EXIT.failed : usingStore(surroundings, configuration, use);
}

/** The store of a configuration that is read already. */
export async function usingStore(
  surroundings: Surroundings,
  configuration: Configuration,
  use: (store: Store) => ExitCode | Promise<ExitCode>,
): Promise<ExitCode> {
  const store = openJournal(configuration);
  if (!store.ok) return surroundings.tellObstacle({ kind: 'fault', fault: store.fault });
  try {
    return await use(store.value);
  } finally {
    store.value.close();
  }
}
