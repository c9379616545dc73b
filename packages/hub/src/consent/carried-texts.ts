/**
 * What a call tells those whom it reaches. Attack: a mail has another mail's text put into the planned reply to its writer: the user
 * asked for the reply, and not for that text. So text that an app returned is expected in it only if it is of the same conversation,
 * or if the user points at it.
 */
import {
  type AppId,
  allArgumentNames,
  canonicalJson,
  isJsonObject,
  type Json,
  type JsonObject,
  type JsonSchema,
  memberNames,
  namedArguments,
  namesNobody,
  type PromptQuote,
} from '@cordon/core';
import { isWrittenArgument } from '@cordon/policy';
import { type Passage, quotePassage, type ReturnedOutput } from '../context/returned-texts.ts';
import { isSaidName, namesOfText } from './named-texts.ts';
import {
  isNewFile,
  isUsersWish,
  type KnownRecipients,
  type KnownValues,
  MOST_NAMED,
} from './question-parts.ts';
import {
  decisiveIn,
  idsIn,
  lastName,
  mailAddressesIn,
  mentionsIn,
  type Recipient,
  recipientsIn,
  withoutPlaces,
} from './recipients.ts';
import { lengthsOf, partsIn, type TellingParts, tellingParts } from './telling-parts.ts';

/** A call that may reach others. */
export interface TellingCall {
  readonly app: AppId;
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly knows: KnownValues;
  /** Whether the plan lets what this app returned get to the app of the call. */
  readonly isGiven: (from: AppId) => boolean;
  /** Whether the plan has the user ask that the result of this tool of the app is sent on. */
  readonly isPassedOn: (tool: string) => boolean;
  /** Whether the app may send what it is called with elsewhere. */
  readonly mayConnect: boolean;
}

/** Text in a call that the user did not ask to send, told in one sentence, and the text. */
export interface CarriedText {
  readonly warning: string;
  readonly quote: PromptQuote;
}

/** Texts of one question, each with a line. */
const MOST_CARRIED = 3;

/** Texts that stand in a call, and that the user did not ask to send. */
export function carriedTexts(call: TellingCall, recipients: KnownRecipients): readonly CarriedText[] {
  const passages = call.knows.passages();
  const audience = audienceOf(recipients, call);
  const writers = writersOf(passages);
  if (!mayHaveAskedForIt(audience, writers, call)) return [];
  const written = writtenIn(passages, writers, call);
  const isWish = isUsersWish(recipients, call.knows);
  const own = passages.filter(
    (passage) => isAskedFor(passage, audience, written, call) || (isWish && isResultToPassOn(passage, call)),
  );
  const isOwn = new Set(own);
  const others = passages
    .filter((passage) => !isOwn.has(passage))
    .toSorted((a, b) => Number(a.headers.sender === null) - Number(b.headers.sender === null));
  const known = [call.knows.query, ...own.map(({ text }) => text)];
  const parts = new Map<string, string>();
  const paths = new Map<string, Set<string>>();
  for (const said of saidIn(call.arguments))
    for (const [key, part] of partsOf(said)) {
      parts.set(key, parts.get(key) ?? part);
      paths.set(key, (paths.get(key) ?? new Set()).add(said.path));
    }
  for (const [key, part] of parts) if (call.knows.isUsers(part)) parts.delete(key);
  const lengths = lengthsOf(parts);
  for (const one of known) take(parts, one, lengths);
  const carried: CarriedText[] = [];
  for (const passage of others) {
    // A part is reported for the first text that has it, and each argument once for a text.
    const told = new Map<string, string>();
    for (const [key, part] of take(parts, passage.text, lengths))
      for (const path of paths.get(key) ?? []) told.set(path, told.get(path) ?? part);
    for (const [path, part] of told) {
      carried.push({ warning: warningOf(path, passage), quote: quotePassage(passage, part) });
      if (carried.length >= MOST_CARRIED) return carried;
    }
  }
  return carried;
}

/**
 * Whether a call says something that could not be compared with all that apps returned. Attack: so much is returned that the text of
 * another mail is forgotten.
 */
export function isPartlyCompared(call: TellingCall): boolean {
  if (call.knows.isAll()) return false;
  // Whom it reaches may have written what was forgotten.
  return saidIn(call.arguments).some((said) => partsOf(said).size > 0);
}

/** Takes the parts away that stand in a text, and tells them as they stand there. */
function take(
  parts: Map<string, string>,
  text: string,
  lengths: ReadonlySet<number>,
): readonly (readonly [key: string, part: string])[] {
  if (parts.size === 0) return [];
  const found = [...partsIn(text, parts, lengths)];
  for (const [key] of found) parts.delete(key);
  return found;
}

/**
 * Whether a call tells nobody, or only people whom the query names, and nothing but words of the query, times and yes or no. Attack: a
 * mail has its sender invited, or the text of another mail put into the invitation.
 *
 * @param tells the arguments that name whom it tells
 * @param input the schema of the tool: the names in it are no model's choice
 */
export function tellsOnlyQuery(
  args: JsonObject,
  tells: readonly string[],
  { isInQuery }: Pick<KnownValues, 'isInQuery'>,
  input: JsonSchema,
): boolean {
  const { named, isAll } = recipientsIn(args);
  if (!isAll || !named.every(({ value }) => isInQuery(value))) return false;
  if (!idsIn(args).every(({ value }) => namesNobody(value) || isInQuery(value))) return false;
  if (!saysWhomInQuery(args, tells, isInQuery)) return false;
  const values = namedArguments(args).flatMap(({ path, value }) => {
    const isTold = withoutPlaces(path)
      .split('.')
      .some((name) => tells.includes(name));
    return (Array.isArray(value) ? value : [value]).map((one: Json) => ({ isTold, one }));
  });
  const said = values.filter(({ one }) => !isNothing(one));
  if (named.length === 0 && !said.some(({ isTold }) => isTold)) return true;
  // Attack: the tool keeps whatever data an event is given, and the name of one is the text of another mail.
  const declared = new Set(allArgumentNames(input));
  if (!memberNames(args).every((name) => declared.has(name) || isInQuery(name))) return false;
  return said.every(({ isTold, one }) => {
    if (typeof one === 'boolean') return !isTold;
    return (typeof one === 'string' && TIME.test(one)) || isInQuery(String(one));
  });
}

/**
 * Whether everybody whom a value may name in places that are easily overlooked is in the query: all mail addresses and handles, also in
 * long texts and in names of arguments; names of arguments within those that say whom it tells; what others may see. Attack: the calendar
 * is one that others read, the event is public, or an address is a key with nothing behind it.
 */
function saysWhomInQuery(
  value: Json,
  tells: readonly string[],
  isInQuery: (value: string) => boolean,
  place: 'told' | 'shared' | null = null,
): boolean {
  const hasOnlyKnown = (text: string) => [...mailAddressesIn(text), ...mentionsIn(text)].every(isInQuery);
  if (Array.isArray(value)) return value.every((one) => saysWhomInQuery(one, tells, isInQuery, place));
  if (isJsonObject(value))
    return Object.entries(value).every(([key, inner]) => {
      if (place !== null && !NAMES_NOBODY.test(key) && !isInQuery(key)) return false;
      if (!hasOnlyKnown(key)) return false;
      const isTold = withoutPlaces(key)
        .split('.')
        .some((name) => tells.includes(name));
      const within = isTold ? 'told' : SHARED.test(key) ? 'shared' : place;
      return saysWhomInQuery(inner, tells, isInQuery, within);
    });
  if (typeof value === 'string' && !hasOnlyKnown(value)) return false;
  return place !== 'shared' || isNothing(value) || (value !== true && isInQuery(String(value)));
}

/** Names of arguments that may say who else sees it, or hears of it. */
const SHARED =
  /calendar|visib|public|privacy|audience|access|shar|invit|people|project|board|team|group|space|room|channel|attend|guest|particip|organi[sz]|owner|host|collaborat|subscri|contact|everyone|everybody|anyone|anybody|^list|^with$/i;
/** Keys of what says who somebody is, or which calendar it is. */
const NAMES_NOBODY = /^(?:id|e?mail|address|name)$/i;

/** Neither text nor anybody: an argument that is left empty. */
function isNothing(value: Json): boolean {
  if (value === null || value === false) return true;
  if (typeof value === 'object') return Object.keys(value).length === 0;
  return typeof value === 'string' && namesNobody(value);
}

/** Attack: digits that are no time at all spell a number that is to get out. */
const TIME =
  /^(?:19|20)\d{2}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?:[T ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?:Z|[+-](?:0\d|1[0-4]):?(?:00|15|30|45))?)?$/;

/**
 * Of a call that says something and names nobody but who gets a copy: what it answers and who wrote that, as far as it was read. Null:
 * the call names somebody, or says nothing. Attack: an id stands for whoever wrote a hostile mail, and the question shows `2`.
 */
export function answeredNote(call: TellingCall, recipients: KnownRecipients): string | null {
  const [id] = idsIn(call.arguments);
  const isSaid = namedArguments(call.arguments).some(({ path }) =>
    isWrittenArgument(lastName(withoutPlaces(path))),
  );
  const passages = call.knows.passages();
  if (!isSaid || audienceOf(recipients, call).isAddressed) return null;
  // It says something to nobody but a file.
  if (
    !call.mayConnect &&
    id === undefined &&
    recipients.strangers.some(isNewFile) &&
    !ANSWERS.test(call.tool)
  )
    return null;
  const quiet = `${quoted(call.app)} does not say who gets this`;
  const named = passages.filter(({ output, headers }) => output.app === call.app && headers.sender !== null);
  const last = named.findLast(({ output }) => isSameThing(output.arguments, call.arguments));
  const [answered, ...inside] = named.filter(({ output }) => output === last?.output);
  if (id === undefined || answered === undefined) return quiet;
  // Attack: whom an attached file names as its author is not who wrote the mail.
  if (inside.some((passage) => senderOf(passage) !== senderOf(answered))) return quiet;
  const what = `${quoted(id.key)} ${quoted(id.value)}`;
  return `${what} is${sourceOf(answered)}, as ${quoted(call.app)} returned it; ${quiet}`;
}

/** Whom a call reaches, by address; `strangers`: those of them that the user did not name. */
interface Audience {
  readonly all: ReadonlySet<string>;
  readonly strangers: ReadonlySet<string>;
  /** Whether it names whom it goes to, and not only who gets a copy. */
  readonly isAddressed: boolean;
}

/** Who gets what goes to somebody else. */
const COPY_KEY = /^b?cc$/i;

function audienceOf(
  { strangers, users }: KnownRecipients,
  { arguments: args, mayConnect }: TellingCall,
): Audience {
  // The account that a mail is in; what is paid goes to a number.
  const isAccount = ({ key, value }: Recipient) =>
    key === 'account' && (idsIn(args).length > 0 || !/\d{4}/.test(value.replaceAll(' ', '')));
  const reached = (found: readonly Recipient[]) =>
    found.filter((recipient) => !isWrittenArgument(lastName(recipient.key)) && !isAccount(recipient));
  const addresses = (found: readonly Recipient[]) =>
    new Set(reached(found).map(({ value }) => value.toLowerCase()));
  // A new file is nobody. Attack: a file that is uploaded is called by words of the user, and is there for others.
  const people = strangers.filter((stranger) => !isNewFile(stranger));
  const others = mayConnect ? strangers : people;
  const all = [...others, ...users];
  return {
    all: addresses(all),
    strangers: addresses(others),
    isAddressed: reached([...people, ...users]).some(({ key }) => !COPY_KEY.test(lastName(key))),
  };
}

/** Who wrote what was read, by address. */
interface Written {
  /** Outputs of one writer that the call answers. */
  readonly answered: ReadonlySet<ReturnedOutput>;
  /** Null: several did, or nobody knows who wrote some of what the app returned. */
  readonly onlyWriter: string | null;
}

function writtenIn(
  passages: readonly Passage[],
  [first, ...more]: Iterable<string>,
  { app, arguments: args }: TellingCall,
): Written {
  // A name of a field, or a number, has no writer.
  const isUnknown = (passage: Passage) =>
    passage.output.app === app &&
    passage.output.isPrivate &&
    senderOf(passage) !== first &&
    tellingParts(passage.text, false).size > 0;
  const isOnly = first !== undefined && more.length === 0 && !passages.some(isUnknown);
  // Attack: ten notes that were asked for by `number: 10`, and an answer to whoever wrote mail number 10.
  const answered = [...Map.groupBy(passages, ({ output }) => output)].filter(
    ([output, own]) => output.app === app && writersOf(own).size === 1 && isSameThing(output.arguments, args),
  );
  return {
    answered: new Set(answered.map(([output]) => output)),
    onlyWriter: isOnly ? first : null,
  };
}

/** Who wrote these, by address. */
function writersOf(passages: readonly Passage[]): ReadonlySet<string> {
  return new Set(passages.map(senderOf).filter((sender) => sender !== ''));
}

/**
 * Whether somebody whom it reaches may have written what the model has read: nobody whom the user named and who wrote none of it.
 * A call that acts on something, has a copy for somebody, or is called an answer, may be an answer to whoever wrote what was read. Attack:
 * the user wants a copy of the answer for Bob, and Bob is all whom the call names.
 */
function mayHaveAskedForIt(
  { all, strangers, isAddressed }: Audience,
  writers: ReadonlySet<string>,
  { arguments: args, tool }: TellingCall,
): boolean {
  if (idsIn(args).length > 0) return true;
  // A call that reaches nobody in particular publishes: the plan says that the user wants it.
  if (!isAddressed) return all.size > 0 || ANSWERS.test(tool);
  return strangers.size > 0 || [...writers].some((writer) => all.has(writer));
}

/** Of names of tools. */
const ANSWERS = /repl(?:y|ies)|answer|respond|response/i;

/** The address of whoever wrote it; empty: nobody is named. */
function senderOf({ headers: { sender } }: Passage): string {
  if (sender === null) return '';
  return (/<([^<>]+)>$/.exec(sender)?.[1] ?? sender).trim().toLowerCase();
}

function isAskedFor(passage: Passage, audience: Audience, written: Written, call: TellingCall): boolean {
  const { output } = passage;
  if (!output.isPrivate || isWhollyNamed(output.arguments, call.knows)) return true;
  if (output.app !== call.app && call.isGiven(output.app)) return true;
  return isOfConversation(passage, audience, written, call) || isPointedAt(passage, call.knows);
}

/**
 * Whether the user asks to send on what the tool returned: "list my keys and send them to Ada". Attack: Ada's mail is to be forwarded, and a
 * mail has that of somebody else sent along, or another file read than the user names. So what says who wrote it is not meant, nor what
 * was asked for by anything but this query.
 */
function isResultToPassOn({ output, headers }: Passage, { app, isPassedOn, knows }: TellingCall): boolean {
  if (output.app !== app || headers.sender !== null || !isPassedOn(output.tool)) return false;
  const { leading = output.arguments } = output;
  return namedArguments(leading).every(({ value }) => isNothing(value) || isInQuery(value, knows));
}

function isInQuery(value: Json, knows: Pick<KnownValues, 'isInQuery'>): boolean {
  if (Array.isArray(value)) return value.every((one: Json) => isInQuery(one, knows));
  return (typeof value === 'string' || typeof value === 'number') && knows.isInQuery(String(value));
}

/**
 * Whether all that a call names a text by is from this query. Attack: one more argument that no tool asks for, `file`, names what the
 * user named, and any mail counts as the user's.
 */
function isWhollyNamed(args: JsonObject, { isInQuery }: KnownValues): boolean {
  const names = namesOfText(args);
  return names.length > 0 && names.every((name) => isSaidName(name, isInQuery));
}

/**
 * Whether those whom it reaches wrote the text, or the call answers the very thing that was read and reaches nobody else whom the user
 * did not name. If it does not say whom it reaches, and what was read by no id is all of one writer, it is that writer's.
 */
function isOfConversation(
  passage: Passage,
  { all, strangers }: Audience,
  { answered, onlyWriter }: Written,
  call: TellingCall,
): boolean {
  const { output } = passage;
  const sender = senderOf(passage);
  const isOnlyTheirs = !passage.isWholeText || !namesAnotherSender(passage.text);
  const isAnswered = answered.has(output);
  if (all.size > 0) {
    if (isAnswered && strangers.size === 0) return true;
    return all.has(sender) && isOnlyTheirs && [...strangers].every((stranger) => stranger === sender);
  }
  const isReadById = idsIn(output.arguments).length > 0;
  const isOfOnlyWriter = !isReadById && sender !== '' && isOnlyTheirs && sender === onlyWriter;
  return isAnswered || (output.app === call.app && isOfOnlyWriter);
}

/** Attack: one text with several mails in it, of which the first is from whom the call reaches. */
function namesAnotherSender(text: string): boolean {
  return [...text.matchAll(/^[^\p{L}\p{N}\n]{0,8}(?:from|sender|author)\b[^\n]{0,12}:/gimu)].length > 1;
}

/**
 * Whether both calls are about one thing: the same ids in the same folder. Attack: a mail is read from one folder, and the answer goes
 * to whoever wrote the mail with the same number in another one; or one of many that were read at once is answered.
 */
function isSameThing(read: JsonObject, answered: JsonObject): boolean {
  const ids = idsIn(answered);
  const isOneThing = ids.length > 0 && new Set(ids.map(({ key }) => key)).size === ids.length;
  return isOneThing && canonicalJson(placeOf(read)) === canonicalJson(placeOf(answered));
}

/** All that says which thing it is: neither what is said nor whom it reaches. */
function placeOf(args: JsonObject): JsonObject {
  const reached = new Set(recipientsIn(args).named.map(({ key }) => key));
  // `message` may hold what is said, or stand for a mail.
  const ids = new Set(idsIn(args).map(({ key }) => key.split('.')[0] ?? key));
  const kept = Object.entries(args).filter(
    ([key, value]) =>
      typeof value !== 'boolean' &&
      (ids.has(key) || !isWrittenArgument(key)) &&
      !USUAL.test(String(value)) &&
      (key === 'account' || !reached.has(key)),
  );
  return Object.fromEntries(kept.map(([key, value]) => (ids.has(key) ? sameId(key, value) : [key, value])));
}

/** `email_ids` that hold one are its `emailId`. */
function sameId(key: string, value: Json): readonly [string, Json] {
  const name = key.replaceAll('_', '').toLowerCase().replace(/ids$/, 'id');
  const [one, ...more] = Array.isArray(value) ? value : [value];
  const isOne = more.length === 0 && (typeof one === 'string' || typeof one === 'number');
  return [name, isOne ? String(one) : value];
}

/** Where a mail server looks if nobody says so. */
const USUAL = /^(?:default|primary|inbox)$/i;

/**
 * Whether the user names in this query who wrote it, or what it is called. Attack: who asked before what the bank wrote did not ask to
 * send it to whoever wrote the newest mail.
 */
function isPointedAt(passage: Passage, { isInQuery }: KnownValues): boolean {
  const { sender, title } = passage.headers;
  const name = (sender ?? '')
    .replace(/<[^<>]*>$/, '')
    .replace(/["']/g, '')
    .trim();
  const called = (title ?? '').replace(ANSWERING, '').trim();
  const isSaid = (value: string) => value.length >= SHORTEST_NAME && isInQuery(value);
  // Attack: `Friday` is the title of many mails, and a word of many a request.
  return isSaid(senderOf(passage)) || isSaid(name) || (/\s/.test(called) && isSaid(called));
}

const SHORTEST_NAME = 3;

/** Before the title of what is answered or forwarded. */
const ANSWERING = /^\s*(?:(?:re|fwd?|aw|wg):\s*)+/i;

/** A part of what a call says. */
interface Said {
  readonly path: string;
  readonly text: string;
  /** It is an id, or the name of a file. */
  readonly isActedUpon: boolean;
}

/** What a call says: all but whom it reaches. Attack: the text stands in the name of a file. */
function saidIn(args: JsonObject): readonly Said[] {
  const acting = new Set(decisiveIn(args));
  const { named } = recipientsIn(args);
  return namedArguments(args)
    .filter(({ value }) => value !== null && typeof value !== 'boolean')
    .map(({ path, text }) => ({ path: withoutPlaces(path), text: text.replace(ANSWERING, '') }))
    .map(({ path, text }) => ({
      path,
      // Attack: the text stands in the name before an address.
      text: named.reduce(
        (left, { key, value }) =>
          key === path && !isWrittenArgument(lastName(key)) && !acting.has(path)
            ? left.replaceAll(value, ' ')
            : left,
        text,
      ),
      isActedUpon: acting.has(path),
    }));
}

function partsOf({ path, text, isActedUpon }: Said): TellingParts {
  return tellingParts(text, isWrittenArgument(lastName(path)), !isActedUpon);
}

function warningOf(path: string, passage: Passage): string {
  const { app, tool } = passage.output;
  const source = sourceOf(passage) || ` that ${quoted(app)} returned for ${quoted(tool)}`;
  return `you did not ask to send this: ${quoted(path)} holds text${source}`;
}

/** Who wrote a text and what it is called, as far as its record says. */
function sourceOf({ headers: { sender, title } }: Passage): string {
  const from = sender === null ? '' : ` from ${quoted(sender)}`;
  return title === null ? from : `${from} (${quoted(title)})`;
}

function quoted(text: string): string {
  return `\`${text.slice(0, MOST_NAMED).replaceAll('`', "'")}\``;
}
