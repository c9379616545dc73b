/**
 * The sandbox of macOS, behind the same interface and far narrower: JavaScript without network and without other
 * processes. It has never run on a Mac of ours. So nothing runs under it unless its canary, in the same run of Cordon,
 * was refused everything that must be refused; on a Mac where that does not hold, Cordon says so and runs no app.
 *
 * Cordon makes no claim for macOS (docs/tcb.md).
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import {
  DEFAULT_APP_LIMITS,
  type Fault,
  failed,
  fault,
  isJsonObject,
  ok,
  parseJson,
  type Result,
} from '@cordon/core';
import {
  type CheckedPath,
  type CheckedSpec,
  type ConfinedProcess,
  checkPath,
  checkSpec,
  type Ending,
  type Excess,
  type Exit,
  exitOf,
  type LayerName,
  type LayerReport,
  NODE_INSIDE,
  OwnFolders,
  type ProbeReport,
  RefusingSandbox,
  type Sandbox,
  type SandboxOptions,
  type SandboxSpec,
  withCompiledCode,
} from '@cordon/sandbox';
import { LIFELINE, type SeatbeltHost, seatbeltCommand } from './seatbelt-command.ts';

export interface SeatbeltOptions extends SeatbeltHost {
  /** The canary's file, and a file beside it that must not be readable. */
  readonly canary: CheckedPath;
  readonly outside: readonly string[];
  /** Layers cannot be left out here: there are no switches for them. */
  readonly weaker: readonly LayerName[];
}

/** What each process here has, as the canary sees it. */
const LAYERS_HERE: readonly LayerName[] = [
  ...(['file-view', 'read-only-root', 'network-namespace', 'session', 'resource-limits'] as const),
  ...(['watchdog', 'environment', 'descriptors'] as const),
];

const CANARY_LIMITS = { ...DEFAULT_APP_LIMITS, memoryMiB: 512, cpuSeconds: 20, openFiles: 128, fileMiB: 1 };
const DEADLINE_MS = 20_000;
const LOOK_MS = 500;

/** The sandbox of a Mac. Like `openSandbox` it never throws: `probe`, and the refusal of `spawn`, say what is missing. */
export function openSeatbelt({
  node: program,
  weaker = [],
  compiledFolder,
}: Pick<SandboxOptions, 'node' | 'weaker' | 'compiledFolder'>): Sandbox {
  const node = checkPath(program);
  if (!node.ok) return new RefusingSandbox(node.fault);
  // TypeScript beside the sources, JavaScript beside the built files.
  const file = new URL(`./canary${extname(import.meta.url)}`, import.meta.url);
  const canary = checkPath(fileURLToPath(file));
  if (!canary.ok) return new RefusingSandbox(canary.fault);
  const sandbox = new SeatbeltSandbox({
    node: node.value.host,
    sandboxExec: '/usr/bin/sandbox-exec',
    canary: canary.value,
    outside: [fileURLToPath(import.meta.url)],
    weaker,
  });
  return withCompiledCode(sandbox, compiledFolder);
}

export class SeatbeltSandbox implements Sandbox {
  readonly #options: SeatbeltOptions;
  readonly #ownFolders = new OwnFolders();
  #report: Promise<ProbeReport> | null = null;

  constructor(options: SeatbeltOptions) {
    this.#options = options;
  }

  probe(): Promise<ProbeReport> {
    this.#report ??= this.#probe().catch((error: unknown) =>
      report([broken(error instanceof Error ? error.message : 'it failed in an unknown way')]),
    );
    return this.#report;
  }

  async spawn(spec: SandboxSpec, signal: AbortSignal): Promise<Result<ConfinedProcess, Fault>> {
    const checked = checkSpec(spec);
    if (!checked.ok) return checked;
    const { ready, layers } = await this.probe();
    const missing = layers.find(({ ok: holds }) => !holds);
    if (!ready) {
      const why = missing?.why ?? 'nothing was tested';
      return failed(fault('sandbox-unavailable', `macOS does not confine apps here: ${why}`, REMEDY));
    }
    return this.#launch(checked.value, signal);
  }

  async #probe(): Promise<ProbeReport> {
    const { sandboxExec, weaker } = this.#options;
    const [unwanted] = weaker;
    if (unwanted !== undefined)
      return report([broken(`the layer \`${unwanted}\` cannot be left out on macOS`)]);
    if (!existsSync(sandboxExec)) return report([broken(`\`${sandboxExec}\` is missing`)]);
    const server = createServer((socket) => socket.destroy());
    try {
      return report(await this.#tried(await listening(server)));
    } finally {
      server.close();
    }
  }

  async #tried(hubPort: number): Promise<readonly LayerReport[]> {
    const { canary, outside } = this.#options;
    const task = {
      outside: ['/etc/passwd', '/Users', homedir(), tmpdir(), ...outside],
      unwritable: [
        join(tmpdir(), `cordon-canary-${process.pid}`),
        join(homedir(), `.cordon-canary-${process.pid}`),
      ],
      hubPid: process.pid,
      hubPort,
    };
    const spec = checkSpec(canarySpec(canary));
    if (!spec.ok) return [broken(spec.fault.message)];
    const started = this.#launch(spec.value, AbortSignal.timeout(DEADLINE_MS));
    if (!started.ok) return [broken(started.fault.message)];
    const { stdin, stdout, exited } = started.value;
    stdin?.on('error', () => {}).end(JSON.stringify(task));
    let output = '';
    for await (const chunk of stdout ?? []) if (output.length < 65_536) output += chunk;
    const exit = await exited;
    const seen = parseJson(output.trim());
    if (exit.code !== 7 || !seen.ok || !isJsonObject(seen.value))
      return [broken(`a program did not run as it should inside: ${exit.message}`)];
    return judged(new Map(Object.entries(seen.value).map(([name, value]) => [name, String(value)])), task);
  }

  #launch(spec: CheckedSpec, signal: AbortSignal): Result<ConfinedProcess, Fault> {
    const command = seatbeltCommand(spec, this.#options);
    if (!command.ok) return command;
    if (signal.aborted) return failed(fault('cancelled', 'the start was cancelled'));
    const [program = '', ...args] = command.value.command;
    const stdio = (wanted: boolean) => (wanted ? 'pipe' : 'ignore');
    const child = spawn(program, args, {
      cwd: command.value.cwd,
      env: {},
      detached: true,
      stdio: [
        ...[stdio(spec.stdin === 'pipe'), stdio(spec.stdout === 'pipe'), stdio(spec.stderr === 'pipe')],
        ...[stdio(spec.link), 'pipe'],
      ] as const,
    });
    return child.pid === undefined
      ? failed(fault('sandbox-unavailable', `\`${program}\` cannot be started`))
      : ok(followed(child, child.pid, spec, this.#ownFolders, signal));
  }
}

const REMEDY = 'run Cordon on Linux, for instance in a virtual machine; report what `cordon doctor` shows';

function report(layers: readonly LayerReport[]): ProbeReport {
  return {
    ready: layers.length > 0 && layers.every(({ ok: holds }) => holds),
    layers,
    absent: [],
    cached: false,
  };
}

function broken(why: string): LayerReport {
  return { layer: 'seatbelt', ok: false, why, remedy: REMEDY };
}

function listening(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}

function canarySpec(canary: CheckedPath): SandboxSpec {
  return {
    executable: NODE_INSIDE,
    args: ['--no-warnings', canary.host],
    env: { LANG: 'C.UTF-8' },
    cwd: '/',
    mounts: [{ host: canary, inside: canary.host, access: 'read' }],
    profile: 'tight',
    nodeGrants: null,
    limits: CANARY_LIMITS,
    tmpMiB: null,
    usr: false,
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'none',
    link: false,
    network: { kind: 'none' },
  };
}

const isRefused = (text: string) => text.startsWith('refused:');
const is = (wanted: string) => (text: string) => text === `done:${wanted}`;

type Expectation = readonly (readonly [attempt: string, good: (seen: string) => boolean])[];

/** One line a layer; what was not seen counts as wrong. */
function judged(
  seen: ReadonlyMap<string, string>,
  task: { readonly outside: readonly string[]; readonly unwritable: readonly string[] },
): readonly LayerReport[] {
  const expected: Readonly<Record<string, Expectation>> = {
    'file-view': [
      ...task.outside.flatMap((path) => [
        [`read ${path}`, isRefused] as const,
        [`list ${path}`, isRefused] as const,
      ]),
      ['read own code', is('true')],
    ],
    'read-only-root': [
      ...task.unwritable.map((path) => [`write ${path}`, isRefused] as const),
      ['write own code', isRefused],
    ],
    'network-namespace': [
      ['connect to the hub', isRefused],
      ['connect outside', isRefused],
    ],
    processes: [
      ['start a process', (text) => isRefused(text) || /EPERM|EACCES/.test(text)],
      ['signal to the hub', isRefused],
    ],
    'resource-limits': [['limits', is('128 20 0')]],
    environment: [['own environment', is('LANG')]],
    // Standard streams, the two that are /dev/null in place of what was not wanted, and the listing itself.
    descriptors: [['descriptors', (text) => text.startsWith('done:') && Number(text.slice(5)) <= 12]],
  };
  return Object.entries(expected).map(([layer, attempts]) => {
    const wrong = attempts.find(([attempt, good]) => !good(seen.get(attempt) ?? 'not tried'));
    const why =
      wrong === undefined
        ? `${attempts.length} checks passed`
        : `\`${wrong[0]}\` ended with \`${(seen.get(wrong[0]) ?? 'not tried').slice(0, 80)}\``;
    return { layer, ok: wrong === undefined, why, remedy: wrong === undefined ? null : REMEDY };
  });
}

/** Follows one process to its end; its memory is looked at, because macOS bounds none. */
function followed(
  child: ChildProcess,
  pid: number,
  spec: CheckedSpec,
  ownFolders: OwnFolders,
  signal: AbortSignal,
): ConfinedProcess {
  let ending: Ending = null;
  const end = (why: NonNullable<Ending>) => {
    ending ??= why;
    killGroup(child, pid);
  };
  const kill = () => end({ cause: 'killed', message: 'it was stopped by the hub' });
  const exceeded = (excess: Excess) => end({ cause: 'limit', ...excess });
  signal.addEventListener('abort', kill, { once: true });
  const unwatch = [
    watchMemory(pid, spec.limits.memoryMiB, exceeded),
    ...spec.mounts
      .filter(({ access }) => access === 'own')
      .map(({ host }) => ownFolders.watch(host.host, spec.limits, exceeded)),
  ];
  const exited = new Promise<Exit>((resolve) => {
    const finish = (code: number | null, signalName: string | null) => {
      signal.removeEventListener('abort', kill);
      for (const stop of unwatch) stop();
      // 125 is the supervisor's own, 71 sandbox-exec's when the profile is refused (sysexits(3)).
      const ran = code !== null && code !== 125 && code !== 71;
      resolve(
        exitOf({ childPid: pid, exitCode: ran ? code : null }, signalName, ending, 'the profile was refused'),
      );
    };
    child.once('error', () => finish(null, null));
    child.once('exit', finish);
  });
  const { stdin, stdout, stderr } = child;
  const link = child.stdio[3];
  child.stdio[LIFELINE]?.on('error', () => {});
  return {
    ...{ pid, root: pid, stdin, stdout, stderr, exited, kill },
    listener: null,
    direct: null,
    deliver: () => false, // the supervisor stands between
    link: spec.link && link instanceof Duplex ? link : null,
    layers: LAYERS_HERE,
    weakened: [],
  };
}

function killGroup(child: ChildProcess, pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    child.kill('SIGKILL');
  }
}

/** `ps` sums what the supervisor's group uses; that it cannot be asked ends the process. */
function watchMemory(group: number, memoryMiB: number, onExcess: (excess: Excess) => void): () => void {
  const timer = setInterval(() => {
    execFile('/bin/ps', ['-A', '-o', 'pgid=,rss='], { env: {}, timeout: 5_000 }, (error, text) => {
      if (error !== null)
        return onExcess({ limit: 'unwatched', message: 'its memory could not be looked at' });
      const used = Math.ceil(groupKilobytes(text, group) / 1024);
      if (used <= memoryMiB) return;
      const message = `it used ${used} MiB of memory, more than its ${memoryMiB} MiB`;
      onExcess({ limit: 'memoryMiB', message });
    });
  }, LOOK_MS).unref();
  return () => clearInterval(timer);
}

/** Lines of `ps -A -o pgid=,rss=`: the resident kilobytes of one process group. */
export function groupKilobytes(text: string, group: number): number {
  const rows = [...text.matchAll(/^\s*(\d+)\s+(\d+)\s*$/gm)];
  return rows.reduce((sum, [, of, kilobytes]) => (Number(of) === group ? sum + Number(kilobytes) : sum), 0);
}
