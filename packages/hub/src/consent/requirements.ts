/**
 * What the permission model requires, apart from the policy (architecture, "Permissions"; paper, Appendix A-D): a question for
 * what cannot be undone, for what crosses between apps against or beside the plan, and for the first request to a site. Pure
 * functions: who acts, on what, and what the plan expected.
 */
import {
  type AppId,
  canonicalJson,
  type DatumSource,
  type EventId,
  type Functionality,
  isClosedValue,
  isJsonObject,
  type Json,
  type JsonObject,
  type JsonSchema,
  type PromptDatum,
  type Proposal,
  type StepPlan,
} from '@cordon/core';
import type { EgressRequest } from '@cordon/egress';
import type { Context } from '../context/context.ts';
import type { HeldText, PlacedText } from '../context/references.ts';
import { answeredNote, carriedTexts, isPartlyCompared, tellsOnlyQuery } from './carried-texts.ts';
import type { ConsentRequirement, Coverage, OnceCoverage } from './consent-requirement.ts';
import {
  distinctQuotes,
  expectationFrom,
  flowsOf,
  isUsersWish,
  type KnownValues,
  listed,
  MOST_LISTED,
  MOST_NAMED,
  nameOf,
  namesFlow,
  namesOf,
  passesOn,
  planWarnings,
  privacyWarnings,
  privateOrigins,
  recipientFlow,
  recipientsOf,
  sourceWarnings,
  steeringQuotes,
  strangersNotes,
  strangersQuotes,
  strangersWarnings,
} from './question-parts.ts';
import { boundArguments, decisiveIn, recipientsIn } from './recipients.ts';
import { followedRequirement, MAY_BE_ASKED_BY_TEXT } from './release-requirements.ts';

/** What an app's tool is about to be called with, and on whose behalf. */
export interface IntendedCall {
  readonly context: Context;
  readonly app: AppId;
  readonly tool: string;
  /** The tool's name and the functionalities that it serves. */
  readonly uses: readonly string[];
  /** The same of another tool of the app. */
  readonly usesOf: (tool: string) => readonly string[];
  readonly arguments: JsonObject;
  /** The schema of the tool. */
  readonly input: JsonSchema;
  /** The arguments that say whom or what it acts upon, as the user's files have it; null: they do not say. */
  readonly identifying: readonly string[] | null;
  readonly irreversible: boolean;
  /** Of a call that can be undone but for what some people hear: the arguments that name them. Null: it cannot be undone at all. */
  readonly tells: readonly string[] | null;
  /** What it is called with may reach others, as far as the user's files say. */
  readonly mayLeave: boolean;
  /** The app may reach somebody besides the user, whatever its tools are for. */
  readonly mayConnect: boolean;
  /** Texts of other apps that stand in the arguments. */
  readonly texts: readonly PlacedText[];
  readonly knows: KnownValues;
  /** Its arguments, without those that the user saw and allowed for it in a list of what a text asks for. */
  readonly unseen: JsonObject;
  /** A text that the query follows may ask for it, and the user has not allowed it. */
  readonly isInDoubt: boolean;
  /** Calls of this tool that were asked for before under the same plan and not refused, where it cannot be undone. */
  readonly before: readonly JsonObject[];
}

export function callRequirement(plan: StepPlan, call: IntendedCall): ConsentRequirement | null {
  const { context, app, tool } = call;
  const fromOthers = call.texts.filter((text) => text.origin !== app);
  if (!call.irreversible && fromOthers.length === 0) {
    if (!call.isInDoubt) return null;
    const datum = argumentsDatum(tool, call.arguments, call.identifying);
    return followedRequirement(context, app, tool, call.arguments, datum);
  }
  const how = expectationFrom(plan, context, app, call.uses);
  const origins = fromOthers.map(({ origin }) => origin);
  const data = saidDatum(argumentsDatum(tool, call.arguments, call.identifying), call.arguments, app, call);
  const warnings = [
    ...planWarnings(how, context),
    ...(call.isInDoubt ? [MAY_BE_ASKED_BY_TEXT] : []),
    ...sourceWarnings(fromOthers),
    ...privacyWarnings(plan, privateOrigins(fromOthers), app, call.uses),
  ];
  const quotes = steeringQuotes(how, context, call.arguments, call.knows);
  const flows = flowsOf(origins, app);
  const isPlanned = how !== 'unexpected';
  const expected = how === 'expected' && !call.isInDoubt;
  const asked = { data: [data], expected, isPlanned, warnings, quotes, flows };
  if (call.irreversible) {
    const due = irreversibleRequirement(plan, call, fromOthers, asked);
    return isSpelledOut(plan, call, due) ? null : due;
  }
  return {
    ...asked,
    subject: { scope: 'data-release', from: origins[0] ?? null, to: app, what: tool },
    question: `Give \`${app}\` text that came from ${namesOf(fromOthers)}?`,
    covers: {
      same: origins.toSorted(),
      words: `other texts of the same origin for \`${tool}\``,
      mayLast: !call.isInDoubt,
    },
  };
}

/**
 * Whether no question is due about a call that can be undone but for what some people hear: the plan names it, and it says nothing but
 * what the query says.
 */
function isSpelledOut(
  plan: StepPlan,
  call: IntendedCall,
  { expected, warnings }: ConsentRequirement,
): boolean {
  const { tells, texts, before, knows, input, arguments: args } = call;
  if (tells === null || !expected || warnings.length > 0 || texts.length > 0) return false;
  return before.length < plannedTimes(plan, call) && tellsOnlyQuery(args, tells, knows, input);
}

const PARTLY_COMPARED =
  'this may hold text that you did not ask to send: apps returned more than Cordon could compare it with';

/** The question for a call that cannot be undone; `asked`: what is asked of every call. */
function irreversibleRequirement(
  plan: StepPlan,
  call: IntendedCall,
  fromOthers: readonly PlacedText[],
  asked: Pick<ConsentRequirement, 'data' | 'expected' | 'isPlanned' | 'warnings' | 'quotes' | 'flows'>,
): ConsentRequirement {
  const { context, app, tool } = call;
  const recipients = recipientsOf(call.unseen, call.knows);
  const repetition = repetitionOf(plan, call);
  const isGiven = (from: AppId) => namesFlow(plan, from, app, call.uses);
  const isPassedOn = (of: string) => passesOn(plan, app, call.uses, call.usesOf(of));
  const telling = { ...call, isGiven, isPassedOn };
  // Attack: the user allowed whom a letter goes to, and the letter is another mail.
  const reached = recipientsOf(call.arguments, call.knows);
  const carried = call.mayLeave ? carriedTexts(telling, reached) : [];
  const answered = call.mayLeave ? answeredNote(telling, reached) : null;
  const isPartly = call.mayLeave && asked.isPlanned && isPartlyCompared(telling);
  const isAskedFor =
    asked.expected && !isPartly && carried.length === 0 && isUsersWish(recipients, call.knows);
  const quotes = [
    ...distinctQuotes(carried.map(({ quote }) => quote)),
    ...strangersQuotes(context, recipients, isAskedFor),
  ];
  const named = [...recipients.strangers, ...recipients.users].slice(0, MOST_LISTED);
  return {
    ...asked,
    subject: { scope: 'irreversible-action', from: context.app, to: app, what: tool },
    question: `Let \`${app}\` do \`${tool}\`? This cannot be undone.`,
    expected: isAskedFor,
    warnings: [
      ...asked.warnings,
      ...strangersWarnings(context, recipients),
      ...carried.map(({ warning }) => warning),
      ...(isPartly ? [PARTLY_COMPARED] : []),
      ...repetition.warnings,
    ],
    notes: [
      ...(answered === null ? [] : [answered]),
      ...strangersNotes(context, recipients),
      ...repetition.notes,
    ],
    quotes: quotes.length > 0 ? quotes : (asked.quotes ?? []),
    covers: callCoverage(tool, call.arguments, fromOthers),
    flows: [...asked.flows, ...named.map((recipient) => recipientFlow(app, tool, recipient))],
  };
}

/**
 * `named`: what the user's files call identifying; recipients, amounts, paths and ids are, whatever they are called. Attack: one more
 * recipient stands behind so much text that not all of it is searched: then any argument may name one.
 */
export function argumentsDatum(name: string, args: Json, named: readonly string[] | null): PromptDatum {
  const { named: found, isAll } = recipientsIn(args);
  const recipients = isAll || !isJsonObject(args) ? found.map(({ key }) => key) : Object.keys(args);
  const identifying = new Set([...(named ?? []), ...recipients, ...decisiveIn(args)]);
  return { name, value: canonicalJson(args), identifying: [...identifying] };
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
  const isAskedFor = how === 'expected' && isUsersWish(recipients, request.knows);
  const quotes = strangersQuotes(context, recipients, isAskedFor);
  return {
    subject: { scope: 'exchange', from: context.app, to, what: functionality.name },
    question: `Let ${nameOf(context.app)} ask \`${to}\` for \`${functionality.name}\`?`,
    data: [saidDatum(argumentsDatum(functionality.name, message, null), message, to, request)],
    expected: isAskedFor,
    isPlanned: how !== 'unexpected',
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
    quotes: quotes.length > 0 ? quotes : steeringQuotes(how, context, message, request.knows),
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
  return everyLeaf(value, (leaf) => leaf === null || (typeof leaf !== 'boolean' && isUsers(String(leaf))));
}

/** Whether each text in a value is one of these. What is no text is of a closed type. */
function holdsOnly(value: Json, isOne: (text: string) => boolean): boolean {
  return everyLeaf(value, (leaf) => typeof leaf !== 'string' || isOne(leaf));
}

/** Whether this holds for each value in it that holds no others. */
function everyLeaf(value: Json, is: (leaf: Json) => boolean): boolean {
  if (Array.isArray(value)) return value.every((item: Json) => everyLeaf(item, is));
  return isJsonObject(value) ? Object.values(value).every((inner) => everyLeaf(inner, is)) : is(value);
}

/**
 * The first request of an app to a site; the manifest lists the sites, the user lets the data go. Another port than
 * that of https is another answer.
 *
 * @param call the id of the only call that the app works on; null: there is none, or several
 */
export function egressRequirement(
  app: AppId,
  request: EgressRequest,
  call: string | null,
): ConsentRequirement {
  const { site, port, method, host, path, bytes } = request;
  const what = port === HTTPS_PORT ? site : `${site}:${port}`;
  const size = bytes === null || bytes === 0 ? '' : ` with ${bytes} bytes`;
  // Of a tunnel nothing is known but where it leads.
  const isInQuestion = method === 'CONNECT' && host === site && path === null && size === '';
  return {
    subject: { scope: 'egress', from: app, to: null, what },
    question: `Let \`${app}\` connect to \`${what}\`?`,
    data: isInQuestion ? [] : [{ name: method, value: `${host}${path ?? ''}${size}` }],
    expected: true,
    warnings:
      port === PLAIN_HTTP_PORT
        ? ['this connection is not encrypted: anybody on the network path can read and change it']
        : [],
    covers: {
      same: null,
      words: `other requests of \`${app}\` to \`${what}\`, whatever they carry`,
      mayLast: true,
      ...(call === null || method !== 'CONNECT' || path !== null
        ? {}
        : { once: ofOneCall(call, host, port) }),
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

/**
 * A program that sends one mail connects twice, and what the second connection carries the first one could have carried. Of a request
 * whose path is shown, another one says something else.
 */
function ofOneCall(call: string, host: string, port: number): OnceCoverage {
  return { within: { call, host, port }, words: 'further connections there during the same call' };
}

const HTTPS_PORT = 443;
const PLAIN_HTTP_PORT = 80;

/**
 * What the plan names once is expected once, where words of others may have asked for the second time. The same again is
 * warned about; something else may be the second of those whom the user wants to write to.
 */
function repetitionOf(
  plan: StepPlan,
  call: IntendedCall,
): { readonly warnings: readonly string[]; readonly notes: readonly string[] } {
  const { context, arguments: args, before } = call;
  const planned = plannedTimes(plan, call);
  const isTooOften = planned > 0 && before.length >= planned;
  if (!isTooOften || !(context.isTainted || context.recallsPrivate)) return { warnings: [], notes: [] };
  const isSame = before.some((earlier) => sameDeed(earlier, args));
  return isSame ? { warnings: [AGAIN], notes: [] } : { warnings: [], notes: [AGAIN] };
}

/** How many steps of the plan name the tool. */
function plannedTimes({ steps }: StepPlan, { app, uses }: IntendedCall): number {
  return steps.filter((step) => step.app === app && step.uses.some((use) => uses.includes(use))).length;
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

const AGAIN =
  'the plan names this less often than it was asked for, and the model has read text that others may have written';

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

/** A call that undoes another one. */
export interface IntendedUndo {
  readonly app: AppId;
  readonly tool: string;
  readonly arguments: JsonObject;
  /** As the user's files have it; null: they do not say. */
  readonly identifying: readonly string[] | null;
  readonly irreversible: boolean;
  /** The call that is undone. */
  readonly undone: {
    readonly event: EventId;
    readonly tool: string;
    readonly arguments: JsonObject;
    /** When it was proposed, in words. */
    readonly when: string;
  };
}

/**
 * Due whether the call can be undone or not, and each time: the user knows neither the tool nor its arguments before they read them.
 * Attack: an app returns the id of something else, so that undoing its call deletes that.
 */
export function undoRequirement(undo: IntendedUndo): ConsentRequirement {
  const { app, tool, undone } = undo;
  const ends = undo.irreversible ? ' This cannot be undone.' : '';
  return {
    subject: { scope: 'irreversible-action', from: app, to: app, what: tool },
    question: `Undo \`${undone.tool}\` of ${undone.when}: let \`${app}\` do \`${tool}\`?${ends}`,
    data: [argumentsDatum(tool, undo.arguments, undo.identifying)],
    expected: true,
    warnings: [],
    notes: notesOf(undo),
    covers: {
      same: { undoes: undone.event, arguments: undo.arguments },
      words: `\`${tool}\``,
      mayLast: false,
    },
    flows: [],
  };
}

const MOST_ARGUMENTS = 200;

/**
 * What the undone call was about, unless all that undoes it comes from there. Attack: the folder is the same, and the id in it, which the
 * app chose, is of something else.
 */
function notesOf({ arguments: args, undone }: IntendedUndo): readonly string[] {
  const known = new Set(Object.values(undone.arguments).map((value) => canonicalJson(value)));
  const values = Object.values(args);
  const isTold = values.length > 0 && values.every((value) => known.has(canonicalJson(value)));
  if (isTold || Object.keys(undone.arguments).length === 0) return [];
  const text = canonicalJson(undone.arguments);
  const shown = text.length > MOST_ARGUMENTS ? `${text.slice(0, MOST_ARGUMENTS)} …` : text;
  return [`\`${undone.tool}\` was called with ${shown}`];
}
