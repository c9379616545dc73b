/**
 * Inter-spoke exchange (paper, IV-C): a request is checked, decided and served, by a tool of another app or by a context of it.
 * Messages are validated both ways, closed values pass, free text becomes a reference.
 */
import {
  type AppId,
  type AppRequest,
  canonicalJson,
  type DataRelease,
  type EphemeralId,
  type EventId,
  type Fault,
  failed,
  fault,
  HUB_LABEL,
  isJsonObject,
  type Json,
  type JsonSchema,
  joinLabels,
  type Label,
  ok,
  type Result,
} from '@cordon/core';
import type { AppHost } from '../apps/app-host.ts';
import type { Registry } from '../apps/registry.ts';
import type { LoadValidator } from '../apps/schema-validator.ts';
import type { ConsentRequirement, Flow } from '../consent/consent-requirement.ts';
import { distinctQuotes } from '../consent/question-parts.ts';
import { openRequirement } from '../consent/release-requirements.ts';
import { exchangeRequirement } from '../consent/requirements.ts';
import { labelOfEdit, type Revise, reviseMessage, reviseRelease } from '../consent/revision.ts';
import type { Context } from '../context/context.ts';
import type { Query } from '../context/query.ts';
import { joinedLabel } from '../context/references.ts';
import type { Recorder } from '../journal/recorder.ts';
import type { Gate } from '../mediation/gate.ts';
import { describeFailure, isExpected, type ReadyCall, type ToolCalls } from '../mediation/tool-calls.ts';
import type { Served } from '../spokes/spoke-link.ts';
import type { Offers } from './offers.ts';
import { isSecretTo, type Reader } from './reader.ts';
import { malformed, REFUSED } from './refusal.ts';
import {
  type CheckedRequest,
  deliverResponse,
  type ServedWork,
  type Sources,
  usesOfPeer,
} from './responses.ts';
import type { PeerRequests, SentRequest, TaskServer } from './serving.ts';

export interface ExchangeParts {
  readonly gate: Gate;
  readonly recorder: Recorder;
  readonly registry: Registry;
  readonly apps: AppHost;
  readonly calls: ToolCalls;
  readonly validator: LoadValidator;
  readonly newCallId: () => string;
  readonly maxDepth: number;
  readonly offers: Offers;
  readonly reader: Reader;
  /** A context without tools that carries a call made on another's behalf. */
  readonly errand: (from: Context, app: AppId, request: EventId) => Context;
  readonly serve: TaskServer;
}

/**
 * Requests to peers that one query may lead to, in all its contexts. Attack: A asks B, which asks A, which asks B: each
 * within its own limits, and in the end as many as the tokens pay for.
 */
const MAX_EXCHANGES = 64;

export class Exchange implements PeerRequests {
  readonly #parts: ExchangeParts;
  readonly #exchanges = new WeakMap<Query, number>();

  constructor(parts: ExchangeParts) {
    this.#parts = parts;
  }

  /** Steps 3 to 6 of the collaboration: request, decision, service, response. */
  async request(context: Context, query: Query, sent: SentRequest, signal: AbortSignal): Promise<Served> {
    const checked = await this.#checked(context, query, sent, signal);
    if (!checked.ok) return checked.fault;
    const asked = checked.value;
    const { app, peer, peerId, message } = asked;
    if (!this.#isAffordable(query)) return this.#unaffordable(asked, 'budget');
    const callId = this.#parts.newCallId();
    const direct = await this.#directCall(asked);
    if (!direct.ok) return direct;
    const call = direct.value;
    if (call === null && context.depth >= this.#parts.maxDepth) return this.#unaffordable(asked, 'depth');
    // An app takes seconds to start; what the query left behind must not ask about itself in the next one.
    if (isOver(asked)) return failed(OVER);
    const requirement = this.#requirement(asked, call);
    const proposal: AppRequest = {
      effect: 'app-request',
      context: context.id,
      from: context.app,
      to: app.id,
      peer: peerId,
      functionality: peer.functionality.name,
      message,
      callId,
    };
    const { causes } = context;
    const sources = sourcesOf(asked);
    const { label } = sources;
    const revise = reviseRequest(proposal, label, asked.check);
    const carried = await this.#parts.gate.carryOut(
      context,
      proposal,
      { causes, label, requirement, revise, quote: this.#parts.calls.quoteFor(query, message) },
      (allowance, event) => {
        const allowed = this.#parts.gate.spend(allowance);
        // Whoever asked may be gone when the user has answered.
        if (isOver(asked)) return failed(OVER);
        const granted = { ...asked, sources, message: allowed.message };
        return call === null ? this.#serveByContext(granted, event) : this.#serveByTool(granted, call, event);
      },
    );
    if (carried.kind === 'failed') {
      const isPeers = call === null && ENDS_OF_PEERS.has(carried.fault.kind);
      return isPeers && !isOver(asked) ? answerTo(carried.fault) : failed(carried.fault);
    }
    if (carried.kind === 'refused') {
      if (call !== null) this.#parts.calls.takeBack(query, call);
      query.refused(carried.reasons, isExpected(query.plan, app.id, usesOfPeer(asked)));
      return REFUSED;
    }
    const work = carried.value;
    return work.kind === 'served' ? deliverResponse(this.#parts, asked, proposal, work) : work.answer;
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
      query.withheld(carried.reasons);
      return REFUSED;
    }
    // Where the user typed another text, it is not of the apps, and cannot be what they want.
    const released = carried.value.items;
    const label = joinedLabel(HUB_LABEL, released);
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
    const reason = 'a reference that this context does not hold';
    return malformed(this.#parts.recorder, context, reason, 'there is no such reference');
  }

  /** The request to a peer of this context, in its format; else the answer to the spoke. */
  async #checked(
    context: Context,
    query: Query,
    { peer: peerId, message: sent }: SentRequest,
    signal: AbortSignal,
  ): Promise<Result<CheckedRequest, Served>> {
    const { registry, offers, recorder, reader } = this.#parts;
    const known = peerId as EphemeralId;
    const peer = context.peers.get(known);
    const app = peer === undefined ? undefined : registry.get(peer.app);
    if (peer === undefined || app === undefined) {
      const holder = offers.holderOf(peerId);
      const whose = holder === null ? 'that nobody was offered' : `that was offered to \`${holder}\``;
      return failed(malformed(recorder, context, `a request to a peer ${whose}`, 'there is no such peer'));
    }
    const texts = context.references.namedIn(sent);
    const message = context.references.resolve(sent);
    // Attack: a format with a pattern or an `enum` says of a text that nobody has released whether it fits, one bit a request.
    const secrets = texts.filter((held) => isSecretTo(context, held));
    if (!secrets.every((held) => reader.mayTell(context, query, held, 1)))
      return failed(this.#unaffordable({ context, peer }, 'budget'));
    const validator = await this.#parts.validator();
    const check = (value: Json) => validator.check(peer.functionality.request, value);
    const valid = check(message);
    if (valid.ok) return ok({ context, query, peerId: known, peer, app, message, texts, check, signal });
    const told = secrets.length === 0 ? valid.fault : 'it does not fit its format';
    return failed(malformed(recorder, context, 'a request that does not fit its format', told));
  }

  /** Where the functionality is exactly one tool, the call that serves it; null: a context of the app serves it. */
  async #directCall({ peer, app, message, texts }: CheckedRequest): Promise<Result<ReadyCall | null, Fault>> {
    const name = peer.functionality.tool;
    if (name === null || app.source.kind === 'instructions') return ok(null);
    const running = await this.#parts.apps.start(app);
    if (!running.ok) return running;
    const tool = running.value.tools.find((candidate) => candidate.name === name);
    return ok(tool === undefined ? null : { app, tool, arguments: argumentsOf(message), texts });
  }

  /** One question for the whole flow: the tool's, if it cannot be undone, else the exchange's. */
  #requirement(asked: CheckedRequest, direct: ReadyCall | null): ConsentRequirement | null {
    const { context, query, peer, app, message, texts } = asked;
    const { calls } = this.#parts;
    const exchange = exchangeRequirement(query.plan, {
      context,
      to: app.id,
      functionality: peer.functionality,
      uses: usesOfPeer(asked),
      message,
      texts,
      isReadByModel: direct === null,
      knows: calls.knows(query, app, direct),
    });
    const call = direct === null ? null : calls.requirement(query, context, direct);
    if (call === null) return exchange;
    if (exchange === null) return call;
    const warnings = [...new Set([...call.warnings, ...exchange.warnings])];
    const isNew = ({ words }: Flow) => !call.flows.some((flow) => flow.words === words);
    const notes = [...new Set([...(call.notes ?? []), ...(exchange.notes ?? [])])];
    const expected = call.expected && exchange.expected;
    const quotes = distinctQuotes([...(call.quotes ?? []), ...(exchange.quotes ?? [])]);
    const isPlanned = call.isPlanned === true && exchange.isPlanned === true;
    return {
      ...call,
      expected,
      isPlanned,
      warnings,
      notes,
      quotes,
      flows: [...call.flows, ...exchange.flows.filter(isNew)],
    };
  }

  /** Counts a request of the query, in whichever of its contexts it arose. */
  #isAffordable(query: Query): boolean {
    const made = (this.#exchanges.get(query) ?? 0) + 1;
    this.#exchanges.set(query, made);
    return made <= MAX_EXCHANGES;
  }

  /** To the spoke it is a refusal like any other. */
  #unaffordable(
    { context, peer }: Pick<CheckedRequest, 'context' | 'peer'>,
    reason: 'depth' | 'budget',
  ): Served {
    const functionality = peer.functionality.name;
    this.#parts.recorder.record(context, { kind: 'request.refused', functionality, reason });
    return REFUSED;
  }

  /** `request`: the event of the request. */
  async #serveByTool(
    asked: AllowedRequest,
    ready: ReadyCall,
    request: EventId,
  ): Promise<Result<Work, Fault>> {
    const { calls, errand: newErrand } = this.#parts;
    const { context, query, app, signal } = asked;
    const errand = newErrand(context, app.id, request);
    const call = { ...ready, asked: ready, arguments: argumentsOf(asked.message) };
    const outcome = await calls.call(errand, query, call, null, signal);
    if (!outcome.ok) {
      const described = describeFailure(query, outcome.fault);
      if (!described.ok) return described;
      // What the app said of its error, or calls its arguments, is free text: it must not reach the other context.
      return ok({ kind: 'answered', answer: outcome.fault.kind === 'refused' ? REFUSED : ERROR });
    }
    // Decided like every output of a tool: rules see where the other context's answer comes from.
    const received = await calls.receive(errand, query, call, outcome.value);
    if (received === null) return ok({ kind: 'answered', answer: REFUSED });
    const { output, event } = received;
    if (output.isError) return ok({ kind: 'answered', answer: ERROR });
    const { origins } = asked.sources;
    return ok({ kind: 'served', by: 'tool', result: output, label: output.label, origins, causes: [event] });
  }

  async #serveByContext(asked: AllowedRequest, request: EventId): Promise<Result<Work, Fault>> {
    const { context, query, app, peer, message, signal } = asked;
    const { label, origins } = asked.sources;
    const task = {
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
    };
    const served = await this.#parts.serve(query, task, this);
    if (!served.ok) return served;
    const { text, context: by } = served.value;
    return ok({ kind: 'served', by, text, causes: by.last === null ? [request] : [by.last] });
  }
}

/** A request as the user and the policy allowed it, which may say something else than the one that was sent. */
interface AllowedRequest extends CheckedRequest {
  readonly sources: Sources;
}

/** What came of a request: a result that is still to be delivered, or an answer that says there is none. */
type Work = ServedWork | { readonly kind: 'answered'; readonly answer: Served };

/** How bad a request is, and whose words may be in it. */
function sourcesOf({ context, texts }: CheckedRequest): Sources {
  const origins = [...new Set([...context.origins, ...texts.map(({ origin }) => origin)])];
  return { label: joinedLabel(context.label, texts), origins };
}

const OVER: Fault = fault('cancelled', 'the query was stopped');

function isOver({ query, signal }: CheckedRequest): boolean {
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

function argumentsOf(message: Json): ReadyCall['arguments'] {
  return isJsonObject(message) ? message : {};
}

function reviseRequest(
  proposal: AppRequest,
  label: Label,
  check: CheckedRequest['check'],
): Revise<AppRequest> {
  return (edits) => {
    const { message: before } = proposal;
    const message = reviseMessage(before, edits, check);
    if (!message.ok) return message;
    const its = labelOfEdit(canonicalJson(before), canonicalJson(message.value), label);
    return ok({ proposal: { ...proposal, message: message.value }, label: its });
  };
}
