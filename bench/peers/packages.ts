/**
 * The packages of others. They are not installed with Cordon; to measure beside them:
 *
 *     npm install --prefix bench/peers/installed --ignore-scripts --workspaces=false --no-package-lock
 *
 * Without them the benchmark runs and says that they are missing.
 */
import { moduleIfInstalled } from '../installed-module.ts';
import { peerImport } from './installed/module.ts';

export function peerModule<Module>(name: string): Promise<Module | null> {
  return moduleIfInstalled<Module>(() => peerImport(name));
}
