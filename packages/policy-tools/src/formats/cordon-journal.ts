/**
 * Cordon's own journal: the events of a session, one a line, as `--json` prints them and the store keeps them.
 *
 * Rules see of it what the live monitor saw, by the same mapping (`cordon-event.ts`): messages where a context heard
 * them, effects that were allowed, in the order in which they were decided. What was refused never happened.
 *
 * Recordings are read with it; the hub does not use it.
 */
import {
  type AppId,
  type ContextId,
  type ContextKind,
  type DecidedBody,
  type Effect,
  type Event,
  type EventBody,
  type EventId,
  HUB_LABEL,
  id,
  isJsonObject,
  type Json,
  type JsonObject,
  type Label,
  type PlanOrigin,
  type PlanStep,
  type Proposal,
  type ProposedBody,
  plannedSourcesIn,
  type ReleasedItem,
  type ToolCall,
} from '@cordon/core';
import { factEvent, proposalEvent, SessionFacts, type Told } from '@cordon/monitor';
import { own } from '../reading/json.ts';
import { join, type Reading } from '../reading/reading.ts';

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
  'right.granted': null,
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
  'answer-part': null,
};

type Step = 'proposed' | 'decided' | 'executed' | 'failed';

const STEPS: readonly Step[] = ['proposed', 'decided', 'executed', 'failed'];

const ENTRY_KINDS: ReadonlySet<string> = new Set([
  ...Object.keys(PLAIN_KINDS),
  ...Object.keys(EFFECTS).flatMap((effect) => STEPS.map((step) => `${effect}.${step}`)),
]);

/** Where an entry stands, and where the fields of its events stand if not under their own names. */
interface Position {
  readonly path: string;
  readonly parts: Readonly<Record<string, string>>;
}

type BodyOf<K extends EventBody['kind']> = Extract<EventBody, { kind: K }>;

/** Whose it is, and for how long, tells rules nothing. */
const GRANT = { kind: 'grant.given' } as BodyOf<'grant.given'>;

export class JournalReader {
  readonly #reading: Reading;
  readonly #facts = new SessionFacts();
  readonly #positions = new Map<string, Position>();
  readonly #proposals = new Set<string>();

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  entries(entries: readonly Json[], path: string): void {
    this.#reading.each(entries, path, (value, at) => this.#entry(this.#frame(value, at)));
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
    const { kind, path } = entry;
    if (!ENTRY_KINDS.has(kind)) this.#reading.wrong(join(path, 'kind'), 'this kind of entry is not known');
    const read = this.#body(entry);
    if (read === null) return;
    const { body, parts = {} } = read;
    this.#positions.set(entry.id, { path, parts });
    for (const told of this.#facts.factsOf(eventOf(entry, body))) this.#emit(told, path);
  }

  /** Null: it tells rules nothing, or the reading has its fault. */
  #body(
    entry: Entry,
  ): { readonly body: EventBody & { readonly label?: Label }; readonly parts?: Position['parts'] } | null {
    const { kind, body, path } = entry;
    // It is a part of a message, and rules see the whole message.
    if (kind.startsWith('answer-part.')) return null;
    if (kind.endsWith('.decided')) return this.#decided(entry);
    if (kind.endsWith('.proposed') && kind !== 'install.proposed') return this.#proposed(entry);
    const content = { content: join(path, 'text') };
    switch (kind) {
      case 'user.message':
        return { body: { kind, text: '' } };
      case 'query.delivered': {
        const text = this.#reading.nameAt(body, 'text', path);
        return { body: { kind, text, label: this.#label(body, path) }, parts: content };
      }
      case 'model.message':
        return { body: { kind, text: this.#reading.nameAt(body, 'text', path), calls: [] }, parts: content };
      case 'context.created':
        // Which kinds of contexts there are is the hub's business.
        return { body: { kind, of: own(body, 'of') as ContextKind, apps: [] } };
      case 'plan.made':
        return this.#plan(entry);
      case 'permission.asked':
        return { body: { kind, prompt: this.#prompt(entry) } };
      case 'permission.answered':
        return this.#answered(entry);
      case 'grant.given':
        return { body: GRANT };
      case 'right.granted': {
        // A right that is none of the hub's grants nothing.
        const right = this.#reading.nameAt(body, 'right', path) as BodyOf<'right.granted'>['right'];
        return { body: { kind, right, value: this.#reading.nameAt(body, 'value', path) } };
      }
      default:
        return null;
    }
  }

  #plan({ body, path }: Entry) {
    const at = join(path, 'plan');
    const plan = this.#reading.objectAt(body, 'plan', path) ?? {};
    if (['steps', 'candidates'].some((key) => own(plan, key) === undefined))
      this.#reading.wrong(path, 'a plan has `steps` and `candidates`');
    const steps = this.#reading
      .objectsAt(plan, 'steps', at, 'a step')
      .map(([step, place]) => this.#step(step, place));
    const candidates = this.#texts(plan, 'candidates', at).map((app): AppId => id(app));
    // Rules compare it as a text; which words there are is the planner's business.
    const origin = this.#reading.nameAt(body, 'origin', path) as PlanOrigin;
    const parts = { steps: join(at, 'steps'), candidates: join(at, 'candidates') };
    return { body: { kind: 'plan.made', plan: { steps, candidates }, origin } as const, parts };
  }

  #step(step: JsonObject, path: string): PlanStep {
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

  #prompt({ body, path }: Entry): BodyOf<'permission.asked'>['prompt'] {
    const at = join(path, 'prompt');
    const prompt = this.#reading.objectAt(body, 'prompt', path) ?? {};
    const subject = this.#reading.objectAt(prompt, 'subject', at) ?? {};
    const data = this.#reading.objectsAt(prompt, 'data', at, 'a datum').map(([datum, place]) => {
      const text = (key: string) => this.#reading.nameAt(datum, key, place);
      const hasArguments = own(datum, 'identifying') !== undefined;
      return { name: text('name'), value: text('value'), ...(hasArguments ? { identifying: [] } : {}) };
    });
    // Only these are looked at; the rest of a question is for the user who is asked.
    const read = { subject, data, durations: this.#reading.listAt(prompt, 'durations', at) };
    return read as unknown as BodyOf<'permission.asked'>['prompt'];
  }

  #answered({ body, path }: Entry): { readonly body: BodyOf<'permission.answered'> } {
    const seen = own(body, 'shown') === undefined ? null : this.#reading.objectAt(body, 'shown', path);
    const shown =
      seen === null
        ? {}
        : { shown: { text: this.#reading.nameAt(seen, 'text', join(path, 'shown')), digest: '' } };
    const isEdited = own(body, 'edits') !== undefined;
    return {
      body: {
        kind: 'permission.answered',
        prompt: id(this.#reading.nameAt(body, 'prompt', path)),
        allow: own(body, 'allow') === true,
        by: own(body, 'by') === 'user' ? 'user' : 'no-answer',
        // A word that is not among them was not offered.
        duration: (own(body, 'duration') ?? null) as BodyOf<'permission.answered'>['duration'],
        ...shown,
        ...(isEdited ? { edits: [] } : {}),
      },
    };
  }

  #emit(told: Told, path: string): void {
    const position = this.#positions.get(told.place.event) ?? { path, parts: {} };
    const event =
      told.kind === 'fact' ? factEvent(told.fact, told.place) : proposalEvent(told.proposal, told.place);
    const parts = event.type === 'Carrier' ? {} : position.parts;
    const located = Object.keys(parts).length === 0 ? {} : { parts };
    this.#reading.emit({ ...event, path: position.path, ...located });
  }

  /** The effect happens when it has been allowed; what is known of it is in its proposal. */
  #decided({ kind, causes, body, path }: Entry): { readonly body: EventBody } | null {
    const verdict = own(body, 'verdict');
    if (verdict !== 'allow' && verdict !== 'deny')
      this.#reading.wrong(path, 'a decision says `allow` or `deny`');
    if (verdict === 'allow' && !this.#proposals.has(causes[0] ?? '')) {
      this.#reading.wrong(path, 'a decision names its proposal as its cause');
      return null;
    }
    const decided = { verdict: verdict === 'allow' ? 'allow' : 'deny', reasons: [], warnings: [] } as const;
    return { body: { kind: kind as DecidedBody['kind'], permission: 'not-needed', ...decided } };
  }

  #proposed(entry: Entry): { readonly body: EventBody; readonly parts: Position['parts'] } | null {
    const { kind, context, path } = entry;
    this.#proposals.add(entry.id);
    if (context === null) {
      this.#reading.wrong(path, 'a proposal has a `context`');
      return null;
    }
    const fields = this.#fields(entry);
    if (fields === null) return null;
    const parts = Object.entries(PARTS[fields.effect] ?? {}).map(([part, key]) => [part, join(path, key)]);
    // The union's members differ only in `kind`, which is that of the entry; the compiler cannot follow that.
    return { body: { ...fields, kind } as ProposedBody, parts: Object.fromEntries(parts) };
  }

  /** Null: and the reading has its fault. */
  #fields({ kind, body, path }: Entry): ProposalFields | null {
    const reading = this.#reading;
    const text = (key: string) => reading.nameAt(body, key, path);
    const app = (key: string): AppId => id(text(key));
    const appOrNull = (key: string): AppId | null => {
      const name = reading.textAt(body, key, path);
      return name === null ? null : id(name);
    };
    const flag = (key: string) => this.#flag(body, key, path);
    const exchange = () => ({
      peer: id<'ephemeral'>(text('peer')),
      functionality: id<'functionality'>(text('functionality')),
      message: own(body, 'message') ?? null,
      callId: text('callId'),
    });
    switch (kind) {
      case 'model-call.proposed':
        return { effect: 'model-call', model: '', messages: 0, tools: [], digest: '' };
      case 'tool-call.proposed':
        return {
          effect: 'tool-call',
          app: app('app'),
          tool: text('tool'),
          arguments: reading.object(own(body, 'arguments'), path, '`arguments`'),
          callId: text('callId'),
          irreversible: flag('irreversible'),
          ...(own(body, 'isOffPlan') === undefined ? {} : { isOffPlan: flag('isOffPlan') }),
          ...this.#sources(body, path),
          ...this.#toolLabels(body, path),
        };
      case 'tool-output.proposed':
        return {
          effect: 'tool-output',
          app: app('app'),
          tool: text('tool'),
          callId: text('callId'),
          text: text('text'),
          structured: own(body, 'structured') ?? null,
          isError: flag('isError'),
          label: this.#label(body, path),
        };
      case 'app-request.proposed':
        return { effect: 'app-request', ...exchange(), from: appOrNull('from'), to: app('to') };
      case 'app-response.proposed':
        return {
          effect: 'app-response',
          ...exchange(),
          from: app('from'),
          to: appOrNull('to'),
          label: this.#label(body, path),
        };
      case 'data-release.proposed':
        return { effect: 'data-release', to: appOrNull('to'), items: this.#items(body, path) };
      case 'egress.proposed':
        return {
          effect: 'egress',
          app: app('app'),
          method: text('method'),
          host: text('host'),
          port: this.#number(body, 'port', path),
          path: reading.textAt(body, 'path', path),
          // Journals of before it was known have none.
          bytes: (own(body, 'bytes') ?? null) === null ? null : this.#number(body, 'bytes', path),
          ...(own(body, 'holdsOwnOnly') === undefined ? {} : { holdsOwnOnly: flag('holdsOwnOnly') }),
        };
      case 'answer.proposed':
        return { effect: 'answer', text: text('text') };
      default:
        // An effect that this version does not know could be anything: a part of a trace proves nothing.
        reading.wrong(join(path, 'kind'), 'the effect is not known');
        return null;
    }
  }

  #items(body: JsonObject, path: string): readonly ReleasedItem[] {
    return this.#reading.objectsAt(body, 'items', path, 'an item').map(([item, at]) => {
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

  /** Calls whose plan does not say, and journals of before plans said it, have none. */
  #sources(body: JsonObject, path: string): Pick<ToolCall, 'sources'> {
    const given = own(body, 'sources');
    if (given === undefined) return {};
    const sources = plannedSourcesIn(given);
    if (sources !== null) return { sources };
    this.#reading.wrong(join(path, 'sources'), '`sources` is an object of lists of sources');
    return {};
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

type WithoutContext<P> = P extends Proposal ? Omit<P, 'context'> : never;

/** Of a proposal, without what the entry's frame has. */
type ProposalFields = WithoutContext<Proposal>;

/** Under which keys of an entry the fields stand that rules see under other names. */
const PARTS: Readonly<Partial<Record<Effect, Readonly<Record<string, string>>>>> = {
  'tool-call': { id: 'callId', name: 'tool', arguments: 'arguments' },
  'tool-output': { content: 'text', tool_call_id: 'callId' },
  'app-request': { id: 'callId' },
  'app-response': { id: 'callId' },
  answer: { content: 'text' },
};

function eventOf(
  { id: event, context, app, causes }: Entry,
  body: EventBody & { readonly label?: Label },
): Event {
  // Where the journal was written, and when, tells rules nothing.
  const frame = { id: event, context, app, causes, session: id<'session'>('read'), sequence: 0, time: 0 };
  return { label: HUB_LABEL, ...frame, ...body };
}
