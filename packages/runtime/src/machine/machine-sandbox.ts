/** The sandbox of this machine, as every command opens it. Ring 0. */

import { platform } from 'node:os';
import { join } from 'node:path';
import type { Configuration } from '@cordon/config';
import { explainHost } from '@cordon/host-diagnosis';
import { type LayerName, openSandbox, type Sandbox, type SandboxOptions } from '@cordon/sandbox';
import { openSeatbelt } from '@cordon/seatbelt';
/** Without a file of kept results the self-test runs again. */
export function openMachineSandbox(options: Pick<SandboxOptions, 'cacheFile' | 'weaker'>): Sandbox {
  const all = { ...options, node: process.execPath, explain: explainHost };
  return platform() === 'darwin' ? openSeatbelt(all) : openSandbox(all);
}

/** The result of a passed self-test is kept among the hub's own files, where no app can write. */
export function machineSandbox(
  { dataFolder }: Pick<Configuration, 'dataFolder'>,
  weaker: readonly LayerName[] = [],
): Sandbox {
  return openMachineSandbox({ cacheFile: join(dataFolder, 'sandbox.json'), weaker });
}
