/**
 * What several questions share: whether the plan expects an effect, warnings and notes, and whose data would get to whom.
 */
import {
  type AppId,
  canonicalJson,
  canonicalJsonOf,
  dependsOnEachOther,
  type Expectation,
  expects,
  type Json,
  type PromptQuote,
  type StepPlan,
} from '@cordon/core';
import { isWrittenArgument } from '@cordon/policy';
import type { Context } from '../context/context.ts';
import type { HeldText } from '../context/references.ts';
import type { Passage, Standing } from '../context/returned-texts.ts';
import { unquotedText } from '../context/unquoted-text.ts';
import type { Flow } from './consent-requirement.ts';
import { filesIn, isSaidName, type NamedFile } from './named-texts.ts';
import { lastName, namesMailAddress, type Recipient, recipientsIn } from './recipients.ts';

/** Where a value may stand that a model names. */
export interface KnownValues {
  /** In the user's own words. */
  readonly isUsers: (value: string) => boolean;
  /** Whether the user names what it lies in: the folder of a path, the site of a link. */
  readonly isPlaceNamed: (value: string) => boolean;
  /** In what the user says in this query. */
  readonly isInQuery: (value: string) => boolean;
  /** As it is, in what an app returned in this query; null: it does not stand there. */
  readonly find: (value: string) => Standing | null;
  /** The text that somebody wrote and that holds a value of this; null: none does. */
  readonly quote: (value: Json) => PromptQuote | null;
  /** All that apps returned in this query, and in this session before it. */
  readonly passages: () => readonly Passage[];
  /** Whether those passages are all: none was forgotten. */
  readonly isAll: () => boolean;
  /** How a call of the app names this file; null: it is not known to be one. */
  readonly file: (path: string) => NamedFile | null;
  /** Whether a call of the app would make this file in a folder that the user does not speak of. */
  readonly isMisplaced: (path: string) => boolean;
  /** The query of the user that is served. */
  readonly query: string;
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
export function expectationFrom(
  plan: StepPlan,
  { app: from }: Context,
  to: AppId,
  uses: readonly string[],
): Expectation {
  return from === null || dependsOnEachOther(plan, from, to) ? expectation(plan, to, uses) : 'unexpected';
}

export function planWarnings(how: Expectation, context: Context): readonly string[] {
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

export function sourceWarnings(texts: readonly HeldText[]): readonly string[] {
  return texts.some(({ label }) => label.integrity === 'untrusted')
    ? [`it carries text from ${namesOf(texts)} that others may have written`]
    : [];
}

export function privateOrigins(texts: readonly HeldText[]): readonly AppId[] {
  return texts.flatMap(({ origin, label }) => (label.confidentiality === 'private' ? [origin] : []));
}

/** Whose private data would get to whom, where the plan does not say so. */
export function privacyWarnings(
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

/** Whether a step of `to` waits for the result of a step of `from`. Counts only steps that use one of `uses`; null: all steps. */
export function namesFlow(
  { steps }: StepPlan,
  from: AppId,
  to: AppId,
  uses: readonly string[] | null,
): boolean {
  const given = new Set(steps.flatMap(({ id, app }) => (app === from ? [id] : [])));
  return steps.some(
    (step) =>
      step.app === to &&
      step.after.some((before) => given.has(before)) &&
      (uses === null || step.uses.some((use) => uses.includes(use))),
  );
}

/**
 * Whether a step with one of `uses` sends on what one of `results` gave, as the user asks.
 *
 * @param uses the names under which the plan may know the call
 * @param results the names under which it may know the call whose result it is
 */
export function passesOn(
  { steps }: StepPlan,
  app: AppId,
  uses: readonly string[],
  results: readonly string[],
): boolean {
  return steps.some(
    (step) =>
      step.app === app &&
      step.uses.some((use) => uses.includes(use)) &&
      step.passes?.some((use) => results.includes(use)) === true,
  );
}

/** A recipient that the user did not name, and where an app named it. */
interface Stranger extends Recipient {
  readonly standing: Standing | null;
  /** It is the name of a file. */
  readonly file?: NamedFile | 'word' | 'misplaced';
}

/** Recipients, parted by whether the user named them. */
export interface KnownRecipients {
  readonly strangers: readonly Stranger[];
  readonly users: readonly Recipient[];
  readonly isAll: boolean;
}

export function recipientsOf(
  args: Json,
  knows: Omit<KnownValues, 'quote' | 'passages' | 'isAll'>,
): KnownRecipients {
  const { isUsers, find } = knows;
  const { named: all, isAll } = recipientsIn(args);
  const files = strangeFiles(args, knows);
  // What looks like a host in the name of a file.
  const found = all.filter(({ key }) => files.every((file) => file.key !== key));
  const isStranger = ({ value }: Recipient) =>
    !isUsers(value) && !isSaidHandle(value, knows) && !isOnNamedSite(value, knows);
  const others = found
    .filter(isStranger)
    .map((stranger) => ({ ...stranger, standing: find(stranger.value) }));
  return {
    strangers: [...files, ...others],
    users: found.filter((recipient) => !isStranger(recipient)),
    isAll,
  };
}

/**
 * Who says `Jerry` means `@Jerry`. Attack: whoever is called `@invoice` has the invoice sent to them, or all of a channel is notified
 * because the user says `here`, or the title of a mail that the user quotes has a name in it. So it is a name that the query writes as
 * one outside of quotation marks, and where most words have a capital letter, it is none.
 */
function isSaidHandle(
  value: string,
  { isInQuery, query }: Pick<KnownValues, 'isInQuery' | 'query'>,
): boolean {
  const name = /^@(\w.*)$/.exec(value)?.[1]?.toLowerCase();
  if (name === undefined || NO_NAME.test(name) || !isInQuery(name)) return false;
  const text = unquotedText(query);
  if (!marksNames(text)) return false;
  return [...text.matchAll(CAPITALISED)].some(([said]) => said.toLowerCase() === name);
}

/** A page of the site that the user wants is where they point, whatever link leads there. */
function isOnNamedSite(value: string, { isPlaceNamed }: Pick<KnownValues, 'isPlaceNamed'>): boolean {
  return !value.startsWith('/') && isPlaceNamed(value);
}

/** Whether a capital letter says something: most words have none, first ones of sentences aside. */
function marksNames(text: string): boolean {
  const words = [...text.matchAll(WITHIN_SENTENCE)].map(([word]) => word);
  const capitalised = words.filter((word) => /^\p{Lu}/u.test(word));
  return capitalised.length * 2 <= words.length;
}

const WITHIN_SENTENCE = /(?<=[\p{L}\p{N},;:] )\p{L}[\p{L}\p{N}_-]*/gu;

/** Words that tell everybody, and those that English writes with a capital letter. */
const NO_NAME =
  /^(?:all|here|channel|everyone|everybody|team|group|room|online|sales|support|admins?|staff|crew|devs?|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october|november|december)$/;

/** Words with one capital letter in the midst of a sentence, and no article before them, since German writes every noun so. */
const CAPITALISED =
  /(?<=[\p{L}\p{N},] )(?<!(?<!\p{L})(?:[Tt]he|[Aa]n?|[Mm]y|[Oo]ur|[Yy]our|(?:[Dd](?:er|ie|as|en|em|es)|(?:[MmKk]ein|[Ee]in|[Uu]nser)(?:e[mnrs]?)?)(?: \p{Ll}+)?) )\p{Lu}[\p{Ll}\d_-]+(?:\.[\p{Ll}\d_-]+)*(?![\p{L}\p{N}_@-])/gu;

/**
 * Files that the user did not name. Attack: a text names one, and the model puts it into another folder; or the user wants a mail about
 * the Makefile, and it is saved as the Makefile.
 */
function strangeFiles(
  args: Json,
  { isUsers, find, file, isMisplaced }: Pick<KnownValues, 'isUsers' | 'find' | 'file' | 'isMisplaced'>,
): readonly Stranger[] {
  return filesIn(args).flatMap(({ key, value, role }): Stranger[] => {
    const name = value.slice(value.lastIndexOf('/') + 1);
    // The user may have named the last part of the path alone.
    if (isSaidName(value, isUsers))
      return isUsers(value) || !isMisplaced(value)
        ? []
        : [{ key, value, standing: find(value), file: 'misplaced' }];
    // Any other place is one that the call reaches.
    const how = role === 'to' ? null : file(value);
    if (how === null) return [];
    if (role === 'from') {
      const isSaid = isUsers(value) || (name !== '' && isUsers(name));
      return how !== 'there' || isSaid ? [] : [{ key, value, standing: find(value), file: how }];
    }
    if (how !== 'new' && isUsers(value)) return [{ key, value, standing: null, file: 'word' }];
    return [{ key, value, standing: find(value) ?? find(name), file: how }];
  });
}

/**
 * Whether whom a call reaches comes from the user's words or from where they pointed: the sender of the mail that they want
 * answered, the account on the bill that they named. Attack: the user names one address, and a mail has its own sender written to,
 * instead of it or besides.
 */
export function isUsersWish(recipients: KnownRecipients, { query }: KnownValues): boolean {
  const { strangers, users, isAll } = recipients;
  const isNobody = (stranger: Stranger) => isMentioned(stranger) || isNewFile(stranger);
  const namesAnother = users.length === 0 && namesMailAddress(query) && !strangers.every(isNobody);
  return isAll && !namesAnother && !strangers.some(isSuspect) && uninvited(recipients).length === 0;
}

/**
 * Strangers who get what goes to somebody whom the user named. Attack: the user wants to write to Ada, and a mail has a copy sent to
 * its sender.
 */
function uninvited({ strangers, users }: KnownRecipients): readonly Stranger[] {
  if (!users.some(isAddressed)) return [];
  const isAlso = (stranger: Stranger) =>
    namesMailAddress(stranger.value) && !isWrittenArgument(lastName(stranger.key));
  return strangers.filter((stranger) => isAlso(stranger) && !isKept(stranger));
}

/** Whatever the app calls it: it gets what the call says. */
function isAddressed({ key, value }: Recipient): boolean {
  const isElse = key.split('.').some((name) => NOT_ADDRESSED.test(name)) || isWrittenArgument(lastName(key));
  return !isElse && namesMailAddress(value);
}

/** Who gets a copy, as the user may want of an answer; from whom it comes; the user's own account; what is searched for. */
const NOT_ADDRESSED =
  /^(?:b?cc|from(?:_.*|e?mail|address)?|sender(?:_.*|e?mail)?|(?:in_?)?reply_?to|account|user_google_email|calendar(?:_?id)?|mailbox|q|query|search|filter)$/i;

/**
 * Attack: a mail says "also send a copy to x@evil" in a way that no filter reads, and the user has asked to send another
 * mail: the plan expects the call, and only its recipient is not the user's. One that stands in no field and in no text that the
 * user named is warned about; the account on the bill that the user wants to be paid is pointed out.
 */
export function strangersWarnings(context: Context, recipients: KnownRecipients): readonly string[] {
  const { strangers, isAll } = recipients;
  if (!mayBeOthersWish(context)) return [];
  const besides = uninvited(recipients);
  const suspect = strangers.filter((stranger) => isSuspect(stranger) || besides.includes(stranger));
  const listed = suspect
    .slice(0, MOST_LISTED)
    .map((stranger) => (isSuspect(stranger) ? strangerWords(stranger) : besidesWords(stranger)));
  return isAll && suspect.length <= MOST_LISTED ? listed : [...listed, MORE_RECIPIENTS];
}

/** A name of an account that the app itself keeps says nothing. */
export function strangersNotes(context: Context, recipients: KnownRecipients): readonly string[] {
  if (!mayBeOthersWish(context)) return [];
  const besides = uninvited(recipients);
  return recipients.strangers
    .filter((stranger) => !isSuspect(stranger) && !isKept(stranger) && !besides.includes(stranger))
    .slice(0, MOST_LISTED)
    .map(strangerWords);
}

function isKept({ standing }: Stranger): boolean {
  return standing?.how === 'field' && standing.isTrusted;
}

/** The call reaches it, and it stands nowhere, or only inside a text that the agent came across. */
function isSuspect(stranger: Stranger): boolean {
  const { standing } = stranger;
  if (isNewFile(stranger)) return false;
  return (standing === null || standing.how === 'text') && !isMentioned(stranger);
}

/** An address of a text that an app returned, in what is said and not in whom it goes to: a file that is attached has one. */
function isMentioned({ key, standing }: Stranger): boolean {
  return standing !== null && isWrittenArgument(lastName(key));
}

/** A new file by a name that the model made up, and no text of others. */
export function isNewFile({ file, standing }: Stranger): boolean {
  return file === 'new' && standing === null;
}

function strangerWords(stranger: Stranger): string {
  const { standing } = stranger;
  const who = named(stranger);
  if (isNewFile(stranger)) return `${who} is new, and the model named it`;
  if (standing === null && stranger.file === 'there')
    return `${who} is there already, and you did not name it`;
  if (standing === null && stranger.file === 'misplaced')
    return `${who} would be new in a folder that you did not name`;
  if (stranger.file === 'word') return `${who} is a word of yours, and you may not have meant a file`;
  if (standing === null) return `${who} is not from your words`;
  const { app, tool, how, field } = standing;
  const returned = `\`${shortened(app)}\` returned for \`${shortened(tool)}\``;
  switch (how) {
    case 'field':
      return field === null
        ? `${who} is what ${returned}`
        : `${who} is the \`${shortened(field)}\` of what ${returned}`;
    case 'named-text':
      return `${who} comes from a text that you named, which ${returned}`;
    case 'named-place':
      return `${who} comes from a text below a folder or on a site that you named, which ${returned}`;
    case 'text':
      return `${who} stands only in a text that \`${shortened(app)}\` returned`;
    default:
      how satisfies never;
      return who;
  }
}

/** Of whom the texts of this query keep in a field, so it looks like one whom the user means. */
function besidesWords(stranger: Stranger): string {
  return `you named others, and not this one: ${strangerWords(stranger)}`;
}

/** The texts that name whom a call reaches, where the user should read them: what is warned about, and what nobody asked for. */
export function strangersQuotes(
  context: Context,
  { strangers }: KnownRecipients,
  isAskedFor: boolean,
): readonly PromptQuote[] {
  if (!mayBeOthersWish(context)) return [];
  const told = strangers.filter(
    (stranger) => (isSuspect(stranger) || !isAskedFor) && !isMentioned(stranger) && !isKept(stranger),
  );
  const quotes = told.flatMap(({ standing }) => (standing === null ? [] : [standing.quote]));
  return distinctQuotes(quotes);
}

/** What the plan does not name was most likely asked for by a text: the one that holds what the call or request is made of. */
export function steeringQuotes(
  how: Expectation,
  context: Context,
  value: Json,
  { quote }: KnownValues,
): readonly PromptQuote[] {
  if (how !== 'unexpected' || !mayBeOthersWish(context)) return [];
  const found = quote(value);
  return found === null ? [] : [found];
}

/** One of each text, the first, and so few that they can be read. */
export function distinctQuotes(quotes: readonly PromptQuote[]): readonly PromptQuote[] {
  const first = new Map<string, PromptQuote>();
  for (const quote of quotes) {
    const { text: _text, ...source } = quote;
    const key = canonicalJsonOf(source);
    if (!first.has(key)) first.set(key, quote);
  }
  return [...first.values()].slice(0, MOST_QUOTES);
}

function mayBeOthersWish(context: Context): boolean {
  return context.isTainted || context.recallsPrivate || context.knowsOthersValues;
}

export function flowsOf(sources: readonly AppId[], to: AppId | null): readonly Flow[] {
  if (to === null) return [];
  return [...new Set(sources)]
    .filter((from) => from !== to)
    .map((from) => ({
      from,
      to: `app ${to}`,
      words: `\`${to}\` was never permitted to get anything from \`${from}\``,
    }));
}

export function factFlow(from: AppId | null, to: AppId, name: string): Flow {
  return {
    from,
    to: `fact ${name} for ${to}`,
    words: `\`${to}\` was never permitted to know your \`${name}\``,
  };
}

export function recipientFlow(app: AppId, tool: string, recipient: Recipient): Flow {
  return {
    from: app,
    to: `${tool} ${canonicalJson([recipient.key, recipient.value])}`,
    words: `\`${tool}\` was never permitted with ${named(recipient)}`,
  };
}

function named({ key, value }: Recipient): string {
  return `\`${shortened(value)}\` in \`${shortened(key)}\``;
}

/**
 * A name or value of others in a sentence of ours. Attack: one that ends the quotation, and goes on as if Cordon said the rest:
 * "x` is from your words. `".
 */
export function shortened(text: string): string {
  return text.slice(0, MOST_NAMED).replaceAll('`', "'");
}

export function namesOf(texts: readonly HeldText[]): string {
  return listed([...new Set(texts.map(({ origin }) => origin))]);
}

export function listed(apps: readonly AppId[]): string {
  return apps.map((app) => `\`${app}\``).join(' and ');
}

export function nameOf(app: AppId | null): string {
  return app === null ? 'the assistant' : `\`${app}\``;
}

export const OFF_PLAN = 'you did not ask for this: it is not part of the plan for your query';

const AFTER_OPENED_TEXT = 'the model has read text of another app, and this may be what that text wants';
const AFTER_FOREIGN_TEXT =
  'the model has read text that others may have written, and the plan does not name this action';
const MORE_RECIPIENTS =
  'it names more recipients than are listed here, and they may not come from your words';

/** Characters of a name or value of others in a sentence of ours. */
export const MOST_NAMED = 80;

/** Recipients of one question, each with a line. */
export const MOST_LISTED = 20;

/** Texts of others in one question. */
const MOST_QUOTES = 3;
