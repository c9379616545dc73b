/**
 * One install step: a package manager in its own sandbox, whose only way out is a proxy that leads to the registry
 * and nowhere else, and which sees no file of the user. What it fetched comes back as a stream of files.
 */
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Clock, DEFAULT_APP_LIMITS, type Fault, failed, fault, ok, type Result } from '@cordon/core';
import type { Dialler } from '@cordon/dialler';
import {
  Budget,
  DEFAULT_EGRESS_LIMITS,
  destination,
  type EgressProxy,
  isAddress,
  type NetworkEntry,
  openEgressProxy,
  type WayOut,
} from '@cordon/egress';
import {
  type ConfinedProcess,
  checkPath,
  NODE_INSIDE,
  type Sandbox,
  type SandboxSpec,
} from '@cordon/sandbox';
import { type InstallPlan, TREE_INSIDE } from './plan.ts';
import { type InstallProgress, ProgressReader } from './progress.ts';
import { type ReceivedTree, receiveTree } from './received-tree.ts';
import type { Registry } from './registry.ts';

export interface StepLimits {
  readonly seconds: number;
  /** Everything that is fetched and unpacked, together. */
  readonly storageMiB: number;
  readonly files: number;
}

export const DEFAULT_STEP_LIMITS: StepLimits = { seconds: 300, storageMiB: 768, files: 60_000 };

export interface StepParts extends Pick<Dialler, 'lookup' | 'dial'> {
  readonly sandbox: Sandbox;
  readonly now: Clock;
  readonly limits: StepLimits;
  /** Called when the package manager says how far it is. */
  readonly onProgress?: (progress: InstallProgress) => void;
}

/** Fills `folder`, which is there and empty. */
export async function runStep(
  plan: InstallPlan,
  registry: Registry,
  folder: string,
  parts: StepParts,
  cancelled: AbortSignal,
): Promise<Result<ReceivedTree, Fault>> {
  const refusals = new Map<string, string>();
  const way = wayOut(registry, parts, refusals);
  if (!way.ok) return way;
  const spec = specOf(plan, parts.limits);
  if (!spec.ok) return spec;
  const late = AbortSignal.timeout(parts.limits.seconds * 1000);
  const process = await parts.sandbox.spawn(spec.value, AbortSignal.any([cancelled, late]));
  if (!process.ok) return process;
  // Through a pipe: every program of this machine may see arguments.
  process.value.stdin?.on('error', () => undefined).end(JSON.stringify(plan.secrets));
  const proxy = openProxy(process.value, way.value);
  try {
    const outcome = await fetched(process.value, folder, parts);
    if (outcome.ok) return outcome;
    if (cancelled.aborted) return failed(fault('cancelled', 'the installation was stopped'));
    if (late.aborted)
      return failed(
        fault('app-unavailable', `the registry did not deliver everything within ${parts.limits.seconds} s`),
      );
    return failed(toldFault(outcome.fault, registry, refusals, parts.limits));
  } finally {
    process.value.kill();
    await (await proxy)?.close();
  }
}

/** On the listener that the sandbox passes on. Null: the process ended before, or is ended since nothing can serve it. */
async function openProxy({ listener, kill }: ConfinedProcess, way: WayOut): Promise<EgressProxy | null> {
  const handed = (await listener) ?? null;
  if (handed === null) return null;
  const proxy = await openEgressProxy(handed, way);
  if (proxy.ok) return proxy.value;
  kill();
  return null;
}

const MIB = 1024 * 1024;

/** `refusals`: gets why a host was not reached, by host. */
function wayOut(
  registry: Registry,
  { lookup, dial, now, limits }: StepParts,
  refusals: Map<string, string>,
): Result<WayOut, Fault> {
  const reach: NetworkEntry[] = [];
  const { hostname } = new URL(registry.url);
  for (const { host, port } of registry.reach) {
    const at = host === hostname ? registry.privateAddresses : undefined;
    const place = destination(host, port, at === undefined ? undefined : new Set([hostname]));
    if (!place.ok)
      return failed(
        fault(
          'app-unavailable',
          `the registry \`${host}\` cannot be used: ${place.fault}`,
          host.includes('.') ? undefined : listing(hostname),
        ),
      );
    const entry = { host: place.value.host, port };
    reach.push(
      isAddress(entry.host)
        ? { kind: 'address', ...entry }
        : { kind: 'host', ...entry, ...(at === undefined ? {} : { at }) },
    );
  }
  const bytes = limits.storageMiB * MIB;
  const budget = { bytesDown: bytes, sessionBytesDown: bytes, requestsPerMinute: 60_000 };
  return ok({
    reach,
    // The user has decided: for the registry, which is all that `reach` holds.
    decide: async () => true,
    decideMs: 1_000,
    lookup,
    dial,
    budget: new Budget({ ...DEFAULT_EGRESS_LIMITS, ...budget }, now),
    onRefused: ({ host, reason }) => {
      if (host !== null) refusals.set(host, reason);
    },
    onClosed: ({ host }, { cut }) => {
      if (cut !== null) refusals.set(host, cut);
    },
  });
}

/** Our own file for the inside: TypeScript beside the sources, JavaScript beside the built files. */
const INSIDE = fileURLToPath(new URL(`./inside/fetch${extname(import.meta.url)}`, import.meta.url));
const FETCH_INSIDE = `/opt/install/fetch${extname(INSIDE) === '.ts' ? '.mts' : '.mjs'}`;

function specOf(plan: InstallPlan, limits: StepLimits): Result<SandboxSpec, Fault> {
  const fetch = checkPath(INSIDE);
  if (!fetch.ok) return fetch;
  const order = {
    steps: plan.steps,
    tree: TREE_INSIDE,
    without: plan.without,
    reports: [plan.report],
    log: plan.log,
  };
  return ok({
    executable: NODE_INSIDE,
    args: [FETCH_INSIDE, JSON.stringify(order)],
    env: {
      HOME: '/tmp',
      TMPDIR: '/tmp',
      PATH: plan.usr ? '/usr/bin:/bin' : '/opt/node/bin',
      LANG: 'C.UTF-8',
      ...plan.env,
    },
    cwd: '/tmp',
    mounts: [{ host: fetch.value, inside: FETCH_INSIDE, access: 'read' }, ...plan.mounts],
    profile: 'spawn',
    nodeGrants: ['child-process', 'worker'],
    limits: {
      ...DEFAULT_APP_LIMITS,
      // Files in /tmp are memory, and count as such where the kernel counts.
      memoryMiB: 1536 + limits.storageMiB,
      cpuSeconds: 2 * limits.seconds,
      processes: 96,
      openFiles: 1024,
      fileMiB: limits.storageMiB,
      files: limits.files,
    },
    tmpMiB: limits.storageMiB,
    usr: plan.usr,
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
    link: false,
    network: { kind: 'handover' },
  });
}

const LAST_WORDS = 8_000;

/** A fault of the kind `app-unavailable` holds what the package manager said last. */
async function fetched(
  process: ConfinedProcess,
  folder: string,
  { limits, now, onProgress = () => undefined }: StepParts,
): Promise<Result<ReceivedTree, Fault>> {
  const { stdout, stderr } = process;
  if (stdout === null || stderr === null) {
    process.kill();
    return failed(fault('sandbox-unavailable', 'the install step has no standard streams'));
  }
  const progress = new ProgressReader({ now, onProgress });
  let said = '';
  stderr.on('data', (chunk: Buffer) => {
    said = (said + progress.take(chunk.toString('utf8'))).slice(-LAST_WORDS);
  });
  stderr.on('error', () => undefined);
  const bytes = limits.storageMiB * MIB;
  const received = await receiveTree(stdout, folder, {
    ...{ files: limits.files, bytes, fileBytes: bytes, depth: 48 },
  });
  if (!received.ok && received.fault.kind === 'refused') {
    process.kill();
    await process.exited;
    return failed(fault('app-protocol', `the package was not accepted: ${received.fault.why}`));
  }
  const exit = await process.exited;
  const hasEnded = exit.cause === 'exit' && exit.code === 0;
  if (hasEnded && received.ok) return received;
  const words = said + progress.end();
  return failed(fault('app-unavailable', exit.cause === 'exit' ? words : `${words}\n${exit.message}`));
}

/** One sentence from what npm or pip wrote, and from what the proxy refused. */
function toldFault(
  { message: said, help, kind }: Fault,
  registry: Registry,
  refusals: ReadonlyMap<string, string>,
  limits: StepLimits,
): Fault {
  const unavailable = (text: string, remedy?: string) => fault('app-unavailable', text, remedy);
  const { credential } = registry;
  const message = credential === undefined ? said : said.replaceAll(credential.value, '[secret]');
  if (kind !== 'app-unavailable') return fault(kind, message, help);
  const { host, hostname } = new URL(registry.url);
  if (/\bENOSPC\b|No space left|more than \d+ files/.test(message))
    return unavailable(`the package needs more than ${limits.storageMiB} MiB or ${limits.files} files`);
  const { reach } = registry;
  const stranger = [...refusals.keys()].find((name) => reach.every((place) => place.host !== name));
  if (stranger !== undefined)
    return unavailable(
      `the package would be fetched from \`${stranger}\`, which is not the registry \`${host}\``,
      'only the registry that the package manager is configured for is reached',
    );
  const [why] = refusals.values();
  if (why !== undefined)
    return unavailable(
      `the registry \`${host}\` was not reached: ${why}`,
      helpAbout(why, registry, hostname),
    );
  if (/\bE401\b|ENEEDAUTH|\b401 (?:Client )?Error|\bUser for /.test(message))
    return credential === undefined ? privateRegistry(registry) : refusedCredential(registry);
  if (/\bE403\b|\b403 Client Error/.test(message))
    return registry.hasCredentials && credential === undefined
      ? privateRegistry(registry)
      : unavailable(`the registry \`${host}\` does not hand the package out (403)`);
  if (/\bETARGET\b|No matching version|\bE404\b|No matching distribution|ENOVERSIONS/.test(message))
    return registry.hasCredentials && credential === undefined && /\bE404\b/.test(message)
      ? privateRegistry(registry)
      : unavailable(`the registry \`${host}\` has no such package or version`);
  if (/certificate|unable to verify/i.test(message))
    return unavailable(
      `the certificate of the registry \`${host}\` comes from an authority that is not known`,
      'if it is your own, `NODE_EXTRA_CA_CERTS` names the file with its certificate',
    );
  if (/EINTEGRITY|HASHES FROM|THESE PACKAGES DO NOT MATCH/i.test(message))
    return unavailable('what the registry sent is not what it announced: the digests differ');
  if (
    /ECONN|ETIMEDOUT|EAI_AGAIN|E50\d|socket hang up|network|Connection|timed? ?out|no answer/i.test(message)
  )
    return unavailable(`the registry \`${host}\` does not answer`);
  return unavailable(`the package could not be fetched: ${lastLine(message)}`);
}

function helpAbout(why: string, registry: Registry, hostname: string): string | undefined {
  return /not public|not listed/.test(why) ? listing(hostname) : privateRegistry(registry).help;
}

function listing(hostname: string): string {
  return `if it is a registry of your own network, \`cordon.json\` can say so: "packages": {"privateAddresses": {"${hostname}": ["ADDRESS"]}}`;
}

function privateRegistry({ url }: Registry): Fault {
  return fault(
    'app-unavailable',
    `the registry \`${new URL(url).host}\` wants credentials, and \`cordon.json\` names none; those of your package manager are not used`,
    `${howToName({ url })}; or install the package beside \`cordon.json\` with your package manager: \`npx\` finds it there`,
  );
}

function howToName({ url }: Pick<Registry, 'url'>): string {
  const { host, pathname } = new URL(url);
  return `write "packages": {"//${host}${pathname}:_authToken": "\${secret:registry}"} (\`_auth\` for user:password), and \`cordon init\` asks for it`;
}

function refusedCredential({ url }: Registry): Fault {
  return fault(
    'app-unavailable',
    `the registry \`${new URL(url).host}\` does not accept the credentials that \`packages\` of \`cordon.json\` names`,
    'write another name for the secret there, and `cordon init` asks for it',
  );
}

function lastLine(text: string): string {
  const lines = text.split('\n').map((line) => line.replace(/[\p{Cc}\p{Cf}`]+/gu, ' ').trim());
  const line = lines.filter((one) => one !== '' && !/complete log|npm (?:warn|notice)/i.test(one)).at(-1);
  return (line ?? 'no reason was given').slice(0, 200);
}
