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

/** A program of ours, by the package that it stands in, and the folders of TypeScript that it consists of. */
export interface Program {
  readonly name: string;
  readonly sources: readonly string[];
}

/** Only `ownCodeSpec` writes here. Attack: an app's specification is taken for one of our own, and the app writes code that we run. */
const PROGRAMS = new WeakMap<SandboxSpec, Program>();

/** Null: it does not describe a program of ours. */
export function programOf(spec: SandboxSpec): Program | null {
  return PROGRAMS.get(spec) ?? null;
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
  const spec: SandboxSpec = {
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
  };
  const sources = folders.filter((folder) => folder.startsWith('packages/'));
  PROGRAMS.set(spec, {
    name: program.split('/')[1] ?? program,
    sources: sources.map((folder) => `${codeRoot}/${folder}/src`),
  });
  return ok(spec);
}
