/** The sandbox of this machine, for those who may never confine a process. */

import type { Configuration } from '@cordon/config';
import { type Dialler, HERE } from '@cordon/dialler';
import type { Sandbox } from '@cordon/sandbox';
import type { LayerName } from '@cordon/sandbox/layers';

/** Opened when the first process is to be confined: to see what the machine has takes 10 ms, and the prompt needs none of it. */
export function sandboxOnDemand(
  configuration: Pick<Configuration, 'dataFolder'>,
  weaker: readonly LayerName[],
  dialler: Dialler = HERE,
): Sandbox {
  let opening: Promise<Sandbox> | null = null;
  const sandbox = () => {
    opening ??= import('./machine-sandbox.ts').then(({ machineSandbox }) =>
      machineSandbox(configuration, weaker, dialler),
    );
    return opening;
  };
  return {
    probe: async () => (await sandbox()).probe(),
    spawn: async (spec, signal) => (await sandbox()).spawn(spec, signal),
  };
}
