/**
 * The self-test: runs the real argument vector with the canary inside and requires every attempt to end as it
 * must, per layer. What was not seen counts as failed. Its report is what `cordon doctor` shows.
 *
 * Ring 0.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import {
  type AppLimits,
  DEFAULT_APP_LIMITS,
  type Fault,
  isJsonObject,
  parseJson,
  type Result,
} from '@cordon/core';
import type { ConfinedProcess, Exit, LayerReport } from './backend.ts';
import type { CheckedPath } from './checked-path.ts';
import type { Profile } from './seccomp.ts';
import { type CheckedSpec, checkSpec, NODE_INSIDE, type SandboxSpec } from './spec.ts';

export interface SelfTest {
  readonly launch: (spec: CheckedSpec, signal: AbortSignal) => Promise<Result<ConfinedProcess, Fault>>;
  /** The canary's file. */
  readonly canary: CheckedPath;
  /** A host file that exists and must be out of reach, e.g. the hub's own source. */
  readonly outside: readonly string[];
}

const DEADLINE_MS = 20_000;

const CANARY_LIMITS: AppLimits = {
  ...DEFAULT_APP_LIMITS,
  memoryMiB: 512,
  cpuSeconds: 20,
  processes: 64,
  openFiles: 128,
  fileMiB: 1,
};

/** One line per layer; a layer that a profile weakens is reported with that profile's name. */
export async function selfTest(test: SelfTest): Promise<readonly LayerReport[]> {
  const server = createServer((socket) => socket.destroy());
  const abstract = createServer((socket) => socket.destroy());
  const name = `cordon-self-test-${process.pid}`;
  try {
    const port = await listen(server, { host: '127.0.0.1', port: 0 });
    await listen(abstract, { path: `\0${name}` });
    const seen = (profile: Profile) => observe(test, profile, { port, socket: name });
    const [tight, spawn] = await Promise.all([seen('tight'), seen('spawn')]);
    if (!tight.ok) return [tight.report];
    if (!spawn.ok) return [spawn.report];
    return judge(test, tight.seen, spawn.seen);
  } catch (error) {
    return [broken(`the self-test could not run: ${error instanceof Error ? error.message : 'unknown'}`)];
  } finally {
    server.close();
    abstract.close();
  }
}

type Seen = ReadonlyMap<string, string>;
type Observation =
  | { readonly ok: true; readonly seen: Seen }
  | { readonly ok: false; readonly report: LayerReport };

function listen(server: Server, where: { host: string; port: number } | { path: string }): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(where, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}

async function observe(
  test: SelfTest,
  profile: Profile,
  hub: { readonly port: number; readonly socket: string },
): Promise<Observation> {
  const usr = profile === 'spawn';
  const task = {
    outside: ['/etc/shadow', '/etc/hostname', '/root', ...test.outside],
    hubPid: process.pid,
    hubPort: hub.port,
    hubSocket: hub.socket,
    programs: usr ? forbiddenPrograms() : [],
  };
  const spec = checkSpec(canarySpec(test.canary, profile));
  if (!spec.ok) return { ok: false, report: broken(spec.fault.message) };
  const started = await test.launch(spec.value, AbortSignal.timeout(DEADLINE_MS));
  if (!started.ok) return { ok: false, report: whyNot(started.fault.message) };
  // By standard input, not as an argument: the command line is among what is looked at.
  started.value.stdin?.on('error', () => {}).end(JSON.stringify(task));
  const [output, linked, exit] = await Promise.all([
    textOf(started.value.stdout),
    textOf(started.value.link),
    started.value.exited,
  ]);
  return readObservation(output, linked, exit);
}

function canarySpec(canary: CheckedPath, profile: Profile): SandboxSpec {
  const inside = canary.host.endsWith('.ts') ? '/canary.d/canary.mts' : '/canary.d/canary.mjs';
  return {
    executable: NODE_INSIDE,
    args: ['--no-warnings', inside],
    env: { LANG: 'C.UTF-8' },
    cwd: '/',
    mounts: [{ host: canary, inside, access: 'read' }],
    profile,
    limits: CANARY_LIMITS,
    tmpMiB: null,
    usr: profile === 'spawn',
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'none',
    link: true,
    network: { kind: 'none' },
  };
}

/** Programs found on nearly every Linux that make a call which must end them. */
function forbiddenPrograms(): readonly (readonly string[])[] {
  return [['/usr/bin/unshare', '--user', '/bin/true']].filter(([program = '']) => existsSync(program));
}

async function textOf(stream: ConfinedProcess['stdout']): Promise<string> {
  if (stream === null) return '';
  let text = '';
  for await (const chunk of stream) if (text.length < 256 * 1024) text += chunk;
  return text;
}

function readObservation(output: string, linked: string, exit: Exit): Observation {
  if (exit.cause === 'sandbox-failed') return { ok: false, report: whyNot(exit.message) };
  const seen = parseJson(output.trim());
  if (exit.code !== 7 || linked !== 'canary\n' || !seen.ok || !isJsonObject(seen.value))
    return { ok: false, report: broken(`a program did not run as it should inside: ${exit.message}`) };
  const entries = Object.entries(seen.value);
  return { ok: true, seen: new Map(entries.map(([key, value]) => [key, String(value)])) };
}

interface Check {
  readonly layer: string;
  /** Names of attempts, or the beginning of names, with what must have been seen. */
  readonly expect: readonly (readonly [attempt: string, good: (seen: string) => boolean])[];
}

const refused = (seen: string) => seen.startsWith('refused:');
const is = (text: string) => (seen: string) => seen === `done:${text}`;
const atMost = (most: number) => (seen: string) => seen.startsWith('done:') && Number(seen.slice(5)) <= most;

function checks(test: SelfTest, profile: Profile): readonly Check[] {
  const processes = profile === 'tight' ? 2 : 3;
  return [
    {
      layer: 'user namespace',
      expect: [['host user', (seen) => /^done:[1-9]\d* \d+ 1$/.test(seen)]],
    },
    {
      layer: 'mount namespace',
      expect: [
        ...['/etc/shadow', '/etc/hostname', '/root', ...test.outside].map(
          (path) => [`read ${path}`, refused] as const,
        ),
        ...['/canary', '/opt/canary', '/dev/canary', '/canary.d/canary'].map(
          (path) => [`write ${path}`, refused] as const,
        ),
        ['write own code', refused],
        ['open /proc/sys/kernel/core_pattern', refused],
        ['open /proc/sysrq-trigger', refused],
        ['size of /dev/shm', atMost(1024 * 1024)],
      ],
    },
    {
      layer: 'pid namespace',
      expect: [
        ['processes', atMost(processes)],
        ['signal to the hub', refused],
        ['proc of the hub', refused],
      ],
    },
    {
      layer: 'network namespace',
      expect: [
        ['interfaces', is('lo')],
        ['connect to the hub', refused],
        ['connect outside', refused],
        ['abstract socket of the hub', refused],
      ],
    },
    {
      layer: 'no capabilities',
      expect: [
        ['status CapEff', is('0000000000000000')],
        ['status CapPrm', is('0000000000000000')],
        ['status CapBnd', is('0000000000000000')],
        ['status NoNewPrivs', is('1')],
      ],
    },
    {
      layer: 'system call filter',
      expect: [
        ['status Seccomp', is('2')],
        ['start a process', profile === 'tight' ? isEperm : is('started')],
        ...(profile === 'spawn' ? forbiddenPrograms() : []).map(
          ([program]) => [`run ${program}`, is('SIGSYS')] as const,
        ),
      ],
    },
    {
      layer: 'resource limits',
      expect: [['limits', (seen) => /^done:64 128 0 \d+ 22$/.test(seen)]],
    },
    {
      layer: 'clean environment',
      expect: [
        ['environment of pid 1', is('')],
        ['own environment', (seen) => seen === 'done:LANG PWD' || seen === 'done:LANG'],
        ['command line of pid 1', (seen) => test.outside.every((path) => !seen.includes(path))],
      ],
    },
    { layer: 'clean descriptors', expect: [['descriptors', is('')]] },
  ];
}

function isEperm(seen: string): boolean {
  return seen === 'refused:EPERM';
}

function judge(test: SelfTest, tight: Seen, spawn: Seen): readonly LayerReport[] {
  const apps = checks(test, 'spawn');
  return checks(test, 'tight').map((check, index) => {
    const wrong = firstWrong(check, tight) ?? firstWrong(apps[index] ?? check, spawn);
    const why = wrong ?? `${check.expect.length} attempts ended as they must`;
    const remedy = 'this machine cannot run apps safely; report this line with the output of `uname -a`';
    return { layer: check.layer, ok: wrong === null, why, remedy: wrong === null ? null : remedy };
  });
}

/** An attempt that is missing from what was seen is wrong too. */
function firstWrong(check: Check, seen: Seen): string | null {
  for (const [attempt, good] of check.expect) {
    const result = seen.get(attempt);
    if (result === undefined) return `\`${attempt}\` was not tried`;
    if (!good(result)) return `\`${attempt}\` ended with \`${result.slice(0, 80)}\``;
  }
  return null;
}

function broken(why: string): LayerReport {
  return { layer: 'self-test', ok: false, why, remedy: 'run `cordon doctor` again and report this line' };
}

/** bubblewrap's words, and which switch of this machine is behind them. */
function whyNot(message: string): LayerReport {
  const isNamespace = /namespace|uid map|Operation not permitted|Permission denied|clone|unshare/i.test(
    message,
  );
  const layer = isNamespace ? 'user namespace' : 'sandbox set-up';
  const cause = isNamespace ? namespaceCause() : null;
  return {
    layer,
    ok: false,
    why: cause === null ? message : `${cause.why} (${message})`,
    remedy: cause?.remedy ?? 'see what bubblewrap said; `bwrap --unshare-user --ro-bind / / true` must work',
  };
}

/** The known ways in which a Linux refuses user namespaces to ordinary programs. */
function namespaceCause(): { readonly why: string; readonly remedy: string } | null {
  if (sysctl('user/max_user_namespaces') === '0')
    return {
      why: 'user namespaces are switched off',
      remedy: 'run `sysctl user.max_user_namespaces=10000` as root',
    };
  if (sysctl('kernel/unprivileged_userns_clone') === '0')
    return {
      why: 'user namespaces are reserved for root',
      remedy: 'run `sysctl kernel.unprivileged_userns_clone=1` as root',
    };
  if (sysctl('kernel/apparmor_restrict_unprivileged_userns') === '1')
    return {
      why: 'AppArmor restricts user namespaces',
      remedy:
        'give bubblewrap an AppArmor profile with `userns,`, or run `sysctl kernel.apparmor_restrict_unprivileged_userns=0` as root',
    };
  if (existsSync('/.dockerenv') || existsSync('/run/.containerenv'))
    return {
      why: 'this container forbids user namespaces',
      remedy:
        'start it with `--security-opt seccomp=unconfined --security-opt systempaths=unconfined`, or run Cordon outside',
    };
  return null;
}

function sysctl(name: string): string | null {
  try {
    return readFileSync(`/proc/sys/${name}`, 'latin1').trim();
  } catch {
    return null;
  }
}
