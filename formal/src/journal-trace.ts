/**
 * A journal becomes the steps that a model knows: one table for the gate, one for exchanges. Events that a model does not
 * speak of are left out; everything else is said as the journal has it, and it is the model that decides whether it can be.
 */
import {
  type AppId,
  type ContextId,
  canonicalJson,
  type Event,
  type EventId,
  type GrantId,
  type Reason,
  toJson,
} from '@cordon/core';
import type { GrantRecord } from '@cordon/trace';
import { ANY, NONE, type Step, step } from './label.ts';

/** From here on a question is about what cannot be undone, or is asked by a rule: see `gate.pml`. */
const NEVER_LASTING = 128;
/** And from here on it is never granted for longer than once. */
const ONLY_ONCE = 200;
const DURATIONS = { once: 1, session: 2, until: 3, permanent: 4 } as const;
const PERMISSIONS = { 'not-needed': 0, user: 1, grant: 2, denied: 3 } as const;
const CLASSES = { delivery: 0, outward: 1, undoable: 2 } as const;

/** Small numbers for things, the same thing the same number. */
class Numbers<T> {
  readonly #numbers = new Map<T, number>();
  readonly #first: number;

  constructor(first = 0) {
    this.#first = first;
  }

  of(thing: T): number {
    const known = this.#numbers.get(thing);
    if (known !== undefined) return known;
    const next = this.#first + this.#numbers.size;
    this.#numbers.set(thing, next);
    return next;
  }

  has(thing: T): boolean {
    return this.#numbers.has(thing);
  }
}

/** The lowest number that nothing has at the moment. */
class Slots<T> {
  readonly #taken = new Map<T, number>();

  /** @param kept a free number that the thing gets in any case */
  take(thing: T, kept?: number): number {
    const used = new Set(this.#taken.values());
    let slot = kept ?? 0;
    while (used.has(slot)) slot++;
    this.#taken.set(thing, slot);
    return slot;
  }

  find(thing: T | undefined): number | undefined {
    return thing === undefined ? undefined : this.#taken.get(thing);
  }

  free(thing: T | undefined): void {
    if (thing !== undefined) this.#taken.delete(thing);
  }

  clear(): void {
    this.#taken.clear();
  }
}

/** Spares the model to try what the journal says was not the case; it is refused all the same where that cannot be. */
const PLAIN = 4;
const OUTCOMES = { executed: 'EXECUTED', failed: 'FAILED', 'in-doubt': 'IN_DOUBT' } as const;
/** After a crash their outcome is unknown; what was delivered to a process died with it, and is delivered again. */
const REACHES_OTHERS: ReadonlySet<string> = new Set([
  'model-call.proposed',
  'tool-call.proposed',
  'egress.proposed',
]);

type Asked = Extract<Event, { kind: 'permission.asked' }>;
type Prompt = Asked['prompt'];

/**
 * What a journal of a session says of each proposal, for `gate.pml`. `grants`: all that the store knows, for those that were
 * given in other sessions, and for what was taken back.
 */
export function gateTrace(events: readonly Event[], grants: readonly GrantRecord[] = []): readonly Step[] {
  const contexts = new Numbers<ContextId | AppId | null>();
  const questions = new Numbers<string>(1);
  const rows = new Numbers<GrantId>();
  const slots = new Slots<EventId>();
  const prompts = new Map<EventId, Prompt>();
  /** Yeses that no grant has followed yet. */
  const yeses: { readonly context: ContextId | null; readonly subject: string; readonly question: number }[] =
    [];
  const selections = new Set<GrantId>();
  const given = new Set(events.flatMap((event) => (event.kind === 'grant.given' ? [event.grant] : [])));

  const tools = new Numbers<string>(1);
  /** Proposals that a hub that is gone left without an outcome. */
  const left = new Map<EventId, Event>();
  const underWay = new Map<EventId, Event>();
  const decided = new Set(events.flatMap((event) => ('verdict' in event ? [event.causes[0]] : [])));
  const decisions = new Set<EventId | undefined>();
  /** Proposals about which rules asked somebody: others come between them and their decisions. */
  const asking = new Set(
    events.flatMap((event) =>
      event.kind === 'context.created' && event.of === 'inquiry' ? [event.causes[0]] : [],
    ),
  );
  const plain = new Set(
    events.flatMap((event) => {
      const [about] = event.causes;
      const isPlain = 'verdict' in event && event.verdict === 'allow' && event.permission === 'not-needed';
      return isPlain && !asking.has(about) ? [about] : [];
    }),
  );

  /** Of the proposal that the user changed: what they made of it stands right behind it, and is decided in its place. */
  let changed: number | undefined;
  const propose = (event: Event): Step => {
    const kept = changed;
    changed = undefined;
    underWay.set(event.id, event);
    left.delete(event.id);
    const kind = classOf(event);
    const hint = plain.has(event.id) ? PLAIN : 0;
    return step(
      'PROPOSED',
      slots.take(event.id, kept),
      kind + hint,
      contexts.of(event.context),
      kind === CLASSES.undoable ? tools.of(toolOf(event)) : 0,
    );
  };
  const end = (proposal: EventId | undefined): void => {
    slots.free(proposal);
    if (proposal !== undefined) underWay.delete(proposal);
  };
  /** A query that goes on takes its undecided proposals up again, without saying so a second time. */
  const takeUp = (isIt: (event: Event) => boolean): readonly Step[] => {
    const taken = [...left.values()].find(
      (event) => !decisions.has(event.id) && decided.has(event.id) && isIt(event),
    );
    return taken === undefined ? [] : [propose(taken)];
  };

  const questionOf = ({ subject, digest, durations }: Prompt): number => {
    const number = questions.of(canonicalJson(toJson({ subject, digest })));
    if (durations.includes('permanent')) return number;
    return (durations.includes('session') ? NEVER_LASTING : ONLY_ONCE) + number;
  };
  const used = new Set(events.flatMap((event) => (event.kind === 'grant.used' ? [event.grant] : [])));
  for (const { id, subject } of grants) if (subject.scope === 'app-selection') selections.add(id);
  const prior = [...used]
    .filter((grant) => !given.has(grant) && !selections.has(grant))
    .map((grant) => {
      const record = grants.find(({ id }) => id === grant);
      const { subject, digest } = record ?? {};
      const question = record === undefined ? ANY : questions.of(canonicalJson(toJson({ subject, digest })));
      return step('PRIOR', rows.of(grant), DURATIONS[record?.duration ?? 'permanent'], question);
    });
  const takenBack = grants
    .filter(
      ({ id, revokedAt, expiredAt }) => (revokedAt ?? expiredAt) !== null && (given.has(id) || used.has(id)),
    )
    .map(({ id }) => step('TAKEN_BACK', rows.of(id)));

  const stepsOf = (event: Event): readonly Step[] => {
    const context = contexts.of(event.context);
    const [cause] = event.causes;
    const phase = event.kind.split('.')[1];
    if (phase === 'proposed' && 'effect' in event) return [propose(event)];
    if ('verdict' in event) {
      const again = slots.find(cause) === undefined ? takeUp(({ id }) => id === cause) : [];
      const slot = slots.find(cause) ?? NONE;
      decisions.add(cause);
      if (event.verdict === 'deny') {
        end(cause);
        if (event.permission !== 'denied' && event.reasons.some(isChange)) changed = slot;
      }
      return [
        ...again,
        step('DECIDED', slot, event.verdict === 'allow' ? 1 : 0, PERMISSIONS[event.permission]),
      ];
    }
    if (phase === 'executed' || phase === 'failed' || phase === 'in-doubt') {
      const slot = slots.find(cause);
      const proposal = cause === undefined ? undefined : left.get(cause);
      if (slot === undefined && proposal !== undefined) return outcomeOfLeft(proposal, phase);
      end(cause);
      return [step(OUTCOMES[phase], slot ?? NONE)];
    }
    switch (event.kind) {
      case 'permission.asked':
        prompts.set(event.id, event.prompt);
        return [
          ...takeUp((one) => one.context === event.context),
          step('ASKED', context, questionOf(event.prompt)),
        ];
      case 'permission.answered': {
        const prompt = prompts.get(event.prompt);
        const question = prompt === undefined ? NONE : questionOf(prompt);
        const { allow, duration } = event;
        if (prompt !== undefined && allow && event.by === 'user') {
          yeses.push({ context: event.context, subject: textOf(prompt.subject), question });
        }
        return [step('ANSWERED', ANY, question, allow ? 1 : 0, duration === null ? 0 : DURATIONS[duration])];
      }
      case 'grant.given': {
        if (event.subject.scope === 'app-selection') {
          selections.add(event.grant);
          return [];
        }
        const subject = textOf(event.subject);
        const at = yeses.findLastIndex((yes) => yes.context === event.context && yes.subject === subject);
        const [yes] = at < 0 ? [] : yeses.splice(at, 1);
        const question = yes?.question ?? NONE;
        return [step('GIVEN', context, rows.of(event.grant), DURATIONS[event.duration], question)];
      }
      case 'grant.used':
        return selections.has(event.grant)
          ? []
          : [...takeUp((one) => one.context === event.context), step('USED', context, rows.of(event.grant))];
      case 'session.resumed':
        changed = undefined;
        slots.clear();
        for (const [id, proposal] of underWay) left.set(id, proposal);
        underWay.clear();
        return [step('RESUMED')];
      default:
        return [];
    }
  };
  const outcomeOfLeft = (proposal: Event, phase: keyof typeof OUTCOMES): readonly Step[] => {
    left.delete(proposal.id);
    if (phase === 'in-doubt') return [step('DOUBTED', tools.of(toolOf(proposal)), 1)];
    if (REACHES_OTHERS.has(proposal.kind)) return phase === 'failed' ? [] : [step('EXECUTED', NONE)];
    return [step('DELIVERED_AGAIN')];
  };
  return [...prior, ...takenBack, ...events.flatMap(stepsOf)];
}

/** Why a proposal is denied that the user changed, and one for which their answer did not fit. */
function isChange({ rule }: Reason): boolean {
  return rule === 'permission/edited';
}

function textOf(subject: Prompt['subject']): string {
  return canonicalJson(toJson(subject));
}

function toolOf(event: Event): string {
  return event.kind === 'tool-call.proposed' ? canonicalJson([event.app, event.tool]) : '';
}

function classOf(event: Event): number {
  switch (event.kind) {
    case 'tool-output.proposed':
    case 'app-request.proposed':
    case 'app-response.proposed':
      return CLASSES.delivery;
    case 'tool-call.proposed':
      return event.irreversible ? CLASSES.undoable : CLASSES.outward;
    default:
      return CLASSES.outward;
  }
}

/** Contexts that ask nothing of others and serve nobody: no part of `exchange.pml`. */
const APART = new Set([
  'planner',
  'tool-planner',
  'delegation',
  'reader',
  'summary',
  'facts',
  'inquiry',
  'shared',
]);

/** A query that goes on takes up contexts that were there before; the model speaks of queries that one hub serves. */
function untilGoneOn(events: readonly Event[]): readonly Event[] {
  const at = events.findIndex(({ kind }) => kind === 'query.resumed');
  return at < 0 ? events : events.slice(0, at);
}

function isAct({ kind }: Event): boolean {
  return (
    kind.endsWith('.proposed') ||
    kind === 'probe.received' ||
    kind === 'message.dropped' ||
    kind === 'context.ended'
  );
}

/** What a journal of a session says of probes, requests and responses, for `exchange.pml`. */
export function exchangeTrace(journal: readonly Event[]): readonly Step[] {
  const events = untilGoneOn(journal);
  const contexts = new Numbers<ContextId>();
  const peers = new Numbers<string>();
  const requests = new Slots<EventId>();
  const kinds = new Map<ContextId, string>();
  /** Steps of the plan that run ahead: they have no loop, and end with the query. */
  const ahead = new Set<ContextId>();
  const hearing = new Set<ContextId>();
  const requestOf = new Map<string, EventId>();
  const responses = new Map<EventId, EventId>();
  /** Contexts that did something; one that did not has no loop, because none could be started or nothing was left to do. */
  const acted = new Set(events.flatMap((event) => (isAct(event) ? [event.context] : [])));
  const answersTo = new Set(
    events.flatMap((event) => (event.kind === 'app-response.proposed' ? [event.callId] : [])),
  );

  const stepsOf = (event: Event): readonly Step[] => {
    const [cause] = event.causes;
    const { context } = event;
    const isApart = context === null || APART.has(kinds.get(context) ?? '');
    const number = context === null ? NONE : contexts.of(context);
    switch (event.kind) {
      case 'context.created':
        if (context !== null) kinds.set(context, event.of);
        return [];
      case 'query.delivered': {
        if (isApart) return [];
        // A coordinator hears again what the steps before it came to.
        if (hearing.has(context)) return [];
        hearing.add(context);
        if (kinds.get(context) === 'errand') ahead.add(context);
        return [step('HEARD', number, requests.find(cause) ?? NONE)];
      }
      case 'probe.received':
        return isApart ? [] : [step('PROBED', number)];
      case 'offer.made':
        return isApart ? [] : [step('OFFERED', number, peers.of(event.peer))];
      case 'probe.refused':
        return isApart ? [] : [step('UNSERVED', number)];
      case 'message.dropped':
        return isApart ? [] : [step('DROPPED', number)];
      case 'request.refused':
        return isApart ? [] : [step('TURNED_AWAY', number)];
      case 'app-request.proposed':
        requestOf.set(event.callId, event.id);
        return [step('REQUESTED', number, requests.take(event.id), peers.of(event.peer))];
      case 'app-request.decided': {
        const request = requests.find(cause) ?? NONE;
        if (event.verdict === 'deny') requests.free(cause);
        return [step('REQUEST_DECIDED', request, event.verdict === 'allow' ? 1 : 0)];
      }
      case 'tool-call.proposed': {
        const request = requests.find(cause);
        return request === undefined || context === null || kinds.get(context) !== 'errand'
          ? []
          : [step('ERRAND', request)];
      }
      case 'app-request.executed': {
        const request = requests.find(cause) ?? NONE;
        const callId = [...requestOf].find(([, id]) => id === cause)?.[0] ?? '';
        if (!answersTo.has(callId)) requests.free(cause);
        return [step('REQUEST_OVER', request, 1)];
      }
      case 'app-request.failed': {
        const request = requests.find(cause) ?? NONE;
        requests.free(cause);
        return [step('REQUEST_OVER', request, 0)];
      }
      case 'app-response.proposed': {
        const request = requestOf.get(event.callId);
        // What a reader says comes back like a response, and is one to no request.
        if (request === undefined) return [];
        responses.set(event.id, request);
        return [step('RESPONDED', requests.find(request) ?? NONE)];
      }
      case 'app-response.decided': {
        const request = cause === undefined ? undefined : responses.get(cause);
        if (request === undefined) return [];
        const slot = requests.find(request) ?? NONE;
        if (event.verdict === 'deny') requests.free(request);
        return [step('RESPONSE_DECIDED', slot, event.verdict === 'allow' ? 1 : 0)];
      }
      case 'app-response.executed': {
        const request = cause === undefined ? undefined : responses.get(cause);
        if (request === undefined) return [];
        const slot = requests.find(request) ?? NONE;
        requests.free(request);
        return [step('DELIVERED', slot)];
      }
      case 'context.ended':
        if (isApart || kinds.get(context) === 'errand') return [];
        hearing.delete(context);
        return [step('CONTEXT_ENDED', number)];
      case 'query.ended': {
        const idle = [...hearing].filter((one) => !acted.has(one));
        const ended = [...new Set([...ahead, ...idle])].map((one) => step('CONTEXT_ENDED', contexts.of(one)));
        ahead.clear();
        hearing.clear();
        return [...ended, step('QUERY_ENDED')];
      }
      case 'session.resumed':
        requests.clear();
        hearing.clear();
        ahead.clear();
        return [step('GOES_ON')];
      default:
        return [];
    }
  };
  return events.flatMap(stepsOf);
}
