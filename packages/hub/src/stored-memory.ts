/**
 * The hub's memory and grants over the store. Each context's turns are reached through a handle that names one
 * owner and cannot name another.
 *
 * Ring 0.
 */
import {
  type AppId,
  type EventId,
  HUB_LABEL,
  joinLabels,
  type Label,
  type ModelMessage,
  type PlannerInput,
  type SessionId,
  USER_LABEL,
} from '@cordon/core';
import type { MemoryOwner, Store, Turn } from '@cordon/trace';
import type { ContextOwner, KnownFact, Memory, RememberedTurns } from './memory.ts';
import type { Grants } from './permission.ts';

/** Working memory: so many interactions of a context are shown to it again. */
const INTERACTIONS = 10;

const SYSTEM: MemoryOwner = { kind: 'system' };

export class StoredMemory implements Memory {
  readonly #store: Store;
  readonly #session: SessionId;

  constructor(store: Store, session: SessionId) {
    this.#store = store;
    this.#session = session;
  }

  facts(): readonly KnownFact[] {
    return this.#factsOf(SYSTEM);
  }

  ownFacts(owner: ContextOwner): readonly KnownFact[] {
    return this.#factsOf(owner);
  }

  rememberFact({ name, value, origin }: KnownFact, owner: ContextOwner, source: EventId): void {
    for (const keeper of [SYSTEM, owner]) {
      this.#store.memory(keeper).learn(name, value, { origin, source, label: USER_LABEL });
    }
  }

  #factsOf(owner: MemoryOwner): readonly KnownFact[] {
    return this.#store
      .memory(owner)
      .facts()
      .map(({ name, value, origin }) => ({ name, value, origin }));
  }

  earlier(): PlannerInput['earlier'] {
    const turns = this.#store.memory(SYSTEM).recent(this.#session, INTERACTIONS);
    return turns.flatMap((turn, index) => {
      const outcome = turns[index + 1];
      return turn.role === 'user' && outcome?.role === 'assistant'
        ? [{ query: turn.text, app: turn.origin, outcome: outcome.text }]
        : [];
    });
  }

  rememberQuery(query: string, app: AppId | null, outcome: string): void {
    const memory = this.#store.memory(SYSTEM);
    memory.record(this.#session, 'user', query, { origin: app, source: null, label: USER_LABEL });
    memory.record(this.#session, 'assistant', outcome, { origin: null, source: null, label: HUB_LABEL });
  }

  turns(owner: ContextOwner): RememberedTurns {
    const turns = this.#store.memory(owner).recent(this.#session, INTERACTIONS);
    // The user's own words are nobody's secret to the one to whom they were said.
    const label = turns
      .filter(({ role }) => role === 'assistant')
      .reduce((joined: Label, turn) => joinLabels(joined, turn.label), HUB_LABEL);
    const sources = turns.flatMap(({ source }) => source ?? []);
    return { messages: turns.map(messageOf), label, sources };
  }

  rememberTurn(
    owner: ContextOwner,
    query: string,
    answer: string,
    from: { readonly label: Label; readonly source: EventId | null },
  ): void {
    const memory = this.#store.memory(owner);
    const origin = owner.kind === 'spoke' ? owner.app : null;
    memory.record(this.#session, 'user', query, { origin: null, source: null, label: USER_LABEL });
    memory.record(this.#session, 'assistant', answer, { origin, ...from });
  }
}

function messageOf({ role, text }: Turn): ModelMessage {
  return role === 'assistant' ? { role, text, calls: [] } : { role: 'user', text };
}

/** The grants that count in one session. A grant that the store refuses to keep authorises nothing. */
export function sessionGrants(store: Store, session: SessionId): Grants {
  return {
    find: (subject, digest) => store.grants.find(subject, session, digest),
    give: (subject, duration, digest) => {
      const given = store.grants.give({ subject, duration, session, digest });
      if (!given.ok) throw new Error(given.fault.message);
      return given.value;
    },
    consume: (grant) => store.grants.consume(grant.id, session),
  };
}
