/**
 * The hub: what outlives a session. Opens sessions over one store, with everything that acts handed in by the
 * composition root: models, sandboxes, the policy, and the surface that answers for the user.
 */

import { createHash, randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import {
  DEFAULT_MEMORY_LIMITS,
  DEFAULT_TURN_LIMITS,
  DEFAULT_WARM_LIMITS,
  failed,
  type HistoryReach,
  ok,
  type Result,
  type SessionId,
} from '@cordon/core';
import { HERE } from '@cordon/dialler';
import { emptyPolicy } from '@cordon/policy';
import type { SessionFault, Store } from '@cordon/trace';
import { sessionGrants } from './consent/grants.ts';
import { beginSession, type SessionOptions, type SessionRecord } from './journal/session-record.ts';
import { StoredMemory } from './memory/stored-memory.ts';
import { NO_INSTALLABLES } from './planning/installing.ts';
import { CATALOGUE } from './query/catalogue.ts';
import { recentApps } from './query/recent-apps.ts';
import { Session } from './session.ts';
import type { HubOptions, HubPorts } from './session-parts.ts';
export interface HubParts extends HubPorts, Partial<HubOptions> {
  readonly store: Store;
  /** How far the history of an app reaches; `session` if absent. */
  readonly history?: HistoryReach;
}

const DEFAULTS: HubOptions = {
  limits: DEFAULT_TURN_LIMITS,
  warm: DEFAULT_WARM_LIMITS,
  memoryLimits: DEFAULT_MEMORY_LIMITS,
  summaries: 'extract',
  facts: 'patterns',
  speculates: false,
  answering: null,
  texts: null,
  prices: new Map(),
  installables: NO_INSTALLABLES,
  functionalities: CATALOGUE,
  dialler: HERE,
  lookAt: () => 'other',
  logins: null,
};

export class Hub {
  readonly #parts: HubParts;
  /** The claim of the store is the process's: it does not keep two sessions of one process apart. */
  readonly #open = new Set<SessionId>();

  constructor(parts: HubParts) {
    this.#parts = parts;
  }

  /** A new session, or an interrupted one. Refused when another process holds it or it has ended. */
  openSession(options: SessionOptions): Result<Session, SessionFault> {
    // The journal would let this process resume a session that it has open.
    if (options.resume !== undefined && this.#open.has(options.resume)) return failed(OPEN_ALREADY);
    const begun = beginSession(this.#parts.store, this.#parts.modelId, options);
    return begun.ok ? ok(this.sessionOf(begun.value)) : begun;
  }

  /** A session that was begun in this hub's store. Throws if it is open already: two monitors would each see a half. */
  sessionOf({ id, isolation, hasPolicy, past }: SessionRecord): Session {
    if (this.#open.has(id)) throw new Error(OPEN_ALREADY.message);
    const { store, history, ...given } = this.#parts;
    const parts = { ...DEFAULTS, ...given };
    const session = new Session({
      ...parts,
      id,
      isolation,
      policy: hasPolicy ? parts.policy : emptyPolicy(),
      past,
      journal: store.journal.of(id),
      recorded: () => store.journal.events(id),
      grants: sessionGrants(store, id),
      prompts: store.prompts,
      memory: new StoredMemory(store, id, parts.memoryLimits, history),
      recentApps: () => recentApps(store),
      makeRoom: () => store.makeRoom(),
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
