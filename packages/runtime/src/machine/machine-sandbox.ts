/** The sandbox of this machine, as every command opens it. */

import { lstatSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { platform } from 'node:os';
import { join } from 'node:path';
import type { Configuration } from '@cordon/config';
import { type Dialler, HERE } from '@cordon/dialler';
import { explainHost } from '@cordon/host-diagnosis';
import { type LayerName, openSandbox, type Sandbox, type SandboxOptions } from '@cordon/sandbox';
import { openSeatbelt } from '@cordon/seatbelt';

/** Without a file of kept results the self-test runs again. */
export function openMachineSandbox(
  options: Pick<SandboxOptions, 'cacheFile' | 'weaker' | 'compiledFolder'>,
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
  removeOldCompiledCode(join(dataFolder, 'loop'));
  const places = {
    cacheFile: join(dataFolder, 'sandbox.json'),
    compiledFolder: join(dataFolder, 'compiled'),
  };
  return openMachineSandbox({ ...places, weaker }, dialler);
}

/** Where earlier versions kept compiled code. The user may have named a folder of their own, so what is not ours stays. */
function removeOldCompiledCode(folder: string): void {
  try {
    if (!lstatSync(folder).isDirectory()) return;
    for (const name of readdirSync(folder))
      if (COMPILED.test(name)) rmSync(join(folder, name), { recursive: true, force: true });
    rmdirSync(folder);
  } catch {
    // It is not there, or holds something else.
  }
}

const COMPILED = /^(?:v\d+\.\d+\.\d+[\w.-]*-[0-9a-f]{16}|draft-\w{6})$/;
