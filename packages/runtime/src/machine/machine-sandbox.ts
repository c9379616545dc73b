/** The sandbox of this machine, as every command opens it. Ring 0. */
import { join } from 'node:path';
import type { Configuration } from '@cordon/config';
import { type LayerName, openSandbox, type Sandbox } from '@cordon/sandbox';

/** The result of a passed self-test is kept among the hub's own files, where no app can write. */
export function machineSandbox(
  { dataFolder }: Pick<Configuration, 'dataFolder'>,
  weaker: readonly LayerName[] = [],
): Sandbox {
  return openSandbox({ node: process.execPath, cacheFile: join(dataFolder, 'sandbox.json'), weaker });
}
