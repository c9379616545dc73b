/**
 * What a session was at when its hub ended without saying so: the query that has no end, and the effects that were
 * allowed and have no outcome. Read from the journal, which has every step before it took effect.
 */
import {
  type DecidedBody,
  type Effect,
  type Event,
  type EventBody,
  type EventId,
  type Fault,
  fault,
} from '@cordon/core';
import { type ContextOwner, ownerOf } from '../context/owner.ts';

/** A query of the user that came to no answer and that nobody refused: it can be resumed. */
export interface UnfinishedQuery {
  readonly said: Extract<Event, { kind: 'user.message' }>;
  /** Everything since, `said` first. */
  readonly events: readonly Event[];
  /** How it ended; null: it did not, because its hub did. */
  readonly ended: 'failed' | 'cancelled' | null;
}

/** The newest query, if it is unfinished. */
export function unfinishedQuery(past: readonly Event[]): UnfinishedQuery | null {
  const at = past.findLastIndex(({ kind }) => kind === 'user.message');
  const said = past[at];
  if (said?.kind !== 'user.message') return null;
  const events = past.slice(at);
  const end = events.findLast((event) => event.kind === 'query.ended' || event.kind === 'query.resumed');
  if (end?.kind !== 'query.ended') return { said, events, ended: null };
  const { outcome } = end;
  return outcome === 'failed' || outcome === 'cancelled' ? { said, events, ended: outcome } : null;
}

/** The model that was in use when the query was interrupted; null: its journal is of before that was told. */
export function modelOfQuery({ said, events }: UnfinishedQuery): string | null {
  const resumed = events.findLast((event) => event.kind === 'query.resumed');
  return resumed?.model ?? said.model ?? null;
}

/** What a query answered, if it came so far: the answer was delivered, and only its end was not recorded. */
export interface GivenAnswer {
  readonly event: EventId;
  readonly text: string;
  readonly owner: ContextOwner;
}

export function givenAnswer(events: readonly Event[]): GivenAnswer | null {
  const executed = events.find(({ kind }) => kind === 'answer.executed');
  const answer = events.find(({ id }) => id === executed?.causes[0]);
  const created = events.find(
    ({ kind, context }) => kind === 'context.created' && context === answer?.context,
  );
  if (answer?.kind !== 'answer.proposed' || created?.kind !== 'context.created') return null;
  const owner: ContextOwner = created.of === 'shared' ? { kind: 'shared' } : ownerOf(created.app);
  return { event: answer.id, text: answer.text, owner };
}

/**
 * Whether an effect leaves the hub's own memory. What was delivered to a process died with it, and is delivered again to its
 * successor; what was asked of an app, of a model or of the network may have happened.
 */
export const REACHES_OTHERS: Readonly<Record<Effect, boolean>> = {
  'model-call': true,
  'tool-call': true,
  egress: true,
  'tool-output': false,
  'app-request': false,
  'app-response': false,
  'data-release': false,
  answer: false,
  'answer-part': false,
};

/** How an event ends an effect: the proposal is its first cause. */
export function endsEffect({ kind }: Pick<Event, 'kind'>): boolean {
  return kind === 'tool-call.in-doubt' || kind.endsWith('.executed') || kind.endsWith('.failed');
}

export function isDecision(event: Event): event is Event & DecidedBody {
  return 'verdict' in event;
}

/** What is to be recorded of effects that were allowed and whose outcome nobody recorded, before anything else is done. */
export function unknownOutcomes(
  past: readonly Event[],
): readonly { readonly proposed: Event; readonly body: EventBody }[] {
  const ended = new Set(past.filter(endsEffect).map(({ causes }) => causes[0]));
  const allowed = new Set<EventId | undefined>();
  for (const event of past) if (isDecision(event) && event.verdict === 'allow') allowed.add(event.causes[0]);
  return past.flatMap((proposed) => {
    const effect = effectOf(proposed);
    if (effect === null || !REACHES_OTHERS[effect]) return [];
    if (!allowed.has(proposed.id) || ended.has(proposed.id)) return [];
    const irreversible = proposed.kind === 'tool-call.proposed' && proposed.irreversible;
    return [{ proposed, body: failureOf({ effect, irreversible }, LOST) }];
  });
}

/** A call that cannot be undone is in doubt wherever it is not known that it did not happen. */
export function failureOf(
  { effect, irreversible }: { readonly effect: Effect; readonly irreversible?: boolean },
  why: Fault,
): EventBody {
  const isInDoubt = effect === 'tool-call' && irreversible === true && why.outcome === 'unknown';
  return { kind: isInDoubt ? 'tool-call.in-doubt' : `${effect}.failed`, fault: why };
}

const LOST: Fault = {
  ...fault('interrupted', 'the hub ended before the outcome was recorded'),
  outcome: 'unknown',
};

/** Null: no proposal. */
export function effectOf({ kind }: Pick<Event, 'kind'>): Effect | null {
  const [effect, phase] = kind.split('.');
  return phase === 'proposed' && isEffect(effect) ? effect : null;
}

function isEffect(name: string | undefined): name is Effect {
  return name !== undefined && Object.hasOwn(REACHES_OTHERS, name);
}
