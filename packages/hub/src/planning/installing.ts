/**
 * Apps of the user's list that are not installed: which of them a planner may propose, the question to the user, and the
 * installation within the query that needs them (paper, IV-C1: the hub "might install apps ... with user consent"; IV-C4).
 *
 * INVARIANT (asked first): the hub fetches and starts no app, and shows it to no model, before the user has chosen it in answer
 * to a separate question. No earlier answer counts. The user reviews the app's description as for any other app.
 */
import {
  type AppId,
  DEFAULT_LABEL,
  type Egress,
  type Event,
  type EventBody,
  type Fault,
  failed,
  fault,
  type InstalledApp,
  ok,
  type Result,
} from '@cordon/core';
import type { AppHost } from '../apps/app-host.ts';
import type { Registry } from '../apps/registry.ts';
import type { AppChoices } from '../consent/app-choice.ts';
import type { Context } from '../context/context.ts';
import type { Query } from '../context/query.ts';
import { effectOf } from '../journal/interruption.ts';
import type { Gate } from '../mediation/gate.ts';

/** An app that the user could install; the user wrote its entry, as for an installed app. */
export interface Installable {
  readonly app: InstalledApp;
  /** The command that starts it and the package that has to be fetched, as the configuration has them. */
  readonly from: string;
  /** An app with nearly the same name; null: there is none. */
  readonly resembles: AppId | null;
}

/** Where packages come from. */
export interface PackageSource {
  readonly host: string;
  readonly port: number;
  /** Names the packages, `/first /second`: a rule finds each with `in`. */
  readonly path: string;
}

/** The user's list, and how to fetch and remember its apps; the composition root implements it. */
export interface Installables {
  /** Those that are installed by now are among them. */
  readonly all: readonly Installable[];
  /** Names of the apps that would serve a functionality, also of those that the list only names. */
  named(functionality: string): readonly string[];
  /** Where the package comes from; null: nothing has to be fetched. */
  source(app: InstalledApp): Promise<Result<PackageSource | null, Fault>>;
  /** Fetches what `source` named. Runs no code of it. */
  obtain(app: InstalledApp, signal: AbortSignal): Promise<Result<void, Fault>>;
  /** From now on it counts as installed, also for later sessions. */
  keep(app: InstalledApp): Result<void, Fault>;
}

/** No list: nothing can be installed. */
export const NO_INSTALLABLES: Installables = {
  all: [],
  named: () => [],
  source: () => Promise.resolve(failed(NOT_LISTED)),
  obtain: () => Promise.resolve(failed(NOT_LISTED)),
  keep: () => failed(NOT_LISTED),
};

const NOT_LISTED = fault('app-unavailable', 'the app is not in the list of apps that can be installed');

export interface InstallingParts {
  readonly installables: Installables;
  readonly registry: Registry;
  readonly apps: Pick<AppHost, 'start'>;
  readonly choices: Pick<AppChoices, 'choose'>;
  readonly gate: Gate;
  /** A context for the effects of an installation. */
  readonly newErrand: (app: AppId) => Context;
  /** Takes what came of it. */
  readonly record: (app: AppId, body: EventBody) => void;
}

interface Before {
  readonly installed: ReadonlySet<AppId>;
  readonly failed: ReadonlyMap<AppId, Fault>;
  /** Apps that were installed in the query, and that it has not come to again. */
  readonly hidden: readonly InstalledApp[];
}

const NOTHING_BEFORE: Before = { installed: new Set(), failed: new Map(), hidden: [] };

export class Installing {
  readonly #parts: InstallingParts;
  /** Queries in which the user has said no, or an installation has failed: nothing more is proposed. */
  readonly #over = new WeakSet<Query>();
  /** What came of installations before the resumed query was interrupted. */
  #before: Before = NOTHING_BEFORE;

  constructor(parts: InstallingParts) {
    this.#parts = parts;
  }

  /** What may be proposed for this query: those with vetted words, and none after a no. */
  offered(query: Query): readonly InstalledApp[] {
    if (this.#over.has(query)) return [];
    return this.#notInstalled().filter(({ manifest }) => manifest.description !== null);
  }

  get isEmpty(): boolean {
    return this.#notInstalled().length === 0;
  }

  /** The apps of the list that serve a functionality and can be installed here. */
  serving(functionality: string): readonly AppId[] {
    return this.#notInstalled()
      .filter(({ manifest }) => manifest.functionalities.some(({ name }) => name === functionality))
      .map(({ id }) => id);
  }

  /** A resumed query treats the apps that it installed as not installed, as it did at first. `events`: of it. */
  resumeFrom(events: readonly Event[]): void {
    const { installables, registry } = this.#parts;
    const { installed, failed: failures } = outcomesOf(events);
    const hidden = installables.all.flatMap(({ app: { id } }) =>
      installed.has(id) ? (registry.get(id) ?? []) : [],
    );
    for (const { id } of hidden) registry.remove(id);
    this.#before = { installed, failed: failures, hidden };
  }

  /** The query has ended: what it did not come to again is installed as before. */
  queryEnded(): void {
    const { registry } = this.#parts;
    for (const app of this.#before.hidden) registry.add(app);
    this.#before = NOTHING_BEFORE;
  }

  /**
   * Asks the user, and installs the app that the user picks: fetches and starts it, has it reviewed, and adds it to the
   * apps. Null: nothing was installed. `context`: that of the planner which proposes the app; null: the operator asks.
   *
   * @param why one sentence that says who needs the app, and for what
   */
  async install(
    context: Context | null,
    query: Query,
    why: string,
    choices: readonly AppId[],
  ): Promise<AppId | null> {
    const listed = this.#parts.installables.all.filter(({ app }) => choices.includes(app.id));
    const question = [why, ...listed.map(described)].join(' ');
    const request = { question, what: 'an installation', choices, installs: true } as const;
    const chosen = await this.#parts.choices.choose(context, request, query.signal);
    const wanted = listed.find(({ app }) => app.id === chosen);
    if (wanted === undefined || query.signal.aborted) {
      this.#over.add(query);
      return null;
    }
    const installed = await this.#carryOut(wanted.app, query);
    if (installed.ok) return wanted.app.id;
    this.#over.add(query);
    if (!this.#before.failed.has(wanted.app.id))
      this.#parts.record(wanted.app.id, { kind: 'app.unavailable', fault: installed.fault });
    return null;
  }

  async #carryOut(app: InstalledApp, query: Query): Promise<Result<void, Fault>> {
    const { installables, registry, apps, record } = this.#parts;
    const failure = this.#before.failed.get(app.id);
    if (failure !== undefined) return failed(failure);
    const source = await installables.source(app);
    if (!source.ok) return source;
    if (source.value !== null) {
      const fetched = await this.#obtain(app, source.value, query);
      if (!fetched.ok) return fetched;
    }
    // The first start includes the review: an app to which the user does not agree is not installed.
    const started = await apps.start(app);
    if (!started.ok) return started;
    if (!this.#before.installed.has(app.id)) record(app.id, { kind: 'app.installed' });
    const kept = installables.keep(app);
    if (kept.ok) registry.add(app);
    return kept;
  }

  /** The name of the package leaves the machine: an effect that the policy decides about. */
  async #obtain(app: InstalledApp, { host, port, path }: PackageSource, query: Query) {
    const { gate, installables, newErrand } = this.#parts;
    const context = newErrand(app.id);
    const proposal: Egress = {
      effect: 'egress',
      context: context.id,
      app: app.id,
      method: 'GET',
      host,
      port,
      path,
      bytes: 0,
    };
    const circumstances = { causes: [], label: DEFAULT_LABEL, requirement: null };
    const carried = await gate.carryOut(context, proposal, circumstances, (allowance) => {
      gate.spend(allowance);
      return installables.obtain(app, query.signal);
    });
    if (carried.kind === 'done') return ok(undefined);
    if (carried.kind === 'failed') return failed(carried.fault);
    const reason = carried.reasons[0]?.message ?? 'no reason given';
    return failed(fault('cancelled', `fetching \`${app.id}\` was refused: ${reason}`));
  }

  #notInstalled(): readonly InstalledApp[] {
    const { installables, registry } = this.#parts;
    return installables.all.map(({ app }) => app).filter(({ id }) => registry.get(id) === undefined);
  }
}

/**
 * An attempt that failed is over where the query went on without the app; where it ended, or its hub did, right behind it,
 * nothing was done in the knowledge of it, and it is made again.
 */
function outcomesOf(events: readonly Event[]): Pick<Before, 'installed' | 'failed'> {
  const installed = new Set<AppId>();
  const failures = new Map<AppId, Fault>();
  let latest: readonly [AppId, Fault] | null = null;
  for (const event of events) {
    if (event.kind === 'app.installed' && event.app !== null) installed.add(event.app);
    if (event.kind === 'app.unavailable' && event.app !== null) latest = [event.app, event.fault];
    if (event.kind === 'query.ended') latest = null;
    if (latest === null || effectOf(event) === null) continue;
    failures.set(...latest);
    latest = null;
  }
  for (const app of installed) failures.delete(app);
  return { installed, failed: failures };
}

function described({ app, from, resembles }: Installable): string {
  const alike = resembles === null ? '' : ` Its name is nearly that of \`${resembles}\`.`;
  return `\`${app.id}\`: ${from}.${alike}`;
}
