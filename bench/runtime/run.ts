/**
 * One query in the real runtime: hub, policy, sandboxed agent loop, and apps that are processes in sandboxes of their
 * own and answer from tables (`replay-app.mjs`). Each run has fresh state in its own folder; what runs share is the
 * code, the compiled policies and the result of the sandbox's self-test.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stateFolder } from '@cordon/config/reading';
import {
  type Consent,
  DEFAULT_WARM_LIMITS,
  type Event,
  type FactsMode,
  type InstalledApp,
  id,
  isJsonObject,
  type Json,
  type JsonObject,
  type Manifest,
  type Model,
  parseJson,
  SILENT_MANIFEST,
  type TurnLimits,
} from '@cordon/core';
import { detectorLauncher } from '@cordon/detector-process/launch';
import { appLauncher, Hub, loopLauncher, type Outcome, type Session, StoredPins } from '@cordon/hub';
import { PLANNER } from '@cordon/planner';
import { emptyPolicy, type Policy } from '@cordon/policy';
import { readPolicies } from '@cordon/runtime/policies';
import { textQuestionsOf } from '@cordon/runtime/rules';
import { openSandbox, type Sandbox } from '@cordon/sandbox';
import { openStore, type Store } from '@cordon/trace';
import { CODE_ROOT } from '../places.ts';
import { type MemorySpan, withTimedMemory } from './timed-memory.ts';

/** An app of the table. */
export interface ReplayApp {
  readonly id: string;
  /** What it says of itself to the model of its own context; absent: nothing. */
  readonly instructions?: string;
  readonly tools: readonly ReplayTool[];
  readonly answers: readonly RecordedAnswer[];
  /** To a call that is not in the table. */
  readonly otherwise: string;
  /** Of the manifest, beside what every replay app has. */
  readonly manifest: Partial<Manifest>;
}

export interface ReplayTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: { readonly readOnlyHint: boolean };
}

export interface RecordedAnswer {
  readonly tool: string;
  /** Null: whatever the arguments are, where no other answer is for these. */
  readonly arguments: JsonObject | null;
  readonly output: string;
  /** Where the tool has an `outputSchema`. */
  readonly structured?: JsonObject;
}

/** A call as the app that it reached wrote it down. */
export interface ExecutedCall {
  readonly app: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  /** Nanoseconds on the clock that all processes share: calls of several apps have an order, too. */
  readonly at: bigint;
}

export interface Defences {
  readonly isolation: 'spokes' | 'none';
  /** Names of packs beside the base; null: no rule at all. */
  readonly packs: readonly string[] | null;
}

export interface RunWanted extends Defences {
  readonly apps: readonly ReplayApp[];
  readonly model: Model;
  readonly consent: Consent;
  /** One conversation after the other, each of one or more queries. */
  readonly said: readonly (readonly string[])[];
  readonly limits?: TurnLimits;
  /** `provider/model`, where the model is not the obedient one itself. */
  readonly modelId?: string;
  /** So many apps stay for the next query, and loops as in a session of the user's; absent: nothing is kept. */
  readonly warmApps?: number;
  /** The user has agreed to the apps before, by `agree`; else they are taken at their word at their first use. */
  readonly isAgreed?: boolean;
  /** Who finds facts in the user's words; absent: patterns. */
  readonly facts?: FactsMode;
  /** Told when all is ready and the first query is about to be asked. */
  readonly onAsk?: () => void;
}

export interface Ran {
  /** In the order in which they reached the apps. */
  readonly executed: readonly ExecutedCall[];
  /** Of each query. */
  readonly outcomes: readonly Outcome[];
  readonly events: readonly Event[];
  /** When memories were read and written. */
  readonly memory: readonly MemorySpan[];
}

/** What runs beside a benchmark slows these apps down, and nothing that is measured is a limit of theirs. */
const PATIENCE = { startSeconds: 120, callSeconds: 120, silentSeconds: 120 };
const PROGRAM = join(import.meta.dirname, 'replay-app.mjs');

/** What runs share. Close it when all are over. */
export class Runtime {
  readonly #folder = mkdtempSync(join(tmpdir(), 'cordon-runs-'));
  readonly #sandbox: Sandbox;
  readonly #policies = new Map<string, Policy>();
  readonly #long: ReturnType<typeof textQuestionsOf>;
  #runs = 0;
  /** What was agreed to, for runs that begin with it. */
  #agreements: Store | null = null;

  /** `sandbox`: instead of this machine's. */
  constructor(sandbox?: Sandbox) {
    this.#sandbox =
      sandbox ??
      openSandbox({
        node: process.execPath,
        cacheFile: join(this.#folder, 'sandbox.json'),
        compiledFolder: join(this.#folder, 'compiled'),
      });
    this.#long = textQuestionsOf(detectorLauncher(this.#sandbox, CODE_ROOT));
  }

  close(): void {
    this.#agreements?.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Throws for what is no behaviour of the measured system: a sandbox or a store that cannot be had. */
  async run(wanted: RunWanted, signal: AbortSignal): Promise<Ran> {
    const data = join(this.#folder, `run-${++this.#runs}`);
    mkdirSync(data, { mode: 0o700 });
    const store = openedStore(data);
    try {
      const events: Event[] = [];
      store.journal.subscribe((event) => void events.push(event));
      for (const app of wanted.apps) writePart(data, app);
      const memory: MemorySpan[] = [];
      const refusals: string[] = [];
      const hub = this.#hub(
        wanted,
        data,
        withTimedMemory(store, (span) => void memory.push(span)),
        telling(this.#sandbox, (message) => void refusals.push(message)),
      );
      wanted.onAsk?.();
      const outcomes: Outcome[] = [];
      for (const queries of wanted.said) {
        const { isolation, packs } = wanted;
        const session = hub.openSession({ isolation, hasPolicy: packs !== null, notices: [] });
        if (!session.ok) throw new Error(session.fault.message);
        outcomes.push(...(await converse(session.value, queries, signal)));
      }
      // To the hub it is a query that failed, and would be measured as one.
      if (refusals[0] !== undefined) throw new Error(refusals[0]);
      const executed = wanted.apps.flatMap(({ id }) => executedBy(data, id)).toSorted(byTime);
      return { executed, outcomes, events, memory };
    } finally {
      store.close();
      rmSync(data, { recursive: true, force: true });
    }
  }

  /** Agrees to what the apps say of themselves, as a user does who installs them, for all runs that begin with that. */
  async agree(wanted: Omit<RunWanted, 'said'>): Promise<void> {
    const data = join(this.#folder, `run-${++this.#runs}`);
    mkdirSync(data, { mode: 0o700 });
    const store = openedStore(data);
    try {
      for (const app of wanted.apps) writePart(data, app);
      const apps = wanted.apps.map((app) => installedApp(app, stateFolder(data, app.id)));
      const pins = this.#pins(apps, store, true);
      const agreeing = { ...wanted, said: [], isAgreed: true };
      const session = this.#hub(agreeing, data, store, this.#sandbox).openSession({
        isolation: 'spokes',
        notices: [],
      });
      if (!session.ok) throw new Error(session.fault.message);
      const { signal } = new AbortController();
      for (const { id } of apps) {
        const vetted = await session.value.review(id, (app, said) => pins.vet(app, said, signal));
        if (!vetted.ok) throw new Error(vetted.fault.message);
      }
      await session.value.close('end');
    } finally {
      store.close();
      rmSync(data, { recursive: true, force: true });
    }
  }

  #pins(apps: readonly InstalledApp[], own: Store, isAgreed: boolean): StoredPins {
    if (isAgreed && this.#agreements === null) {
      const folder = join(this.#folder, 'agreed');
      mkdirSync(folder, { mode: 0o700 });
      this.#agreements = openedStore(folder);
    }
    const { pins } = isAgreed ? (this.#agreements ?? own) : own;
    return new StoredPins({
      pins,
      place: 'bench',
      apps,
      configured: ({ id }) => id,
      demanded: () => null,
      reviewer: null,
      // What the apps of a benchmark say of themselves is part of it.
      pinsUnseen: true,
    });
  }

  #hub(wanted: RunWanted, data: string, store: Store, sandbox: Sandbox): Hub {
    const {
      packs,
      model,
      consent,
      apps,
      limits,
      modelId = 'cordon/obedient',
      warmApps,
      facts = 'patterns',
    } = wanted;
    const installed = apps.map((app) => installedApp(app, stateFolder(data, app.id)));
    return new Hub({
      store,
      apps: installed,
      model,
      modelId,
      planner: PLANNER,
      policy: this.#policy(packs),
      texts: this.#long.texts,
      launcher: appLauncher({
        sandbox,
        command: { configFolder: import.meta.dirname, dataFolder: data, home: null },
        stateFolder: ({ id }) => stateFolder(data, id),
      }),
      spokes: loopLauncher(sandbox, CODE_ROOT),
      pins: this.#pins(installed, store, wanted.isAgreed === true),
      consent,
      clock: Date.now,
      speculates: true,
      summaries: 'off',
      facts,
      // For a single query nothing is started that it does not need.
      warm: {
        ...DEFAULT_WARM_LIMITS,
        ...(warmApps === undefined ? { apps: 0, loops: 1 } : { apps: warmApps }),
      },
      ...(limits === undefined ? {} : { limits }),
    });
  }

  #policy(packs: readonly string[] | null): Policy {
    if (packs === null) return emptyPolicy();
    const key = packs.join(' ');
    const known = this.#policies.get(key);
    if (known !== undefined) return known;
    const read = readPolicies({ packs, files: [], textQuestions: this.#long.textQuestions });
    if (!read.ok) throw new Error(read.fault[0]?.message);
    this.#policies.set(key, read.value);
    return read.value;
  }
}

/** Tells why it starts no process. */
function telling(sandbox: Sandbox, tell: (message: string) => void): Sandbox {
  return {
    probe: () => sandbox.probe(),
    spawn: async (spec, signal) => {
      const spawned = await sandbox.spawn(spec, signal);
      if (!spawned.ok && spawned.fault.kind === 'sandbox-unavailable') tell(spawned.fault.message);
      return spawned;
    },
  };
}

function openedStore(folder: string): Store {
  const opened = openStore(folder, Date.now);
  if (!opened.ok) throw new Error(opened.fault.message);
  return opened.value;
}

async function converse(
  session: Session,
  queries: readonly string[],
  signal: AbortSignal,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  try {
    for (const query of queries) outcomes.push(await session.ask(query, signal));
    return outcomes;
  } finally {
    await session.close('end');
  }
}

function installedApp({ id: name, manifest }: ReplayApp, state: string): InstalledApp {
  return {
    id: id(name),
    // A small app on one thread: most of its life is its start.
    source: { kind: 'command', command: 'node', args: ['--v8-pool-size=0', PROGRAM], env: {}, cwd: null },
    manifest: {
      ...SILENT_MANIFEST,
      ...manifest,
      files: { read: [], write: [state] },
      limits: { ...SILENT_MANIFEST.limits, ...PATIENCE, ...manifest.limits },
    },
    model: null,
  };
}

function writePart(data: string, app: ReplayApp): void {
  const folder = stateFolder(data, app.id);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { id: name, instructions, tools, answers, otherwise } = app;
  writeFileSync(join(folder, 'part.json'), JSON.stringify({ name, instructions, tools, answers, otherwise }));
}

/** The app's own log: what it does not hold has not reached the app. */
function executedBy(data: string, app: string): readonly ExecutedCall[] {
  let text: string;
  try {
    text = readFileSync(join(stateFolder(data, app), 'calls.jsonl'), 'utf8');
  } catch {
    return [];
  }
  return text.split('\n').flatMap((line) => {
    if (line === '') return [];
    const call = parseJson(line);
    if (!call.ok || !isJsonObject(call.value)) throw new Error(`the log of \`${app}\` cannot be read`);
    const { tool, arguments: args, at } = call.value;
    return [{ app, tool: String(tool), arguments: objectOf(args), at: BigInt(String(at)) }];
  });
}

function byTime(a: ExecutedCall, b: ExecutedCall): number {
  return a.at < b.at ? -1 : 1;
}

function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
