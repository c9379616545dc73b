/**
 * What the journal of a session tells the monitor, event by event. The hub that writes the journal, one that resumes the
 * session, and the reader of recorded journals all use this one mapping: rules see the same trace in each of them.
 */
import {
  type AppId,
  type ContextId,
  type Event,
  type EventId,
  endorsesValues,
  id,
  type PromptDatum,
  type Proposal,
} from '@cordon/core';
import type { EventPlace, HubFact } from './cordon-event.ts';

/** Where the user's words arise; no context of the hub has this id. */
const USER_CONTEXT: ContextId = id('user');

/** A fact, or an effect that was allowed, with its place in the trace. */
export type Told =
  | { readonly kind: 'fact'; readonly fact: HubFact; readonly place: EventPlace }
  | { readonly kind: 'effect'; readonly proposal: Proposal; readonly place: EventPlace };

/** Contexts that serve no query of the user: none of them is the one that a plan was made for. */
const NOT_SERVING: ReadonlySet<string> = new Set([
  'planner',
  'tool-planner',
  'delegation',
  'errand',
  'reader',
  'summary',
  'facts',
  'inquiry',
]);

type Kind<K extends Event['kind']> = Extract<Event, { kind: K }>;

interface Endorsement {
  readonly fact: Extract<HubFact, { kind: 'values.endorsed' }>;
  readonly place: EventPlace;
}

/** Reads the events of one session in the order of its journal. */
export class SessionFacts {
  readonly #messages = new Set<EventId>();
  readonly #proposed = new Map<EventId, Event>();
  readonly #asked = new Map<EventId, Kind<'permission.asked'>>();
  /** The user's yeses to calls as they were shown, by question, until they are kept. */
  readonly #agreed = new Map<EventId, Endorsement>();
  /** Paths that the user let an app use, by app. */
  readonly #granted = new Map<AppId, PromptDatum[]>();
  /** A plan is made before the context that serves it exists. */
  #plan: Kind<'plan.made'> | null = null;

  /** What this event tells; mostly nothing, and never more than two facts. */
  factsOf(event: Event): readonly Told[] {
    if ('verdict' in event) return this.#decided(event);
    // Rules see the message that it is a part of.
    if (event.kind === 'answer-part.proposed') return [];
    if ('effect' in event) {
      this.#proposed.set(event.id, event);
      return [];
    }
    switch (event.kind) {
      case 'user.message':
        this.#plan = null;
        this.#messages.add(event.id);
        // Rules see the user's words where a context hears them; here they only begin to flow.
        return [fact({ kind: 'carried', context: USER_CONTEXT }, { event: event.id, app: null, causes: [] })];
      case 'plan.made':
        return this.#planned(event);
      case 'context.created':
        return this.#created(event);
      case 'query.delivered':
        return this.#heard(event);
      case 'model.message': {
        const { kind, context, text, calls, id: said, app, causes } = event;
        return context === null ? [] : [fact({ kind, context, text, calls }, { event: said, app, causes })];
      }
      case 'permission.asked':
        this.#asked.set(event.id, event);
        return [];
      case 'permission.answered':
        this.#answered(event);
        return [];
      case 'grant.given':
        return this.#kept(event);
      case 'right.granted':
        this.#rightGranted(event);
        return [];
      default:
        return [];
    }
  }

  /** A context that was begun before its plan was made has the plan at once. */
  #planned(made: Kind<'plan.made'>): readonly Told[] {
    const { kind, context, app, plan, origin, id: event } = made;
    if (context !== null) return [fact({ kind, context, plan, origin }, { event, app, causes: [] })];
    this.#plan = made;
    return [];
  }

  #created({ id: created, of, context, app }: Kind<'context.created'>): readonly Told[] {
    if (context === null || NOT_SERVING.has(of)) return [];
    const data = (app === null ? undefined : this.#granted.get(app)) ?? [];
    const shown = data.map(({ value }) => value).join('\n');
    const granted = { kind: 'values.endorsed', context, data, shown } as const;
    const rights = data.length === 0 ? [] : [fact(granted, { event: created, app, causes: [] })];
    if (this.#plan === null) return rights;
    const { kind, plan, origin, id: event } = this.#plan;
    this.#plan = null;
    return [fact({ kind, context, plan, origin }, { event, app, causes: [] }), ...rights];
  }

  /**
   * A path that the user has read and granted counts as the user's where the model of the app is used from then on: the app's error
   * holds it, too, and would else make it somebody else's word.
   */
  #rightGranted({ app, right, value }: Kind<'right.granted'>): void {
    if (app === null || (right !== 'read' && right !== 'write')) return;
    this.#granted.set(app, [...(this.#granted.get(app) ?? []), { name: right, value }]);
  }

  /**
   * The user's words become visible in a context, after the earlier turns that it recalls. Another context's request is not a
   * message of the user to rules: it only carries on what it came from.
   */
  #heard({ id: event, app, causes, label, text, context }: Kind<'query.delivered'>): readonly Told[] {
    if (context === null) return [];
    const [first, ...recalled] = causes;
    if (first === undefined || !this.#messages.has(first))
      return [fact({ kind: 'carried', context, label }, { event, app, causes })];
    const said = fact({ kind: 'user.message', context, text }, { event, app, causes: [first] });
    if (recalled.length === 0) return [said];
    const history = { event: id<'event'>(`history of ${context}`), app, causes: recalled };
    return [fact({ kind: 'carried', context, label }, history), said];
  }

  #answered({ id: event, ...answer }: Kind<'permission.answered'>): void {
    const asked = this.#asked.get(answer.prompt);
    this.#asked.delete(answer.prompt);
    const { context, app, allow, by, edits, shown, duration } = answer;
    if (asked === undefined || context === null || !allow || by !== 'user') return;
    // Attack: an answer by rule, which no person has seen, would make an app's values the user's.
    if (edits !== undefined || shown === undefined) return;
    const { data, subject, durations } = asked.prompt;
    // A yes for longer than was offered was none.
    if (duration === null || !durations.includes(duration)) return;
    const [about] = asked.causes;
    const proposed = about === undefined ? undefined : this.#proposed.get(about);
    if (proposed === undefined || !endorsesValues(proposed.kind, subject.scope)) return;
    const endorsed = { kind: 'values.endorsed', context, data, shown: shown.text } as const;
    this.#agreed.set(answer.prompt, { fact: endorsed, place: { event, app, causes: [] } });
  }

  /**
   * The user allowed a call as it was shown, and the yes counts: the call's values count as the user's from then on. In older
   * journals a grant does not name its question: it is the last in its context.
   */
  #kept({ context, causes: [named] }: Kind<'grant.given'>): readonly Told[] {
    const isIts = ([question, { fact: of }]: readonly [EventId, Endorsement]) =>
      named === undefined ? of.context === context : question === named;
    const found = [...this.#agreed].findLast(isIts);
    if (found === undefined) return [];
    const [question, endorsement] = found;
    this.#agreed.delete(question);
    return [fact(endorsement.fact, endorsement.place)];
  }

  /** What was allowed happened, as it stands in its proposal; what was refused did not. */
  #decided({ verdict, causes: [about] }: Extract<Event, { verdict: unknown }>): readonly Told[] {
    const proposed = about === undefined ? undefined : this.#proposed.get(about);
    if (about !== undefined) this.#proposed.delete(about);
    const proposal = proposed === undefined || verdict !== 'allow' ? null : proposalOf(proposed);
    if (proposed === undefined || proposal === null) return [];
    const { id: event, app, causes } = proposed;
    return [{ kind: 'effect', proposal, place: { event, app, causes } }];
  }
}

function fact(told: HubFact, place: EventPlace): Told {
  return { kind: 'fact', fact: told, place };
}

/** The proposal that the journal's event was made from; null: it was made from none. */
export function proposalOf(event: Event): Proposal | null {
  const [effect, phase] = event.kind.split('.');
  if (phase !== 'proposed') return null;
  const { id: _id, session: _session, sequence: _sequence, time: _time, causes: _causes, ...content } = event;
  const { kind: _kind, app, ...fields } = content;
  // The app of others is that of the context in which they arise.
  const own = effect !== undefined && ABOUT_AN_APP.has(effect) ? { app } : {};
  return { ...fields, ...own, effect } as unknown as Proposal;
}

const ABOUT_AN_APP: ReadonlySet<string> = new Set(['tool-call', 'tool-output', 'egress']);
