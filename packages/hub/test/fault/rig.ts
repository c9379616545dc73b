/**
 * A hub that plays a scenario and can be ended at any step of its journal. Its apps write each effect into a file before
 * they answer, as the world would remember it.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Consent,
  DATA_KINDS,
  DEFAULT_LABEL,
  DEFAULT_WARM_LIMITS,
  type Event,
  exampleOfData,
  failed,
  fault,
  type InstalledApp,
  id,
  type JsonObject,
  type Model,
  type ModelRequest,
  ok,
  type PermissionPrompt,
  type PromptEdit,
  USER_LABEL,
} from '@cordon/core';
import { PLANNER } from '@cordon/planner';
import type { TraceEvent } from '@cordon/policy';
import {
  app,
  NUMBER,
  type ScriptedApp,
  type ScriptedTool,
  scriptedLauncher,
  serves,
  shape,
} from '@cordon/testkit/hub/app.ts';
import { realLoop } from '@cordon/testkit/hub/spoke.ts';
import { openStore, type SessionRecord, type Store } from '@cordon/trace';
import { type AppPins, NO_PINS, StoredPins } from '../../src/apps/app-pins.ts';
import { type AppLauncher, Hub, type Session, type SpokeLauncher } from '../../src/index.ts';
import type { Installables, PackageSource } from '../../src/planning/installing.ts';
import { putEmptyStore } from '../fixture/empty-store.ts';
import { USAGE } from '../fixture/model.ts';
import { listeningPolicy } from './heard.ts';
import {
  type AppSpec,
  type CallSpec,
  type InstallSpec,
  NEED,
  PROBE,
  type Scenario,
  sayingOf,
} from './scenario.ts';

/** Where something ends: at the `at`-th time, counted from 1, before or after that step. */
export interface Death {
  /** `package`: the hub, while a package is fetched, an app is reviewed, or it is kept that it is installed. */
  readonly of: 'hub' | 'app' | 'spoke' | 'provider' | 'package';
  readonly at: number;
  readonly when: 'before' | 'after';
}

export interface Effect {
  readonly tool: string;
  readonly n: number;
  readonly token: number;
}

/** How the hub ends: of a test in this process by an error, of a process of its own by a signal. */
export type End = () => never;

export class Killed extends Error {}

const REQUEST = shape({ n: NUMBER });
const RESPONSE = shape({ token: NUMBER });

export interface Rig {
  readonly store: Store;
  readonly hub: Hub;
  /** Questions about calls that may have happened. */
  readonly doubts: readonly PermissionPrompt[];
  /** How often each of them has been there: appends, calls of apps, turns of loops, calls of models, steps of installations. */
  readonly counts: Record<Death['of'], number>;
  /** What the monitor of its session was told. */
  readonly heard: readonly TraceEvent[];
}

export interface RigOptions {
  readonly folder: string;
  readonly scenario: Scenario;
  readonly death: Death | null;
  readonly end: End;
  /** In the place of the apps in memory. */
  readonly launcher?: (apps: readonly ScriptedApp[]) => AppLauncher;
}

export function raiseRig({ folder, scenario, death, end, launcher }: RigOptions): Rig {
  const place = join(folder, 'store');
  if (!existsSync(place)) putEmptyStore(place);
  const opened = openStore(place, () => 1_700_000_000_000);
  if (!opened.ok) throw new Error(opened.fault.message);
  const store = opened.value;
  const counts = { hub: 0, app: 0, spoke: 0, provider: 0, package: 0 };
  const isDue = (of: Death['of']) => {
    counts[of]++;
    return death?.of === of && death.at === counts[of] ? death.when : null;
  };
  if (scenario.hasEarlier === true && store.sessions.list().length === 0) beginWithHistory(store, scenario);
  const die = mortal(store, () => isDue('hub'), end);
  const doubts: PermissionPrompt[] = [];
  const heard: TraceEvent[] = [];
  const apps = scenario.apps.map((spec) => countingApp(folder, spec, () => isDue('app')));
  const installations = new Installations(folder, scenario, apps, () => isDue('package'), die);
  let now = 1_700_000_000_000;
  const hub = new Hub({
    store,
    apps: installations.installed,
    installables: installations.installables,
    model: modelOf(scenario, () => isDue('provider')),
    modelId: 'scripted/model',
    planner: PLANNER,
    policy: listeningPolicy(heard),
    launcher: launcher?.(apps) ?? scriptedLauncher(apps, () => undefined, new Map()),
    spokes: mortalLoops(() => isDue('spoke')),
    consent: consentOf(scenario, doubts),
    pins: installations.pins(store),
    clock: () => ++now,
    speculates: scenario.speculates === true,
    facts: scenario.learns === true ? 'model' : 'patterns',
    history: scenario.hasEarlier === true ? 'app' : 'session',
    warm: { ...DEFAULT_WARM_LIMITS, apps: 0, loops: 0 },
  });
  return { store, hub, doubts, counts, heard };
}

/** What each app was asked, and answered, in a session that is over. */
function beginWithHistory(store: Store, { apps }: Scenario): void {
  const session = store.sessions.create();
  for (const { name } of apps) {
    const memory = store.memory({ kind: 'spoke', app: id(name) });
    memory.record(session, 'user', `EARLIER to ${name}`, { origin: null, source: null, label: USER_LABEL });
    const answer = { origin: id<'app'>(name), source: null, label: DEFAULT_LABEL };
    memory.record(session, 'assistant', `EARLIER of ${name}`, answer);
  }
  store.sessions.release(session);
}

/** The session that is played; undefined: nothing has happened in one. */
export function playedIn(store: Store): SessionRecord | undefined {
  return store.sessions.list().find((record) => store.journal.events(record.id).length > 0);
}

/** What the disk has of installations: a line for each package that was fetched, app that was reviewed, and app that is kept. */
class Installations {
  readonly #folder: string;
  readonly #spec: InstallSpec | undefined;
  readonly #apps: readonly InstalledApp[];
  readonly #isDue: () => Death['when'] | null;
  readonly #die: End;

  constructor(
    folder: string,
    { installs }: Scenario,
    apps: readonly ScriptedApp[],
    isDue: () => Death['when'] | null,
    die: End,
  ) {
    this.#folder = folder;
    this.#spec = installs;
    this.#apps = apps.map(({ installed }) => installed);
    this.#isDue = isDue;
    this.#die = die;
  }

  /** Those that are kept stand behind the others, in the order of the list. */
  get installed(): readonly InstalledApp[] {
    const kept = this.#missing.filter(({ id: name }) => this.#has(`keep ${name}`));
    return [...this.#apps.filter((one) => !this.#missing.includes(one)), ...kept];
  }

  get installables(): Installables {
    return {
      all: this.#missing.map((one) => ({ app: one, from: `starts \`${one.id}\``, resembles: null })),
      named: (wanted) => this.#missing.filter((one) => servesIt(one, wanted)).map(({ id: name }) => name),
      source: async ({ id: name }) => ok(this.#has(`fetch ${name}`) ? null : sourceOf(name)),
      obtain: async ({ id: name }) => {
        if (this.#spec?.failsFirst === true && !this.#has(`failed ${name}`)) {
          this.#write(`failed ${name}`);
          return failed(fault('app-unavailable', 'the registry does not answer'));
        }
        this.#step(`fetch ${name}`);
        return ok(undefined);
      },
      keep: ({ id: name }) => {
        this.#step(`keep ${name}`);
        return ok(undefined);
      },
    };
  }

  /** Where something is installed it is reviewed first, and its grants are bound to what was agreed to. */
  pins(store: Store): AppPins {
    if (this.#spec === undefined) return { ...NO_PINS, digest: (name) => `sha256:${name}` };
    return new StoredPins({
      pins: store.pins,
      place: '/home/ada',
      apps: this.#apps,
      configured: ({ id: command }) => ({ command }),
      demanded: () => null,
      reviewer: {
        agrees: async ({ app: { id: name } }) => {
          if (this.#spec?.apps.includes(name) !== true) return true;
          // An answer that the hub does not get is none.
          if (this.#isDue() !== null) this.#die();
          this.#write(`review ${name}`);
          return true;
        },
      },
      pinsUnseen: false,
    });
  }

  get #missing(): readonly InstalledApp[] {
    return this.#apps.filter(({ id: name }) => this.#spec?.apps.includes(name));
  }

  #has(line: string): boolean {
    return installationsIn(this.#folder).includes(line);
  }

  #step(line: string): void {
    const when = this.#isDue();
    if (when === 'before') this.#die();
    this.#write(line);
    if (when === 'after') this.#die();
  }

  #write(line: string): void {
    appendFileSync(join(this.#folder, 'installations'), `${line}\n`);
  }
}

function servesIt({ manifest }: InstalledApp, wanted: string): boolean {
  return manifest.functionalities.some(({ name }) => name === wanted);
}

function sourceOf(name: string): PackageSource {
  return { host: 'packages.example', port: 443, path: `/${name}` };
}

/** What was done to install apps, in its order. */
export function installationsIn(folder: string): readonly string[] {
  const file = join(folder, 'installations');
  return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
}

/** After its end a hub records nothing and has no effect: what it still tries breaks. */
function mortal(store: Store, isDue: () => Death['when'] | null, end: End): End {
  const { journal } = store;
  const append = journal.appendAll.bind(journal);
  let isOver = false;
  const die = () => {
    isOver = true;
    return end();
  };
  journal.appendAll = (session, drafts): readonly Event[] => {
    if (isOver) return end();
    // Each event is a moment to die at; of one transaction the journal has all or none.
    const when = drafts.map(isDue);
    if (when.includes('before')) return die();
    const events = append(session, drafts);
    return when.includes('after') ? die() : events;
  };
  return die;
}

function countingApp(folder: string, spec: AppSpec, isDue: () => Death['when'] | null): ScriptedApp {
  const tool = (name: string): ScriptedTool => ({
    input: REQUEST,
    reply: ({ n }) => {
      const when = isDue();
      if (when === 'before') return { crash: 'it was killed' };
      const token = effectsIn(folder).length + 1;
      appendFileSync(effectsFile(folder), `${name} ${n} ${token}\n`);
      return when === 'after' ? { crash: 'it was killed' } : { structured: { token } };
    },
  });
  const tools = Object.fromEntries(spec.tools.map(({ name }) => [name, tool(name)]));
  const irreversible = spec.tools.flatMap((one) => (one.irreversible ? [one.name] : []));
  const functionalities = spec.serves.map((one) => serves(one.name, one.tool, REQUEST, RESPONSE));
  return app(spec.name, tools, { irreversible, functionalities });
}

export function effectsFile(folder: string): string {
  return join(folder, 'effects');
}

export function effectsIn(folder: string): readonly Effect[] {
  const file = effectsFile(folder);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  return lines.map((line) => {
    const [tool = '', n, token] = line.split(' ');
    return { tool, n: Number(n), token: Number(token) };
  });
}

function modelOf(scenario: Scenario, isDue: () => Death['when'] | null): Model {
  let calls = 0;
  return {
    complete: async (request) => {
      if (isDue() !== null)
        return failed({ kind: 'unavailable', message: 'the provider is gone', attempts: 1 });
      const said = sayingOf(scenario, request);
      if (typeof said === 'string') return ok({ text: said, calls: [], finish: 'stop', usage: USAGE });
      const called = said.map((call) => ({
        id: `c${++calls}`,
        name: call.name,
        arguments: argumentsOf(call, request, scenario),
      }));
      return ok({ text: '', calls: called, finish: 'tool-calls', usage: USAGE });
    },
  };
}

/** What a form is filled in with would take the place of the city that a query states. */
const ASKED_KINDS = DATA_KINDS.filter((kind) => kind !== 'city');

/** The first tool of an app's context is its own. */
function argumentsOf({ name, n }: CallSpec, { tools }: ModelRequest, { installs }: Scenario): JsonObject {
  if (name === PROBE) return { functionality: `${installs?.apps[n]}-read` };
  if (name !== NEED) return { n };
  return { kinds: ASKED_KINDS.slice(n, n + 2), for: tools[0]?.name ?? '' };
}

/** The agent loop, which may end when it has just said something. */
function mortalLoops(isDue: () => Death['when'] | null): SpokeLauncher {
  const loops = realLoop();
  return {
    launch: async (signal) => {
      const launched = await loops.launch(signal);
      if (!launched.ok) return launched;
      const { link, kill } = launched.value;
      link.on('data', () => {
        if (isDue() !== null) kill();
      });
      return launched;
    },
  };
}

export function isAboutDoubt({ warnings }: Pick<PermissionPrompt, 'warnings'>): boolean {
  return warnings.some((warning) => /made before|carried out in this query before/.test(warning));
}

export function isForm({ data }: Pick<PermissionPrompt, 'data'>): boolean {
  return data.some(({ field }) => field !== undefined);
}

function filledIn({ data }: PermissionPrompt): readonly PromptEdit[] {
  return data.flatMap(({ name, value, field }) =>
    field === undefined || value !== '' ? [] : [{ name, value: exampleOfData(field) }],
  );
}

function consentOf(scenario: Scenario, doubts: PermissionPrompt[]): Consent {
  return {
    permission: async (prompt) => {
      if (isForm(prompt) && scenario.keepsData === true) return { allow: false, reason: 'user' };
      if (isForm(prompt)) return { allow: true, duration: 'once', edits: filledIn(prompt) };
      // Some questions can be answered for once alone.
      const duration = prompt.durations.includes(scenario.grants) ? scenario.grants : 'once';
      if (!isAboutDoubt(prompt)) return { allow: true, duration };
      doubts.push(prompt);
      return scenario.repeats ? { allow: true, duration: 'once' } : { allow: false, reason: 'user' };
    },
    choose: async ({ choices: [app], installs }) => {
      const isNo = installs === true && scenario.installs?.agrees === false;
      return app === undefined || isNo ? null : { app, duration: 'once' };
    },
  };
}

/** What failed is gone on with so often: each death strikes once. */
const MOST_ATTEMPTS = 3;

/** Plays what is left of a scenario, an unfinished query first; gives how each query ended. */
export async function play(session: Session, scenario: Scenario, asked: number): Promise<readonly string[]> {
  const outcomes: string[] = [];
  const { signal } = new AbortController();
  const resume = async () => {
    for (let attempt = 0; attempt < MOST_ATTEMPTS && session.unfinished !== null; attempt++)
      outcomes.push((await session.resume(signal)).kind);
  };
  await resume();
  for (const { text } of scenario.queries.slice(asked)) {
    outcomes.push((await session.ask(text, signal)).kind);
    await resume();
  }
  return outcomes;
}

/** A session of the rig: the one that its store has, or a new one. */
export function openIn({ hub, store }: Rig): Session {
  const record = playedIn(store);
  const resume = record === undefined ? {} : { resume: record.id };
  const opened = hub.openSession({ isolation: 'spokes', notices: [], ...resume });
  if (!opened.ok) throw new Error(opened.fault.message);
  return opened.value;
}

/** How many of the queries were asked. */
export function askedIn({ store }: Rig): number {
  const record = playedIn(store);
  const events = record === undefined ? [] : store.journal.events(record.id);
  return events.filter(({ kind }) => kind === 'user.message').length;
}
