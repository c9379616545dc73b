/**
 * What a process that runs our own code gets: our Node, that code for reading, one link to the hub. No folder of the user, no
 * environment variable, and nothing that it could write.
 */
import { type AppLimits, DEFAULT_APP_LIMITS, type Fault, ok, type Result } from '@cordon/core';
import { checkPath } from './checked-path.ts';
import { type Mount, NODE_INSIDE, type SandboxSpec } from './spec.ts';

const ROOT_INSIDE = '/cordon';

/** Its paths start at the folder that holds `packages/` and `node_modules/`. */
export interface OwnCode extends Pick<SandboxSpec, 'stderr' | 'network'> {
  readonly folders: readonly string[];
  /** Options of Node. */
  readonly options: readonly string[];
  readonly program: string;
  readonly args?: readonly string[];
  /** Those that differ from an app's. */
  readonly limits: Partial<AppLimits>;
}

/** @param codeRoot the folder that holds `packages/` and `node_modules/` */
export function ownCodeSpec(
  codeRoot: string,
  { folders, options, program, args = [], limits, stderr, network }: OwnCode,
): Result<SandboxSpec, Fault> {
  const mounts: Mount[] = [];
  for (const folder of folders) {
    const host = checkPath(`${codeRoot}/${folder}`);
    if (!host.ok) return host;
    mounts.push({ host: host.value, inside: `${ROOT_INSIDE}/${folder}`, access: 'read' });
  }
  return ok({
    executable: NODE_INSIDE,
    args: [...options, `${ROOT_INSIDE}/${program}`, ...args],
    env: {},
    cwd: ROOT_INSIDE,
    mounts,
    profile: 'tight',
    nodeGrants: [],
    limits: { ...DEFAULT_APP_LIMITS, ...limits },
    tmpMiB: null,
    usr: false,
    stdin: 'none',
    stdout: 'none',
    stderr,
    link: true,
    network,
  });
}
