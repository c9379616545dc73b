/** Where things are, and homes of our own for the processes that are measured: no run touches the user's files. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export const CODE_ROOT = resolve(import.meta.dirname, '..');

/** The commands as a user starts them, and Node as the launcher finds it. */
export const CORDON = join(CODE_ROOT, 'node_modules', '.bin', 'cordon');
export const NODE = join(CODE_ROOT, 'node_modules', '.bin', 'node');

/** Six apps that are processes, and two of instructions only. */
export const CONFIGURATION = join(CODE_ROOT, 'examples', 'cordon.json');
export const SCENARIO = join(import.meta.dirname, 'scenarios', 'first-calls.json');

/** A user's home, with everything that Cordon keeps below it. */
export interface Home {
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
}

export class Homes {
  readonly #folder = mkdtempSync(join(tmpdir(), 'cordon-bench-'));
  #count = 0;

  /** An empty one: no compiled code, no journal, no result of a self-test. */
  create(): Home {
    const folder = join(this.#folder, String(++this.#count));
    mkdirSync(folder);
    // Given once more to every process: a cache that this process was started with would make each run warm.
    const { NODE_COMPILE_CACHE: _, NODE_DISABLE_COMPILE_CACHE: __, ...rest } = process.env;
    const environment = {
      ...rest,
      HOME: folder,
      XDG_CACHE_HOME: join(folder, 'cache'),
      XDG_CONFIG_HOME: join(folder, 'config'),
      XDG_DATA_HOME: join(folder, 'data'),
    };
    return { folder, environment };
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** As Cordon chooses it below `XDG_DATA_HOME`. */
export function dataFolder({ folder }: Home): string {
  return join(folder, 'data', 'cordon');
}
