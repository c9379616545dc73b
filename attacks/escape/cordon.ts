/** Cordon's sandbox as a confinement: specifications as the hub makes them for apps. */
import { existsSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { DEFAULT_APP_LIMITS, type Fault, type Result } from '@cordon/core';
import {
  type CheckedPath,
  type ConfinedProcess,
  checkPath,
  checkSpec,
  type LayerName,
  type Mount,
  type MountAccess,
  NODE_INSIDE,
  openSandbox,
  type ProbeReport,
  RefusingSandbox,
  type Sandbox,
  type SandboxOptions,
  type SandboxSpec,
} from '@cordon/sandbox';
import { launch, openLauncher } from '@cordon/sandbox/parts';
import { BOMB_TMP_MIB } from './attempts/resources.ts';
import type { LaidBaits } from './baits.ts';
import { type Command, type Confinement, DEADLINE_MS } from './confinement.ts';
import type { Probe } from './probe.ts';
import type { Ended, Tools } from './program.ts';
import type { EgressBait } from './ways-out/egress-bait.ts';

const TOOLS_INSIDE = '/attack';
const INSIDE = { code: '/code', state: '/state', tmp: '/tmp' };

export interface CordonParts {
  readonly laid: LaidBaits;
  /** The app's own folder. */
  readonly state: string;
  readonly probe: Probe;
  readonly egress: EgressBait;
  readonly weaker: readonly LayerName[];
}

export class CordonConfinement implements Confinement {
  readonly name = 'Cordon';
  readonly tools: Tools;
  readonly driver = `${TOOLS_INSIDE}/driver.mts`;
  readonly place = INSIDE;
  readonly state: string;
  readonly #parts: CordonParts;
  readonly #sandbox: Sandbox;

  constructor(parts: CordonParts) {
    this.#parts = parts;
    this.state = parts.state;
    // Networks are set up from there.
    const cacheFile = join(mkdtempSync(`${parts.state}-hub-`), 'sandbox.json');
    const options = { node: process.execPath, cacheFile, weaker: parts.weaker };
    this.#sandbox = parts.weaker.length === 0 ? openSandbox(options) : untested(options);
    this.tools = {
      node: NODE_INSIDE,
      probe: probeInside(parts.probe),
      python: '/usr/bin/python3',
      shell: '/bin/sh',
    };
  }

  /** The sandbox's own self-test. Two of one process at a time would take each other's baits. */
  prepare(): Promise<unknown> {
    return this.#sandbox.probe();
  }

  async run(command: Command): Promise<Ended> {
    const started = await this.#sandbox.spawn(this.#spec(command), AbortSignal.timeout(DEADLINE_MS));
    if (!started.ok)
      return { code: null, signal: null, out: '', error: started.fault.message, isLimited: false };
    const process = started.value;
    void Promise.all([process.listener, process.direct]).then(
      ([listener, direct]) => listener && this.#parts.egress.serve(listener, direct),
    );
    process.stdin?.on('error', () => undefined).end(command.input ?? '');
    const [out, error, exit] = await Promise.all([
      textOf(process.stdout),
      textOf(process.stderr),
      process.exited,
    ]);
    return {
      code: exit.code,
      signal: exit.signal,
      out,
      error: `${exit.message} ${error}`.slice(0, 2_000),
      isLimited: exit.cause === 'limit',
    };
  }

  #spec({ command: [executable = '', ...args], setting, input }: Command): SandboxSpec {
    const { laid, egress } = this.#parts;
    // Who fills it would be what stops the honest twins of others.
    const state = setting.limits?.storageMiB === undefined ? this.state : mkdtempSync(`${this.state}-`);
    const isScript = setting.in === 'javascript';
    return {
      executable,
      args,
      env: { LANG: 'C.UTF-8', PATH: '/usr/bin:/bin', HOME: '/tmp' },
      cwd: INSIDE.state,
      mounts: [
        mount(laid.code, INSIDE.code, 'read'),
        mount(state, INSIDE.state, 'own'),
        mount(laid.tools, TOOLS_INSIDE, 'read'),
      ],
      profile: isScript ? 'tight' : 'spawn',
      nodeGrants: isScript ? [] : null,
      limits: { ...DEFAULT_APP_LIMITS, ...setting.limits },
      tmpMiB: setting.in === 'alone' ? BOMB_TMP_MIB : 64,
      usr: !isScript,
      stdin: input === null ? 'none' : 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
      link: false,
      // As apps get it.
      network: setting.in === 'network' ? { kind: 'direct', ports: egress.ports } : { kind: 'none' },
    };
  }
}

/**
 * A sandbox that goes without some layers and tests nothing, since the attempts show which layers hold: a self-test takes half a second
 * of CPU time. What the kernel lacks is found out once.
 */
function untested(options: SandboxOptions): Sandbox {
  const launcher = openLauncher(options);
  if (!launcher.ok) return new RefusingSandbox(launcher.fault);
  const whole = () => {
    report ??= openSandbox({ node: options.node }).probe();
    return report;
  };
  return {
    probe: whole,
    spawn: async (spec, signal): Promise<Result<ConfinedProcess, Fault>> => {
      const checked = checkSpec(spec);
      return checked.ok ? launch(launcher.value, checked.value, signal, (await whole()).absent) : checked;
    },
  };
}

/** Of the whole sandbox on this machine. */
let report: Promise<ProbeReport> | null = null;

function probeInside(probe: Probe): readonly string[] | null {
  switch (probe.kind) {
    case 'compiled':
      return [`${TOOLS_INSIDE}/probe`];
    case 'python':
      return ['/usr/bin/python3', `${TOOLS_INSIDE}/probe.py`];
    case 'none':
      return null;
  }
}

function mount(host: string, inside: string, access: MountAccess): Mount {
  return { host: checked(host), inside, access };
}

function checked(path: string): CheckedPath {
  const host = checkPath(path);
  if (!host.ok) throw new Error(host.fault.message);
  return host.value;
}

const LONGEST = 4 * 1024 * 1024;

async function textOf(stream: ConfinedProcess['stdout']): Promise<string> {
  let text = '';
  for await (const chunk of stream ?? []) if (text.length < LONGEST) text += chunk;
  return text;
}

/** Whether a process that an attempt left behind still writes: it would within this time. */
export async function appears(file: string, within: number): Promise<boolean> {
  for (let waited = 0; waited < within; waited += 100) {
    if (existsSync(file)) return true;
    await wait(100);
  }
  return existsSync(file);
}
