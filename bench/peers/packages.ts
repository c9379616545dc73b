/**
 * The packages of others. They are not installed with Cordon; to measure beside them:
 *
 *     npm install --prefix bench/peers/installed --ignore-scripts --workspaces=false --no-package-lock
 *
 * Without them the benchmark runs and says that they are missing.
 */
import { peerImport } from './installed/module.ts';

/** The module of a peer; null: it is not installed. What it exports is not ours to check, so the caller says what it expects. */
export async function peerModule<Module>(name: string): Promise<Module | null> {
  try {
    return (await peerImport(name)) as Module;
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
    if (isMissing) return null;
    throw error;
  }
}
