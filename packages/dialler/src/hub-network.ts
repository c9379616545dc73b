/**
 * How a program that the launcher (packages/cli/bin/cordon) has started dials: through the dialling process, or by itself.
 */
import type { DiallingProcess } from './client.ts';
import type { Dialler } from './dialler.ts';
import { HERE } from './here.ts';

export interface HubNetwork {
  readonly dialler: Dialler;
  /** The descriptor of the pipe that starts the dialling process; null: this process dials by itself. */
  readonly pipe: number | null;
  /** Why this process shares the network of the machine; null: it has a namespace without one. The launcher says so. */
  readonly sharedBecause: string | null;
}

/** Where the launcher leaves the pipe. Node closes it to the programs that it starts. */
const PIPE = 9;

/** @param said `CORDON_DIAL`: the folder of the process’s sockets, or after `shared:` why there is none; undefined: nobody set it */
export function hubNetwork(said: string | undefined): HubNetwork {
  if (said?.startsWith('/') === true)
    return { dialler: throughProcess(said), pipe: PIPE, sharedBecause: null };
  const [, reason = 'Cordon was started without its launcher'] = /^shared:\s*(.+)$/s.exec(said ?? '') ?? [];
  return { dialler: HERE, pipe: null, sharedBecause: reason };
}

/** Loads the client of the process when there is something to dial. */
function throughProcess(folder: string): Dialler {
  let opening: Promise<DiallingProcess> | null = null;
  const client = () => {
    opening ??= import('./client.ts').then(
      ({ DiallingProcess: Client }) => new Client({ folder, pipe: PIPE }),
    );
    return opening;
  };
  return {
    lookup: async (host) => (await client()).lookup(host),
    dial: async (host, port, signal) => (await client()).dial(host, port, signal),
    bait: async () => (await client()).bait(),
  };
}
