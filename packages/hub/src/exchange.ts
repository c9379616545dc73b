/**
 * Inter-spoke exchange (paper, IV-C): probe, offer, request, response. A context learns neither who serves it nor
 * what is installed; messages are validated both ways, closed values pass, free text becomes a reference.
 *
 * Ring 0.
 */
import {
  type AppId,
  type AppRequest,
  type AppResponse,
  type EphemeralId,
  type EventId,
  type Fault,
  type Functionality,
  failed,
  fault,
  type InstalledApp,
  isJsonObject,
  type Json,
  joinLabels,
  type Label,
  ok,
  parseJson,
  REFUSED_TEXT,
  type Result,
  replaceFreeText,
} from '@cordon/core';
import type { AppHost, AppTool, ToolResult } from './app-host.ts';
import type { Context, Peer } from './context.ts';
import type { Gate } from './gate.ts';
import { openNeed, requestNeed } from './needs.ts';
import type { PermissionNeed } from './permission.ts';
import type { Query } from './query.ts';
import type { Recorder } from './recorder.ts';
import type { HeldText } from './references.ts';
import { plainSchema, type Registry, usesOf } from './registry.ts';
import type { LoadValidator } from './schema-validator.ts';
import type { Served } from './spoke-link.ts';
import { describeFailure, isExpected, type ReadyCall, type ToolCalls } from './tool-calls.ts';

/** What a context serves for another, by its own model. */
export interface ServingTask {
  readonly app: InstalledApp;
  readonly functionality: Functionality;
  readonly message: Json;
  readonly depth: number;
  /** The request that the new context carries on, and how trustworthy its message is. */
  readonly cause: EventId;
  readonly label: Label;
}

export interface ServedTask {
  readonly text: string;
  readonly label: Label;
  readonly event: EventId | null;
}

export interface ExchangeParts {
  readonly gate: Gate;
  readonly recorder: Recorder;
  readonly registry: Registry;
  readonly apps: AppHost;
  readonly calls: ToolCalls;
  readonly validator: LoadValidator;
  readonly newPeerId: () => EphemeralId;
  readonly newCallId: () => string;
  readonly maxDepth: number;
  /** A context without tools of its own that carries a call made on another's behalf. */
  readonly errand: (from: Context, app: AppId, request: EventId) => Context;
  readonly serve: (query: Query, task: ServingTask) => Promise<Result<ServedTask, Fault>>;
  /** The user picks among several apps that serve a functionality. */
  readonly choose: (context: Context, functionality: string, apps: readonly AppId[]) => Promise<AppId | null>;
}

/** A context probes at most so often in one query, answered or not: more is an attempt to list what is installed. */
const MAX_PROBES = 8;

export class Exchange {
  readonly #parts: ExchangeParts;

  constructor(parts: ExchangeParts) {
    this.#parts = parts;
  }

  /** Gives a context an ephemeral id for a functionality of an app; the plan or the user chose the app. */
  offer(context: Context, app: AppId, functionality: Functionality): EphemeralId {
    const peer = this.#parts.newPeerId();
    context.peers.set(peer, { app, functionality });
    this.#parts.recorder.record(context, { kind: 'offer.made', functionality: functionality.name, peer });
    return peer;
  }

  /** Steps 1 and 2 of the collaboration: what is served, and in which format. */
  async probe(context: Context, name: string): Promise<Served> {
    this.#parts.recorder.record(context, { kind: 'probe.received', functionality: name.slice(0, 64) });
    if (++context.probes > MAX_PROBES) return this.#unserved(context, name);
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
    if (found === undefined) return this.#unserved(context, name);
    const { functionality } = found;
    const peer = this.offer(context, found.app.id, functionality);
    return ok({
      type: 'offer',
      peer,
      request: plainSchema(functionality.request),
      response: plainSchema(functionality.response),
    });
  }

  #unserved(context: Context, name: string): Served {
    this.#parts.recorder.record(context, { kind: 'probe.refused', functionality: name.slice(0, 64) });
    return refusal();
  }

  /** Steps 3 to 6: the request is checked, decided and served; the response likewise, and delivered. */
  async request(context: Context, query: Query, peerId: string, sent: Json): Promise<Served> {
    const peer = context.peers.get(peerId as EphemeralId);
    const app = peer === undefined ? undefined : this.#parts.registry.get(peer.app);
    if (peer === undefined || app === undefined) {
      return this.#malformed(
        context,
        'a request to a peer that this context was never offered',
        'there is no such peer',
      );
    }
    const texts = context.references.namedIn(sent);
    const message = context.references.resolve(sent);
    const validator = await this.#parts.validator();
    const valid = validator.check(peer.functionality.request, message);
    if (!valid.ok) return this.#malformed(context, 'a request that does not fit its format', valid.fault);

    const callId = this.#parts.newCallId();
    const direct = await this.#directCall(peer, app, message, texts);
    if (!direct.ok) return direct;
    // An app takes seconds to start; what the query left behind must not ask about itself in the next one.
    if (query.signal.aborted) return failed(fault('cancelled', 'the query was stopped'));
    const need = this.#need(context, query, peer, app, message, texts, direct.value);
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
    const carried = await this.#parts.gate.carryOut(
      context,
      proposal,
      { causes, label: context.label, need },
      (allowance, event) =>
        this.#serve(context, query, peer, app, this.#parts.gate.spend(allowance), direct.value, event),
    );
    if (carried.kind === 'failed') return failed(carried.fault);
    if (carried.kind === 'refused') {
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
    if (held === undefined)
      return this.#malformed(
        context,
        'a reference that this context does not hold',
        'there is no such reference',
      );
    const items = [{ name: held.reference, value: held.text, origin: held.origin, label: held.label }];
    const { causes } = context;
    const carried = await this.#parts.gate.carryOut(
      context,
      { effect: 'data-release', context: context.id, to: context.app, items },
      { causes, label: held.label, need: openNeed(context, held) },
      (allowance) => ok(this.#parts.gate.spend(allowance).items),
    );
    if (carried.kind === 'failed') return failed(carried.fault);
    if (carried.kind === 'refused') {
      // A user who keeps a text closed has not refused the query; a policy that does has (decision 0004).
      const isByPolicy = carried.reasons.some(({ because }) => because !== 'permission');
      query.refused(carried.reasons, isByPolicy);
      return refusal();
    }
    context.opens(held.label, held.origin);
    return ok({ type: 'opened', text: carried.value.map(({ value }) => value).join('') });
  }

  /** Where the functionality is exactly one tool, the call that serves it; null: a context of the app serves it. */
  async #directCall(
    peer: Peer,
    app: InstalledApp,
    message: Json,
    texts: readonly HeldText[],
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
  #need(
    context: Context,
    query: Query,
    peer: Peer,
    app: InstalledApp,
    message: Json,
    texts: readonly HeldText[],
    direct: ReadyCall | null,
  ): PermissionNeed | null {
    const uses = usesOfPeer(peer, app);
    const exchange = requestNeed(query.plan, {
      context,
      to: app.id,
      functionality: peer.functionality,
      uses,
      message,
      texts,
      isReadByModel: direct === null,
    });
    const call = direct === null ? null : this.#parts.calls.need(query.plan, context, direct);
    if (call === null) return exchange;
    const warnings = [...new Set([...call.warnings, ...(exchange?.warnings ?? [])])];
    return { ...call, warnings };
  }

  /** The effect of a request: a tool or a context of the app works on it. */
  #serve(
    context: Context,
    query: Query,
    peer: Peer,
    app: InstalledApp,
    request: AppRequest,
    direct: ReadyCall | null,
    event: EventId,
  ): Promise<Result<Work, Fault>> {
    return direct === null
      ? this.#serveByContext(context, query, peer, app, request.message, event)
      : this.#serveByTool(context, query, app, direct, event);
  }

  async #serveByTool(
    context: Context,
    query: Query,
    app: InstalledApp,
    call: ReadyCall,
    request: EventId,
  ): Promise<Result<Work, Fault>> {
    const errand = this.#parts.errand(context, app.id, request);
    const outcome = await this.#parts.calls.call(errand, query, call, null);
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
        : { kind: 'served', result: output, label: output.label, causes: [event] },
    );
  }

  async #serveByContext(
    context: Context,
    query: Query,
    peer: Peer,
    app: InstalledApp,
    message: Json,
    request: EventId,
  ): Promise<Result<Work, Fault>> {
    const depth = context.depth + 1;
    if (depth > this.#parts.maxDepth) return ok({ kind: 'answered', answer: refusal() });
    const { functionality } = peer;
    // What the model of an app writes may be what that app's instructions want: no user's words to the other app.
    const label = context.app === null ? context.label : joinLabels(context.label, UNTRUSTED);
    const task = { app, functionality, message, depth, cause: request, label };
    const served = await this.#parts.serve(query, task);
    if (!served.ok) return served;
    const { text, event } = served.value;
    const result = { text, structured: null, isError: false };
    return ok({ kind: 'served', result, label: served.value.label, causes: [event ?? request] });
  }

  async #respond(
    context: Context,
    query: Query,
    peer: Peer,
    app: InstalledApp,
    request: AppRequest,
    { result, label, causes }: Extract<Work, { kind: 'served' }>,
  ): Promise<Served> {
    const { functionality } = peer;
    const message = await this.#readResponse(functionality, result);
    if (!message.ok) {
      const reason = `a response that does not fit its format: ${message.fault}`;
      return this.#malformed(context, reason, 'the answer was malformed');
    }
    const proposal: AppResponse = {
      effect: 'app-response',
      context: context.id,
      from: app.id,
      to: context.app,
      peer: request.peer,
      functionality: functionality.name,
      message: message.value,
      callId: request.callId,
      label,
    };
    const carried = await this.#parts.gate.carryOut(
      context,
      proposal,
      { causes, label, need: null },
      (allowance) => ok(this.#parts.gate.spend(allowance).message),
    );
    if (carried.kind === 'refused') {
      query.refused(carried.reasons, isExpected(query.plan, app.id, usesOfPeer(peer, app)));
    }
    if (carried.kind !== 'done') return refusal();
    const visible = replaceFreeText(functionality.response, carried.value, (text) =>
      context.references.hold({ text, origin: app.id, functionality: functionality.name, label }),
    );
    // Closed values carry no instruction, but they are the other app's data: what is said with them is no longer public.
    context.sees({ integrity: 'trusted', confidentiality: label.confidentiality }, app.id);
    return ok({ type: 'response', message: visible });
  }

  async #readResponse(
    functionality: Functionality,
    { text, structured }: ToolResult,
  ): Promise<Result<Json, string>> {
    const validator = await this.#parts.validator();
    if (structured !== null) return validator.check(functionality.response, structured);
    const parsed = parseJson(text);
    const candidates: readonly Json[] = [...(parsed.ok ? [parsed.value] : []), { text }, text];
    const fitting = candidates.map((candidate) => validator.check(functionality.response, candidate));
    return fitting.find((result) => result.ok) ?? fitting[0] ?? failed('there is no response');
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
      readonly result: ToolResult;
      readonly label: Label;
      readonly causes: readonly EventId[];
    }
  | { readonly kind: 'answered'; readonly answer: Served };

const UNTRUSTED: Label = { integrity: 'untrusted', confidentiality: 'public' };

const ERROR: Served = ok({ type: 'refusal', malformed: false, text: 'the other side reported an error' });

function refusal(): Served {
  return ok({ type: 'refusal', malformed: false, text: REFUSED_TEXT });
}

function usesOfPeer(peer: Peer, app: InstalledApp): readonly string[] {
  const { name, tool } = peer.functionality;
  return tool === null ? [name] : [name, ...usesOf(app.manifest, tool)];
}
