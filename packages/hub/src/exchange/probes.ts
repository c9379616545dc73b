/**
 * Probes: a context asks who serves a functionality, and gets an offer or a refusal (steps 1 and 2 of the paper's
 * collaboration, IV-C4). It learns neither who serves it nor what is installed.
 */
import { type AppId, type Event, type FunctionalityName, id, ok } from '@cordon/core';
import { plainSchema, type Registry } from '../apps/registry.ts';
import type { Context } from '../context/context.ts';
import type { Query } from '../context/query.ts';
import type { Recorder } from '../journal/recorder.ts';
import type { Served } from '../spokes/spoke-link.ts';
import type { Offers } from './offers.ts';
import { REFUSED } from './refusal.ts';

export interface ProbesParts {
  readonly recorder: Recorder;
  readonly registry: Registry;
  readonly offers: Offers;
  /** Names of what the user could install that serves a functionality; what is installed is not among them. */
  readonly installable: (functionality: string) => readonly string[];
  /** The user picks among several apps that serve a functionality. */
  readonly choose: (context: Context, functionality: string, apps: readonly AppId[]) => Promise<AppId | null>;
}

/**
 * The contexts of an app probe at most so often in one query, answered or not: more is an attempt to list what is installed.
 * Attack: an app that has others ask it, each time in a new context, which has probes left.
 */
const MAX_PROBES = 8;

export class Probes {
  readonly #parts: ProbesParts;
  /** How often the contexts of each app have asked who serves a functionality. */
  readonly #counts = new WeakMap<Query, Map<AppId | null, number>>();
  /** Functionalities for which the user was told, in this session, what could be installed. */
  readonly #proposed: Set<string>;
  /** The first of them in each query. */
  readonly #missing = new WeakMap<Query, FunctionalityName>();

  /** @param past what the journal holds of a resumed session */
  constructor(parts: ProbesParts, past: readonly Event[]) {
    this.#parts = parts;
    this.#proposed = new Set(proposedIn(past));
  }

  /** A resumed query proposes again what it proposed before the interruption. `events`: of the query. */
  resumeFrom(events: readonly Event[]): void {
    for (const functionality of proposedIn(events)) this.#proposed.delete(functionality);
  }

  async probe(context: Context, query: Query, name: string): Promise<Served> {
    const { recorder, registry, offers, choose } = this.#parts;
    recorder.record(context, { kind: 'probe.received', functionality: name.slice(0, 64) });
    if (!this.#mayProbe(context, query)) return this.#unserved(context, name);
    const serving = registry.serving(name).filter(({ app }) => app.id !== context.app);
    const apps = serving.map(({ app }) => app.id);
    const chosen = apps.length <= 1 ? apps[0] : await choose(context, name, apps);
    const found = serving.find(({ app }) => app.id === chosen);
    if (found === undefined) {
      if (serving.length === 0) this.#propose(context, query, name);
      return this.#unserved(context, name);
    }
    const { request, response } = found.functionality;
    const peer = offers.offer(context, found.app.id, found.functionality);
    return ok({ type: 'offer', peer, request: plainSchema(request), response: plainSchema(response) });
  }

  /** What a context of this query has asked for in vain and the user's list knows; null: nothing new. */
  missing(query: Query): FunctionalityName | null {
    return this.#missing.get(query) ?? null;
  }

  #mayProbe({ app }: Context, query: Query): boolean {
    const counts = this.#counts.get(query) ?? new Map<AppId | null, number>();
    this.#counts.set(query, counts);
    const count = (counts.get(app) ?? 0) + 1;
    counts.set(app, count);
    return count <= MAX_PROBES;
  }

  /**
   * The user learns that something would serve it; the spoke gets what it would get anyway, at the same time. What it
   * could tell from the time that a question takes it does not learn: the operator asks when the turn is over.
   */
  #propose(context: Context, query: Query, name: string): void {
    const apps = this.#parts.installable(name);
    if (apps.length === 0 || this.#proposed.has(name)) return;
    this.#proposed.add(name);
    const functionality: FunctionalityName = id(name);
    if (!this.#missing.has(query)) this.#missing.set(query, functionality);
    this.#parts.recorder.record(context, { kind: 'install.proposed', functionality, apps });
  }

  #unserved(context: Context, name: string): Served {
    this.#parts.recorder.record(context, { kind: 'probe.refused', functionality: name.slice(0, 64) });
    return REFUSED;
  }
}

function proposedIn(events: readonly Event[]): readonly FunctionalityName[] {
  return events.flatMap((event) => (event.kind === 'install.proposed' ? [event.functionality] : []));
}
