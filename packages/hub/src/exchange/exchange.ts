/**
 * Inter-spoke exchange (paper, IV-C): probe, offer, request, response. A context learns neither who serves it nor
 * what is installed; messages are validated both ways, closed values pass, free text becomes a reference. Whose words
 * an answer may hold, and how bad they are, is kept however many contexts it came through.
 *
 * Ring 0.
 */
import {
  type AppId,
  type AppRequest,
  type AppResponse,
  type ContextId,
  canonicalJson,
  type DataRelease,
  type EphemeralId,
  type Event,
  type EventId,
  type Fault,
  type Functionality,
  type FunctionalityName,
  failed,
  fault,
  HUB_LABEL,
  type InstalledApp,
  id,
  isJsonObject,
  type Json,
  type JsonSchema,
  joinLabels,
  type Label,
  ok,
  REFUSED_TEXT,
  type Result,
  replaceFreeText,
} from '@cordon/core';
import { readingsOf } from '@cordon/protocol';
import type { AppHost } from '../apps/app-host.ts';
import { plainSchema, type Registry, usesOf } from '../apps/registry.ts';
import type { LoadValidator, SchemaValidator } from '../apps/schema-validator.ts';
import type { ConsentRequirement, Flow } from '../consent/consent-requirement.ts';
import { exchangeRequirement, openRequirement } from '../consent/requirements.ts';
import { labelOfEdit, type Revise, reviseMessage, reviseRelease } from '../consent/revision.ts';
import type { AppTool, ToolResult } from '../context/app-tool.ts';
import type { Context, Peer } from '../context/context.ts';
import type { Query } from '../context/query.ts';
import type { HeldText, PlacedText } from '../context/references.ts';
import type { Recorder } from '../journal/recorder.ts';
import type { Gate } from '../mediation/gate.ts';
import { describeFailure, isExpected, type ReadyCall, type ToolCalls } from '../mediation/tool-calls.ts';
import type { Served } from '../spokes/spoke-link.ts';
import { isSecretTo, type Reader } from './reader.ts';

/** What a context serves for another, by its own model. */
export interface ServingTask {
  readonly app: InstalledApp;
  readonly functionality: Functionality;
  readonly message: Json;
  readonly depth: number;
  /** The request that the new context carries on, how trustworthy its message is, and whose words it may hold. */
  readonly cause: EventId;
  readonly label: Label;
  readonly origins: readonly AppId[];
  /** Whether whoever asked knows closed values of others, which may stand in the message. */
  readonly holdsOthersValues: boolean;
  /** Aborts when whoever asked is gone. */
  readonly signal: AbortSignal;
}

/** The answer as the context that served gave it: its references mean something in it alone. */
export interface ServedTask {
  readonly text: string;
  readonly context: Context;
}

export interface ExchangeParts {
  readonly gate: Gate;
  readonly recorder: Recorder;
  readonly registry: Registry;
  readonly apps: AppHost;
  readonly calls: ToolCalls;
  readonly validator: LoadValidator;
  readonly newPeerId: (context: ContextId, to: AppId, functionality: Functionality['name']) => EphemeralId;
  readonly newCallId: () => string;
  readonly maxDepth: number;
  readonly reader: Reader;
  /** Names of what the user could install that serves a functionality; what is installed is not among them. */
  readonly installable: (functionality: string) => readonly string[];
  /** What the journal holds of a session that goes on. */
  readonly past: readonly Event[];
  /** A context without tools of its own that carries a call made on another's behalf. */
  readonly errand: (from: Context, app: AppId, request: EventId) => Context;
  readonly serve: (query: Query, task: ServingTask) => Promise<Result<ServedTask, Fault>>;
  /** The user picks among several apps that serve a functionality. */
  readonly choose: (context: Context, functionality: string, apps: readonly AppId[]) => Promise<AppId | null>;
}

/**
 * The contexts of an app probe at most so often in one query, answered or not: more is an attempt to list what is installed.
 * Attack: an app that has others ask it, each time in a context of its own, with probes of its own.
 */
const MAX_PROBES = 8;
/**
 * Requests to peers that one query may lead to, in all its contexts. Attack: A asks B, which asks A, which asks B: each
 * within its own limits, and in the end as many as the tokens pay for.
 */
const MAX_EXCHANGES = 64;

export class Exchange {
  readonly #parts: ExchangeParts;
  /** Whom each ephemeral id of this session was given to; to say in the trace whose was used by somebody else. */
  readonly #offered = new Map<string, ContextId>();
  readonly #exchanges = new WeakMap<Query, number>();
  /** How often the contexts of each app have asked who serves a functionality. */
  readonly #probes = new WeakMap<Query, Map<AppId | null, number>>();
  /** Functionalities for which the user was told, in this session, what could be installed. */
  readonly #proposed: Set<string>;
  /** The first of them in each query. */
  readonly #missing = new WeakMap<Query, FunctionalityName>();

  constructor(parts: ExchangeParts) {
    this.#parts = parts;
    this.#proposed = new Set(proposedIn(parts.past));
  }

  /** A query that goes on proposes what it proposed before it was interrupted. `events`: of it. */
  resumeFrom(events: readonly Event[]): void {
    for (const functionality of proposedIn(events)) this.#proposed.delete(functionality);
  }

  /** Gives a context an ephemeral id for a functionality of an app; the plan or the user chose the app. */
  offer(context: Context, app: AppId, functionality: Functionality): EphemeralId {
    const { name } = functionality;
    const peer = this.#parts.newPeerId(context.id, app, name);
    context.peers.set(peer, { app, functionality });
    this.#offered.set(peer, context.id);
    this.#parts.recorder.record(context, { kind: 'offer.made', functionality: name, peer, to: app });
    return peer;
  }

  /** Steps 1 and 2 of the collaboration: what is served, and in which format. */
  async probe(context: Context, query: Query, name: string): Promise<Served> {
    this.#parts.recorder.record(context, { kind: 'probe.received', functionality: name.slice(0, 64) });
    if (!this.#mayProbe(context, query)) return this.#unserved(context, name);
    const serving = this.#parts.registry.serving(name).filter(({ app }) => app.id !== context.app);
    const chosen =
      serving.length <= 1
        ? serving[0]?.app.id
        : await this.#parts.choose(
            context,
            name,
            serving.map(({ app }) => app.id),
          );
    const found = serving.find(({ app }) => app.id === chosen);
    if (found === undefined) {
      if (serving.length === 0) this.#propose(context, query, name);
      return this.#unserved(context, name);
    }
    const { functionality } = found;
    const peer = this.offer(context, found.app.id, functionality);
    return ok({
      type: 'offer',
      peer,
      request: plainSchema(functionality.request),
      response: plainSchema(functionality.response),
    });
  }

  #mayProbe({ app }: Context, query: Query): boolean {
    const probes = this.#probes.get(query) ?? new Map<AppId | null, number>();
    this.#probes.set(query, probes);
    const count = (probes.get(app) ?? 0) + 1;
    probes.set(app, count);
    return count <= MAX_PROBES;
  }

  /** What a context of this query has asked for in vain and the user's list knows; null: nothing new. */
  missing(query: Query): FunctionalityName | null {
    return this.#missing.get(query) ?? null;
  }

  /**
   * The user learns that something would serve it; the spoke gets what it would get anyway, at the same time. What it
   * could tell from the time that a question takes it does not learn: the operator asks when the turn is over.
   */
  #propose(context: Context, query: Query, name: string): void {
    const apps = this.#parts.installable(name);
    if (apps.length === 0 || this.#proposed.has(name)) return;
    this.#proposed.add(name);
    const functionality: FunctionalityName = id(name);
    if (!this.#missing.has(query)) this.#missing.set(query, functionality);
    this.#parts.recorder.record(context, { kind: 'install.proposed', functionality, apps });
  }

  #unserved(context: Context, name: string): Served {
    this.#parts.recorder.record(context, { kind: 'probe.refused', functionality: name.slice(0, 64) });
    return refusal();
  }

  /** Steps 3 to 6: the request is checked, decided and served; the response likewise, and delivered. */
  async request(
    context: Context,
    query: Query,
    peerId: string,
    sent: Json,
    signal: AbortSignal,
  ): Promise<Served> {
    const peer = context.peers.get(peerId as EphemeralId);
    const app = peer === undefined ? undefined : this.#parts.registry.get(peer.app);
    if (peer === undefined || app === undefined) {
      const owner = this.#offered.get(peerId);
      const whose = owner === undefined ? 'that nobody was offered' : `that was offered to \`${owner}\``;
      return this.#malformed(context, `a request to a peer ${whose}`, 'there is no such peer');
    }
    const texts = context.references.namedIn(sent);
    const message = context.references.resolve(sent);
    // Attack: a format with a pattern or an `enum` says of a text that nobody has released whether it fits, one bit a request.
    const secrets = texts.filter((held) => isSecretTo(context, held));
    if (!secrets.every((held) => this.#parts.reader.mayTell(context, query, held, 1)))
      return this.#unaffordable(context, peer, 'budget');
    const validator = await this.#parts.validator();
    const valid = validator.check(peer.functionality.request, message);
    if (!valid.ok) {
      const told = secrets.length === 0 ? valid.fault : 'it does not fit its format';
      return this.#malformed(context, 'a request that does not fit its format', told);
    }

    if (!this.#isAffordable(query)) return this.#unaffordable(context, peer, 'budget');
    const callId = this.#parts.newCallId();
    const direct = await this.#directCall(peer, app, message, texts);
    if (!direct.ok) return direct;
    if (direct.value === null && context.depth >= this.#parts.maxDepth)
      return this.#unaffordable(context, peer, 'depth');
    // An app takes seconds to start; what the query left behind must not ask about itself in the next one.
    if (isOver(query, signal)) return failed(OVER);
    const requirement = this.#requirement(context, query, peer, app, message, texts, direct.value);
    const proposal: AppRequest = {
      effect: 'app-request',
      context: context.id,
      from: context.app,
      to: app.id,
      peer: peerId as EphemeralId,
      functionality: peer.functionality.name,
      message,
      callId,
    };
    const { causes } = context;
    const carries: Sources = { label: joinedLabel(context.label, texts), origins: originsIn(context, texts) };
    const carried = await this.#parts.gate.carryOut(
      context,
      proposal,
      {
        causes,
        label: carries.label,
        requirement,
        revise: reviseRequest(proposal, carries.label, validator, peer),
      },
      (allowance, event) => {
        const request = this.#parts.gate.spend(allowance);
        // Whoever asked may be gone when the user has answered.
        if (isOver(query, signal)) return failed(OVER);
        return direct.value === null
          ? this.#serveByContext(context, query, peer, app, request.message, event, carries, signal)
          : this.#serveByTool(
              context,
              query,
              app,
              callOf(direct.value, request.message),
              event,
              carries,
              signal,
            );
      },
    );
    if (carried.kind === 'failed') {
      const isPeers = direct.value === null && ENDS_OF_PEERS.has(carried.fault.kind);
      return isPeers && !isOver(query, signal) ? answerTo(carried.fault) : failed(carried.fault);
    }
    if (carried.kind === 'refused') {
      if (direct.value !== null) this.#parts.calls.takeBack(query.plan, direct.value);
      query.refused(carried.reasons, isExpected(query.plan, app.id, usesOfPeer(peer, app)));
      return refusal();
    }
    const served = carried.value;
    return served.kind === 'served'
      ? this.#respond(context, query, peer, app, proposal, served)
      : served.answer;
  }

  /** The text behind a reference becomes visible, if the user and the policy let it. */
  async open(context: Context, query: Query, reference: string): Promise<Served> {
    const held = context.references.get(reference);
    if (held === undefined) return this.#unheld(context);
    const foreign = context.references.namedIn(reference).filter(({ origin }) => origin !== context.app);
    const origin = foreign[0]?.origin ?? held.origin;
    const items = [{ name: held.reference, value: held.text, origin, label: held.label }];
    const proposal: DataRelease = { effect: 'data-release', context: context.id, to: context.app, items };
    const { causes } = context;
    const carried = await this.#parts.gate.deliver(context, proposal, {
      causes,
      label: held.label,
      requirement: openRequirement(query.plan, context, held, foreign),
      ...(origin === held.origin ? { revise: reviseRelease(proposal) } : {}),
    });
    if (carried.kind === 'failed') return failed(carried.fault);
    if (carried.kind === 'refused') {
      // A user who keeps a text closed has not refused the query; a policy that does has (decision 0004).
      const isByPolicy = carried.reasons.some(({ because }) => because !== 'permission');
      query.refused(carried.reasons, isByPolicy);
      return refusal();
    }
    // Where the user typed another text, it is not of the apps, and cannot be what they want.
    const released = carried.value.items;
    const label = released.reduce((joined, item) => joinLabels(joined, item.label), HUB_LABEL);
    for (const app of [held.origin, ...held.carries]) context.opens(label, app);
    return ok({ type: 'opened', text: released.map(({ value }) => value).join('') });
  }

  /** A reader in the context's place looks at the text and says of it what fits a closed schema. */
  async read(context: Context, query: Query, reference: string, schema: JsonSchema): Promise<Served> {
    const held = context.references.get(reference);
    if (held === undefined) return this.#unheld(context);
    return this.#parts.reader.read(context, query, held, schema);
  }

  #unheld(context: Context): Served {
    return this.#malformed(
      context,
      'a reference that this context does not hold',
      'there is no such reference',
    );
  }

  /** Where the functionality is exactly one tool, the call that serves it; null: a context of the app serves it. */
  async #directCall(
    peer: Peer,
    app: InstalledApp,
    message: Json,
    texts: readonly PlacedText[],
  ): Promise<Result<ReadyCall | null, Fault>> {
    const name = peer.functionality.tool;
    if (name === null || app.source.kind === 'instructions') return ok(null);
    const running = await this.#parts.apps.start(app);
    if (!running.ok) return running;
    const tool: AppTool | undefined = running.value.tools.find((candidate) => candidate.name === name);
    if (tool === undefined) return ok(null);
    return ok({ app, tool, arguments: isJsonObject(message) ? message : {}, texts });
  }

  /** One question for the whole flow: the tool's, if it cannot be undone, else the exchange's. */
  #requirement(
    context: Context,
    query: Query,
    peer: Peer,
    app: InstalledApp,
    message: Json,
    texts: readonly PlacedText[],
    direct: ReadyCall | null,
  ): ConsentRequirement | null {
    const uses = usesOfPeer(peer, app);
    const exchange = exchangeRequirement(query.plan, {
      context,
      to: app.id,
      functionality: peer.functionality,
      uses,
      message,
      texts,
      isReadByModel: direct === null,
      knows: this.#parts.calls.knows(query),
    });
    const call = direct === null ? null : this.#parts.calls.requirement(query, context, direct);
    if (call === null) return exchange;
    if (exchange === null) return call;
    const warnings = [...new Set([...call.warnings, ...exchange.warnings])];
    const isNew = ({ words }: Flow) => !call.flows.some((flow) => flow.words === words);
    const notes = [...new Set([...(call.notes ?? []), ...(exchange.notes ?? [])])];
    return { ...call, warnings, notes, flows: [...call.flows, ...exchange.flows.filter(isNew)] };
  }

  /** Counts a request of the query, in whichever of its contexts it arose. */
  #isAffordable(query: Query): boolean {
    const made = (this.#exchanges.get(query) ?? 0) + 1;
    this.#exchanges.set(query, made);
    return made <= MAX_EXCHANGES;
  }

  /** To the spoke it is a refusal like any other. */
  #unaffordable(context: Context, peer: Peer, reason: 'depth' | 'budget'): Served {
    const functionality = peer.functionality.name;
    this.#parts.recorder.record(context, { kind: 'request.refused', functionality, reason });
    return refusal();
  }

  async #serveByTool(
    context: Context,
    query: Query,
    app: InstalledApp,
    call: ReadyCall,
    request: EventId,
    { origins }: Sources,
    signal: AbortSignal,
  ): Promise<Result<Work, Fault>> {
    const errand = this.#parts.errand(context, app.id, request);
    const outcome = await this.#parts.calls.call(errand, query, call, null, signal);
    if (!outcome.ok) {
      const described = describeFailure(query, outcome.fault);
      if (!described.ok) return described;
      // What the app said of its error, or calls its arguments, is free text: it must not reach the other context.
      return ok({ kind: 'answered', answer: outcome.fault.kind === 'refused' ? refusal() : ERROR });
    }
    // Decided like every output of a tool: rules see where the other context's answer comes from.
    const received = await this.#parts.calls.receive(errand, query, call, outcome.value);
    if (received === null) return ok({ kind: 'answered', answer: refusal() });
    const { output, event } = received;
    return ok(
      output.isError
        ? { kind: 'answered', answer: ERROR }
        : { kind: 'served', by: 'tool', result: output, label: output.label, origins, causes: [event] },
    );
  }

  async #serveByContext(
    context: Context,
    query: Query,
    peer: Peer,
    app: InstalledApp,
    message: Json,
    request: EventId,
    { label, origins }: Sources,
    signal: AbortSignal,
  ): Promise<Result<Work, Fault>> {
    const served = await this.#parts.serve(query, {
      app,
      functionality: peer.functionality,
      message,
      depth: context.depth + 1,
      cause: request,
      // What the model of an app writes may be what that app's instructions want: no user's words to the other app.
      label: context.app === null ? label : joinLabels(label, UNTRUSTED),
      origins,
      holdsOthersValues: context.knowsOthersValues,
      signal,
    });
    if (!served.ok) return served;
    const { text, context: by } = served.value;
    return ok({ kind: 'served', by, text, causes: by.last === null ? [request] : [by.last] });
  }

  async #respond(
    context: Context,
    query: Query,
    peer: Peer,
    app: InstalledApp,
    request: AppRequest,
    work: Extract<Work, { kind: 'served' }>,
  ): Promise<Served> {
    const { functionality } = peer;
    const read = await this.#readResponse(functionality, work);
    if (!read.ok) {
      const reason = `a response that does not fit its format: ${read.fault}`;
      return this.#malformed(context, reason, 'the answer was malformed');
    }
    const { message, label } = read.value;
    const carries = read.value.origins.filter((origin) => origin !== app.id);
    const proposal: AppResponse = {
      effect: 'app-response',
      context: context.id,
      from: app.id,
      to: context.app,
      peer: request.peer,
      functionality: functionality.name,
      message,
      callId: request.callId,
      label,
    };
    const carried = await this.#parts.gate.deliver(context, proposal, {
      causes: work.causes,
      label,
      requirement: null,
    });
    if (carried.kind === 'refused') {
      query.refused(carried.reasons, isExpected(query.plan, app.id, usesOfPeer(peer, app)));
    }
    if (carried.kind !== 'done') return refusal();
    const texts: string[] = [];
    const withoutTexts = replaceFreeText(functionality.response, carried.value.message, (text) => {
      texts.push(text);
      return null;
    });
    if (!context.references.hasRoomFor(texts)) {
      const reason = 'a response with more text than a context may hold';
      return this.#malformed(context, reason, 'the answer was malformed');
    }
    const source = {
      origin: app.id,
      carries,
      functionality: functionality.name,
      peer: request.peer,
      label,
    };
    const visible = replaceFreeText(functionality.response, carried.value.message, (text) =>
      context.references.hold({ text, ...source }),
    );
    // Closed values carry no instruction, but they are the other app's data: what is said with them is no longer public. One
    // reference by itself tells nothing.
    if (!isEmpty(withoutTexts)) context.learns(label, [app.id, ...carries]);
    if (work.by !== 'tool' && work.by.knowsOthersValues) context.learnsOthersValues();
    return ok({ type: 'response', message: visible });
  }

  /**
   * The response in its format. What a context answers is filled with the texts that it held and did not see, and is
   * as bad as the worst of them.
   */
  async #readResponse(
    functionality: Functionality,
    work: Extract<Work, { kind: 'served' }>,
  ): Promise<Result<ReadResponse, string>> {
    const validator = await this.#parts.validator();
    const check = (value: Json) => validator.check(functionality.response, value);
    if (work.by === 'tool') {
      const { text, structured } = work.result;
      const candidates = structured === null ? readingsOf(text) : [structured];
      const message = firstFitting(candidates, check);
      return message.ok ? ok({ message: message.value, label: work.label, origins: work.origins }) : message;
    }
    const { references, label, origins } = work.by;
    const readings = readingsOf(work.text).map((reading) => ({
      reading,
      message: check(references.resolve(reading)),
    }));
    const fitting = readings.find(({ message }) => message.ok) ?? readings[0];
    if (fitting === undefined) return failed('there is no response');
    if (!fitting.message.ok) return fitting.message;
    // Attack: `\u00241` is no reference as long as nobody reads the answer as JSON.
    const texts = references.namedIn(fitting.reading);
    return ok({
      message: fitting.message.value,
      label: joinedLabel(label, texts),
      origins: [...new Set([...origins, ...texts.map(({ origin }) => origin)])],
    });
  }

  #malformed(context: Context, reason: string, told: string): Served {
    this.#parts.recorder.record(context, { kind: 'message.dropped', reason, bytes: 0 });
    return ok({ type: 'refusal', malformed: true, text: `malformed: ${told}` });
  }
}

/** What came of a request: a result that is still to be checked and delivered, or an answer that says there is none. */
type Work =
  | {
      readonly kind: 'served';
      readonly by: 'tool';
      readonly result: ToolResult;
      readonly label: Label;
      /** Whose words the tool was given, and may have given back. */
      readonly origins: readonly AppId[];
      readonly causes: readonly EventId[];
    }
  | {
      readonly kind: 'served';
      readonly by: Context;
      readonly text: string;
      readonly causes: readonly EventId[];
    }
  | { readonly kind: 'answered'; readonly answer: Served };

/** A response in its format, and whose words may be in it. */
interface ReadResponse extends Sources {
  readonly message: Json;
}

interface Sources {
  readonly label: Label;
  readonly origins: readonly AppId[];
}

/** The worst of what a context has seen and of the texts that it places unseen. */
function joinedLabel(label: Label, texts: readonly HeldText[]): Label {
  return texts.reduce((joined, text) => joinLabels(joined, text.label), label);
}

/** Whether a response without its texts says nothing: no value, no number of texts, no choice of members. */
function isEmpty(message: Json): boolean {
  if (message === null) return true;
  if (!isJsonObject(message)) return false;
  const members = Object.values(message);
  return members.length === 1 && members.every(isEmpty);
}

function originsIn(context: Context, texts: readonly HeldText[]): readonly AppId[] {
  return [...new Set([...context.origins, ...texts.map(({ origin }) => origin)])];
}

function firstFitting(
  candidates: readonly Json[],
  check: (value: Json) => Result<Json, string>,
): Result<Json, string> {
  const checked = candidates.map(check);
  return checked.find(({ ok }) => ok) ?? checked[0] ?? failed('there is no response');
}

const OVER: Fault = fault('cancelled', 'the query was stopped');

function isOver(query: Query, signal: AbortSignal): boolean {
  return query.signal.aborted || signal.aborted;
}

/** Faults of the context that serves: they end its turn, and not that of the context which asked. */
const ENDS_OF_PEERS: ReadonlySet<Fault['kind']> = new Set<Fault['kind']>([
  'spoke-unavailable',
  'spoke-protocol',
  'budget-exceeded',
  'model-failure',
  'answer-unfit',
]);

function answerTo({ kind }: Fault): Served {
  if (kind !== 'answer-unfit') return ok({ type: 'gone' });
  return ok({ type: 'refusal', malformed: true, text: 'malformed: the answer was malformed' });
}

const UNTRUSTED: Label = { integrity: 'untrusted', confidentiality: 'public' };

const ERROR: Served = ok({ type: 'refusal', malformed: false, text: 'the other side reported an error' });

function refusal(): Served {
  return ok({ type: 'refusal', malformed: false, text: REFUSED_TEXT });
}

/** The call that serves a request as it was allowed: the user may have changed what it says. */
function callOf(ready: ReadyCall, message: Json): ReadyCall {
  return { ...ready, arguments: isJsonObject(message) ? message : {} };
}

function reviseRequest(
  proposal: AppRequest,
  label: Label,
  validator: SchemaValidator,
  { functionality }: Peer,
): Revise<AppRequest> {
  return (edits) => {
    const { message: before } = proposal;
    const message = reviseMessage(before, edits, (value) => validator.check(functionality.request, value));
    if (!message.ok) return message;
    const its = labelOfEdit(canonicalJson(before), canonicalJson(message.value), label);
    return ok({ proposal: { ...proposal, message: message.value }, label: its });
  };
}

function proposedIn(events: readonly Event[]): readonly FunctionalityName[] {
  return events.flatMap((event) => (event.kind === 'install.proposed' ? [event.functionality] : []));
}

function usesOfPeer(peer: Peer, app: InstalledApp): readonly string[] {
  const { name, tool } = peer.functionality;
  return tool === null ? [name] : [name, ...usesOf(app.manifest, tool)];
}
