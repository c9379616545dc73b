/**
 * The self-test: runs the real argument vector with the canary inside and requires every attempt to end as it
 * must, per layer. What was not seen counts as failed. Its report is what `cordon doctor` shows.
 */
import { randomBytes } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { arch, constants } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import {
  type AppLimits,
  DEFAULT_APP_LIMITS,
  type Fault,
  isJsonObject,
  parseJson,
  type Result,
} from '@cordon/core';
import type { Dialler } from '@cordon/dialler';
import { probeProgram } from './kernel/probe-program.ts';
import { SHOWN_PROC, SHOWN_SETTINGS } from './kernel/proc-view.ts';
import { isArchitecture } from './kernel/seccomp.ts';
import type { SyscallName } from './kernel/syscall-numbers.ts';
import { NOTIFICATION_LIMITS } from './launch/bubblewrap.ts';
import type { ConfinedProcess, Exit, LayerReport } from './spec/backend.ts';
import type { CheckedPath } from './spec/checked-path.ts';
import type { ExplainHost } from './spec/host-problem.ts';
import { LAYERS, type LayerName } from './spec/layers.ts';
import { type CheckedSpec, checkSpec, NODE_INSIDE, type SandboxSpec } from './spec/spec.ts';
import { canWatch } from './watch/watchdog.ts';

export interface SelfTest {
  readonly launch: (spec: CheckedSpec, signal: AbortSignal) => Promise<Result<ConfinedProcess, Fault>>;
  /** The canary's file. */
  readonly canary: CheckedPath;
  /** A host file that exists and must be out of reach, e.g. the hub's own source. */
  readonly outside: readonly string[];
  /** The layers that must hold; those that the user left out are not among them. */
  readonly layers: readonly LayerName[];
  /** Where bubblewrap is, and who explains its failures. */
  readonly bwrap: string;
  readonly explain: ExplainHost;
  /** Listens in the network of the machine. */
  readonly bait: Dialler['bait'];
}

const DEADLINE_MS = 60_000;

const CANARY_LIMITS: AppLimits = {
  ...DEFAULT_APP_LIMITS,
  memoryMiB: 512,
  cpuSeconds: 20,
  processes: 64,
  openFiles: 128,
  fileMiB: 1,
};

/** The three ways in which processes of others run here; each is tried. */
type Trial = 'tight' | 'spawn' | 'node';

/** One line per layer, in the order of `LAYERS`. */
export async function selfTest(test: SelfTest): Promise<readonly LayerReport[]> {
  const bait = await test.bait();
  if (!bait.ok) return [broken(`nothing listens for it on this machine: ${bait.fault.message}`)];
  const abstract = createServer((socket) => socket.destroy());
  // Unguessable: who holds the name could make the test fail.
  const name = `cordon-self-test-${randomBytes(8).toString('hex')}`;
  try {
    await listen(abstract, `\0${name}`);
    const seen = (trial: Trial) => observe(test, trial, { port: bait.value.port, socket: name });
    const [tight, spawn, node] = await Promise.all([seen('tight'), seen('spawn'), seen('node')]);
    if (!tight.ok) return [tight.report];
    if (!spawn.ok) return [spawn.report];
    if (!node.ok) return [node.report];
    return test.layers.map((layer) =>
      judge(test, layer, { tight: tight.seen, spawn: spawn.seen, node: node.seen }),
    );
  } catch (error) {
    return [broken(`the self-test could not run: ${error instanceof Error ? error.message : 'unknown'}`)];
  } finally {
    bait.value.close();
    abstract.close();
  }
}

type Seen = ReadonlyMap<string, string>;
type Observation =
  | { readonly ok: true; readonly seen: Seen }
  | { readonly ok: false; readonly report: LayerReport };

/** On an abstract Unix socket, which is in the network namespace of this process. */
function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ path }, resolve);
  });
}

async function observe(
  test: SelfTest,
  trial: Trial,
  hub: { readonly port: number; readonly socket: string },
): Promise<Observation> {
  const isFiltered = test.layers.includes('seccomp');
  const task = {
    attempts: trial === 'node' ? 'node' : 'kernel',
    outside: [...OUTSIDE, ...test.outside],
    hubPid: process.pid,
    machinePort: hub.port,
    hubSocket: hub.socket,
    programs: {
      // Without the filter these calls would be made for real.
      ...(trial === 'spawn' && isFiltered
        ? Object.fromEntries(FORBIDDEN.map((call) => [call, program(call)]))
        : {}),
      ...(trial === 'spawn'
        ? {
            inotify_init1: program('inotify_init1', TOO_MANY_INSTANCES),
            landlock_create_ruleset: program('landlock_create_ruleset', 1, LANDLOCK_VERSION),
          }
        : {}),
    },
    last: trial === 'tight' && isFiltered ? program('ptrace') : null,
  };
  const spec = checkSpec(canarySpec(test.canary, trial));
  if (!spec.ok) return { ok: false, report: broken(spec.fault.message) };
  const started = await test.launch(spec.value, AbortSignal.timeout(DEADLINE_MS));
  if (!started.ok) return { ok: false, report: whyNot(test, started.fault.message) };
  const outputs = Promise.all([
    textOf(started.value.stdout),
    textOf(started.value.link),
    started.value.exited,
  ]);
  const isWatched = await becomesWatchable(started.value.root, test.layers.includes('pid-namespace'));
  // By standard input, not as an argument: the command line is among what is looked at. It waits for it till then.
  started.value.stdin?.on('error', () => {}).end(JSON.stringify(task));
  const [output, linked, exit] = await outputs;
  return readObservation(test, output, linked, exit, task.last === null ? 'exit' : 'violation', isWatched);
}

function program(call: SyscallName, times = 1, third = 0): string {
  const architecture = arch();
  return isArchitecture(architecture)
    ? probeProgram(call, architecture, times, third).toString('base64')
    : '';
}

const TOO_MANY_INSTANCES = NOTIFICATION_LIMITS.max_inotify_instances + 1;

/** Asks `landlock_create_ruleset` which version the kernel has. */
const LANDLOCK_VERSION = 1;
/** ENOSYS: not built; EOPNOTSUPP: not switched on; the first version, which process 1 does not use. */
const NO_LANDLOCK: ReadonlySet<string> = new Set(
  [constants.errno.ENOSYS, constants.errno.EOPNOTSUPP, 256 - 1].map((code) => `done:exit ${code}`),
);

/** Calls whose honest use nobody has in an app; one of each family that the filter ends a process for. */
const FORBIDDEN: readonly SyscallName[] = [
  ...(['ptrace', 'unshare', 'setns', 'mount', 'chroot', 'bpf', 'keyctl'] as const),
  ...(['process_vm_readv', 'pidfd_getfd', 'perf_event_open', 'userfaultfd'] as const),
];

/** Twelve seconds at least, as the watchdog does: on a busy machine a set-up takes long. */
async function becomesWatchable(root: number, hasPidNamespace: boolean): Promise<boolean> {
  for (let round = 0; round < 2_400; round++) {
    if (canWatch(root, hasPidNamespace)) return true;
    await wait(5);
  }
  return false;
}

function canarySpec(canary: CheckedPath, trial: Trial): SandboxSpec {
  const inside = canary.host.endsWith('.ts') ? '/canary.d/canary.mts' : '/canary.d/canary.mjs';
  return {
    executable: NODE_INSIDE,
    args: ['--no-warnings', inside],
    env: { LANG: 'C.UTF-8' },
    cwd: '/',
    mounts: [{ host: canary, inside, access: 'read' }],
    profile: trial === 'spawn' ? 'spawn' : 'tight',
    nodeGrants: trial === 'node' ? [] : null,
    limits: CANARY_LIMITS,
    tmpMiB: 1,
    usr: trial === 'spawn',
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'none',
    link: true,
    network: { kind: 'none' },
  };
}

async function textOf(stream: ConfinedProcess['stdout']): Promise<string> {
  if (stream === null) return '';
  let text = '';
  for await (const chunk of stream) if (text.length < 256 * 1024) text += chunk;
  return text;
}

function readObservation(
  test: SelfTest,
  output: string,
  linked: string,
  exit: Exit,
  wanted: Exit['cause'],
  isWatched: boolean,
): Observation {
  if (exit.cause === 'sandbox-failed') return { ok: false, report: whyNot(test, exit.message) };
  const seen = parseJson(output.trim());
  const isComplete = linked === 'canary\n' && seen.ok && isJsonObject(seen.value);
  if (!isComplete || (wanted === 'exit' && exit.code !== 7))
    return { ok: false, report: broken(`a program did not run as it should inside: ${exit.message}`) };
  const entries = Object.entries(seen.value).map(([key, value]) => [key, String(value)] as const);
  return {
    ok: true,
    seen: new Map([...entries, ['watched', `done:${isWatched}`], ['end', `done:${exit.cause}`]]),
  };
}

/** Files and folders of nearly every host, and of its kernel. */
const OUTSIDE = ['/etc/shadow', '/etc/hostname', '/root', '/proc/keys', '/proc/interrupts'];

/** What the canary tries with the process that ends it. */
const OF_INIT = ['write its memory', 'read its memory', 'find its code', 'go through its folder'];

/** Names of attempts with what must have been seen. */
type Expectation = readonly (readonly [attempt: string, good: (seen: string) => boolean])[];

const refused = (seen: string) => seen.startsWith('refused:');
const is = (text: string) => (seen: string) => seen === `done:${text}`;
const isRefusal = (code: string) => (seen: string) => seen === `refused:${code}`;
const among = (names: readonly string[]) => (seen: string) =>
  seen.startsWith('done:') &&
  seen
    .slice(5)
    .split(' ')
    .every((name) => names.includes(name));
const atMost = (most: number) => (seen: string) => seen.startsWith('done:') && Number(seen.slice(5)) <= most;

/** What a layer must have stopped in a trial; several layers that stop one thing are tested one by one in `attacks/`. */
function expectation(test: SelfTest, layer: LayerName, trial: 'tight' | 'spawn'): Expectation {
  // Without a pid namespace the first process is the host's, and none of ours.
  const ofFirstProcess = (...some: Expectation) => (test.layers.includes('pid-namespace') ? some : []);
  switch (layer) {
    case 'user-namespace':
      return [otherNamespace('user'), ['host user', (seen) => /^done:\d+ \d+ 1$/.test(seen)]];
    case 'separate-user':
      return [['host user', (seen) => /^done:[1-9]\d* \d+ 1$/.test(seen)]];
    case 'file-view':
      return [
        otherNamespace('mnt'),
        ...[...OUTSIDE, ...test.outside].map((path) => [`read ${path}`, refused] as const),
        ['what /proc shows', among([...SHOWN_PROC.keys()])],
        ['interrupts', is('0')],
      ];
    case 'read-only-root':
      return [
        ...['/canary', '/opt/canary', '/dev/canary', '/canary.d/canary'].map(
          (path) => [`write ${path}`, refused] as const,
        ),
        ['write own code', refused],
        ['size of /dev/shm', atMost(1024 * 1024)],
      ];
    case 'landlock':
      return [['open /dev/random', refused]];
    case 'kernel-settings':
      return [
        ['open /proc/sys/kernel/core_pattern', refused],
        ['open /proc/sysrq-trigger', refused],
        ['mount of /proc/sys', (seen) => /^done:ro\b/.test(seen)],
        ['settings', among(SHOWN_SETTINGS)],
      ];
    case 'pid-namespace':
      return [
        otherNamespace('pid'),
        ['processes', atMost(trial === 'tight' ? 2 : 3)],
        ['signal to the hub', refused],
        ['proc of the hub', refused],
      ];
    case 'own-init':
      // Whoever has every capability of its namespaces is refused nothing in them.
      return test.layers.includes('capabilities')
        ? ofFirstProcess(...OF_INIT.map((what) => [`of pid 1: ${what}`, refused] as const))
        : [];
    case 'network-namespace':
      return [
        otherNamespace('net'),
        ['interfaces', is('lo')],
        ['connect to the machine', refused],
        ['connect outside', refused],
        ['abstract socket of the hub', refused],
      ];
    case 'ipc-namespace':
      return [otherNamespace('ipc')];
    case 'uts-namespace':
      return [otherNamespace('uts')];
    case 'cgroup-namespace':
      return [otherNamespace('cgroup')];
    case 'no-nested-namespaces':
      // bubblewrap itself tries to make one and ends if it can (--assert-userns-disabled): that it ran is the proof.
      return [['link', is('7')]];
    case 'capabilities':
      return [
        ...['CapEff', 'CapPrm', 'CapBnd'].map((set) => [`status ${set}`, is('0000000000000000')] as const),
        ['status NoNewPrivs', is('1')],
      ];
    case 'session':
      return [
        ['session', (seen) => /^done:[1-9]\d*$/.test(seen)],
        ['open /dev/tty', refused],
      ];
    case 'seccomp':
      return [
        ['status Seccomp', is('2')],
        ['abstract socket of the hub', isRefusal('EAFNOSUPPORT')],
        ...(trial === 'tight'
          ? ([
              ['start a process', isRefusal('EPERM')],
              ['end', is('violation')],
            ] as const)
          : [
              ['start a process', is('started')] as const,
              ...FORBIDDEN.map((call) => [`call ${call}`, is('SIGSYS')] as const),
            ]),
      ];
    case 'resource-limits':
      return [
        ['limits', (seen) => /^done:64 128 0 \d+ 22$/.test(seen)],
        ...(trial === 'spawn'
          ? ([['call inotify_init1', is(`exit ${constants.errno.EMFILE}`)]] as const)
          : []),
      ];
    case 'watchdog':
      return [['watched', is('true')]];
    case 'environment':
      return [
        ...ofFirstProcess(['environment of pid 1', (seen) => refused(seen) || is('')(seen)]),
        ['own environment', (seen) => seen === 'done:LANG PWD' || seen === 'done:LANG'],
      ];
    case 'arguments':
      return ofFirstProcess([
        'command line of pid 1',
        (seen) => seen.startsWith('done:') && !/-bind|--setenv/.test(seen),
      ]);
    case 'descriptors':
      return [['descriptors', is('')]];
    case 'node-permission':
      return [];
  }
}

/** In a separate trial: where Node refuses, nothing else can be seen. */
const NODE_EXPECTATION: Expectation = [
  ...['read a file', 'write a file', 'start a process', 'start a thread'].map(
    (what) => [`Node: ${what}`, isRefusal('ERR_ACCESS_DENIED')] as const,
  ),
  ['Node: read own code', is('true')],
];

function otherNamespace(name: string): Expectation[number] {
  const own = readlinkSync(`/proc/self/ns/${name}`);
  return [`namespace ${name}`, (seen) => seen.startsWith(`done:${name}:[`) && seen !== `done:${own}`];
}

/**
 * Whether the kernel lacks the layer. What else hinders Landlock ends process 1 before the app starts; of what the
 * kernel was not asked, or says that we do not know, the attempt decides.
 */
function isAbsent(layer: LayerName, { spawn }: Readonly<Record<Trial, Seen>>): boolean {
  return layer === 'landlock' && NO_LANDLOCK.has(spawn.get('call landlock_create_ruleset') ?? '');
}

/** What `cordon doctor` says of a layer that the kernel lacks. */
export function absentLayer(layer: LayerName): LayerReport {
  const why = `not used: this kernel has none (Linux 5.19 or newer, with \`landlock\` in its \`lsm=\`): ${LAYERS[layer].without}`;
  return { layer, ok: true, why, remedy: null, isAbsent: true };
}

function judge(test: SelfTest, layer: LayerName, seen: Readonly<Record<Trial, Seen>>): LayerReport {
  if (isAbsent(layer, seen)) return absentLayer(layer);
  const expected = [
    ...expectation(test, layer, 'tight').map((one) => [one, seen.tight] as const),
    ...expectation(test, layer, 'spawn').map((one) => [one, seen.spawn] as const),
    ...(layer === 'node-permission' ? NODE_EXPECTATION : []).map((one) => [one, seen.node] as const),
  ];
  const wrong =
    expected.map(([one, where]) => wrongOf(one, where)).find((problem) => problem !== null) ?? null;
  const why = wrong ?? `${LAYERS[layer].does}: ${expected.length} checks passed`;
  const remedy = 'this machine cannot run apps safely; report this line with the output of `uname -a`';
  return { layer, ok: wrong === null, why, remedy: wrong === null ? null : remedy };
}

/** An attempt that is missing from what was seen is wrong too. */
function wrongOf([attempt, good]: Expectation[number], seen: Seen): string | null {
  const result = seen.get(attempt);
  if (result === undefined) return `\`${attempt}\` was not tried`;
  return good(result) ? null : `\`${attempt}\` ended with \`${result.slice(0, 80)}\``;
}

function broken(why: string): LayerReport {
  return { layer: 'self-test', ok: false, why, remedy: 'run `cordon doctor` again and report this line' };
}

/** bubblewrap's words, and what of this machine is behind them. */
function whyNot({ bwrap, explain }: SelfTest, message: string): LayerReport {
  const cause = explain({ kind: 'refused', bwrap, said: message });
  return {
    layer: 'sandbox set-up',
    ok: false,
    why: cause === null ? message : `${cause.why} (${message})`,
    remedy: cause?.remedy ?? 'see what bubblewrap said; `bwrap --unshare-user --ro-bind / / true` must work',
  };
}
