/**
 * From installed apps and the agent loop to confined processes: what the hub wants of the sandbox, and nothing that
 * the sandbox must decide itself. There is no way past it.
 */
import type { Readable } from 'node:stream';
import { type Fault, failed, fault, type InstalledApp, ok, type Result } from '@cordon/core';
import {
  type CommandContext,
  type ConfinedProcess,
  commandSpec,
  ownCodeSpec,
  type Sandbox,
  type SandboxSpec,
  STATE_INSIDE,
} from '@cordon/sandbox';
import type { AppLauncher, AppProcess } from '../apps/app-process.ts';
import type { SpokeLauncher, SpokeProcess } from '../spokes/spoke-link.ts';
import { spawnWithProxy } from './proxied-process.ts';
import { FLOODED, StderrTail } from './stderr-tail.ts';

export interface LaunchOptions {
  readonly sandbox: Sandbox;
  readonly command: CommandContext;
  /** The private folder of an app on the host. */
  readonly stateFolder: (app: InstalledApp) => string;
}

/** Starts apps with a command; one that has the network gets the way to its proxy. */
export function appLauncher(options: LaunchOptions): AppLauncher {
  return {
    launch: async (app, network, signal) => {
      const spec = await specOf(app, options);
      if (!spec.ok) return spec;
      const { sandbox } = options;
      const process =
        network === null
          ? await sandbox.spawn(spec.value, signal)
          : await spawnWithProxy(sandbox, spec.value, network, signal);
      return process.ok ? appProcess(process.value) : process;
    },
  };
}

async function specOf(
  app: InstalledApp,
  { command, stateFolder }: LaunchOptions,
): Promise<Result<SandboxSpec, Fault>> {
  const { source, manifest } = app;
  if (source.kind !== 'command') return failed(fault('app-unavailable', `\`${app.id}\` has no command`));
  const own = stateFolder(app);
  const { limits, files, node, unixSockets = false } = manifest;
  return commandSpec(
    {
      app: app.id,
      ...insideNames(source, own),
      cwd: source.cwd,
      // The app sees its own folder as `/state`: no host path of it, which may hold the user's name.
      files: { read: files.read, write: files.write.filter((path) => path !== own) },
      stateFolder: files.write.includes(own) ? own : null,
      limits,
      node,
      unixSockets,
    },
    command,
  );
}

/** `${state}` has become the host's path of the app's folder; inside it has another name. */
function insideNames(
  { command, args, env }: Extract<InstalledApp['source'], { kind: 'command' }>,
  own: string,
) {
  const rename = (text: string) => text.replaceAll(own, STATE_INSIDE);
  return {
    command,
    args: args.map(rename),
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, rename(value)])),
  };
}

function appProcess(process: ConfinedProcess): Result<AppProcess, Fault> {
  const { stdin, stdout, stderr } = process;
  if (stdin === null || stdout === null || stderr === null) {
    process.kill();
    return failed(fault('sandbox-unavailable', 'the app has no standard streams'));
  }
  return ok({ ...watched(process, stderr), stdin, stdout });
}

/** The folders of code that the agent loop consists of, all below one root. */
const LOOP_CODE = ['packages/core', 'packages/protocol', 'packages/spoke', 'node_modules/@cordon'];

/** Starts agent loops. `codeRoot` is the folder with `packages/` and `node_modules/`. */
export function loopLauncher(sandbox: Sandbox, codeRoot: string): SpokeLauncher {
  return {
    launch: async (signal) => {
      const spec = loopSpec(codeRoot);
      if (!spec.ok) return spec;
      const process = await sandbox.spawn(spec.value, signal);
      return process.ok ? spokeProcess(process.value) : process;
    },
  };
}

/** No network, no files but its own code, one link: what the model says can reach nothing but the hub. */
export function loopSpec(codeRoot: string): Result<SandboxSpec, Fault> {
  return ownCodeSpec(codeRoot, {
    folders: LOOP_CODE,
    // No threads of V8's own: a loop mostly waits, and on a busy machine they are what a start waits for.
    options: ['--max-old-space-size=192', '--v8-pool-size=0'],
    program: 'packages/spoke/src/main.ts',
    limits: { memoryMiB: 512, processes: 48, openFiles: 128, fileMiB: 1 },
    stderr: 'pipe',
    network: { kind: 'none' },
  });
}

function spokeProcess(process: ConfinedProcess): Result<SpokeProcess, Fault> {
  const { link, stderr } = process;
  if (link === null || stderr === null) {
    process.kill();
    return failed(fault('sandbox-unavailable', 'the agent loop has no link'));
  }
  return ok({ ...watched(process, stderr), link });
}

/** What both kinds of process share: their end in words, and the end of what they wrote to standard error. */
function watched(process: ConfinedProcess, stderr: Readable) {
  let isFlooded = false;
  const words = new StderrTail(stderr, () => {
    isFlooded = true;
    process.kill();
  });
  return {
    layers: process.layers,
    ended: process.exited.then(({ message }) => (isFlooded ? FLOODED : message)),
    stderrTail: () => words.text,
    kill: () => process.kill(),
  };
}
