/**
 * The hub's memory and grants over the store. Each context's turns are reached through a handle that names one
 * owner and cannot name another.
 *
 * Ring 0.
 */
import {
  type AppId,
  DEFAULT_MEMORY_LIMITS,
  EARLIER_OUTCOMES,
  type EarlierOutcome,
  type EventId,
  type HistoryReach,
  HUB_LABEL,
  joinLabels,
  type Label,
  type MemoryLimits,
  type ModelMessage,
  type PlannerInput,
  type SessionId,
  USER_LABEL,
} from '@cordon/core';
import type { MemoryOwner, NewSummary, Store, Summary, Turn } from '@cordon/trace';
import type { Grants } from '../consent/grants.ts';
import { appOf, type ContextOwner } from '../context/owner.ts';
import {
  factKey,
  type KnownFact,
  NO_PAST,
  type Observation,
  type ObservedFact,
  type QueryPast,
} from '../context/query-facts.ts';
import type { AnsweredBy, CarriedTurns, Memory, OlderTurns, RememberedTurns } from './memory.ts';
import { divideHistory, shownText, summaryMessages } from './working-memory.ts';

const SYSTEM: MemoryOwner = { kind: 'system' };
/** Of the values that outputs of one app stated; more than a manifest may name (`remembers`). */
const MOST_OBSERVED = 60;
/** Of those of all apps, the newest: the planner is shown their names with every query. */
const MOST_OBSERVED_SHOWN = 120;

export class StoredMemory implements Memory {
  readonly #store: Store;
  readonly #session: SessionId;
  readonly #limits: MemoryLimits;
  readonly #reach: HistoryReach;

  constructor(
    store: Store,
    session: SessionId,
    limits: MemoryLimits = DEFAULT_MEMORY_LIMITS,
    reach: HistoryReach = 'session',
  ) {
    this.#store = store;
    this.#session = session;
    this.#limits = limits;
    this.#reach = reach;
  }

  facts(past = NO_PAST): readonly KnownFact[] {
    return this.#statedTo(SYSTEM, past);
  }

  ownFacts(owner: ContextOwner, past = NO_PAST): readonly KnownFact[] {
    return this.#statedTo(owner, past);
  }

  rememberFact({ name, value, origin }: KnownFact, owner: ContextOwner, source: EventId): void {
    for (const keeper of [SYSTEM, owner]) {
      this.#store.memory(keeper).learn(name, value, { origin, source, label: USER_LABEL });
    }
  }

  /** INVARIANT (stated): what counts as the user's word is what the user stated, and nothing that an app's output says. */
  #statedTo(owner: MemoryOwner, { events, replaced }: QueryPast): readonly KnownFact[] {
    return this.#store
      .memory(owner)
      .facts()
      .filter(({ learnt, label }) => learnt === 'stated' && label.integrity === 'trusted')
      .flatMap(({ name, value, origin, source, isCorrected }) => {
        if (source === null || !events.has(source)) return [{ name, value, origin }];
        const before = replaced.get(factKey(name, origin));
        // What the user has corrected meanwhile replaces what was known.
        return before === undefined ? [] : [{ name, value: isCorrected ? value : before, origin }];
      });
  }

  observed({ events } = NO_PAST): readonly ObservedFact[] {
    return this.#store
      .memory(SYSTEM)
      .facts()
      .filter(({ source }) => source === null || !events.has(source))
      .filter(({ learnt }) => learnt === 'observed')
      .sort((a, b) => b.time - a.time)
      .slice(0, MOST_OBSERVED_SHOWN)
      .flatMap(({ name, value, origin, label }) =>
        origin === null ? [] : [{ key: `${origin}/${name}`, name, value, origin, label }],
      );
  }

  observe({ fact: { name, value, origin, label }, source }: Observation): void {
    // Of two values of one name the last counts, also where the first had another label.
    for (const keeper of [SYSTEM, { kind: 'spoke', app: origin } as const]) {
      const memory = this.#store.memory(keeper);
      memory.forgetObserved(name, origin);
      memory.learn(name, value, { origin, source, label }, 'observed');
      memory.trimObserved(origin, MOST_OBSERVED);
    }
  }

  earlier(said: EventId): PlannerInput['earlier'] {
    const turns = [...this.#elsewhere(SYSTEM, said).turns, ...this.#shown(SYSTEM, said)];
    return turns.flatMap((turn, index) => {
      const outcome = turns[index + 1];
      return turn.role === 'user' && outcome?.role === 'assistant'
        ? [
            {
              query: shownText(turn.text, this.#limits),
              app: turn.origin,
              outcome: earlierOutcome(outcome.text),
            },
          ]
        : [];
    });
  }

  earlierSummary(said: EventId): string | null {
    const own = this.#store.memory(SYSTEM).summary(this.#session);
    return (own ?? this.#elsewhere(SYSTEM, said).summary)?.text ?? null;
  }

  rememberQuery(query: string, app: AppId | null, outcome: EarlierOutcome, said: EventId): void {
    const memory = this.#store.memory(SYSTEM);
    const from = { origin: app, source: said, label: USER_LABEL };
    memory.recordOnce(this.#session, 'user', query, from);
    memory.recordInstead(this.#session, 'assistant', outcome, { ...from, origin: null, label: HUB_LABEL });
  }

  holdsQuery(query: string, said: EventId): boolean {
    return this.#store.memory(SYSTEM).saidBy(this.#session, said) === query;
  }

  outcomeOf(said: EventId): EarlierOutcome | null {
    const recent = this.#store.memory(SYSTEM).recent(this.#session, this.#limits.interactions);
    return earlierOutcome(recent.find(({ role, source }) => role === 'assistant' && source === said)?.text);
  }

  turns(owner: ContextOwner, said?: EventId): RememberedTurns {
    const summary = this.#store.memory(owner).summary(this.#session);
    const turns = this.#shown(owner, said);
    const from = provenanceOf(turns, summary);
    const before = summary === null ? [] : summaryMessages(summary.text);
    return { messages: [...before, ...turns.map((turn) => this.#messageOf(turn))], ...from };
  }

  carried(owner: ContextOwner, said: EventId): CarriedTurns | null {
    // The history of contexts without app may hold what several apps said: it stays in its session.
    if (owner.kind !== 'spoke') return null;
    const { turns, summary } = this.#elsewhere(owner, said);
    if (turns.length === 0 && summary === null) return null;
    const { label, holdsOthersValues } = provenanceOf(turns, summary);
    const before = summary === null ? [] : summaryMessages(summary.text);
    return {
      messages: [...before, ...turns.map((turn) => this.#messageOf(turn))],
      label,
      holdsOthersValues,
      turns: turns.length,
      sessions: new Set([...turns, ...(summary === null ? [] : [summary])].map(({ session }) => session))
        .size,
    };
  }

  rememberTurn(
    owner: ContextOwner,
    query: string,
    answer: string,
    { label, source, said, holdsOthersValues }: AnsweredBy,
  ): void {
    const memory = this.#store.memory(owner);
    const origin = appOf(owner);
    memory.recordOnce(this.#session, 'user', query, { origin: null, source: said, label: USER_LABEL });
    const from = { origin, source: source ?? said, label, holdsOthersValues };
    memory.recordOnce(this.#session, 'assistant', answer, from);
  }

  together(work: () => void): void {
    this.#store.together(work);
  }

  /** Half of what may be shown stays, so that a summary is due every few turns and not at each. */
  older(owner: MemoryOwner): OlderTurns | null {
    const memory = this.#store.memory(owner);
    const open = memory.open(this.#session);
    if (divideHistory(open, this.#limits).older.length === 0) return null;
    const { interactions, characters } = this.#limits;
    const { older } = divideHistory(open, {
      interactions: Math.floor(interactions / 2),
      characters: Math.floor(characters / 2),
    });
    const last = older.at(-1);
    if (last === undefined) return null;
    const summary = memory.summary(this.#session);
    const { label, sources, holdsOthersValues } = provenanceOf(older, summary);
    return {
      before: summary?.text ?? null,
      turns: older,
      label,
      holdsOthersValues,
      // The system's turns come from the user's own words, which carry nothing that a rule would follow.
      sources: owner.kind === 'system' ? [] : sources,
      through: last.place,
    };
  }

  keepSummary(owner: MemoryOwner, of: OlderTurns, summary: NewSummary): boolean {
    const memory = this.#store.memory(owner);
    let isKept = false;
    this.#store.together(() => {
      const before = memory.summary(this.#session)?.text ?? null;
      const turns = memory.open(this.#session).filter(({ place }) => place <= of.through);
      isKept = before === of.before && saidIn(turns) === saidIn(of.turns);
      if (isKept) memory.summarise(this.#session, summary);
    });
    return isKept;
  }

  /** A query that resumes after a crash may have its own turn here already: it is shown what it was shown then. */
  #shown(owner: MemoryOwner, said?: EventId): readonly Turn[] {
    const recent = this.#store.memory(owner).recent(this.#session, this.#limits.interactions);
    const own = said === undefined ? -1 : recent.findIndex(({ source }) => source === said);
    return divideHistory(own === -1 ? recent : recent.slice(0, own), this.#limits).shown;
  }

  /** Of other sessions: what fits beside what is shown of this one, and one summary. */
  #elsewhere(
    owner: MemoryOwner,
    said: EventId,
  ): { readonly turns: readonly Turn[]; readonly summary: Summary | null } {
    // Without the event nobody knows what was said before it.
    const until = this.#reach === 'app' ? (this.#store.journal.find(said)?.time ?? null) : null;
    if (until === null) return { turns: [], summary: null };
    const memory = this.#store.memory(owner);
    const others = memory.elsewhere(this.#session, until, this.#limits.interactions);
    const own = this.#shown(owner, said);
    const { shown } = divideHistory([...others, ...own], this.#limits);
    const turns = shown.slice(0, Math.max(0, shown.length - own.length));
    return { turns, summary: memory.summaryElsewhere(this.#session, until) };
  }

  #messageOf({ role, text }: Turn): ModelMessage {
    const shown = shownText(text, this.#limits);
    return role === 'assistant' ? { role, text: shown, calls: [] } : { role: 'user', text: shown };
  }
}

/** Attack: somebody who can write to the store puts words for the planner where an outcome stands. Null: it is none. */
function earlierOutcome(text: string | undefined): EarlierOutcome | null {
  return EARLIER_OUTCOMES.find((outcome) => outcome === text) ?? null;
}

function saidIn(turns: OlderTurns['turns']): string {
  return JSON.stringify(turns.map(({ role, text }) => [role, text]));
}

/** The user's own words are nobody's secret to the one to whom they were said: what was answered counts, and summaries. */
function provenanceOf(
  turns: readonly Turn[],
  summary: Summary | null,
): Pick<OlderTurns, 'label' | 'sources' | 'holdsOthersValues'> {
  const told = [...(summary === null ? [] : [summary]), ...turns.filter(({ role }) => role !== 'user')];
  return {
    label: told.reduce((joined: Label, { label }) => joinLabels(joined, label), HUB_LABEL),
    sources: told.flatMap(({ source }) => source ?? []),
    holdsOthersValues: told.some((one) => one.holdsOthersValues === true),
  };
}

/** The grants that count in one session. A grant that the store refuses to keep authorises nothing. */
export function sessionGrants(store: Store, session: SessionId): Grants {
  return {
    find: (subject, digest) => store.grants.find(subject, session, digest),
    give: (gift) => {
      const given = store.grants.give({ ...gift, session });
      return given.ok ? given.value : null;
    },
    consume: (grant) => store.grants.consume(grant.id, session),
    hasFlowed: (flow) => store.grants.hasFlowed(flow),
    isOutdated: (subject, binding) => store.grants.isOutdated(subject, binding),
  };
}
