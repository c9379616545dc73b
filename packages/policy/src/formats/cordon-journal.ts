/**
 * Cordon's own journal: the events of a session, one a line, as `--json` prints them and the store keeps them.
 *
 * Rules see of it what the live monitor saw, by the same mapping (`cordon-event.ts`): messages where a context heard
 * them, effects that were allowed, in the order in which they were decided. What was refused never happened.
 *
 * Ring 1: recordings are read with it; the hub does not use it.
 */
import {
  type AppId,
  type ContextId,
  type Effect,
  type EventBody,
  type EventId,
  endorsesValues,
  id,
  isJsonObject,
  type Json,
  type JsonObject,
  type Label,
  type PlanOrigin,
  type PlanStep,
  type Proposal,
  type ReleasedItem,
  type ToolCall,
} from '@cordon/core';
import type { TraceEvent } from '../trace-event.ts';
import { type EventPlace, factEvent, type HubFact, proposalEvent } from './cordon-event.ts';
import { join, own, type Reading } from './reading.ts';

/** Where the user's words arise; no context of the hub has this id. */
const USER_CONTEXT: ContextId = id('user');

/** An entry whose frame has been read. */
interface Entry {
  readonly kind: string;
  readonly id: EventId;
  readonly context: ContextId | null;
  readonly app: AppId | null;
  readonly causes: readonly EventId[];
  readonly body: JsonObject;
  readonly path: string;
}

/** Contexts that serve no query of the user: none of them is the one a plan was made for. */
const NOT_SERVING: ReadonlySet<string> = new Set([
  'planner',
  'errand',
  'reader',
  'summary',
  'facts',
  'inquiry',
]);

/** What a journal may tell of; most of it says nothing to a rule. */
const PLAIN_KINDS: Readonly<Record<Exclude<EventBody['kind'], `${Effect}.${Step}`>, null>> = {
  'session.started': null,
  'session.resumed': null,
  'session.ended': null,
  'user.message': null,
  'query.delivered': null,
  'query.resumed': null,
  'query.ended': null,
  'plan.made': null,
  'context.created': null,
  'context.ended': null,
  'summary.made': null,
  'facts.learnt': null,
  'fact.observed': null,
  'app.started': null,
  'app.unavailable': null,
  'app.stopped': null,
  'app.pinned': null,
  'app.installed': null,
  'app.changed': null,
  'model.message': null,
  'question.answered': null,
  'tool-call.in-doubt': null,
  'probe.received': null,
  'offer.made': null,
  'probe.refused': null,
  'install.proposed': null,
  'request.refused': null,
  'read.refused': null,
  'permission.asked': null,
  'permission.answered': null,
  'choice.asked': null,
  'choice.answered': null,
  'grant.given': null,
  'grant.used': null,
  'message.dropped': null,
  'egress.refused': null,
  'egress.closed': null,
};

const EFFECTS: Readonly<Record<Effect, null>> = {
  'model-call': null,
  'tool-call': null,
  'tool-output': null,
  'app-request': null,
  'app-response': null,
  'data-release': null,
  egress: null,
  answer: null,
};

type Step = 'proposed' | 'decided' | 'executed' | 'failed';

const STEPS: readonly Step[] = ['proposed', 'decided', 'executed', 'failed'];

const ENTRY_KINDS: ReadonlySet<string> = new Set([
  ...Object.keys(PLAIN_KINDS),
  ...Object.keys(EFFECTS).flatMap((effect) => STEPS.map((step) => `${effect}.${step}`)),
]);

export class JournalReader {
  readonly #reading: Reading;
  readonly #entries = new Map<string, Entry>();
  /** A plan is made before the context that serves it exists, and becomes visible there before all else. */
  #plan: Entry | null = null;
  readonly #plans = new Map<ContextId, Entry>();
  /** The app whose context it is, as `context.created` says. */
  readonly #apps = new Map<ContextId, AppId | null>();

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  entries(entries: readonly Json[], path: string): void {
    for (const [index, value] of entries.entries()) {
      if (this.#reading.fault !== null) return;
      this.#entry(this.#frame(value, join(path, index)));
    }
  }

  #frame(value: Json, path: string): Entry {
    const reading = this.#reading;
    const body = reading.object(value, path, 'an entry');
    const context = reading.textAt(body, 'context', path);
    const app = reading.textAt(body, 'app', path);
    return {
      kind: reading.nameAt(body, 'kind', path),
      id: id(reading.nameAt(body, 'id', path)),
      context: context === null ? null : id(context),
      app: app === null ? null : id(app),
      causes: this.#texts(body, 'causes', path).map((cause) => id(cause)),
      body,
      path,
    };
  }

  #texts(from: JsonObject, key: string, path: string): readonly string[] {
    return this.#reading.listAt(from, key, path).flatMap((value) => {
      if (typeof value === 'string') return [value];
      this.#reading.wrong(join(path, key), `\`${key}\` is a list of texts`);
      return [];
    });
  }

  #entry(entry: Entry): void {
    const { kind, context, body, path } = entry;
    this.#entries.set(entry.id, entry);
    if (!ENTRY_KINDS.has(kind)) this.#reading.wrong(join(path, 'kind'), 'this kind of entry is not known');
    if (kind === 'user.message') {
      this.#plan = null;
      this.#fact(entry, { kind: 'carried', context: USER_CONTEXT }, { app: null, causes: [] }, {});
    } else if (kind === 'plan.made') this.#planned(entry);
    else if (kind === 'context.created') this.#created(entry);
    else if (kind.endsWith('.decided')) this.#decided(entry);
    else if (kind === 'permission.answered') this.#answered(entry);
    else if (context === null) return;
    else if (kind === 'query.delivered') this.#heard(entry, context);
    else if (kind === 'model.message') {
      this.#planFirst(context);
      const text = this.#reading.nameAt(body, 'text', path);
      this.#fact(entry, { kind, context, text, calls: [] }, {}, { content: join(path, 'text') });
    }
  }

  /** A context that was foreseen has the plan at once. */
  #planned(entry: Entry): void {
    if (entry.context === null) {
      this.#plan = entry;
      return;
    }
    this.#plans.set(entry.context, entry);
    this.#planFirst(entry.context);
  }

  #created({ context, app, body }: Entry): void {
    const of = own(body, 'of');
    if (context !== null) this.#apps.set(context, app);
    if (this.#plan === null || context === null || typeof of !== 'string' || NOT_SERVING.has(of)) return;
    this.#plans.set(context, this.#plan);
    this.#plan = null;
  }

  #planFirst(context: ContextId): void {
    const entry = this.#plans.get(context);
    if (entry === undefined) return;
    this.#plans.delete(context);
    const at = join(entry.path, 'plan');
    const plan = this.#reading.objectAt(entry.body, 'plan', entry.path) ?? {};
    if (['steps', 'candidates'].some((key) => own(plan, key) === undefined))
      this.#reading.wrong(entry.path, 'a plan has `steps` and `candidates`');
    const steps = this.#reading
      .listAt(plan, 'steps', at)
      .map((step, index) => this.#step(step, join(at, 'steps', index)));
    const candidates = this.#texts(plan, 'candidates', at).map((app): AppId => id(app));
    // Rules compare it as a text; which words there are is the planner's business.
    const origin = this.#reading.nameAt(entry.body, 'origin', entry.path) as PlanOrigin;
    const parts = { steps: join(at, 'steps'), candidates: join(at, 'candidates') };
    const place = { app: this.#apps.get(context) ?? null, causes: [] };
    this.#fact(entry, { kind: 'plan.made', context, plan: { steps, candidates }, origin }, place, parts);
  }

  #step(value: Json, path: string): PlanStep {
    const step = this.#reading.object(value, path, 'a step');
    const app = this.#reading.textAt(step, 'app', path);
    return {
      id: this.#reading.nameAt(step, 'id', path),
      app: app === null ? null : id(app),
      task: this.#reading.nameAt(step, 'task', path),
      uses: this.#texts(step, 'uses', path),
      needs: this.#texts(step, 'needs', path),
      after: this.#texts(step, 'after', path),
    };
  }

  /** The user's words, or another context's request, become visible in a context, after what it recalls. */
  #heard(entry: Entry, context: ContextId): void {
    this.#planFirst(context);
    const { body, path } = entry;
    const [first, ...recalled] = entry.causes;
    const text = this.#reading.nameAt(body, 'text', path);
    const isUsers = first !== undefined && this.#entries.get(first)?.kind === 'user.message';
    if (!isUsers) {
      this.#fact(entry, { kind: 'carried', context, label: this.#label(body, path) }, {}, {});
      return;
    }
    if (recalled.length > 0) {
      const event: EventId = id(`history of ${context}`);
      this.#emit(
        factEvent({ kind: 'carried', context }, { event, app: entry.app, causes: recalled }),
        path,
        {},
      );
    }
    this.#fact(
      entry,
      { kind: 'user.message', context, text },
      { causes: [first] },
      { content: join(path, 'text') },
    );
  }

  /** A yes of the user, as it was shown, endorses the values in the question. */
  #answered(entry: Entry): void {
    const { context, body, path } = entry;
    if (own(body, 'allow') !== true || own(body, 'by') !== 'user' || own(body, 'edits') !== undefined) return;
    const asked = this.#entries.get(this.#reading.nameAt(body, 'prompt', path));
    const about = this.#entries.get(asked?.causes[0] ?? '');
    const isSeen = own(body, 'shown') !== undefined;
    if (asked === undefined || context === null || !isSeen) return;
    const seen = this.#reading.objectAt(body, 'shown', path) ?? {};
    const shown = this.#reading.nameAt(seen, 'text', join(path, 'shown'));
    const at = join(asked.path, 'prompt');
    const prompt = this.#reading.objectAt(asked.body, 'prompt', asked.path) ?? {};
    // A yes for longer than was offered was none.
    if (!this.#reading.listAt(prompt, 'durations', at).includes(own(body, 'duration') ?? null)) return;
    const subject = this.#reading.objectAt(prompt, 'subject', at) ?? {};
    if (about === undefined || !endorsesValues(about.kind, own(subject, 'scope'))) return;
    const data = this.#reading.listAt(prompt, 'data', at).map((value, index) => {
      const datum = this.#reading.object(value, join(at, 'data', index), 'a datum');
      const text = (key: string) => this.#reading.nameAt(datum, key, join(at, 'data', index));
      const hasArguments = own(datum, 'identifying') !== undefined;
      return { name: text('name'), value: text('value'), ...(hasArguments ? { identifying: [] } : {}) };
    });
    this.#fact(entry, { kind: 'call.endorsed', context, data, shown }, { causes: [] }, {});
  }

  #fact(
    entry: Entry,
    fact: HubFact,
    place: { readonly app?: AppId | null; readonly causes?: readonly EventId[] },
    parts: Readonly<Record<string, string>>,
  ): void {
    const { id: event, app, causes } = entry;
    this.#emit(factEvent(fact, { event, app, causes, ...place }), entry.path, parts);
  }

  #emit(event: TraceEvent, path: string, parts: Readonly<Record<string, string>>): void {
    this.#reading.emit({ ...event, path, ...(Object.keys(parts).length === 0 ? {} : { parts }) });
  }

  /** The effect happens when it has been allowed; what is known of it stands in its proposal. */
  #decided({ causes, body, path }: Entry): void {
    if (own(body, 'verdict') !== 'allow') {
      if (own(body, 'verdict') !== 'deny') this.#reading.wrong(path, 'a decision says `allow` or `deny`');
      return;
    }
    const proposed = causes[0] === undefined ? undefined : this.#entries.get(causes[0]);
    if (proposed?.kind.endsWith('.proposed') !== true) {
      this.#reading.wrong(path, 'a decision names its proposal as its cause');
      return;
    }
    const { context } = proposed;
    if (context === null) {
      this.#reading.wrong(proposed.path, 'a proposal has a `context`');
      return;
    }
    this.#planFirst(context);
    const read = this.#proposal(proposed, context);
    if (read === null) return;
    const place: EventPlace = { event: proposed.id, app: proposed.app, causes: proposed.causes };
    this.#emit(proposalEvent(read.proposal, place), proposed.path, read.parts);
  }

  /** Null: and the reading has its fault. */
  #proposal(entry: Entry, context: ContextId): ReadProposal | null {
    const { body, path } = entry;
    const text = (key: string) => this.#reading.nameAt(body, key, path);
    const app = (key: string): AppId => id(text(key));
    const appOrNull = (key: string): AppId | null => {
      const name = this.#reading.textAt(body, key, path);
      return name === null ? null : id(name);
    };
    const exchange = () => ({
      context,
      peer: id<'ephemeral'>(text('peer')),
      functionality: id<'functionality'>(text('functionality')),
      message: own(body, 'message') ?? null,
      callId: text('callId'),
    });
    switch (entry.kind) {
      case 'model-call.proposed':
        return {
          proposal: { effect: 'model-call', context, model: '', messages: 0, tools: [], digest: '' },
          parts: {},
        };
      case 'tool-call.proposed':
        return {
          proposal: {
            effect: 'tool-call',
            context,
            app: app('app'),
            tool: text('tool'),
            arguments: this.#reading.object(own(body, 'arguments'), path, '`arguments`'),
            callId: text('callId'),
            irreversible: this.#flag(body, 'irreversible', path),
            ...(own(body, 'isOffPlan') === undefined
              ? {}
              : { isOffPlan: this.#flag(body, 'isOffPlan', path) }),
            ...this.#toolLabels(body, path),
          },
          parts: { id: join(path, 'callId'), name: join(path, 'tool'), arguments: join(path, 'arguments') },
        };
      case 'tool-output.proposed':
        return {
          proposal: {
            effect: 'tool-output',
            context,
            app: app('app'),
            tool: text('tool'),
            callId: text('callId'),
            text: text('text'),
            structured: own(body, 'structured') ?? null,
            isError: this.#flag(body, 'isError', path),
            label: this.#label(body, path),
          },
          parts: { content: join(path, 'text'), tool_call_id: join(path, 'callId') },
        };
      case 'app-request.proposed':
        return {
          proposal: { effect: 'app-request', ...exchange(), from: appOrNull('from'), to: app('to') },
          parts: { id: join(path, 'callId') },
        };
      case 'app-response.proposed':
        return {
          proposal: {
            effect: 'app-response',
            ...exchange(),
            from: app('from'),
            to: appOrNull('to'),
            label: this.#label(body, path),
          },
          parts: { id: join(path, 'callId') },
        };
      case 'data-release.proposed':
        return {
          proposal: { effect: 'data-release', context, to: appOrNull('to'), items: this.#items(body, path) },
          parts: {},
        };
      case 'egress.proposed':
        return {
          proposal: {
            effect: 'egress',
            context,
            app: app('app'),
            method: text('method'),
            host: text('host'),
            port: this.#number(body, 'port', path),
            path: this.#reading.textAt(body, 'path', path),
            // Journals of before it was known have none.
            bytes:
              own(body, 'bytes') === undefined || own(body, 'bytes') === null
                ? null
                : this.#number(body, 'bytes', path),
          },
          parts: {},
        };
      case 'answer.proposed':
        return {
          proposal: { effect: 'answer', context, text: text('text') },
          parts: { content: join(path, 'text') },
        };
      default:
        // An effect that this version does not know could be anything: a part of a trace proves nothing.
        this.#reading.wrong(join(path, 'kind'), 'the effect is not known');
        return null;
    }
  }

  #items(body: JsonObject, path: string): readonly ReleasedItem[] {
    return this.#reading.listAt(body, 'items', path).map((value, index) => {
      const at = join(path, 'items', index);
      const item = this.#reading.object(value, at, 'an item');
      const origin = this.#reading.textAt(item, 'origin', at);
      return {
        name: this.#reading.nameAt(item, 'name', at),
        value: this.#reading.nameAt(item, 'value', at),
        origin: origin === null ? null : id(origin),
        label: this.#label(item, at),
      };
    });
  }

  #flag(body: JsonObject, key: string, path: string): boolean {
    const value = own(body, key);
    if (typeof value === 'boolean') return value;
    this.#reading.wrong(value === undefined ? path : join(path, key), `\`${key}\` is true or false`);
    return false;
  }

  /** Journals of before they were known have none. */
  #toolLabels(body: JsonObject, path: string): Pick<ToolCall, 'labels'> {
    const at = join(path, 'labels');
    const labels = own(body, 'labels');
    if (labels === undefined) return {};
    const given = this.#reading.object(labels, path, '`labels`');
    const identifying = own(given, 'identifying') ?? null;
    const items: readonly Json[] = Array.isArray(identifying) ? identifying : [];
    const names = identifying === null ? null : items.filter((name) => typeof name === 'string');
    if (identifying !== null && (!Array.isArray(identifying) || names?.length !== items.length))
      this.#reading.wrong(at, '`identifying` is a list of names, or null');
    const readOnly = this.#flag(given, 'readOnly', at);
    const outward = this.#flag(given, 'outward', at);
    const kept = { readOnly, outward, identifying: names };
    if (own(given, 'mayLeave') === undefined) return { labels: kept };
    return { labels: { ...kept, mayLeave: this.#flag(given, 'mayLeave', at) } };
  }

  #number(body: JsonObject, key: string, path: string): number {
    const value = own(body, key);
    if (typeof value === 'number') return value;
    this.#reading.wrong(value === undefined ? path : join(path, key), `\`${key}\` is a number`);
    return 0;
  }

  #label(body: JsonObject, path: string): Label {
    const label = own(body, 'label');
    const integrity = isJsonObject(label) ? own(label, 'integrity') : null;
    const confidentiality = isJsonObject(label) ? own(label, 'confidentiality') : null;
    if (
      (integrity === 'trusted' || integrity === 'untrusted') &&
      (confidentiality === 'public' || confidentiality === 'private')
    ) {
      return { integrity, confidentiality };
    }
    this.#reading.wrong(label === undefined ? path : join(path, 'label'), 'the label is none of the four');
    return { integrity: 'untrusted', confidentiality: 'private' };
  }
}

interface ReadProposal {
  readonly proposal: Proposal;
  /** Where rules' fields stood, if not under their own names. */
  readonly parts: Readonly<Record<string, string>>;
}
