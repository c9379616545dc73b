/**
 * What the permission model requires, apart from the policy (architecture, "Permissions"; paper, Appendix A-D): a
 * question for what cannot be undone, for what crosses between apps against or beside the plan, and for data that
 * leave the context in which they were learnt. Pure functions: who acts, on what, and what the plan expected.
 *
 * Ring 0.
 */
import {
  type AppId,
  canonicalJson,
  type DataKind,
  type DatumSource,
  dependsOnEachOther,
  type Expectation,
  expects,
  type Functionality,
  isClosedValue,
  isJsonObject,
  type Json,
  type JsonObject,
  type JsonSchema,
  labelOfData,
  type PromptDatum,
  type Proposal,
  type ReleasedItem,
  type StepPlan,
} from '@cordon/core';
import type { EgressRequest } from '@cordon/egress';
import type { Context } from '../context/context.ts';
import type { HeldText, PlacedText } from '../context/references.ts';
import type { ConsentRequirement, Coverage, Flow } from './consent-requirement.ts';
import { boundArguments, type Recipient, recipientsIn } from './recipients.ts';

/** What an app's tool is about to be called with, and on whose behalf. */
export interface IntendedCall {
  readonly context: Context;
  readonly app: AppId;
  readonly tool: string;
  /** The tool's name and the functionalities that it serves. */
  readonly uses: readonly string[];
  readonly arguments: JsonObject;
  /** The arguments that say whom or what it acts upon, as the user's files have it; null: they do not say. */
  readonly identifying: readonly string[] | null;
  readonly irreversible: boolean;
  /** Texts of other apps that stand in the arguments. */
  readonly texts: readonly PlacedText[];
  readonly knows: KnownValues;
  /** Calls of this tool that were asked for before under the same plan and not refused, where it cannot be undone. */
  readonly before: readonly JsonObject[];
}

/** Where a value may stand that a model names. */
export interface KnownValues {
  /** In the user's own words. */
  readonly isUsers: (value: string) => boolean;
  /** As it is, in what an app returned in this query. */
  readonly isReturned: (value: string) => boolean;
}

/** The best that the plan says of any of the names under which it may know this use. */
export function expectation(plan: StepPlan, app: AppId, uses: readonly string[]): Expectation {
  const found = uses.map((use) => expects(plan, app, use));
  if (found.includes('expected')) return 'expected';
  return found.includes('app-only') ? 'app-only' : 'unexpected';
}

/**
 * The same of a use that a context asks for. Attack: two apps of a plan work beside each other, and one asks the other for
 * what the plan wants of it for somebody else.
 */
function expectationFrom(
  plan: StepPlan,
  { app: from }: Context,
  to: AppId,
  uses: readonly string[],
): Expectation {
  return from === null || dependsOnEachOther(plan, from, to) ? expectation(plan, to, uses) : 'unexpected';
}

export function callRequirement(plan: StepPlan, call: IntendedCall): ConsentRequirement | null {
  const { context, app, tool } = call;
  const fromOthers = call.texts.filter((text) => text.origin !== app);
  if (!call.irreversible && fromOthers.length === 0) return null;
  const how = expectationFrom(plan, context, app, call.uses);
  const data = [saidDatum(argumentsDatum(tool, call.arguments, call.identifying), call.arguments, app, call)];
  const warnings = [
    ...planWarnings(how, context),
    ...sourceWarnings(fromOthers),
    ...privacyWarnings(plan, privateOrigins(fromOthers), app, call.uses),
  ];
  const flows = flowsOf(
    fromOthers.map(({ origin }) => origin),
    app,
  );
  if (call.irreversible) {
    const recipients = recipientsOf(call.arguments, call.knows);
    const repetition = repetitionOf(plan, call);
    return {
      subject: { scope: 'irreversible-action', from: context.app, to: app, what: tool },
      question: `Let \`${app}\` do \`${tool}\`? This cannot be undone.`,
      data,
      expected: how !== 'unexpected',
      warnings: [...warnings, ...strangersWarnings(context, recipients), ...repetition.warnings],
      notes: [...strangersNotes(context, recipients), ...repetition.notes],
      covers: callCoverage(tool, call.arguments, fromOthers),
      flows: [
        ...flows,
        ...[...recipients.strangers, ...recipients.users]
          .slice(0, MOST_LISTED)
          .map((recipient) => recipientFlow(app, tool, recipient)),
      ],
    };
  }
  return {
    subject: { scope: 'data-release', from: fromOthers[0]?.origin ?? null, to: app, what: tool },
    question: `Give \`${app}\` text that came from ${namesOf(fromOthers)}?`,
    data,
    expected: how !== 'unexpected',
    warnings,
    covers: {
      same: fromOthers.map(({ origin }) => origin).sort(),
      words: `other texts of the same origin for \`${tool}\``,
      mayLast: true,
    },
    flows,
  };
}

/**
 * `named`: what the user's files call identifying; recipients are, whatever they are called. Attack: behind so much text that
 * not all of it is looked at for recipients stands one more: then any argument may name one.
 */
export function argumentsDatum(name: string, args: Json, named: readonly string[] | null): PromptDatum {
  const { named: found, isAll } = recipientsIn(args);
  const recipients = isAll || !isJsonObject(args) ? found.map(({ key }) => key) : Object.keys(args);
  return { name, value: canonicalJson(args), identifying: [...new Set([...(named ?? []), ...recipients])] };
}

/** Says of a datum which other apps' texts stand in it, or that it holds nothing but words of the user. */
function saidDatum(
  datum: PromptDatum,
  value: Json,
  to: AppId,
  { texts, knows }: { readonly texts: readonly PlacedText[]; readonly knows: KnownValues },
): PromptDatum {
  const sources = sourcesOf(texts.filter(({ origin }) => origin !== to));
  if (sources.length > 0) return { ...datum, sources };
  if (texts.length > 0) return datum;
  return isSaidByUser(value, knows.isUsers) ? { ...datum, isUsers: true } : datum;
}

/** Attack: a file of one app is attached to a mail of another, and the question shows the same as for any other text. */
function sourcesOf(texts: readonly PlacedText[]): readonly DatumSource[] {
  const places = Map.groupBy(texts, ({ origin }) => origin);
  return [...places].map(([app, held]) => ({
    app,
    arguments: [...new Set(held.flatMap((text) => text.places))].sort(),
  }));
}

/** A request to another app that is served by its own context, or by a tool that can be undone. */
export function exchangeRequirement(
  plan: StepPlan,
  request: {
    readonly context: Context;
    readonly to: AppId;
    readonly functionality: Functionality;
    readonly uses: readonly string[];
    readonly message: Json;
    readonly texts: readonly PlacedText[];
    /** Whether a model of the other app will read the message; else a tool is called with it. */
    readonly isReadByModel: boolean;
    readonly knows: KnownValues;
  },
): ConsentRequirement | null {
  const { context, to, functionality, message, texts, isReadByModel } = request;
  const how = expectationFrom(plan, context, to, request.uses);
  const othersWords = [...context.origins].filter((origin) => origin !== to);
  const carriesNothing = isClosedValue(functionality.request, message) && texts.length === 0;
  // What the plan expects may go without a question if it is of closed types, or if it can only hold the user's words.
  const holdsOthersWords =
    context.isTainted || context.recallsPrivate || othersWords.length + texts.length > 0;
  // Attack: an app's own instructions make its model write instructions to the model of another app.
  const speaksForUser = !holdsOthersWords && !(isReadByModel && context.app !== null);
  // A tool of the other app is called with nothing but words of the user, and the plan names it.
  const isUsersOwn =
    how === 'expected' && !isReadByModel && texts.length === 0 && holdsOnly(message, request.knows.isUsers);
  // Attack: an app that the plan names, and not for what, gets account numbers: closed values instruct nobody, but are private.
  const mayTellPrivate = othersWords.length > 0 && !isSaidByUser(message, request.knows.isUsers);
  const isHarmless = carriesNothing && (how === 'expected' || !mayTellPrivate);
  if (how !== 'unexpected' && (isHarmless || speaksForUser || isUsersOwn)) return null;
  const isThird = (origin: AppId) => origin !== to && origin !== context.app;
  const sources = [...new Set([...othersWords, ...texts.map(({ origin }) => origin)])].filter(isThird);
  const recipients = recipientsOf(message, request.knows);
  return {
    subject: { scope: 'exchange', from: context.app, to, what: functionality.name },
    question: `Let ${nameOf(context.app)} ask \`${to}\` for \`${functionality.name}\`?`,
    data: [saidDatum(argumentsDatum(functionality.name, message, null), message, to, request)],
    expected: how !== 'unexpected',
    warnings: [
      ...planWarnings(how, context),
      ...sourceWarnings(texts.filter(({ origin }) => origin !== to)),
      ...privacyWarnings(
        plan,
        [...(mayTellPrivate ? othersWords : []), ...privateOrigins(texts)],
        to,
        request.uses,
      ),
      ...strangersWarnings(context, recipients),
    ],
    notes: strangersNotes(context, recipients),
    covers: {
      // Attack: a yes to what one app says, used for a text of a third.
      same: sources.length === 0 ? null : sources.toSorted(),
      words: `other requests for \`${functionality.name}\` between the same two, whatever they say${
        sources.length === 0 ? '' : `, with words of ${listed(sources)}`
      }`,
      mayLast: true,
    },
    flows: flowsOf([...(context.app === null ? [] : [context.app]), ...sources], to),
  };
}

/** Whether each value in it stands in the user's words. One that cannot stand there, like `true`, does not. */
function isSaidByUser(value: Json, isUsers: (value: string) => boolean): boolean {
  if (value === null) return true;
  if (Array.isArray(value)) return value.every((item: Json) => isSaidByUser(item, isUsers));
  if (isJsonObject(value)) return Object.values(value).every((inner) => isSaidByUser(inner, isUsers));
  return typeof value !== 'boolean' && isUsers(String(value));
}

/** Whether each text in a value is one of these. What is no text is of a closed type. */
function holdsOnly(value: Json, isOne: (text: string) => boolean): boolean {
  if (typeof value === 'string') return isOne(value);
  if (Array.isArray(value)) return value.every((item: Json) => holdsOnly(item, isOne));
  return !isJsonObject(value) || Object.values(value).every((inner) => holdsOnly(inner, isOne));
}

/** Facts that the user stated, for an app's context. */
export function factsRequirement(to: AppId | null, items: readonly ReleasedItem[]): ConsentRequirement {
  const requirement = memoryRequirement(to, items);
  return { ...requirement, data: requirement.data.map((datum) => ({ ...datum, isUsers: true })) };
}

/** What the hub's memory holds, for an app's context. */
export function memoryRequirement(to: AppId | null, items: readonly ReleasedItem[]): ConsentRequirement {
  const learntElsewhere = [
    ...new Set(items.flatMap(({ origin }) => (origin === null || origin === to ? [] : [origin]))),
  ];
  return {
    subject: {
      scope: 'data-release',
      from: null,
      to,
      what: items
        .map(({ name }) => name)
        .sort()
        .join(', '),
    },
    question: `Share this with ${nameOf(to)}?`,
    data: items.map(({ name, value }): PromptDatum => ({ name, value })),
    expected: true,
    warnings: learntElsewhere.map((app) => `you told this to \`${app}\`, but not to \`${to}\``),
    covers: {
      same: null,
      words: 'the same facts again, with the values that they have by then',
      mayLast: true,
    },
    flows:
      to === null
        ? []
        : items.flatMap(({ origin, name }) => (origin === to ? [] : [factFlow(origin, to, name)])),
  };
}

/** Data of one kind that an app asks for, and what the hub knows of them; null: nothing. */
export interface RequestedField {
  readonly kind: DataKind;
  readonly known: ReleasedItem | null;
}

/**
 * Data that an app asks for during its turn: as for facts, with a field for each that the hub does not know. Attack: a text that
 * the model has read says what it should ask for. `uses`: names under which the plan may know what it is for; null: the plan has
 * made it.
 */
export function dataRequestRequirement(
  plan: StepPlan,
  asked: {
    readonly context: Context;
    /** The tool or offer that the data are for. */
    readonly purpose: string;
    readonly uses: readonly string[] | null;
    readonly fields: readonly RequestedField[];
  },
): ConsentRequirement {
  const { context, fields, uses } = asked;
  const { app } = context;
  const facts = factsRequirement(
    app,
    fields.flatMap(({ known }) => known ?? []),
  );
  const names = fields.map(({ kind }) => labelOfData(kind));
  const unknown = fields.filter(({ known }) => known === null).map(({ kind }) => labelOfData(kind));
  const isExpected = app === null || uses === null || expectation(plan, app, uses) !== 'unexpected';
  const purpose = asked.purpose.slice(0, MOST_NAMED);
  return {
    ...facts,
    subject: { ...facts.subject, what: names.toSorted().join(', ') },
    question: `Share this with ${nameOf(app)}? It says that it needs this for \`${purpose}\`.`,
    data: fields.map(
      ({ kind, known }): PromptDatum => ({
        name: labelOfData(kind),
        value: known?.value ?? '',
        field: kind,
      }),
    ),
    expected: isExpected,
    warnings: [
      ...(isExpected ? [] : [OFF_PLAN]),
      ...(context.isTainted ? [AFTER_READING] : []),
      ...facts.warnings,
    ],
    // What the user types is for this time.
    covers: { ...facts.covers, mayLast: unknown.length === 0 },
    flows: [...facts.flows, ...(app === null ? [] : unknown.map((name) => factFlow(null, app, name)))],
  };
}

/** The planner's task, where it tells an app what the user said to others. Asked each time: the next one says something else. */
export function taskRequirement(to: AppId, item: ReleasedItem): ConsentRequirement {
  return {
    ...memoryRequirement(to, [item]),
    warnings: [`you said this in an earlier query, but not to \`${to}\`; the planner wrote this text`],
    covers: { same: item.value, words: 'nothing: the same words are asked about again', mayLast: false },
    flows: [],
  };
}

/**
 * The first request of an app to a site; the manifest lists the sites, the user lets the data go. Another port than
 * that of https is another answer.
 */
export function egressRequirement(app: AppId, request: EgressRequest): ConsentRequirement {
  const { site, port, method, host, path, bytes } = request;
  const what = port === HTTPS_PORT ? site : `${site}:${port}`;
  const size = bytes === null || bytes === 0 ? '' : ` with ${bytes} bytes`;
  return {
    subject: { scope: 'egress', from: app, to: null, what },
    question: `Let \`${app}\` connect to \`${what}\`?`,
    data: [{ name: method, value: `${host}${path ?? ''}${size}` }],
    expected: true,
    warnings:
      port === PLAIN_HTTP_PORT
        ? ['this connection is not encrypted: anybody on the network path can read and change it']
        : [],
    covers: {
      same: null,
      words: `other requests of \`${app}\` to \`${what}\`, whatever they carry`,
      mayLast: true,
    },
    flows: [
      {
        from: app,
        to: `site ${what}`,
        words: `\`${app}\` was never permitted to send anything to \`${what}\``,
      },
    ],
  };
}

const HTTPS_PORT = 443;
const PLAIN_HTTP_PORT = 80;

/** The text behind a reference, for a context that wants to read it; `foreign`: as a text of each other app whose words it may hold. */
export function openRequirement(
  plan: StepPlan,
  context: Context,
  held: HeldText,
  foreign: readonly HeldText[],
): ConsentRequirement {
  const texts = foreign.length === 0 ? [held] : foreign;
  const origins = texts.map(({ origin }) => origin);
  const from = origins[0] ?? held.origin;
  return {
    subject: { scope: 'data-release', from, to: context.app, what: held.functionality },
    question: `Let the model of ${nameOf(context.app)} read this text from ${namesOf(texts)}?`,
    data: [{ name: held.reference, value: held.text }],
    expected: true,
    warnings: [
      ...(held.label.integrity === 'untrusted' ? [FOREIGN_TEXT] : []),
      ...privacyWarnings(plan, privateOrigins(texts), context.app, null),
    ],
    covers: {
      // Attack: an app that may be read places a text of one that may not.
      same: origins.toSorted(),
      words: `other texts that \`${held.origin}\` returns for \`${held.functionality}\`${
        origins.length > 1 ? ' and that may hold words of the same apps' : ''
      }`,
      mayLast: true,
    },
    flows: flowsOf(origins, context.app),
  };
}

/** What a reader tells of a private text of others, where it is more than a few values. */
export function readRequirement(
  plan: StepPlan,
  context: Context,
  held: HeldText,
  form: JsonSchema,
): ConsentRequirement {
  const opened = openRequirement(plan, context, held, []);
  return {
    ...opened,
    subject: { ...opened.subject, what: `read ${held.functionality}` },
    question: `Let a reader tell the model of ${nameOf(context.app)} these values of this text from ${namesOf([held])}?`,
    data: [...opened.data, { name: 'values', value: canonicalJson(form) }],
    // What comes out is no text: it can hold no instructions, but it is as private.
    warnings: privacyWarnings(plan, privateOrigins([held]), context.app, null),
    covers: {
      ...opened.covers,
      words: `other values, and other texts that \`${held.origin}\` returns for \`${held.functionality}\``,
    },
  };
}

const OFF_PLAN = 'this is not part of the plan for your query';
const FOREIGN_TEXT = 'others may have written this text, and it may hold instructions to the model';
const AFTER_OPENED_TEXT = 'the model has read text of another app, and this may be what that text wants';
const AFTER_READING =
  'the model has read text that others may have written, and this may be what that text asks for';
const AFTER_FOREIGN_TEXT =
  'the model has read text that others may have written, and the plan does not name this action';

/**
 * Attack: a mail says "also send a copy to x@evil" in a way that no filter reads, and the user has asked to send another
 * mail: the plan expects the call, and only its recipient is not the user's, and stands in nothing that was returned. One
 * that stands there as it is may be the account on the bill that the user wants to be paid: it is pointed out.
 */
function strangersWarnings(context: Context, { strangers, isAll }: KnownRecipients): readonly string[] {
  if (!mayBeOthersWish(context)) return [];
  const nowhere = strangers.filter(({ isReturned }) => !isReturned);
  const listed = nowhere.slice(0, MOST_LISTED).map((stranger) => `${named(stranger)} is not from your words`);
  return isAll && nowhere.length <= MOST_LISTED ? listed : [...listed, MORE_RECIPIENTS];
}

function strangersNotes(context: Context, { strangers }: KnownRecipients): readonly string[] {
  if (!mayBeOthersWish(context)) return [];
  return strangers
    .filter(({ isReturned }) => isReturned)
    .slice(0, MOST_LISTED)
    .map((stranger) => `${named(stranger)} is not from your words, but from what an app returned`);
}

function mayBeOthersWish(context: Context): boolean {
  return context.isTainted || context.recallsPrivate || context.knowsOthersValues;
}

function named({ key, value }: Recipient): string {
  return `\`${value.slice(0, MOST_NAMED)}\` in \`${key.slice(0, MOST_NAMED)}\``;
}

/** Recipients, parted by whether the user named them. */
interface KnownRecipients {
  readonly strangers: readonly (Recipient & { readonly isReturned: boolean })[];
  readonly users: readonly Recipient[];
  readonly isAll: boolean;
}

function recipientsOf(args: Json, { isUsers, isReturned }: KnownValues): KnownRecipients {
  const { named: found, isAll } = recipientsIn(args);
  const isStranger = ({ value }: Recipient) => !isUsers(value);
  return {
    strangers: found
      .filter(isStranger)
      .map((stranger) => ({ ...stranger, isReturned: isReturned(stranger.value) })),
    users: found.filter((recipient) => !isStranger(recipient)),
    isAll,
  };
}

/**
 * What the plan names once is expected once, where words of others may have asked for the second time. The same again is
 * warned about; something else may be the second of those whom the user wants to write to.
 */
function repetitionOf(
  plan: StepPlan,
  { context, app, uses, arguments: args, before }: IntendedCall,
): { readonly warnings: readonly string[]; readonly notes: readonly string[] } {
  const planned = plan.steps.filter(
    (step) => step.app === app && step.uses.some((use) => uses.includes(use)),
  );
  const isTooOften = planned.length > 0 && before.length >= planned.length;
  if (!isTooOften || !(context.isTainted || context.recallsPrivate)) return { warnings: [], notes: [] };
  const isSame = before.some((earlier) => sameDeed(earlier, args));
  return isSame ? { warnings: [AGAIN], notes: [] } : { warnings: [], notes: [AGAIN] };
}

/** To the same recipients; where there are none, with the same arguments. */
function sameDeed(one: JsonObject, other: JsonObject): boolean {
  const whom = (args: JsonObject) =>
    recipientsIn(args)
      .named.map(({ value }) => value.toLowerCase())
      .sort();
  const [ofOne, ofOther] = [whom(one), whom(other)];
  if (ofOne.length === 0 && ofOther.length === 0) return canonicalJson(one) === canonicalJson(other);
  return ofOther.every((value) => ofOne.includes(value));
}

/** What cannot be undone is permitted for the session with the same arguments only, but for prose. */
function callCoverage(tool: string, args: JsonObject, texts: readonly HeldText[]): Coverage {
  const { same, free } = boundArguments(args);
  const fixed = Object.keys(same).map((key) => `\`${key.slice(0, MOST_NAMED)}\``);
  const loose = free.map((key) => `\`${key.slice(0, MOST_NAMED)}\``).join(', ');
  const also = loose === '' ? '' : `, whatever text stands in ${loose}`;
  const withSame = fixed.length === 0 ? '' : ` with the same ${fixed.join(', ')}`;
  return {
    same: { arguments: same, free, from: [...new Set(texts.map(({ origin }) => origin))].sort() },
    words: `\`${tool}\` again${withSame}${also}`,
    // With nothing that stays the same it would be a permission for whatever the tool can do.
    mayLast: fixed.length > 0 || free.length === 0,
  };
}

function flowsOf(sources: readonly AppId[], to: AppId | null): readonly Flow[] {
  if (to === null) return [];
  return [...new Set(sources)]
    .filter((from) => from !== to)
    .map((from) => ({
      from,
      to: `app ${to}`,
      words: `\`${to}\` was never permitted to get anything from \`${from}\``,
    }));
}

function factFlow(from: AppId | null, to: AppId, name: string): Flow {
  return {
    from,
    to: `fact ${name} for ${to}`,
    words: `\`${to}\` was never permitted to know your \`${name}\``,
  };
}

function recipientFlow(app: AppId, tool: string, { key, value }: Recipient): Flow {
  return {
    from: app,
    to: `${tool} ${canonicalJson([key, value])}`,
    words: `\`${tool}\` was never permitted with \`${value.slice(0, MOST_NAMED)}\` in \`${key.slice(0, MOST_NAMED)}\``,
  };
}

/** Characters of a name or value of others in a sentence of ours. */
const MOST_NAMED = 80;
/** Recipients of one question, each with a line. */
const MOST_LISTED = 20;
const MORE_RECIPIENTS =
  'it names more recipients than are listed here, and they may not come from your words';
const AGAIN =
  'the plan names this less often than it was asked for, and the model has read text that others may have written';

function planWarnings(how: Expectation, context: Context): readonly string[] {
  switch (how) {
    case 'expected':
      return context.hasOpened ? [AFTER_OPENED_TEXT] : [];
    case 'app-only':
      return context.isTainted ? [AFTER_FOREIGN_TEXT] : [];
    case 'unexpected':
      return [OFF_PLAN];
    default:
      how satisfies never;
      return [OFF_PLAN];
  }
}

function sourceWarnings(texts: readonly HeldText[]): readonly string[] {
  return texts.some(({ label }) => label.integrity === 'untrusted')
    ? [`it carries text from ${namesOf(texts)} that others may have written`]
    : [];
}

function privateOrigins(texts: readonly HeldText[]): readonly AppId[] {
  return texts.flatMap(({ origin, label }) => (label.confidentiality === 'private' ? [origin] : []));
}

/** Whose private data would get to whom, where the plan does not say so. */
function privacyWarnings(
  plan: StepPlan,
  sources: readonly AppId[],
  to: AppId | null,
  uses: readonly string[] | null,
): readonly string[] {
  if (to === null) return [];
  const unnamed = [...new Set(sources)].filter((from) => from !== to && !namesFlow(plan, from, to, uses));
  return unnamed.length === 0
    ? []
    : [`this can give private data of ${listed(unnamed)} to \`${to}\`, which the plan does not mention`];
}

/** Whether a step of the one waits for what a step of the other returns; `uses`: under which names it may be planned; null: any. */
function namesFlow({ steps }: StepPlan, from: AppId, to: AppId, uses: readonly string[] | null): boolean {
  const given = new Set(steps.flatMap(({ id, app }) => (app === from ? [id] : [])));
  return steps.some(
    (step) =>
      step.app === to &&
      step.after.some((before) => given.has(before)) &&
      (uses === null || step.uses.some((use) => uses.includes(use))),
  );
}

function namesOf(texts: readonly HeldText[]): string {
  return listed([...new Set(texts.map(({ origin }) => origin))]);
}

function listed(apps: readonly AppId[]): string {
  return apps.map((app) => `\`${app}\``).join(' and ');
}

function nameOf(app: AppId | null): string {
  return app === null ? 'the assistant' : `\`${app}\``;
}

/** The question that is due because of a doubt, whatever was due without it. */
export function repetitionRequirement(
  proposal: Proposal,
  app: ConsentRequirement['subject']['from'],
  requirement: ConsentRequirement | null,
  doubt: string,
): ConsentRequirement | null {
  // A yes is for this time.
  const covers = { same: proposal.effect, words: 'nothing else', mayLast: false };
  if (requirement !== null) return { ...requirement, warnings: [doubt, ...requirement.warnings], covers };
  if (proposal.effect !== 'tool-call') return null;
  return {
    subject: { scope: 'irreversible-action', from: app, to: proposal.app, what: proposal.tool },
    question: `Let \`${proposal.app}\` do \`${proposal.tool}\` again? This cannot be undone.`,
    data: [argumentsDatum('arguments', proposal.arguments, proposal.labels?.identifying ?? null)],
    expected: true,
    warnings: [doubt],
    covers,
    flows: [],
  };
}
