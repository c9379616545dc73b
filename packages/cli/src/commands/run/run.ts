/**
 * `cordon run -- COMMAND…`: runs any command in the sandbox, for instance an MCP server that another client's configuration
 * names. The client cannot answer questions, so Cordon denies what it would ask about; standard output is the command's alone.
 */

import { statSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { homedir, constants as systemConstants } from 'node:os';
import { basename, extname, join, resolve } from 'node:path';
import { keyFiles } from '@cordon/config/keys';
import {
  absolutePath,
  configurationCandidates,
  covers,
  defaultDataFolder,
  ownPaths,
  writtenFolders,
} from '@cordon/config/reading';
import { NO_RIGHTS, type RunRights, runStateFolder, wantedLayers } from '@cordon/config/run';
import type { RightsOptions } from '@cordon/config/run-manifest';
import {
  type AppId,
  type Diagnostic,
  type Fault,
  failed,
  fault,
  id,
  NAME_PATTERN,
  ok,
  type Result,
} from '@cordon/core';
import { type Dialler, hubNetwork } from '@cordon/dialler';
import type { StandaloneNetwork } from '@cordon/hub';
import type { RunRecord } from '@cordon/runtime/run-record';
import { openMachineSandbox } from '@cordon/runtime/sandbox';
import { readWeaker, weakerNotices } from '@cordon/runtime/weaker';
import {
  type ConfinedProcess,
  commandSpec,
  type Exit,
  type LayerName,
  makeFolder,
  type SandboxSpec,
} from '@cordon/sandbox';
import { EXIT } from '../../context/exit.ts';
import { relayIn, relayOut } from './relay.ts';
import { RunReport } from './run-report.ts';
export interface RunOptions extends RightsOptions {
  readonly data?: string;
  readonly policy: readonly string[];
  readonly sandbox?: string;
  readonly json?: boolean;
}

/** Told to end, a command has so long to do it by itself. Clients of MCP give it about as much. */
const GRACE_MS = 5_000;

/** By then the command has started, and nothing waits for us. */
const COMPILED_MS = 2_000;

/** Resolves with the exit code: the command's, 128 and the signal's number, or 2 if it never ran. Never rejects. */
export async function run(words: readonly string[], options: RunOptions): Promise<number> {
  const report = new RunReport(options.json === true, (text) => void process.stderr.write(text));
  process.stderr.on('error', () => undefined); // Where nobody listens, nothing is printed.
  const signals = new Signals();
  try {
    const prepared = await prepare(words, options, report);
    if (!prepared.ok) return report.refused(prepared.fault);
    return await carryOut(prepared.value, signals, report);
  } catch (error) {
    const message = error instanceof Error ? error.message : 'unknown error';
    return report.refused(fault('sandbox-unavailable', message));
  } finally {
    await written(process.stderr);
  }
}

interface Prepared {
  readonly spec: SandboxSpec;
  readonly dataFolder: string;
  readonly weaker: readonly LayerName[];
  readonly dialler: Dialler;
  readonly record: RunRecord | null;
  /** Null: it has none. */
  readonly network: StandaloneNetwork | null;
}

/** Everything that can be refused before a process is started. */
async function prepare(
  words: readonly string[],
  options: RunOptions,
  report: RunReport,
): Promise<Result<Prepared, Fault | readonly Diagnostic[]>> {
  const [command, ...args] = words;
  if (command === undefined || command === '')
    return failed(
      fault('usage', 'no command was given', 'write it after `--`: cordon run -- npx -y PACKAGE'),
    );
  const wanted = wantedLayers(options.sandbox);
  if (!wanted.ok) return failed([wanted.fault]);
  const weaker = readWeaker(wanted.value);
  if (!weaker.ok) return weaker;
  const notices = weakerNotices(weaker.value);
  for (const notice of notices) report.notice(notice);

  const places = { environment: process.env, cwd: process.cwd(), home: homedir() };
  const { cwd, home } = places;
  const dataFolder =
    options.data === undefined ? defaultDataFolder(places) : absolutePath(options.data, cwd, home);
  const policyFiles = options.policy.map((file) => absolutePath(file, cwd, home));
  const keys = keyFiles(places, null);
  const own = ownPaths(
    places,
    [[dataFolder, 'the data folder']],
    configurationCandidates(places),
    policyFiles,
  );
  const rights = await rightsOf(options, { ...places, dataFolder, ownPaths: [...own, ...keys] });
  if (!rights.ok) return rights;

  const app = nameOf(options.manifest ?? command);
  const needsRecord = weaker.value.length > 0 || rights.value.network.length > 0;
  const record = needsRecord ? await recordOf(dataFolder, app, notices) : ok(null);
  if (!record.ok) return record;
  const { dialler } = hubNetwork(process.env.CORDON_DIAL);
  const network = await networkOf(app, rights.value, policyFiles, record.value, dialler, report);
  if (!network.ok) return network;
  const { files, limits, env, state, node, unixSockets } = rights.value;
  const spec = await commandSpec(
    {
      command,
      args,
      env,
      cwd: [...files.read, ...files.write].some((path) => covers(path, cwd)) ? cwd : null,
      files,
      stateFolder: state === null ? null : runStateFolder(dataFolder, state),
      limits,
      node,
      unixSockets,
    },
    {
      configFolder: cwd,
      dataFolder,
      home,
      closed: keys.map(({ path }) => path),
      writtenFolders: writtenFolders(defaultDataFolder(places)),
    },
  );
  if (!spec.ok) return spec;
  return ok({
    spec: spec.value,
    dataFolder,
    weaker: weaker.value,
    dialler,
    record: record.value,
    network: network.value,
  });
}

/** Nothing of the reader is loaded for a command that is given nothing. */
async function rightsOf(
  options: RunOptions,
  place: Parameters<typeof import('@cordon/config/run-manifest').readRights>[1],
): Promise<Result<RunRights, readonly Diagnostic[]>> {
  const { read, write, network, env } = options;
  const isSilent = [read, write, network, env].every((given) => given.length === 0);
  if (isSilent && options.manifest === undefined && options.state === undefined) return ok(NO_RIGHTS);
  const { readRights } = await import('@cordon/config/run-manifest');
  const manifest = options.manifest === undefined ? {} : { manifest: resolve(place.cwd, options.manifest) };
  return readRights({ ...options, ...manifest }, place);
}

/** For the trace: of the manifest file, or of the program. */
function nameOf(path: string): AppId {
  const name = basename(path, extname(path))
    .replace(/[^\w.-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 64);
  return id(NAME_PATTERN.test(name) ? name : 'command');
}

async function recordOf(
  dataFolder: string,
  app: AppId,
  notices: readonly string[],
): Promise<Result<RunRecord, Fault>> {
  const { openRecord } = await import('@cordon/runtime/run-record');
  return openRecord(dataFolder, app, notices, process.env);
}

async function networkOf(
  app: AppId,
  rights: RunRights,
  policyFiles: readonly string[],
  record: RunRecord | null,
  dialler: Dialler,
  report: RunReport,
): Promise<Result<StandaloneNetwork | null, readonly Diagnostic[]>> {
  if (rights.network.length === 0 || record === null) {
    const policy = policyFiles.length === 0 ? ok(null) : await policyOf(policyFiles);
    return policy.ok ? ok(null) : policy;
  }
  const { openRunNetwork } = await import('@cordon/runtime/run-network');
  return openRunNetwork({
    app,
    rights,
    policyFiles,
    journal: record.journal,
    clock: Date.now,
    dialler,
    onDenied: (host, reason) => report.denied(host, reason),
  });
}

/** A user who names a policy wants to know what is wrong with it, also while there is nothing to decide. */
async function policyOf(files: readonly string[]): Promise<Result<unknown, readonly Diagnostic[]>> {
  const { readPolicies } = await import('@cordon/runtime/policies');
  return readPolicies({ packs: [], files });
}

async function carryOut(prepared: Prepared, signals: Signals, report: RunReport): Promise<number> {
  const { spec, dataFolder, weaker, dialler, record, network } = prepared;
  const cacheFile = testCache(dataFolder);
  const sandbox = openMachineSandbox({ cacheFile, weaker }, dialler);
  const began = Date.now();
  const started =
    network === null
      ? await sandbox.spawn(spec, signals.untilStarted)
      : await network.spawn(sandbox, spec, signals.untilStarted);
  if (!started.ok) {
    await network?.close();
    record?.ended(started.fault.message);
    return signals.first === null ? report.refused(started.fault) : numberOf(signals.first);
  }
  record?.started(Date.now() - began, started.value.layers);
  // Many clients end their servers by SIGKILL, and what Node compiled would be kept at a clean end only.
  setTimeout(flushCompileCache, COMPILED_MS).unref();
  const exit = await accompanied(started.value, signals);
  await network?.close();
  record?.ended(exit.message);
  report.ended(exit);
  return codeOf(exit, signals);
}

/** Passes bytes and signals on until the process is gone and what it wrote has been taken. */
async function accompanied(confined: ConfinedProcess, signals: Signals): Promise<Exit> {
  const { stdin, stdout, stderr } = confined;
  if (stdin === null || stdout === null || stderr === null)
    throw new Error('the command has no standard streams');
  signals.passOn(confined);
  relayIn(process.stdin, stdin);
  const [exit] = await Promise.all([
    confined.exited,
    relayOut(stdout, process.stdout),
    relayOut(stderr, process.stderr),
  ]);
  signals.stop();
  return exit;
}

/** As shells count: the command's own, or 128 and the number of the signal that it died of, or of ours. */
function codeOf(exit: Exit, signals: Signals): number {
  if (exit.cause === 'sandbox-failed') return EXIT.failed;
  if (exit.code !== null) return exit.code;
  if (signals.first !== null && exit.cause === 'killed') return numberOf(signals.first);
  const signal = Object.entries(systemConstants.signals).find(([name]) => name === exit.signal);
  return 128 + (signal?.[1] ?? systemConstants.signals.SIGKILL);
}

function numberOf(signal: NodeJS.Signals): number {
  return 128 + systemConstants.signals[signal];
}

/** Signals that mean the command. The first two leave it no choice, after a while; the others it may live with. */
const FINAL: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGHUP'];
const PASSED: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT', 'SIGUSR2', 'SIGWINCH'];

/** From the first moment on: a signal that comes before the command runs ends the attempt. */
class Signals {
  /** The first that asked for an end; null: none did. */
  first: NodeJS.Signals | null = null;
  readonly #starting = new AbortController();
  #deliver: ((signal: NodeJS.Signals) => void) | null = null;
  #deadline: NodeJS.Timeout | undefined;

  constructor() {
    for (const signal of FINAL) process.on(signal, () => this.#take(signal, true));
    for (const signal of PASSED) process.on(signal, () => this.#take(signal, signal === 'SIGINT'));
  }

  get untilStarted(): AbortSignal {
    return this.#starting.signal;
  }

  passOn(confined: ConfinedProcess): void {
    this.#deliver = (signal) => {
      const delivered = confined.deliver(signal);
      if (!FINAL.includes(signal)) return;
      if (!delivered) confined.kill();
      this.#deadline ??= setTimeout(() => confined.kill(), GRACE_MS);
    };
    if (this.first !== null) this.#deliver(this.first);
  }

  stop(): void {
    clearTimeout(this.#deadline);
    this.#deliver = () => undefined;
  }

  #take(signal: NodeJS.Signals, asksForEnd: boolean): void {
    if (asksForEnd) this.first ??= signal;
    if (this.#deliver !== null) this.#deliver(signal);
    else if (asksForEnd) this.#starting.abort();
  }
}

/**
 * Where a passed self-test is kept: in a data folder that nobody else can write, as the hub keeps it. Null: the test
 * runs every time, since a program that writes the file says that this machine is safe.
 */
function testCache(dataFolder: string): string | null {
  try {
    makeFolder(dataFolder);
    const { mode, uid } = statSync(dataFolder);
    return (mode & 0o022) === 0 && uid === process.getuid?.() ? join(dataFolder, 'sandbox.json') : null;
  } catch {
    return null;
  }
}

const LAST_WORDS_MS = 1_000;

/** What was written has left this process, or nobody takes it. */
function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((done) => {
    setTimeout(done, LAST_WORDS_MS).unref();
    stream.write('', () => done());
  });
}
