/** What a command of `cordon run` may have, and what it has without any option. */
import { join } from 'node:path';
import { type AppLimits, DEFAULT_APP_LIMITS, type Manifest } from '@cordon/core';

export interface RunRights {
  readonly network: Manifest['network'];
  readonly files: Manifest['files'];
  readonly limits: AppLimits;
  readonly node: Manifest['node'];
  readonly unixSockets: boolean;
  /** The only variables that the command sees besides HOME, PATH, LANG and TMPDIR. */
  readonly env: Readonly<Record<string, string>>;
  /** Name of the private folder that is kept between runs; null: none is. */
  readonly state: string | null;
}

export const NO_RIGHTS: RunRights = Object.freeze({
  network: [],
  files: { read: [], write: [] },
  limits: DEFAULT_APP_LIMITS,
  node: [],
  unixSockets: false,
  env: {},
  state: null,
});

/** The private folder of this name on the host. */
export function runStateFolder(dataFolder: string, name: string): string {
  return join(dataFolder, 'runs', name);
}
