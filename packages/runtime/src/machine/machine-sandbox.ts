/** The sandbox of this machine, as every command opens it. */

import { platform } from 'node:os';
import { join } from 'node:path';
import type { Configuration } from '@cordon/config';
import { type Dialler, HERE } from '@cordon/dialler';
import { explainHost } from '@cordon/host-diagnosis';
import {
  type LayerName,
  openSandbox,
  type Sandbox,
  type SandboxOptions,
  withCompiledCode,
} from '@cordon/sandbox';
import { openSeatbelt } from '@cordon/seatbelt';
/** Without a file of kept results the self-test runs again. */
export function openMachineSandbox(
  options: Pick<SandboxOptions, 'cacheFile' | 'weaker'>,
  { bait }: Pick<Dialler, 'bait'> = HERE,
): Sandbox {
  const all = { ...options, node: process.execPath, explain: explainHost, bait };
  return platform() === 'darwin' ? openSeatbelt(all) : openSandbox(all);
}

/** The result of a passed self-test, and the compiled code of our programs, are kept among the hub's own files, where no app can write. */
export function machineSandbox(
  { dataFolder }: Pick<Configuration, 'dataFolder'>,
  weaker: readonly LayerName[] = [],
  dialler: Dialler = HERE,
): Sandbox {
  const sandbox = openMachineSandbox({ cacheFile: join(dataFolder, 'sandbox.json'), weaker }, dialler);
  return withCompiledCode(sandbox, join(dataFolder, 'compiled'));
}
