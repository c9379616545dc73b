/**
 * What the hub remembers: the user's own words and facts for the system, and the turns of each context for that context
 * alone (paper, Appendix A-C). Each context's turns are reached through a handle of the store that names one owner and
 * cannot name another.
 */
import {
  type AppId,
  EARLIER_OUTCOMES,
  type EarlierOutcome,
  type EventId,
  type HistoryReach,
  HUB_LABEL,
  type Label,
  type MemoryLimits,
  type ModelMessage,
  type PlannerInput,
  type SessionId,
  USER_LABEL,
} from '@cordon/core';
import type { MemoryOwner, NewSummary, Store, Summary, Turn } from '@cordon/trace';
import { appOf, type ContextOwner } from '../context/owner.ts';
import {
  factKey,
  type KnownFact,
  NO_PAST,
  type Observation,
  type ObservedFact,
} from '../context/query-facts.ts';
import { joinedLabel } from '../context/references.ts';
import { divideHistory, type Said, shownText, summaryMessages } from './working-memory.ts';

/** How trustworthy what is remembered is, and what it came from. */
interface Origins {
  readonly label: Label;
  /** The last event of each turn: what is shown again carries on everything that was known there. */
  readonly sources: readonly EventId[];
  /** Whether closed values may stand in it that others may have chosen. */
  readonly holdsOthersValues: boolean;
}

/** Earlier turns, oldest first, and of what is older than the others, the summary. */
export interface RememberedTurns extends Origins {
  readonly messages: readonly ModelMessage[];
}

/** What an owner is shown again of its other sessions. */
export interface CarriedTurns extends Omit<RememberedTurns, 'sources'> {
  readonly turns: number;
  readonly sessions: number;
}

/** Turns that no longer fit into what is shown, and are in no summary yet. */
export interface OlderTurns extends Origins {
  /** The summary that the new one takes the place of; null: there is none. */
  readonly before: string | null;
  readonly turns: readonly Said[];
  /** Place of the last of them. */
  readonly through: number;
}

/** The context that gave an answer. */
export interface AnsweredBy extends Omit<Origins, 'sources'> {
  /** Its last event. */
  readonly source: EventId | null;
  /** The event of the user's words. */
  readonly said: EventId;
}

const SYSTEM: MemoryOwner = { kind: 'system' };
/** Of the values that outputs of one app stated; more than a manifest may name (`remembers`). */
const MOST_OBSERVED = 60;
/** Of those of all apps, the newest: the planner is shown their names with every query. */
const MOST_OBSERVED_SHOWN = 120;

export class StoredMemory {
  readonly #store: Store;
  readonly #session: SessionId;
  readonly #limits: MemoryLimits;
  readonly #reach: HistoryReach;

  constructor(store: Store, session: SessionId, limits: MemoryLimits, reach: HistoryReach = 'session') {
    this.#store = store;
    this.#session = session;
    this.#limits = limits;
    this.#reach = reach;
  }

  /**
   * The facts that the user stated: to whomever, or in the conversations of `owner` alone, whose context knows them already.
   * `past`: of the query that asks, whose own facts it did not know.
   *
   * INVARIANT (stated): what counts as the user's word is what the user stated, and nothing that an app's output says.
   */
  facts({ events, replaced } = NO_PAST, owner: MemoryOwner = SYSTEM): readonly KnownFact[] {
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

  /** Kept for the system, and for the owner in whose conversation it was stated. */
  rememberFact({ name, value, origin }: KnownFact, owner: ContextOwner, source: EventId): void {
    for (const keeper of [SYSTEM, owner]) {
      this.#store.memory(keeper).learn(name, value, { origin, source, label: USER_LABEL });
    }
  }

  /** What apps' outputs stated, the newest, each for itself: none takes the place of what the user said, or of another app's. */
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

  /** Kept for the system and for the app. */
  observe({ fact: { name, value, origin, label }, source }: Observation): void {
    // Of two values of one name the last counts, also where the first had another label.
    for (const keeper of [SYSTEM, { kind: 'spoke', app: origin } as const]) {
      const memory = this.#store.memory(keeper);
      memory.forgetObserved(name, origin);
      memory.learn(name, value, { origin, source, label }, 'observed');
      memory.trimObserved(origin, MOST_OBSERVED);
    }
  }

  /** The user's own earlier queries, oldest first. `said`: of the query that is being served; what was kept of it already is left out. */
  earlier(said: EventId): PlannerInput['earlier'] {
    const turns = [...this.#elsewhere(SYSTEM, said).turns, ...this.#shown(SYSTEM, said)];
    return turns.flatMap(({ role, text, origin: app }, index) => {
      const next = turns[index + 1];
      if (role !== 'user' || next?.role !== 'assistant') return [];
      return [{ query: shownText(text, this.#limits), app, outcome: earlierOutcome(next.text) }];
    });
  }

  /** Of what the user asked before those; null: there is none. Made of the user's words and the operator's acts alone. */
  earlierSummary(said: EventId): string | null {
    const own = this.#store.memory(SYSTEM).summary(this.#session);
    return (own ?? this.#elsewhere(SYSTEM, said).summary)?.text ?? null;
  }

  /** `said`: the event of the user’s words. Remembered once for each; of how it ended, the last. */
  rememberQuery(query: string, app: AppId | null, outcome: EarlierOutcome, said: EventId): void {
    const memory = this.#store.memory(SYSTEM);
    const from = { origin: app, source: said, label: USER_LABEL };
    memory.recordOnce(this.#session, 'user', query, from);
    memory.recordInstead(this.#session, 'assistant', outcome, { ...from, origin: null, label: HUB_LABEL });
  }

  /** Whether a query is remembered as it was asked. Attack: a fact of what the user deleted or corrected meanwhile is kept. */
  holdsQuery(query: string, said: EventId): boolean {
    return this.#store.memory(SYSTEM).saidBy(this.#session, said) === query;
  }

  /** How a query ended that was remembered; null: it was not. */
  outcomeOf(said: EventId): EarlierOutcome | null {
    const recent = this.#store.memory(SYSTEM).recent(this.#session, this.#limits.interactions);
    return earlierOutcome(recent.find(({ role, source }) => role === 'assistant' && source === said)?.text);
  }

  /** The last turns of one context's owner. `said`: as for `earlier`. */
  turns(owner: ContextOwner, said?: EventId): RememberedTurns {
    const summary = this.#store.memory(owner).summary(this.#session);
    const turns = this.#shown(owner, said);
    return { messages: this.#messagesOf(turns, summary), ...originsOf(turns, summary) };
  }

  /** The last turns of an app's other sessions, as far as there is room beside those of this one; null: none are shown. */
  carried(owner: ContextOwner, said: EventId): CarriedTurns | null {
    // The history of contexts without app may hold what several apps said: it stays in its session.
    if (owner.kind !== 'spoke') return null;
    const { turns, summary } = this.#elsewhere(owner, said);
    if (turns.length === 0 && summary === null) return null;
    const { label, holdsOthersValues } = originsOf(turns, summary);
    const sessions = new Set([...turns, ...listOf(summary)].map(({ session }) => session)).size;
    const messages = this.#messagesOf(turns, summary);
    return { messages, label, holdsOthersValues, turns: turns.length, sessions };
  }

  /** Remembered once for each. */
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

  /** What `work` has kept is kept as a whole, or nothing of it. */
  together(work: () => void): void {
    this.#store.together(work);
  }

  /**
   * What is to be summed up; null: all that is not in a summary still fits. Half of what may be shown stays, so that a
   * summary is due every few turns and not at each.
   */
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
    const origins = originsOf(older, summary);
    // The system's turns come from the user's own words, which carry nothing that a rule would follow.
    const sources = owner.kind === 'system' ? [] : origins.sources;
    return { ...origins, sources, before: summary?.text ?? null, turns: older, through: last.place };
  }

  /**
   * In the place of what `older` gave. Attack: what the user has deleted or corrected since then comes back by a summary.
   * False: it is not what was summed up any more, and nothing is kept.
   */
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

  #messagesOf(turns: readonly Turn[], summary: Summary | null): readonly ModelMessage[] {
    const shown = turns.map(({ role, text: said }): ModelMessage => {
      const text = shownText(said, this.#limits);
      return role === 'assistant' ? { role, text, calls: [] } : { role: 'user', text };
    });
    return [...listOf(summary).flatMap(({ text }) => summaryMessages(text)), ...shown];
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
function originsOf(turns: readonly Turn[], summary: Summary | null): Origins {
  const told = [...listOf(summary), ...turns.filter(({ role }) => role !== 'user')];
  return {
    label: joinedLabel(HUB_LABEL, told),
    sources: told.flatMap(({ source }) => source ?? []),
    holdsOthersValues: told.some((one) => one.holdsOthersValues === true),
  };
}

function listOf(summary: Summary | null): readonly Summary[] {
  return summary === null ? [] : [summary];
}
