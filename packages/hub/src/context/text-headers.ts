/**
 * Who a text is from and what it is called, as the record says that holds it. What the text says of itself counts for nothing:
 * attack: a mail whose body has a line `From: your bank`.
 */
import { isJsonObject, type Json, type JsonObject } from '@cordon/core';

export interface Headers {
  /** Null: nobody is named, or more than one. */
  readonly sender: string | null;
  readonly title: string | null;
}

export const NO_HEADERS: Headers = Object.freeze({ sender: null, title: null });

const SENDERS = ['from', 'sender', 'author', 'organizer', 'creator', 'created_by', 'posted_by', 'user'];
const TITLES = ['subject', 'title', 'name'];
const ADDRESSES = ['address', 'email', 'login', 'username', 'name'];

/** Characters of a sender or a title. */
const MOST_NAME = 120;
/** Of a sender with the name before the address: what is shown of one. */
const MOST_SENDER = 40;
/** Characters of a text in which a block of headers is looked for. */
const MOST_BLOCK = 4096;

/** What a record says, or else the one that holds it. */
export function recordHeaders(record: JsonObject, outer: Headers): Headers {
  const own = headers(firstName(record, SENDERS), firstName(record, TITLES));
  return { sender: own.sender ?? outer.sender, title: own.title ?? outer.title };
}

function firstName(record: JsonObject, keys: readonly string[]): string | null {
  for (const key of keys) {
    const name = nameIn(record[key]);
    if (name !== null) return name;
  }
  return null;
}

function nameIn(value: Json | undefined): string | null {
  if (typeof value === 'string' && value.trim() !== '') return value.trim();
  return isJsonObject(value) ? firstName(value, ADDRESSES) : null;
}

/** `From:   Ada <ada@example.org>`, with signs before the name such as `**From:** …`. */
const HEADER = /^[^\p{L}\p{N}]{0,8}(from|sender|author|subject|title)[^\p{L}\p{N}<"']{1,12}(.*)$/iu;

/**
 * Of a text that begins with lines such as `From: …` and `Subject: …` before its first empty line. Attack: a subject that
 * reads `From: your bank`: where two lines name a sender, neither counts, however long one of them is, and if it is empty.
 */
export function headersOf(text: string): Headers {
  const block = text.slice(0, MOST_BLOCK).split(/\r?\n[ \t]*\r?\n/, 1)[0] ?? '';
  if (block === text.slice(0, MOST_BLOCK)) return NO_HEADERS;
  const lines = block.split(/\r?\n/).flatMap((line) => {
    const [, name = '', value = ''] = line.includes(':') ? (HEADER.exec(`${line} `) ?? []) : [];
    return name === '' ? [] : [{ isTitle: /^(?:subject|title)$/i.test(name), value: value.trim() }];
  });
  const senders = lines.filter(({ isTitle }) => !isTitle);
  const titles = lines.filter(({ isTitle }) => isTitle);
  const only = ([first, ...others]: typeof lines) =>
    first === undefined || first.value === '' || others.length > 0 ? null : first.value;
  return headers(only(senders), only(titles));
}

function headers(sender: string | null, title: string | null): Headers {
  return { sender: sender === null ? null : senderOf(sender), title: title === null ? null : cut(title) };
}

/**
 * Attack: `bank@good.example`, many blanks, `<eve@evil.example>`: who is cited by the beginning is whoever the sender says. So the
 * address stands alone where the whole is longer than what a question has room for.
 */
function senderOf(told: string): string {
  const address = told.length > MOST_SENDER ? /<([^<>]{1,320})>$/.exec(told)?.[1] : undefined;
  return cut(address ?? told);
}

function cut(name: string): string {
  return name.length <= MOST_NAME ? name : `${name.slice(0, MOST_NAME)}…`;
}
