/**
 * The hub: what outlives a session. Opens sessions over one store, with everything that acts handed in by the
 * composition root: models, sandboxes, the policy, whoever answers for the user.
 *
 * Ring 0.
 */
import { createHash, randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import {
  type Clock,
  type Consent,
  DEFAULT_MEMORY_LIMITS,
  DEFAULT_TURN_LIMITS,
  DEFAULT_WARM_LIMITS,
  failed,
  type InstalledApp,
  type MemoryLimits,
  type Model,
  type ModelPrices,
  ok,
  type Result,
  type SessionId,
  type TextJudge,
  type TurnLimits,
  type WarmLimits,
} from '@cordon/core';
import { emptyPolicy, type Policy } from '@cordon/policy/rules';
import type { SessionFault, Store } from '@cordon/trace';
import type { AppPins } from './apps/app-pins.ts';
import type { AppLauncher } from './apps/app-process.ts';
import type { ReadSecret } from './egress/hub-fetch.ts';
import { type BegunSession, beginSession, type SessionOptions } from './journal/begun-session.ts';
import type { Answering } from './mediation/inquiries.ts';
import type { FactsMode } from './memory/learning.ts';
import type { HistoryReach } from './memory/memory.ts';
import { StoredMemory, sessionGrants } from './memory/stored-memory.ts';
import type { SummaryMode } from './memory/summaries.ts';
import { type Installables, NO_INSTALLABLES } from './planning/installing.ts';
import { CATALOGUE, type CatalogueEntry } from './query/catalogue.ts';
import { recentApps } from './query/recent-apps.ts';
import { Session } from './session.ts';
import type { SpokeLauncher } from './spokes/spoke-link.ts';

export interface HubParts {
  readonly store: Store;
  readonly apps: readonly InstalledApp[];
  readonly model: Model;
  /** `provider/model` */
  readonly modelId: string;
  readonly policy: Policy;
  readonly launcher: AppLauncher;
  readonly spokes: SpokeLauncher;
  /** What was agreed to of each app: none is used without. */
  readonly pins: AppPins;
  /** Reads a secret of the user's for one request; undefined: there are none. */
  readonly readSecret?: ReadSecret;
  readonly consent: Consent;
  /** The user's own list of apps that could be installed; nothing if absent. */
  readonly installables?: Installables;
  /** What every spoke is told that others may do for it; `CATALOGUE` if absent. */
  readonly functionalities?: readonly CatalogueEntry[];
  readonly clock: Clock;
  readonly limits?: TurnLimits;
  /** Who answers questions of rules; nobody if absent. */
  readonly answering?: Answering | null;
  /** Looks at texts that are too long for the hub's own thread, if the policy leaves them to it. */
  readonly texts?: TextJudge | null;
  /** What models cost; none is known if absent. */
  readonly prices?: ModelPrices;
  readonly warm?: WarmLimits;
  /** What of its history a context is shown again. */
  readonly memoryLimits?: MemoryLimits;
  /** Layers of the sandbox that apps go without; questions say so. */
  readonly weaker?: readonly string[];
  /** Whether the context that will most likely serve a query is begun while it is planned; no if absent. */
  readonly foresees?: boolean;
  /** How what is older is summed up; `extract` if absent. */
  readonly summaries?: SummaryMode;
  /** Who finds facts in the user's own words; `patterns` if absent. */
  readonly facts?: FactsMode;
  /** How far the history of an app reaches; `session` if absent. */
  readonly history?: HistoryReach;
}

export class Hub {
  readonly #parts: HubParts;
  /** The claim of the store is the process's: it does not keep two sessions of one process apart. */
  readonly #open = new Set<SessionId>();

  constructor(parts: HubParts) {
    this.#parts = parts;
  }

  /** A new session, or an interrupted one. Refused when another process holds it or it has ended. */
  openSession(options: SessionOptions): Result<Session, SessionFault> {
    // The journal would let this process go on with what it holds already.
    if (options.resume !== undefined && this.#open.has(options.resume)) return failed(OPEN_ALREADY);
    const begun = beginSession(this.#parts.store, this.#parts.modelId, options);
    return begun.ok ? ok(this.sessionOf(begun.value)) : begun;
  }

  /** A session that was begun in this hub's store. Throws if it is open already: two monitors would each see a half. */
  sessionOf({ id, isolation, hasPolicy, past }: BegunSession): Session {
    if (this.#open.has(id)) throw new Error(OPEN_ALREADY.message);
    const { store, modelId, clock, ...parts } = this.#parts;
    const {
      limits = DEFAULT_TURN_LIMITS,
      warm = DEFAULT_WARM_LIMITS,
      memoryLimits = DEFAULT_MEMORY_LIMITS,
    } = parts;
    const session = new Session({
      ...parts,
      id,
      isolation,
      modelId,
      policy: hasPolicy ? parts.policy : emptyPolicy(),
      past,
      journal: store.journal.of(id),
      grants: sessionGrants(store, id),
      prompts: store.prompts,
      memory: new StoredMemory(store, id, memoryLimits, parts.history),
      summaries: parts.summaries ?? 'extract',
      facts: isolation === 'none' && parts.facts !== 'off' ? 'patterns' : (parts.facts ?? 'patterns'),
      foresees: parts.foresees ?? false,
      answering: parts.answering ?? null,
      texts: parts.texts ?? null,
      memoryLimits,
      limits,
      prices: parts.prices ?? new Map(),
      warm,
      installables: parts.installables ?? NO_INSTALLABLES,
      functionalities: parts.functionalities ?? CATALOGUE,
      recentApps: () => recentApps(store),
      makeRoom: () => store.makeRoom(),
      clock,
      digest: (text) => createHash('sha256').update(text).digest('hex'),
      random: () => randomBytes(9).toString('base64url'),
      pause: (milliseconds, signal) => setTimeout(milliseconds, undefined, { signal }).catch(() => undefined),
      release: () => {
        store.sessions.release(id);
        this.#open.delete(id);
      },
    });
    this.#open.add(id);
    return session;
  }
}

const OPEN_ALREADY: SessionFault = {
  kind: 'session-held',
  message: 'the session is already open in this process',
  help: 'use it where it is open, or close it there first',
};
