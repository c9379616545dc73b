/** Fetching packages on this machine, in its sandbox. */
import { readFileSync, statSync } from 'node:fs';
import type { Configuration } from '@cordon/config';
import { type Dialler, HERE } from '@cordon/dialler';
import { DEFAULT_STEP_LIMITS, findNpm, type Installer } from '@cordon/install';
import { machineSandbox } from './machine-sandbox.ts';

/** Characters of a package manager's file. */
const MOST_SETTINGS = 1024 * 1024;

/** Fetches for this configuration; `agreesTo` asks the user about a registry that a file names. */
export function machineInstaller(
  configuration: Pick<Configuration, 'dataFolder' | 'folder' | 'packages'>,
  {
    environment,
    home,
    agreesTo,
  }: Pick<Installer['places'], 'environment' | 'home'> & Pick<Installer, 'agreesTo'>,
  dialler: Dialler = HERE,
): Installer {
  const { dataFolder, folder, packages } = configuration;
  const credentials = new Map([...packages.credentials].map(([key, { value }]) => [key, value]));
  return {
    dataFolder,
    agreesTo,
    places: {
      environment,
      home,
      ...packages,
      credentials,
      folder,
      npm: findNpm(environment.PATH ?? ''),
      read: readSettings,
    },
    step: {
      sandbox: machineSandbox(configuration, [], dialler),
      lookup: dialler.lookup,
      dial: dialler.dial,
      now: Date.now,
      limits: DEFAULT_STEP_LIMITS,
    },
    now: Date.now,
  };
}

function readSettings(path: string): string | null {
  try {
    return statSync(path).size > MOST_SETTINGS ? null : readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
