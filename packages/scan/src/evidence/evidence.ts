/**
 * Whether what stands beside the chain is what the journal has. Turns, summaries and facts are shown as what was said: each is
 * compared with the event that it names as its source. So are permissions and questions. For `cordon audit verify`.
 *
 * It reports, and no effect depends on it.
 */
import { createHash } from 'node:crypto';
import {
  type AppId,
  canonicalJson,
  EARLIER_OUTCOMES,
  type EarlierOutcome,
  type Event,
  type EventId,
  type GrantId,
  HUB_LABEL,
  isJsonObject,
  type Json,
  joinLabels,
  type Label,
  type LearntFact,
  type SessionId,
  toJson,
  USER_LABEL,
} from '@cordon/core';
import { isStatedIn } from '@cordon/hub/facts';
import { appOf } from '@cordon/hub/owner';
import { type GrantRecord, type MemoryItem, type Store, StoreFailure } from '@cordon/trace';

export interface EvidenceProblem {
  /** What it is, with its id. */
  readonly item: string;
  /** One sentence, lower-case start, no full stop. */
  readonly reason: string;
}

export interface Evidence {
  readonly problems: readonly EvidenceProblem[];
  /** Whose text the user has corrected: the journal has another. */
  readonly corrected: number;
  /** That no event tells of: a fact of a deleted session, a summary of an earlier version. */
  readonly unchecked: number;
}

type Turn = Extract<MemoryItem, { readonly kind: 'turn' }>;
type Summary = Extract<MemoryItem, { readonly kind: 'summary' }>;
type Fact = Extract<MemoryItem, { readonly kind: 'fact' }>;

/** Null: it is what the journal has. */
type Finding = string | 'unchecked' | null;

/** What is kept of a session whose journal is intact. */
export function evidenceOfSession(
  store: Store,
  session: SessionId,
  grants: GrantComparison = new GrantComparison(store),
): Evidence {
  const events = store.journal.events(session);
  const { problems, ...counts } = evidenceOfMemory(store, session, events);
  const others = events.flatMap((event) => [...grants.problemsIn(event), ...questionProblems(event, store)]);
  return { ...counts, problems: [...problems, ...others] };
}

/** Compares permissions with what the journals say was given; `rest` is asked when all journals were looked at. */
export class GrantComparison {
  /** Null: one of them cannot be read, so none is compared. */
  readonly #grants: ReadonlyMap<GrantId, GrantRecord> | null;
  readonly #told = new Set<GrantId>();

  constructor(store: Store) {
    const all = readable(() => store.grants.list());
    this.#grants = all === null ? null : new Map(all.map((grant) => [grant.id, grant]));
  }

  /** A permission that is not what the event says was given. One that is over earlier was ended by the user. */
  problemsIn(event: Event): readonly EvidenceProblem[] {
    const grant = event.kind === 'grant.given' ? this.#grants?.get(event.grant) : undefined;
    if (event.kind !== 'grant.given' || grant === undefined) return [];
    const { subject, duration, endsAt, id } = grant;
    this.#told.add(id);
    const isSame =
      canonicalJson(toJson(subject)) === canonicalJson(toJson(event.subject)) &&
      duration === event.duration &&
      (event.until === undefined || (endsAt !== null && endsAt <= event.until));
    return isSame ? [] : [{ item: `grant ${id}`, reason: 'the user permitted something else' }];
  }

  /** Permissions that no event tells of: their session was deleted, or somebody made them in the file. */
  get rest(): Evidence {
    if (this.#grants === null)
      return { ...NOTHING_FOUND, problems: [{ item: 'grants', reason: UNREADABLE_GRANT }] };
    const unchecked = [...this.#grants.keys()].filter((grant) => !this.#told.has(grant)).length;
    return { ...NOTHING_FOUND, unchecked };
  }
}

const NOTHING_FOUND: Evidence = { problems: [], corrected: 0, unchecked: 0 };
const UNREADABLE_GRANT = 'one cannot be read: somebody changed it';

/** Null: it stands in the store and cannot be read. */
function readable<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof StoreFailure) || error.fault.kind !== 'corrupt') throw error;
    return null;
  }
}

function questionProblems(event: Event, store: Store): readonly EvidenceProblem[] {
  if (event.kind !== 'permission.asked' && event.kind !== 'choice.asked') return [];
  const item = `question ${event.id}`;
  const found = readable(() => ({ stored: store.prompts.find(event.id) }));
  if (found === null) return [{ item, reason: UNREADABLE_QUESTION }];
  const asked = found.stored?.question.prompt;
  if (asked === undefined) return [];
  const { id: _id, ...content } = asked;
  const told =
    event.kind === 'permission.asked'
      ? event.prompt
      : {
          session: event.session,
          question: event.question,
          choices: event.choices,
          ...(event.installs === true ? { installs: true } : {}),
        };
  const isSame = canonicalJson(toJson(content)) === canonicalJson(toJson(told));
  return isSame ? [] : [{ item, reason: 'something else was asked' }];
}

const UNREADABLE_QUESTION = 'it cannot be read: somebody changed it';

function evidenceOfMemory(store: Store, session: SessionId, events: readonly Event[]): Evidence {
  const byId = new Map(events.map((event) => [event.id, event]));
  const lastAsked = new Map<string, number>();
  return evidence(
    () => store.memories.items({ session }),
    (item) => {
      if (item.kind === 'fact') return 'unchecked';
      const source = item.source === null ? undefined : byId.get(item.source);
      if (source === undefined) return 'no event of the session is its source';
      const late = timeProblem(item.time, source, events.at(-1));
      if (late !== null) return late;
      if (item.kind === 'summary') return summaryProblem(item, source, events);
      const order = item.role === 'user' ? orderProblem(item, source, lastAsked) : null;
      return order ?? turnProblem(item, source, events);
    },
  );
}

/** Facts belong to no session: each is compared with the event that it comes from, wherever that is. */
export function evidenceOfFacts(store: Store): Evidence {
  const learnt = new LearntFacts(store);
  return evidence(
    () => store.memories.items({ kind: 'fact' }),
    (item) => {
      if (item.kind !== 'fact') return null;
      const source = item.source === null ? null : store.journal.find(item.source);
      return source === null ? 'unchecked' : factProblem(item, source, learnt);
    },
  );
}

/** What the journals say was learnt from the user's words, each session read once. */
class LearntFacts {
  readonly #store: Store;
  readonly #sessions = new Map<SessionId, ReadonlyMap<EventId, readonly LearntFact[]>>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Undefined: nothing was learnt from this message, or an earlier version recorded nothing of it. */
  from({ id, session }: Event): readonly LearntFact[] | undefined {
    const known = this.#sessions.get(session) ?? this.#read(session);
    this.#sessions.set(session, known);
    return known.get(id);
  }

  #read(session: SessionId): ReadonlyMap<EventId, readonly LearntFact[]> {
    const learnt = new Map<EventId, readonly LearntFact[]>();
    for (const event of this.#store.journal.events(session)) {
      const [said] = event.causes;
      if (event.kind === 'facts.learnt' && said !== undefined)
        learnt.set(said, [...(learnt.get(said) ?? []), ...event.facts]);
    }
    return learnt;
  }
}

function evidence(items: () => readonly MemoryItem[], look: (item: MemoryItem) => Finding): Evidence {
  const problems: EvidenceProblem[] = [];
  let corrected = 0;
  let unchecked = 0;
  const read = readable(() => {
    for (const item of items()) {
      if (item.isCorrected === true) {
        corrected++;
        continue;
      }
      const found = look(item);
      if (found === 'unchecked') unchecked++;
      else if (found !== null) problems.push({ item: `${item.kind} ${item.id}`, reason: found });
    }
    return 'all';
  });
  if (read === null) problems.push({ item: 'memory', reason: 'a text cannot be read: somebody changed it' });
  return { problems, corrected, unchecked };
}

/** A row is written soon behind its source, and before the next thing that happens. */
const MOST_BESIDE_MS = 60_000;

function timeProblem(time: number, source: Event, last: Event | undefined): string | null {
  const isPlausible =
    time >= source.time - MOST_BESIDE_MS && time <= (last?.time ?? source.time) + MOST_BESIDE_MS;
  return isPlausible ? null : 'it has another time than what it comes from';
}

function orderProblem({ owner }: Turn, { sequence }: Event, last: Map<string, number>): string | null {
  const key = canonicalJson(toJson(owner));
  const before = last.get(key) ?? -1;
  last.set(key, sequence);
  return sequence > before ? null : 'it stands in another order than it was said, or twice';
}

const OUTCOMES: ReadonlySet<string> = new Set(EARLIER_OUTCOMES);

function turnProblem(turn: Turn, source: Event, events: readonly Event[]): string | null {
  if (turn.role === 'user') return askedProblem(turn, source, events);
  if (turn.role === 'tool') return 'no such turn is ever kept';
  return turn.owner.kind === 'system' ? outcomeProblem(turn, source, events) : answerProblem(turn, source);
}

function askedProblem(turn: Turn, source: Event, events: readonly Event[]): string | null {
  if (source.kind !== 'user.message' || source.private === true) return 'its source is no query';
  if (turn.text !== source.text) return 'the user said something else';
  if (!sameLabel(turn.label, USER_LABEL)) return 'its label is not that of the user’s words';
  if (turn.owner.kind === 'system') return null;
  return isHeard(source.id, appOf(turn.owner), events) ? null : 'nobody of this owner heard the query';
}

/** Whether a context of the app, or (null) of none, heard these words. */
function isHeard(said: EventId, app: AppId | null, events: readonly Event[]): boolean {
  return events.some(
    (event) => event.kind === 'query.delivered' && event.causes[0] === said && event.app === app,
  );
}

function earlierOutcomeOf({ outcome, asksForData }: Extract<Event, { kind: 'query.ended' }>): EarlierOutcome {
  return asksForData === true ? 'asked for data' : outcome;
}

function outcomeProblem(turn: Turn, source: Event, events: readonly Event[]): string | null {
  if (source.kind !== 'user.message' || source.private === true) return 'its source is no query';
  if (!OUTCOMES.has(turn.text)) return 'no query ends like this';
  if (!sameLabel(turn.label, HUB_LABEL)) return 'its label is not that of the hub’s words';
  const ends = events.filter(
    (event) =>
      (event.kind === 'query.ended' || event.kind === 'query.resumed') && event.causes[0] === source.id,
  );
  // It is kept a moment before its end is recorded.
  if (ends.at(-1)?.kind !== 'query.ended') return null;
  const isOne = ends.some((event) => event.kind === 'query.ended' && earlierOutcomeOf(event) === turn.text);
  return isOne ? null : 'the query ended otherwise';
}

function answerProblem(turn: Turn, source: Event): string | null {
  if (source.kind !== 'answer.proposed') return 'its source is no answer';
  if (source.app !== appOf(turn.owner)) return 'its owner did not answer this';
  if (!isSaidIn(turn.text, source.text)) return 'the answer was another';
  // An answer with a text of others in it has their label as well.
  if (turn.text === source.text && isLower(turn.label, source.label))
    return 'its label is lower than that of the answer';
  return null;
}

/** What is remembered has references where the answer has their texts. */
function isSaidIn(remembered: string, answered: string): boolean {
  const parts = remembered.split(/\$\d+/);
  let at = 0;
  for (const [index, part] of parts.entries()) {
    const found = index === 0 ? (answered.startsWith(part) ? 0 : -1) : answered.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return parts.length > 1 ? answered.endsWith(parts.at(-1) ?? '') : at === answered.length;
}

function summaryProblem(summary: Summary, source: Event, events: readonly Event[]): Finding {
  if (source.context === null || source.app !== appOf(summary.owner)) return 'its owner did not make it';
  const made = events.filter((event) => event.kind === 'summary.made' && event.context === source.context);
  const digest = createHash('sha256').update(summary.text).digest('hex');
  if (isLower(summary.label, source.label)) return 'its label is lower than that of what it is made of';
  if (made.some((event) => event.kind === 'summary.made' && event.digest === digest)) return null;
  const isOlder = made.some((event) => event.kind === 'summary.made' && event.digest === undefined);
  return isOlder ? 'unchecked' : 'no such summary was made';
}

function factProblem(fact: Fact, source: Event, learnt: LearntFacts): Finding {
  if (fact.learnt === 'stated') {
    if (source.kind !== 'user.message' || source.private === true) return 'its source is no query';
    if (!isStatedIn(fact.value, source.text)) return 'the user did not say this';
    const told = learnt.from(source);
    if (told?.some(({ name, value }) => name === fact.name && value === fact.value) === false)
      return 'the user did not say this';
    if (!sameLabel(fact.label, USER_LABEL)) return 'its label is not that of the user’s words';
    return told === undefined ? 'unchecked' : null;
  }
  const isCall = source.kind === 'tool-call.proposed';
  if (!isCall && source.kind !== 'tool-output.proposed') return 'its source is no call and no output';
  if (source.app !== fact.origin) return 'another app said this';
  const said = isCall ? source.arguments : source.structured;
  if (!holds(said, fact.value)) return `the ${isCall ? 'call' : 'output'} does not say this`;
  return isLower(fact.label, source.label) ? 'its label is lower than that of its source' : null;
}

/** Whether a plain value of this text stands anywhere in it. */
function holds(value: Json, text: string): boolean {
  if (Array.isArray(value)) return value.some((one) => holds(one, text));
  if (isJsonObject(value)) return Object.values(value).some((one) => holds(one, text));
  return String(value) === text;
}

function sameLabel(one: Label, other: Label): boolean {
  return one.integrity === other.integrity && one.confidentiality === other.confidentiality;
}

function isLower(label: Label, than: Label): boolean {
  return !sameLabel(joinLabels(label, than), label);
}
