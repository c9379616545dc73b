/** A user with a data folder and a registry, for tests of the install step. */

import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { DEFAULT_APP_LIMITS, type Result } from '@cordon/core';
import type { Lookup } from '@cordon/dialler';
import type { InstallRecord } from '@cordon/install';
import {
  DEFAULT_STEP_LIMITS,
  type Fetched,
  fetchPackages,
  findNpm,
  type Installer,
  type StepLimits,
} from '@cordon/install';
import { commandSpec, openSandbox, type PackageCall, parsePackageLauncher } from '@cordon/sandbox';
import { lentSelfTest } from './lent-results.ts';
import { TestRegistry } from './registry.ts';

export const sandbox = openSandbox({ node: process.execPath, cacheFile: lentSelfTest() });

export class Machine {
  readonly root: string;
  readonly data: string;
  readonly registry: TestRegistry;
  /** What the clock shows more than it should. */
  later = 0;
  /** Variables of the user's environment. */
  environment: Record<string, string>;
  /** `packages` of the configuration. */
  registries: ReadonlyMap<string, string> = new Map();
  privateAddresses: ReadonlyMap<string, readonly string[]> = new Map();
  credentials: ReadonlyMap<string, string> = new Map();

  private constructor(root: string, registry: TestRegistry) {
    this.root = root;
    this.data = join(root, 'data');
    this.registry = registry;
    this.environment = { npm_config_registry: registry.url, PIP_INDEX_URL: `${registry.url}simple/` };
    for (const folder of ['data', 'project', 'home']) mkdirSync(join(root, folder), { mode: 0o700 });
  }

  /** `isSecure`: the registry speaks TLS, with a certificate that nobody believes. */
  static async make(context: TestContext, isSecure = false): Promise<Machine> {
    const root = mkdtempSync(join(tmpdir(), 'cordon-install-'));
    chmodSync(root, 0o755);
    context.after(() => rmSync(root, { recursive: true, force: true, maxRetries: 10 }));
    return new Machine(root, await TestRegistry.open(context, isSecure));
  }

  installer(limits: Partial<StepLimits> = {}): Installer {
    const { dial } = this.registry;
    const lookup: Lookup = (host) => this.registry.lookup(host);
    return {
      dataFolder: this.data,
      places: {
        environment: this.environment,
        home: join(this.root, 'home'),
        registries: this.registries,
        privateAddresses: this.privateAddresses,
        credentials: this.credentials,
        folder: join(this.root, 'project'),
        npm: findNpm(process.env.PATH ?? ''),
        read: (path) => (path.startsWith(this.root) && existsSync(path) ? readFileSync(path, 'utf8') : null),
      },
      step: {
        sandbox,
        lookup,
        dial,
        now: Date.now,
        limits: { ...DEFAULT_STEP_LIMITS, ...limits },
      },
      now: () => Date.now() + this.later,
      agreesTo: async () => null,
    };
  }

  fetch(
    command: string,
    limits: Partial<StepLimits> = {},
    signal = new AbortController().signal,
  ): Promise<Result<Fetched, { readonly message: string; readonly help?: string }>> {
    return fetchPackages(callOf(command), this.installer(limits), signal);
  }

  /** Fetches and commits; what goes wrong is an error. */
  async install(command: string): Promise<InstallRecord> {
    const fetched = await this.fetch(command);
    if (!fetched.ok) throw new Error(fetched.fault.message);
    const committed = fetched.value.commit();
    if (!committed.ok) throw new Error(committed.fault.message);
    return committed.value;
  }

  /** Why it was not installed. */
  async refusal(command: string, limits: Partial<StepLimits> = {}): Promise<string> {
    const fetched = await this.fetch(command, limits);
    if (!fetched.ok) return fetched.fault.message;
    fetched.value.discard();
    return 'installed';
  }

  spec(command: string) {
    const [program = '', ...args] = command.split(' ');
    return commandSpec(
      {
        app: 'demo',
        command: program,
        args,
        env: {},
        node: [],
        cwd: null,
        files: { read: [], write: [] },
        stateFolder: null,
        limits: DEFAULT_APP_LIMITS,
      },
      {
        configFolder: join(this.root, 'project'),
        dataFolder: this.data,
        home: join(this.root, 'home'),
      },
    );
  }

  /** Runs what the command means now, and answers what it printed, or why it was not started. */
  async run(command: string): Promise<string> {
    const spec = await this.spec(command);
    if (!spec.ok) return spec.fault.message;
    const started = await sandbox.spawn({ ...spec.value, stdin: 'none' }, new AbortController().signal);
    if (!started.ok) return started.fault.message;
    const { stdout, stderr, exited } = started.value;
    let out = '';
    stdout?.on('data', (chunk: Buffer) => {
      out += chunk.toString('utf8');
    });
    stderr?.on('data', (chunk: Buffer) => {
      out += chunk.toString('utf8');
    });
    await exited;
    return out.trim();
  }

  /** How many trees there are. */
  get trees(): number {
    return this.kept.filter((name) => name.length === 64).length;
  }

  /** Names in the folder of packages: `records`, `work`, and one folder for each digest. */
  get kept(): readonly string[] {
    const folder = join(this.data, 'packages');
    return existsSync(folder) ? readdirSync(folder).sort() : [];
  }

  get work(): readonly string[] {
    return readdirSync(join(this.data, 'packages/work')).filter((name) => !name.startsWith('unused-'));
  }
}

export function callOf(command: string): PackageCall {
  const [program = '', ...args] = command.split(' ');
  const call = parsePackageLauncher(program, args);
  assert.equal(call.ok, true, call.ok ? '' : call.fault.message);
  if (!call.ok || call.value === null) throw new Error(`\`${command}\` is no launcher`);
  return call.value;
}

/** A program that prints what it is. */
export const PROGRAM = "#!/usr/bin/env node\nconsole.log('ran', ...process.argv.slice(2));\n";
