/**
 * What of a call's arguments decides whom it reaches: addresses and names, for the warnings of a question; and what must
 * be the same for a permission that lasts. Pure functions of the values: the tool's schema is the app's own word.
 */
import { isJsonObject, type Json, type JsonObject, namedArguments, namesNobody } from '@cordon/core';

/** A value that names somebody or some place, and the argument it stands in. */
export interface Recipient {
  /** `to`, or `message.cc` for one that lies deeper. */
  readonly key: string;
  readonly value: string;
}

/** Mail addresses, links, hosts, handles, numbers of telephones and accounts. No part of it can be matched in many ways. */
const ADDRESSES =
  /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+|[a-z][a-z0-9+.-]{1,15}:\/\/[^\s"'<>]{1,200}|(?<![\w.])(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}(?![\w.]*@)|(?<![\w@])@[\w.-]{2,64}|\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]){6,32}\b|\+?\d[\d ()/-]{6,30}\d/giu;

/** Whether a text names somebody by a mail address, as far as it is looked at. */
export function namesMailAddress(text: string): boolean {
  return [...text.slice(0, MOST_LOOKED_AT).matchAll(ADDRESSES)].some(([address]) =>
    /^[^@:/]+@/.test(address),
  );
}

/**
 * All that may be a mail address in a text, however long it is. Attack: an address in letters that are not looked for elsewhere, or
 * behind so much text that it counts as what is said.
 */
export function mailAddressesIn(text: string): readonly string[] {
  const found = text.matchAll(/[^\s@<>"',;()[\]]{1,64}@[^\s@<>"',;()[\]]{1,253}/gu);
  return [...found].map(([address]) => address.replace(/[.:!?]+$/, ''));
}

/** All handles in a text, such as `@channel`, that are no part of a mail address. */
export function mentionsIn(text: string): readonly string[] {
  const found = text.matchAll(/(?<![^\s@<>"',;()[\]])@[\p{L}\p{N}_.-]{1,64}/gu);
  return [...found].map(([handle]) => handle.replace(/[.-]+$/, '')).filter((handle) => handle !== '@');
}

/**
 * Whether a call names a place that gets what its address says: a link or a host. An address of mail may be what is searched for, and
 * `diary.txt` looks like a host. Attack: a link so long that it is no name.
 */
export function namesPlace(args: Json): boolean {
  const { named, isAll } = recipientsIn(args);
  const isHost = ({ key, value }: Recipient) => !DECISIVE_KEY.test(lastName(key)) && HOST.test(value);
  return !isAll || isPlace(args, '') || named.some(isHost);
}

/** Only of what was looked at as a whole before. */
function isPlace(value: Json, name: string): boolean {
  if (Array.isArray(value)) return value.some((item) => isPlace(item, name));
  if (isJsonObject(value)) return Object.entries(value).some(([key, inner]) => isPlace(inner, key));
  if (typeof value !== 'string') return typeof value === 'number' && PLACE_KEY.test(name);
  const text = value.trim();
  if (text === '') return false;
  if (LINK.test(text) || PLACE_KEY.test(name)) return true;
  if (!DECISIVE_KEY.test(name)) return HOSTS.some((host) => host.test(text));
  return isFetched(name) && HOST_AND_MORE.test(text);
}

/** Whether a decisive argument may be followed, and is no file's name: a file lies in a folder that is called like a host. */
function isFetched(name: string): boolean {
  return name === 'source' || /ids?$/i.test(name);
}

const PLACE_KEY = /^(?:ur[il]s?|links?|href|hosts?|domains?|endpoint|webhook)$/i;
/** `https:evil.example`, too, is read as a link. */
const LINK = /:\/\/|\bhttps?:/i;
const LAST_LABEL = String.raw`(?:[a-z]{2,24}|xn--[a-z0-9-]{2,59}|\d{1,3})`;
const NAMED_HOST = String.raw`(?:[a-z0-9_-]{1,63}\.){1,8}${LAST_LABEL}`;
const HOST = new RegExp(`^${NAMED_HOST}$`, 'i');
const HOST_FIRST = new RegExp(String.raw`^(?:\/\/)?(?:${NAMED_HOST}|localhost)\.?(?:[/:?#]|$)`, 'i');
/** With two colons, and no time of the day. */
const NUMBERS_FIRST =
  /^(?:\/\/)?(?!\d{1,2}:\d{2}:\d{2}(?![\da-f:]))\[?(?=[0-9a-f.]*:[0-9a-f.]*:)[0-9a-f:.]{3,}\]?/i;
/** Anywhere in a text. */
const NUMBERED_HOST = /(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])/;
/** `me@evil.example/secret`: the user of a host. */
const USER_FIRST = /^[^\s/]{0,64}@[^\s@/]+[/:?#]/;
/** An address of four bytes as one number, which programs read so. */
const ONE_NUMBER = /^(?:\/\/)?(?:\d{8,10}|0x[\da-f]{8})[/:]/i;
/** Dots of other scripts, which programs read as dots. */
const OTHER_DOTS = /[\p{L}\p{N}][\u3002\uff0e\uff61][\p{L}\p{N}]/u;
const HOSTS = [HOST_FIRST, NUMBERS_FIRST, NUMBERED_HOST, USER_FIRST, ONE_NUMBER, OTHER_DOTS];
const HOST_AND_MORE = new RegExp(
  String.raw`^(?:\/\/)?(?:[^\s@/]{1,64}@)?${NAMED_HOST}\.?(?::\d{1,5})?[/?#]`,
  'i',
);

/** Arguments that name a recipient whatever the value looks like, as tools of real servers call them. */
const RECIPIENT_KEY =
  /^(?:to|cc|bcc|recipients?|receivers?|payees?|beneficiary|account|iban|e?mails?|addressee|phone|users?|user_?names?|members?|attendees|guests|invitees|channels?|channel_id|chat|chat_id|contacts?|target|destination|dest|webhook|url|host|domain|share_?with|assignees?)$/i;
const DATE = /^\d{4}-\d{2}-\d{2}/;

/** Texts longer than this, or of several lines, are what is said, not to whom. */
const MOST_NAME = 80;
/**
 * So many recipients are distinguished, and so many characters looked at. Attack: a list of a million addresses; one that is
 * behind so many others that nobody looks at it.
 */
const MOST_RECIPIENTS = 200;
const MOST_LOOKED_AT = 256 * 1024;

/** Whom a call reaches. */
export interface Recipients {
  /** The first of those that are there, each once. */
  readonly named: readonly Recipient[];
  /** False: there is more than was looked at, and who knows who else. */
  readonly isAll: boolean;
}

export function recipientsIn(args: Json): Recipients {
  const search = new Search();
  search.look(args, '');
  return search;
}

class Search implements Recipients {
  readonly #found = new Map<string, Recipient>();
  #left = MOST_LOOKED_AT;
  isAll = true;

  get named(): readonly Recipient[] {
    return [...this.#found.values()];
  }

  look(value: Json, key: string): void {
    this.#left -= typeof value === 'string' ? value.length + 1 : 1;
    if (this.#left < 0) this.isAll = false;
    if (!this.isAll) return;
    if (typeof value === 'string') return this.#lookAtText(value, key);
    if (typeof value === 'number' && isRecipientKey(key)) return this.#keep({ key, value: String(value) });
    if (Array.isArray(value)) {
      for (const item of value) this.look(item, key);
    } else if (isJsonObject(value)) {
      for (const [name, inner] of Object.entries(value))
        this.look(inner, key === '' ? name : `${key}.${name}`);
    }
  }

  #lookAtText(text: string, key: string): void {
    const isNamed = isRecipientKey(key);
    if (namesNobody(text)) return;
    if (!isNamed && !isName(text)) return;
    const addresses = DATE.test(text) ? [] : [...text.matchAll(ADDRESSES)].map(([address]) => address);
    // `Ada <ada@example.org>` reaches the address; a name alone is all there is.
    const values = addresses.length > 0 ? addresses : isNamed && text.trim() !== '' ? [text.trim()] : [];
    for (const value of values) this.#keep({ key, value });
  }

  #keep(recipient: Recipient): void {
    const same = JSON.stringify([recipient.key, recipient.value.toLowerCase()]);
    if (this.#found.size >= MOST_RECIPIENTS && !this.#found.has(same)) this.isAll = false;
    else this.#found.set(same, recipient);
  }
}

function isRecipientKey(key: string): boolean {
  return RECIPIENT_KEY.test(lastName(key));
}

/** `email` of `event.attendees.email`. */
export function lastName(key: string): string {
  return key.slice(key.lastIndexOf('.') + 1);
}

function isName(text: string): boolean {
  return text.length <= MOST_NAME && !/[\r\n]/.test(text);
}

/** Arguments that say how much, or what is acted upon: a person decides by them as by whom a call reaches. */
const DECISIVE_KEY =
  /^(?:amount|sum|total|price|quantity|paths?|files?|file_?name|file_?path|folder|directory|source|new_?path)$|(?:^|_)ids?$|[a-z]Ids?$/;

/** Names of arguments that say what is acted upon, as tools of real servers call them. */
const ID_KEY =
  /(?:^|_)(?:u?ids?|uuid|number|no|handle|key|ref)$|^(?:message|thread|mail|conversation|item|entry|ticket|issue|post|(?:in_?)?reply_?to)$/i;
/** `messageId`, and not `paid`. */
const ID_AT_END = /[a-z](?:Id|ID|Uid|UID)s?$/;

/** What stands for one thing: one word with a digit, or a number. A `message` may also be what is said. */
function isId(value: Json, key: string): boolean {
  if (typeof value === 'number') return true;
  if (typeof value !== 'string' || value.length > MOST_NAME || /\s/.test(value)) return false;
  return /id$/i.test(key) || (/\d/.test(value) && !namesMailAddress(value));
}

/** The arguments that say by an id what is acted upon, by their names without places in lists. Several of one name are several. */
export function idsIn(args: JsonObject): readonly Recipient[] {
  return namedArguments(args).flatMap(({ path, value }) => {
    const key = withoutPlaces(path);
    // `id` of `message.id`, and `message` of `message.number`.
    if (!key.split('.').some((name) => ID_KEY.test(name) || ID_AT_END.test(name))) return [];
    const values = Array.isArray(value) ? value : [value];
    return values.flatMap((one: Json) => (isId(one, lastName(key)) ? [{ key, value: String(one) }] : []));
  });
}

/** The names of arguments that say how much, or what is acted upon, without places in lists. */
export function decisiveIn(args: Json): readonly string[] {
  const names = namedArguments(args).map(({ path }) => withoutPlaces(path));
  return names.filter(isDecisive);
}

/** Whether an argument of this name says how much, or what is acted upon. */
export function isDecisive(key: string): boolean {
  return DECISIVE_KEY.test(lastName(key));
}

/** The `path` of a `NamedArgument` without its places in lists: `event.attendees.email`. */
export function withoutPlaces(path: string): string {
  return path.replace(/\[\d+\]/g, '');
}

/** The arguments of a call, parted into what a lasting permission is bound to and what may be other. */
export interface BoundArguments {
  readonly same: JsonObject;
  /** Names of arguments that hold what is said: long or of several lines, and no recipient. */
  readonly free: readonly string[];
}

/**
 * Attack: a permission to send one mail that covers the next one to somebody else. Everything stays the same but prose;
 * which arguments are prose is part of what was agreed to, so that none becomes free later.
 */
export function boundArguments(args: JsonObject): BoundArguments {
  const isFree = (key: string, value: Json) =>
    typeof value === 'string' && !isRecipientKey(key) && !isName(value);
  const entries = Object.entries(args);
  return {
    same: Object.fromEntries(entries.filter(([key, value]) => !isFree(key, value))),
    free: entries.flatMap(([key, value]) => (isFree(key, value) ? [key] : [])).sort(),
  };
}
