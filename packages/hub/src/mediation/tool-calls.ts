/**
 * A tool of an app is called and its output delivered: two effects, each decided for itself. The only place of the
 * hub from which an app's tool can run.
 */
import {
  type AppId,
  canonicalJson,
  type EventId,
  type Fault,
  failed,
  fault,
  type InstalledApp,
  isJsonObject,
  type Json,
  type JsonObject,
  joinLabels,
  jsonText,
  type Label,
  ok,
  type PlannedSources,
  REFUSED_TEXT,
  type Reason,
  type Result,
  type StepPlan,
  saidOfTool,
  type ToolCall,
  type ToolOutput,
} from '@cordon/core';
import { leavesOf } from '@cordon/policy';
import type { AppHost } from '../apps/app-host.ts';
import {
  calledLabels,
  isIrreversible,
  isUnspokenLook,
  mayConnect,
  type Registry,
  toldBy,
  usesOf,
} from '../apps/registry.ts';
import type { LoadValidator } from '../apps/schema-validator.ts';
import type { ConsentRequirement, QuoteEvents } from '../consent/consent-requirement.ts';
import {
  isMisplaced,
  isSaidName,
  type LookAt,
  makesFolder,
  namedFile,
  namesOfText,
} from '../consent/named-texts.ts';
import { expectation, type KnownValues } from '../consent/question-parts.ts';
import { callRequirement } from '../consent/requirements.ts';
import type { AppTool, ToolResult } from '../context/app-tool.ts';
import { cutOutput, lengthOf } from '../context/app-tool.ts';
import type { Context } from '../context/context.ts';
import type { FollowingCall } from '../context/delegated-calls.ts';
import { yieldIfLong } from '../context/event-loop-turn.ts';
import type { Query } from '../context/query.ts';
import { joinedLabel, type PlacedText } from '../context/references.ts';
import { type ReturnedOutput, ReturnedTexts } from '../context/returned-texts.ts';
import type { UserTexts } from '../context/session-texts.ts';
import type { Recorder } from '../journal/recorder.ts';
import type { Gate } from './gate.ts';

export interface ToolCallParts {
  readonly gate: Gate;
  readonly recorder: Recorder;
  readonly apps: AppHost;
  readonly registry: Registry;
  readonly validator: LoadValidator;
  readonly newCallId: () => string;
  readonly words: UserTexts;
  /** What apps returned in a session before it was resumed. */
  readonly returnedBefore: readonly ReturnedOutput[];
  /** An output was delivered: what the configuration says to remember of it, and of the call, is remembered. */
  readonly observed: (context: Context, query: Query, app: InstalledApp, seen: SeenCall) => void;
  /** An output was delivered to a context of its app, which acts on it next. */
  readonly follow: (context: Context, query: Query, followed: FollowedOutput) => Promise<void>;
  readonly lookAt: LookAt;
  /** False in the baseline only: there nobody is asked anything. */
  readonly asksPermission: boolean;
}

/** An output of a tool that was delivered. */
export interface FollowedOutput {
  readonly app: InstalledApp;
  readonly tool: AppTool;
  readonly output: ToolOutput;
}

/** A call that came to an output, as far as values of it may be remembered. */
export interface SeenCall {
  readonly output: ToolOutput;
  /** The event that brought the output. */
  readonly brought: EventId;
  /** Null: the arguments may hold what the app was told of others. */
  readonly asked: { readonly arguments: JsonObject; readonly event: EventId } | null;
  /** Whether the plan expects the call. */
  readonly isPlanned: boolean;
}

/** What became of a call, as far as its caller may know. */
export type CallFailure =
  | { readonly kind: 'refused'; readonly reasons: readonly Reason[]; readonly expected: boolean }
  | { readonly kind: 'malformed'; readonly problem: string }
  | { readonly kind: 'fault'; readonly fault: Fault };

/** A call's result as the model reads it. */
export interface CallText {
  readonly text: string;
  readonly isError: boolean;
}

/** A call whose permission is settled: by a question that showed these arguments, or because none was due. */
export interface ReadyCall {
  /** The call as it was asked about, of which this one is made; absent: this one. */
  readonly asked?: ReadyCall;
  readonly app: InstalledApp;
  readonly tool: AppTool;
  readonly arguments: JsonObject;
  readonly texts: readonly PlacedText[];
}

export interface CallOutcome {
  readonly result: ToolResult;
  readonly label: Label;
  /** The event of the call, which the output carries on. */
  readonly event: EventId;
  readonly callId: string;
}

export class ToolCalls {
  readonly #parts: Omit<ToolCallParts, 'returnedBefore'>;
  /** Of each tool that cannot be undone, the calls about which a question was due, for each plan. */
  readonly #asked = new WeakMap<StepPlan, Map<string, JsonObject[]>>();
  /** What apps returned in this session: the history shows it to models of later queries. */
  readonly #earlier = new ReturnedTexts();
  /** Of these, those of before the session was resumed: a resumed query delivers its own again. */
  readonly #before: ReadonlySet<EventId>;
  /** Apps that were called with what may be private data of other apps. */
  readonly #holdsOthers = new Set<AppId>();

  constructor({ returnedBefore, ...parts }: ToolCallParts) {
    this.#parts = parts;
    this.#before = new Set(returnedBefore.map(({ event }) => event));
    for (const output of returnedBefore) this.#earlier.hear(output);
  }

  /** Whether everything private that this app was called with in this session is its own. */
  holdsOwnOnly(app: AppId): boolean {
    return !this.#holdsOthers.has(app);
  }

  /** A context calls a tool of its own app, by the name under which it was offered. */
  async callOwn(
    context: Context,
    query: Query,
    name: string,
    args: JsonObject,
    signal: AbortSignal,
  ): Promise<Result<CallText, Fault>> {
    const own = context.tools.get(name);
    const app = own === undefined ? undefined : this.#parts.registry.get(own.app);
    if (own === undefined || app === undefined) {
      const reason = `a call of \`${name.slice(0, 64)}\`, which this context does not have`;
      this.#parts.recorder.drop(context, reason);
      return ok({ text: `there is no tool \`${name}\``, isError: true });
    }
    const texts = context.references.namedIn(args);
    const resolved = context.references.resolve(args);
    const call = { app, tool: own.tool, arguments: isJsonObject(resolved) ? resolved : {}, texts };
    const outcome = await this.call(context, query, call, this.requirement(query, context, call), signal);
    if (!outcome.ok) return describeFailure(query, outcome.fault);
    const received = await this.receive(context, query, call, outcome.value);
    if (received === null) return ok({ text: REFUSED_TEXT, isError: true });
    const { output } = received;
    if (this.#parts.asksPermission) await this.#parts.follow(context, query, { app, tool: own.tool, output });
    return ok({ text: output.text, isError: output.isError });
  }

  /** The question that is due for a call, if any. */
  requirement(query: Query, context: Context, call: ReadyCall): ConsentRequirement | null {
    const { app, tool, arguments: args, texts } = call;
    if (!this.#parts.asksPermission) return null;
    const irreversible = isIrreversible(app.manifest, tool);
    const labels = calledLabels(app.manifest, tool);
    const following = followingCall(query, call);
    query.delegated.take(following);
    return callRequirement(planFor(query, call), {
      context,
      app: app.id,
      tool: tool.name,
      uses: usesOf(app.manifest, tool.name),
      usesOf: (name) => usesOf(app.manifest, name),
      arguments: args,
      unseen: query.delegated.withoutAgreed(following),
      input: tool.input,
      identifying: labels.identifying,
      irreversible,
      tells: irreversible ? toldBy(app.manifest, tool) : null,
      mayLeave: mayLeave(labels),
      mayConnect: mayConnect(app),
      texts,
      knows: this.knows(query, app, call),
      isInDoubt: query.delegated.isInDoubt(following),
      before: lasts(app, tool) ? this.#takeNote(query.plan, `${app.id} ${tool.name}`, args) : [],
    });
  }

  /** Where values may stand that a call of this app names. @param call null: a model of the app will choose it */
  knows({ returned, text, said, isPrivate }: Query, app: InstalledApp, call: ReadyCall | null): KnownValues {
    const isFolder = call !== null && makesFolder(call.tool.name, call.arguments);
    const looks = call !== null && calledLabels(app.manifest, call.tool).readOnly;
    const isInQuery = (value: string) => said.hold(value);
    const setting = { app, lookAt: this.#parts.lookAt, isInQuery };
    return {
      isInQuery,
      isUsers: (value) => this.#parts.words.hold(value),
      isPlaceNamed: (value) => said.holdPlaceOf(value),
      find: (value) => returned.find(value),
      quote: (value) => returned.quoteWords(wordsOf(value)),
      passages: () => [...(isPrivate ? returned.passages() : []), ...this.#earlier.passages()],
      isAll: () => returned.isAll && this.#earlier.isAll,
      file: (path) => namedFile(path, setting, { isFolder, looks }),
      isMisplaced: (path) => isMisplaced(path, setting),
      query: text,
    };
  }

  /** Quotes the sentence of a returned text that asks for a call or a request with these values. */
  quoteFor({ returned }: Query, value: Json): QuoteEvents {
    return (events) => returned.quote(events, wordsOf(value));
  }

  /** Attack: who spoke of a folder in an earlier query has not named what lies there. */
  #namedByUser({ said }: Query, args: JsonObject): ReturnedOutput['namedByUser'] {
    const names = namesOfText(args);
    if (names.some((name) => isSaidName(name, (value) => this.#parts.words.hold(value)))) return 'itself';
    return names.some((name) => said.holdPlaceOf(name)) ? 'place' : null;
  }

  /** What was refused has taken nothing from the user: the attacker's try must not make the user's own suspicious. */
  takeBack({ plan, delegated }: Query, call: ReadyCall): void {
    const { app, tool, arguments: args } = call;
    delegated.giveBack(call.asked ?? call);
    if (!lasts(app, tool)) return;
    const asked = this.#asked.get(plan)?.get(`${app.id} ${tool.name}`) ?? [];
    const key = canonicalJson(args);
    const at = asked.findLastIndex((call) => canonicalJson(call) === key);
    if (at >= 0) asked.splice(at, 1);
  }

  /** The calls that were asked for before and not refused; what is under way counts. */
  #takeNote(plan: StepPlan, call: string, args: JsonObject): readonly JsonObject[] {
    const calls = this.#asked.get(plan) ?? new Map<string, JsonObject[]>();
    const before = calls.get(call) ?? [];
    this.#asked.set(plan, calls.set(call, [...before, args]));
    return before;
  }

  /**
   * Checks, asks, decides and calls. `need` is null where a question that showed this very call was answered. What
   * aborts `signal` or stops the query ends the call.
   */
  async call(
    context: Context,
    query: Query,
    ready: ReadyCall,
    requirement: ConsentRequirement | null,
    signal: AbortSignal,
  ): Promise<Result<CallOutcome, CallFailure>> {
    const { app, tool, arguments: args, texts } = ready;
    const validator = await this.#parts.validator();
    const valid = validator.check(tool.input, args);
    const holdsOthers = texts.some(({ origin }) => origin !== app.id);
    if (!valid.ok && !holdsOthers) {
      this.takeBack(query, ready);
      return failed({ kind: 'malformed', problem: valid.fault });
    }
    const ending = AbortSignal.any([query.signal, signal]);
    if (ending.aborted) return failed({ kind: 'fault', fault: fault('cancelled', 'the query was stopped') });
    // A history does not say whose private words it holds.
    if (context.recallsPrivate || !isOwnQuestion(context, ready)) this.#holdsOthers.add(app.id);
    const isPlanned = isPlannedCall(query, ready);
    const proposal: ToolCall = {
      effect: 'tool-call',
      context: context.id,
      app: app.id,
      tool: tool.name,
      arguments: args,
      callId: this.#parts.newCallId(),
      irreversible: isIrreversible(app.manifest, tool),
      // The baseline has no plan.
      ...(this.#parts.asksPermission ? { isOffPlan: !isPlanned, ...plannedSources(query, ready) } : {}),
      labels: calledLabels(app.manifest, tool),
    };
    const label = joinedLabel(context.label, texts);
    const { causes } = context;
    const carried = await this.#parts.gate.carryOut(
      context,
      proposal,
      { causes, label, requirement, quote: this.quoteFor(query, args) },
      // Attack: schemas of an app's own tools that try what a text of others looks like. Whether it fits, and why not, is
      // told when the text may go to the app, as an output that has read it.
      (allowance) =>
        valid.ok
          ? this.#parts.apps.call(app, allowance, ending)
          : failed(fault('app-error', misfit(valid.fault))),
      (output) => ({ output }),
    );
    if (carried.kind === 'refused') {
      this.takeBack(query, ready);
      return failed({ kind: 'refused', reasons: carried.reasons, expected: isPlanned });
    }
    if (carried.kind === 'failed' && carried.fault.kind !== 'app-error')
      return failed({ kind: 'fault', fault: carried.fault });
    // What an app says in an error is an output of it: it is labelled, decided and delivered like any other.
    const result =
      carried.kind === 'done'
        ? carried.value
        : { text: carried.fault.message, structured: null, isError: true };
    const { event } = carried;
    return ok({ result, label: outputLabel(app, tool.name, label), event, callId: proposal.callId });
  }

  /** The output becomes visible in the context that called, own or errand; null: it may not. */
  async receive(
    context: Context,
    query: Query,
    call: ReadyCall,
    { result, label, event, callId }: CallOutcome,
  ): Promise<{ readonly output: ToolOutput; readonly event: EventId } | null> {
    const { app, tool } = call;
    const asked = isOwnQuestion(context, call) ? { arguments: call.arguments, event } : null;
    const length = lengthOf(result);
    await yieldIfLong(length);
    const proposal: ToolOutput = {
      effect: 'tool-output',
      context: context.id,
      app: app.id,
      tool: tool.name,
      callId,
      // Attack: an app that answers in structured content alone would be read by the model, and not by rules about texts.
      text:
        result.text === '' && result.structured !== null
          ? cutOutput(jsonText(result.structured))
          : result.text,
      structured: result.structured,
      isError: result.isError,
      label,
    };
    const delivered = await this.#parts.gate.deliver(context, proposal, {
      causes: [event],
      label,
      requirement: null,
    });
    const isPlanned = isPlannedCall(query, call);
    if (delivered.kind === 'refused') query.refused(delivered.reasons, isPlanned);
    if (delivered.kind !== 'done') return null;
    const output = delivered.value;
    context.sees(output.label, output.app);
    await yieldIfLong(length);
    const returned = {
      app: output.app,
      tool: output.tool,
      event: delivered.event,
      text: output.text,
      structured: output.structured,
      arguments: call.arguments,
      leading: leadingArguments(call),
      namedByUser: this.#namedByUser(query, call.arguments),
      isTrusted: output.label.integrity === 'trusted',
      isPrivate: output.label.confidentiality === 'private',
    };
    query.returned.hear(returned);
    if (!query.isPrivate && !this.#before.has(returned.event)) this.#earlier.hear(returned);
    if (!query.isPrivate)
      this.#parts.observed(context, query, app, { output, brought: delivered.event, asked, isPlanned });
    return { output, event: delivered.event };
  }
}

/** A code that confirms an action says neither whom nor what. */
function leadingArguments({ app, tool, arguments: args }: ReadyCall): JsonObject {
  const { readOnly, identifying } = calledLabels(app.manifest, tool);
  if (readOnly || identifying === null) return args;
  return Object.fromEntries(Object.entries(args).filter(([name]) => identifying.includes(name)));
}

/**
 * INVARIANT (silence is strict): output is untrusted and private unless the user's files speak of it and none of them
 * says that it is.
 */
export function outputLabel({ manifest }: InstalledApp, tool: string, input: Label): Label {
  const said = saidOfTool(manifest.labels ?? [], tool, null);
  const own: Label = {
    integrity: applies(manifest.untrusted, said.untrusted, tool) ? 'untrusted' : 'trusted',
    confidentiality: applies(manifest.private, said.private, tool) ? 'private' : 'public',
  };
  // What the app was given may come back in what it answers.
  return joinLabels(own, input);
}

/**
 * Whether what is asked can hold nothing private of other apps. Attack: what an app learns of another one in an exchange
 * would be kept as its own word, and released as that.
 */
function isOwnQuestion({ kind, label, origins }: Context, { app, texts }: ReadyCall): boolean {
  if (texts.some(({ origin }) => origin !== app.id)) return false;
  // An errand shows by its label alone what the context behind it knows.
  if (kind === 'errand') return label.confidentiality === 'public';
  return [...origins].every((origin) => origin === app.id);
}

/** Words of a call by which the sentence is found that asks for it: the longest say most. */
function wordsOf(value: Json): readonly string[] {
  const words = (leavesOf(value, MOST_NAMES) ?? []).filter(({ length }) => length >= SHORTEST_NAME);
  return words.filter(({ length }) => length <= LONGEST_NAME).toSorted((a, b) => b.length - a.length);
}

/** Values of a call that are looked for. */
const MOST_NAMES = 50;
const SHORTEST_NAME = 3;
const LONGEST_NAME = 200;

function misfit(problem: string): string {
  return `the arguments do not fit: ${problem}`;
}

export function isExpected(plan: StepPlan, app: AppId, uses: readonly string[]): boolean {
  return expectation(plan, app, uses) !== 'unexpected';
}

/** Whether what a tool is called with may reach others: where nobody says that it does not, it may. */
function mayLeave({ outward, mayLeave = outward }: NonNullable<ToolCall['labels']>): boolean {
  return mayLeave;
}

/** Whether a second call does something more, as far as anybody says. Whoever looks twice has done nothing twice. */
function lasts({ manifest }: InstalledApp, tool: AppTool): boolean {
  return isIrreversible(manifest, tool) && !isUnspokenLook(manifest, tool);
}

/** The plan, with the call as a step of it if the user has allowed it in a list of what a text asks for. */
function planFor(query: Query, call: ReadyCall): StepPlan {
  const added = query.delegated.stepsFor(followingCall(query, call));
  if (added.length === 0) return query.plan;
  const { steps } = query.plan;
  const numbered = added.map((step, index) => ({ ...step, id: String(steps.length + index + 1) }));
  return { ...query.plan, steps: [...steps, ...numbered] };
}

function followingCall({ said }: Query, call: ReadyCall): FollowingCall {
  const { app, tool, arguments: given } = call;
  const { identifying, readOnly: looks } = calledLabels(app.manifest, tool);
  const isInQuery = (value: string) => said.hold(value);
  return {
    by: call.asked ?? call,
    app: app.id,
    tool: tool.name,
    arguments: given,
    identifying,
    looks,
    isInQuery,
  };
}

function isPlannedCall(query: Query, call: ReadyCall): boolean {
  return isExpected(planFor(query, call), call.app.id, usesOf(call.app.manifest, call.tool.name));
}

/** Where the plan says that the arguments come from, if each step that names the tool says so: any of them may be meant. */
function plannedSources(query: Query, call: ReadyCall): Pick<ToolCall, 'sources'> {
  const { app, tool } = call;
  const steps = planFor(query, call).steps.filter(
    (step) => step.app === app.id && step.uses.includes(tool.name),
  );
  const said = steps.flatMap(({ sources = {} }) => {
    const ofTool = Object.hasOwn(sources, tool.name) ? sources[tool.name] : undefined;
    return ofTool === undefined ? [] : [ofTool];
  });
  if (said.length === 0 || said.length < steps.length) return {};
  const names = new Set(said.flatMap((sources) => Object.keys(sources)));
  const of = (sources: PlannedSources, name: string) =>
    Object.hasOwn(sources, name) ? (sources[name] ?? []) : [];
  const all = [...names].map((name) => [name, said.flatMap((sources) => of(sources, name))] as const);
  return { sources: Object.fromEntries(all) };
}

/**
 * What the model reads of a failed call: that it failed, what it can mend, and nothing of why it was refused. A
 * fault of the app's process ends the query: what the app did before it broke is not known.
 */
export function describeFailure(query: Query, failure: CallFailure): Result<CallText, Fault> {
  switch (failure.kind) {
    case 'refused':
      query.refused(failure.reasons, failure.expected);
      return ok({ text: REFUSED_TEXT, isError: true });
    case 'malformed':
      return ok({ text: misfit(failure.problem), isError: true });
    case 'fault':
      return failed(failure.fault);
    default:
      failure satisfies never;
      return ok({ text: REFUSED_TEXT, isError: true });
  }
}

function applies(listed: readonly string[] | null, said: boolean | undefined, tool: string): boolean {
  return listed === null ? (said ?? true) : listed.includes(tool) || said === true;
}
