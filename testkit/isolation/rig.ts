/**
 * What all measurements of isolation share: this machine's sandbox, apps whose code is in `programs`, and the same
 * program started bare. Uses the hub's own launchers in this process, as a session does.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import {
  type AppLimits,
  DEFAULT_APP_LIMITS,
  DEFAULT_WARM_LIMITS,
  type Fault,
  type InstalledApp,
  id,
  type Result,
  SILENT_MANIFEST,
  type ToolCall,
  type WarmLimits,
} from '@cordon/core';
import { type AppLauncher, appLauncher, loopLauncher, type SpokeLauncher } from '@cordon/hub';
import { AppHost, type AppNetwork, NO_PINS, type ToolResult, validatorOnDemand } from '@cordon/hub/parts';
import { openSandbox, type Sandbox } from '@cordon/sandbox';
import { Heard } from '../watched-process.ts';

const CODE_ROOT = join(import.meta.dirname, '../..');
export const PROGRAMS = join(import.meta.dirname, 'programs');

export interface Rig {
  readonly sandbox: Sandbox;
  readonly apps: AppLauncher;
  readonly loops: SpokeLauncher;
  /** Everything that is written during the measurements; taken away at the end. */
  readonly folder: string;
  /** As Cordon's own: with a folder for each app's state. */
  readonly dataFolder: string;
  readonly remove: () => void;
}

/** Throws if this machine cannot confine: then there is nothing to measure. */
export async function openRig(): Promise<Rig> {
  const folder = mkdtempSync(join(tmpdir(), 'cordon-isolation-'));
  const dataFolder = join(folder, 'data');
  mkdirSync(dataFolder, { mode: 0o700 });
  const sandbox = openSandbox({
    node: process.execPath,
    cacheFile: join(dataFolder, 'sandbox.json'),
    compiledFolder: join(dataFolder, 'compiled'),
  });
  const { ready, layers } = await sandbox.probe();
  if (!ready) throw new Error(`no sandbox here: ${layers.find(({ ok }) => !ok)?.why ?? 'no layer'}`);
  const apps = appLauncher({
    sandbox,
    command: { configFolder: PROGRAMS, dataFolder, home: folder },
    stateFolder: (app) => join(dataFolder, 'apps', app.id),
  });
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  return {
    sandbox,
    apps,
    loops: loopLauncher(sandbox, CODE_ROOT),
    folder,
    dataFolder,
    remove,
  };
}

/** An app that is one file of `programs`. */
export function programApp(file: string, limits: Partial<AppLimits> = {}): InstalledApp {
  return {
    id: id(file.replace(/\.\w+$/, '')),
    source: { kind: 'command', command: 'node', args: [join(PROGRAMS, file)], env: {}, cwd: null },
    model: null,
    manifest: {
      ...SILENT_MANIFEST,
      description: 'a program that is measured',
      limits: { ...DEFAULT_APP_LIMITS, ...limits },
      irreversible: [],
      untrusted: [],
      private: [],
    },
  };
}

/** The hub's own app host, with calls that are allowed without a monitor. */
export class MeasuredHost {
  readonly host: AppHost;
  readonly stopped: string[] = [];
  #call: ToolCall | null = null;

  /** @param network the way out of its apps, if they have one */
  constructor(rig: Rig, warm: Partial<WarmLimits> = {}, network: AppNetwork | null = null) {
    this.host = new AppHost({
      launcher: rig.apps,
      connect: () => Promise.reject(new Error('no app of these measurements is elsewhere')),
      networkOf: () => Promise.resolve(network),
      spend: () => this.#call ?? fail('no call was made'),
      validator: validatorOnDemand(),
      now: Date.now,
      warm: { ...DEFAULT_WARM_LIMITS, ...warm },
      record: (_app, body) => {
        if (body.kind === 'app.stopped') this.stopped.push(body.reason);
        if (body.kind === 'app.unavailable') fail(body.fault.message);
      },
      pins: NO_PINS,
    });
  }

  call(
    app: InstalledApp,
    tool: string,
    args: ToolCall['arguments'] = {},
    signal: AbortSignal = new AbortController().signal,
  ): Promise<Result<ToolResult, Fault>> {
    this.#call = {
      effect: 'tool-call',
      context: id('measured'),
      app: app.id,
      tool,
      arguments: args,
      callId: 'call',
      irreversible: false,
    };
    return this.host.call(app, null as never, signal);
  }
}

export const INITIALIZE = `${JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'bench', version: '0.1.0' },
  },
})}\n`;

/**
 * The same program without a sandbox: Node, pipes, and an environment as small as the one inside.
 *
 * @param ownSession as every confined process has: Linux shares the cores among sessions, not among processes
 */
export function bare(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  ownSession = false,
): ChildProcess {
  return spawn(process.execPath, [...args], {
    cwd: '/',
    env: { PATH: '/usr/bin', HOME: '/tmp', LANG: 'C.UTF-8', ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: ownSession,
  });
}

/** The moment of the first line, on the clock of `performance.now`. */
export function firstLine(stream: Readable | null): Promise<number> {
  return new Heard(stream).until('\n');
}

export async function killed(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once('close', resolve));
  child.kill('SIGKILL');
  await gone;
}

export function must<T>(result: Result<T, Fault>): T {
  return result.ok ? result.value : fail(result.fault.message);
}

export function fail(message: string): never {
  throw new Error(message);
}
