/**
 * Opens the sandbox of this machine. `spawn` refuses unless the self-test has passed here: with this kernel,
 * this bubblewrap, this Node and this version of ours. Where there is no back end, everything is refused.
 */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { arch, platform, release } from 'node:os';
import { dirname, extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Fault, failed, fault, isJsonObject, ok, parseJson, type Result } from '@cordon/core';
import { type Dialler, HERE } from '@cordon/dialler';
import { withCompiledCode } from './compiled-code.ts';
import { encode } from './kernel/bpf.ts';
import { ControlGroups } from './kernel/control-groups.ts';
import { initProgram } from './kernel/init-program.ts';
import { networkProgram } from './kernel/network-program.ts';
import { isArchitecture, type Profile, seccompFilter } from './kernel/seccomp.ts';
import { isWithout } from './launch/bubblewrap.ts';
import { readHost } from './launch/host.ts';
import { type Launcher, launch } from './launch/launch.ts';
import { sweepAtStart } from './launch/orphan-sweep.ts';
import { absentLayer, selfTest } from './self-test.ts';
import type { ConfinedProcess, LayerReport, ProbeReport, Sandbox } from './spec/backend.ts';
import { checkPath } from './spec/checked-path.ts';
import type { ExplainHost } from './spec/host-problem.ts';
import { isLayerName, LAYER_NAMES, LAYERS, type LayerName } from './spec/layers.ts';
import { checkSpec, type SandboxSpec } from './spec/spec.ts';
import { Watchers } from './watch/watchers.ts';

export interface SandboxOptions {
  /** Absolute path of the Node program (24 or newer) that runs our own loop and JS apps inside. */
  readonly node: string;
  /** Absolute path of bubblewrap; null: the fixed places /usr/bin, /usr/local/bin, /bin. */
  readonly bwrap?: string | null;
  /**
   * Absolute path of the file that keeps the result of a passed self-test; it belongs to the hub's private data folder, since who
   * writes it says that this machine is safe. Beside it lies, while a network is set up, the program that does so. None: every
   * process tests for itself, and only loopback addresses lead to the listeners of `direct`.
   */
  readonly cacheFile?: string | null;
  /** A folder of the hub alone for compiled code of our own programs; made if it is missing. Absent: none is kept. */
  readonly compiledFolder?: string;
  /** Layers to go without, since the user named them; in force for every process of this sandbox. */
  readonly weaker?: readonly LayerName[];
  /** The folder of a control group in which groups may be made; left out: the hub's own, if it has one alone. */
  readonly controlGroup?: string;
  /** Explains to the user why this machine refuses; absent: messages stay general. */
  readonly explain?: ExplainHost;
  /** For the self-test; absent: this process listens, which must then have the network of the machine. */
  readonly bait?: Dialler['bait'];
}

/** The user that apps are when the hub runs as root: between the ranges that Debian and systemd hand out, and mapped in containers that map 65,536 users. */
export const APP_USER = 61_000;

const UNEXPLAINED: ExplainHost = () => null;

/** Changes with every change of the vectors, the filter or the canary, so that older results are not believed. */
const VERSION = 'sandbox-10';

/** The back end of this machine; never throws. `probe`, and the refusal of `spawn`, say what is missing. */
export function openSandbox(options: SandboxOptions): Sandbox {
  const launcher = openLauncher(options);
  return launcher.ok
    ? withCompiledCode(new BubblewrapSandbox(launcher.value, options), options.compiledFolder)
    : new RefusingSandbox(launcher.fault);
}

/** Everything that launches share on this machine; a fault says what is missing. */
export function openLauncher(options: SandboxOptions): Result<Launcher, Fault> {
  const { explain = UNEXPLAINED } = options;
  const architecture = arch();
  if (platform() !== 'linux' || !isArchitecture(architecture)) {
    const cause = explain({ kind: 'unsupported-system', platform: platform(), architecture });
    const why = cause?.why ?? `there is no sandbox for ${platform()} on ${architecture}`;
    return failed(
      fault('sandbox-unavailable', why, cause?.remedy ?? 'run Cordon on Linux (x86-64 or arm64)'),
    );
  }
  const node = checkPath(options.node);
  if (!node.ok) return node;
  const handover = checkPath(insideFile('handover'));
  if (!handover.ok) return handover;
  const leftOut = new Set(options.weaker ?? []);
  const needed = [...leftOut].find((name) => LAYERS[name].mayBeLeftOut === 'never');
  if (needed !== undefined)
    return failed(fault('sandbox-unavailable', `the layer \`${needed}\` cannot be left out`));
  const isRoot = process.getuid?.() === 0;
  const programs = readHost(
    options.bwrap ?? null,
    node.value.host,
    isRoot,
    isRoot && leftOut.has('separate-user'),
    explain,
  );
  if (!programs.ok) return programs;
  const filters = byProfile((profile) => encode(seccompFilter(profile, architecture)));
  return ok({
    programs: programs.value,
    filters,
    init: (profile, writable) =>
      initProgram(leftOut.has('seccomp') ? Buffer.alloc(0) : filters[profile], architecture, writable),
    network: {
      program: networkProgram(architecture),
      folder: options.cacheFile == null ? null : dirname(options.cacheFile),
    },
    node: node.value,
    handover: handover.value,
    appUser: isRoot && !leftOut.has('separate-user') ? APP_USER : null,
    watchers: new Watchers(programs.value.units),
    controlGroups: controlGroups(options.controlGroup),
    leftOut,
  });
}

function byProfile(make: (profile: Profile) => Buffer): Readonly<Record<Profile, Buffer>> {
  return { tight: make('tight'), spawn: make('spawn'), unix: make('unix') };
}

function controlGroups(folder: string | undefined): Result<ControlGroups, string> {
  return folder === undefined ? ControlGroups.delegated() : ok(ControlGroups.in(folder, false));
}

/** Our own files for the inside: TypeScript beside the sources, JavaScript beside the built files. */
function insideFile(name: string): string {
  return fileURLToPath(new URL(`./inside/${name}${extname(import.meta.url)}`, import.meta.url));
}

class BubblewrapSandbox implements Sandbox {
  readonly #launcher: Launcher;
  readonly #cacheFile: string | null;
  readonly #explain: ExplainHost;
  readonly #bait: Dialler['bait'];
  #report: Promise<ProbeReport> | null = null;
  #isSwept = false;

  constructor(launcher: Launcher, options: SandboxOptions) {
    this.#launcher = launcher;
    this.#cacheFile = options.cacheFile ?? null;
    this.#explain = options.explain ?? UNEXPLAINED;
    this.#bait = options.bait ?? HERE.bait;
  }

  probe(): Promise<ProbeReport> {
    this.#report ??= this.#probe();
    return this.#report;
  }

  async #probe(): Promise<ProbeReport> {
    const key = cacheKey(this.#launcher);
    const kept = this.#cacheFile === null ? null : readCache(this.#cacheFile, key, this.#launcher);
    if (kept !== null) return kept;
    const canary = checkPath(insideFile('canary'));
    if (!canary.ok) return notReady(canary.fault);
    const layers = await selfTest({
      launch: (spec, signal) => launch(this.#launcher, spec, signal),
      canary: canary.value,
      outside: [fileURLToPath(import.meta.url)],
      layers: layersToTest(this.#launcher),
      bwrap: this.#launcher.programs.bwrap,
      explain: this.#explain,
      bait: this.#bait,
    });
    const ready = layers.length > 0 && layers.every((layer) => layer.ok);
    const absent = layers
      .filter(({ isAbsent }) => isAbsent === true)
      .map(({ layer }) => layer)
      .filter(isLayerName);
    const report = { ready, layers: [...foundHere(this.#launcher), ...layers], absent, cached: false };
    if (ready && this.#cacheFile !== null) writeCache(this.#cacheFile, key, report);
    return report;
  }

  async spawn(spec: SandboxSpec, signal: AbortSignal): Promise<Result<ConfinedProcess, Fault>> {
    const checked = checkSpec(spec);
    if (!checked.ok) return checked;
    const report = await this.probe();
    const missing = report.layers.find((layer) => !layer.ok);
    if (!report.ready)
      return failed(
        fault(
          'sandbox-unavailable',
          `the layer \`${missing?.layer ?? 'self-test'}\` cannot be set up: ${missing?.why ?? 'nothing was tested'}`,
          missing?.remedy ?? 'run `cordon doctor`',
        ),
      );
    const launched = await launch(this.#launcher, checked.value, signal, report.absent);
    this.#sweep();
    return launched;
  }

  /** Once, and beside the first process: nobody waits for it. */
  #sweep(): void {
    if (this.#isSwept) return;
    this.#isSwept = true;
    const { programs, appUser } = this.#launcher;
    const user = appUser ?? process.getuid?.();
    if (user !== undefined) sweepAtStart({ bwrap: programs.bwrap, user });
  }
}

/** Says why, and never runs anything. */
export class RefusingSandbox implements Sandbox {
  readonly #fault: Fault;

  constructor(why: Fault) {
    this.#fault = why;
  }

  probe(): Promise<ProbeReport> {
    return Promise.resolve(notReady(this.#fault));
  }

  spawn(): Promise<Result<ConfinedProcess, Fault>> {
    return Promise.resolve(failed(this.#fault));
  }
}

/** The layers that every process here has; the permissions of Node are a layer wherever our Node runs. */
function layersToTest({ appUser, leftOut }: Launcher): readonly LayerName[] {
  return LAYER_NAMES.filter(
    (name) => !isWithout(name, leftOut) && (name !== 'separate-user' || appUser !== null),
  );
}

function notReady({ message, help }: Fault): ProbeReport {
  const layer: LayerReport = { layer: 'bubblewrap', ok: false, why: message, remedy: help ?? null };
  return { ready: false, layers: [layer], absent: [], cached: false };
}

/** What this machine has besides the layers. Without its own control group, only the watchdog bounds a tree. */
function foundHere({ programs, controlGroups }: Launcher): readonly LayerReport[] {
  const controllers = controlGroups.ok ? controlGroups.value.controllers : [];
  const bounds = controllers.length === 0 ? 'CPU time only' : `CPU time, ${controllers.join(', ')}`;
  const groups = controlGroups.ok ? `used for ${bounds}` : `not used: ${controlGroups.fault}`;
  return [passed('bubblewrap', `found at \`${programs.bwrap}\``), passed('control group', groups)];
}

function passed(layer: string, why: string): LayerReport {
  return { layer, ok: true, why, remedy: null };
}

/** What the result depends on. A changed kernel, program, user or version is another machine. */
function cacheKey({ programs, node, appUser, leftOut }: Launcher): string {
  const stamp = (path: string) => `${path}@${statSync(path).mtimeMs}`;
  return [
    VERSION,
    arch(),
    release(),
    stamp(programs.bwrap),
    stamp(programs.prlimit),
    stamp(node.host),
    stamp(insideFile('canary')),
    `user ${appUser ?? process.getuid?.()}`,
    `without ${[...leftOut].sort().join()}`,
  ].join('\n');
}

/** Only a passed report for exactly this key counts; anything else, and the test is run. */
function readCache(file: string, key: string, launcher: Launcher): ProbeReport | null {
  try {
    const stats = statSync(file);
    if (stats.uid !== process.getuid?.() || (stats.mode & 0o022) !== 0) return null;
    const kept = parseJson(readFileSync(file, 'utf8'));
    if (!kept.ok || !isJsonObject(kept.value) || kept.value.key !== key) return null;
    const absent = absentLayers(kept.value.absent);
    if (absent === null) return null;
    const layers = layersToTest(launcher).map((layer) =>
      absent.includes(layer) ? absentLayer(layer) : passed(layer, 'passed earlier on this machine'),
    );
    return { ready: true, layers: [...foundHere(launcher), ...layers], absent, cached: true };
  } catch {
    return null;
  }
}

function absentLayers(value: unknown): readonly LayerName[] | null {
  if (!Array.isArray(value)) return null;
  const names = value.filter((name) => typeof name === 'string' && isLayerName(name));
  return names.length === value.length ? names : null;
}

function writeCache(file: string, key: string, report: ProbeReport): void {
  try {
    writeFileSync(file, `${JSON.stringify({ key, absent: report.absent })}\n`, { mode: 0o600 });
  } catch {
    // The test runs again next time; nothing is lost but 100 ms.
  }
}
