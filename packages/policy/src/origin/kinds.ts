/** What kind of name a value is, and the other values of that kind in a text: a bill with two account numbers names two payees. */

/** Mail addresses, links, accounts, long numbers. No part of a pattern can be matched in many ways. */
const KINDS: readonly RegExp[] = [
  /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/g,
  /(?:https?:\/\/[^\s"'<>]{1,200}|(?<![\w.@-])www\.[\w.-]{1,100}(?:\/[^\s"'<>]{0,200})?)/gi,
  /(?<!\w)[A-Z]{2}\d{2}(?:[A-Z0-9]{6,30}|(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,3})?)(?!\w)/gi,
  /(?<![\w.])\+?\d(?:[ ()/-]{0,2}\d){6,29}(?!\w)/g,
];

/** Characters of a text that are looked at before and behind a place, and values that are told. */
const MOST_LOOKED_AT = 32 * 1024;
const MOST_TOLD = 8;
/** Longer values name nobody. */
const MOST_NAME = 320;

/**
 * Other values of the kind of `value` around a place of a text, each once; empty: `value` is of no such kind, or the only one. Attack: a
 * text of megabytes, which would keep the hub busy.
 */
export function othersOfKind(value: string, text: string, at: number): readonly string[] {
  const kind = value.length > MOST_NAME ? undefined : KINDS.find((pattern) => isWholly(value, pattern));
  if (kind === undefined) return [];
  const around = text.slice(Math.max(0, at - MOST_LOOKED_AT), at + MOST_LOOKED_AT);
  const own = plain(value);
  const others = new Map<string, string>();
  for (const [found] of around.matchAll(kind)) {
    const other = plain(found);
    if (other !== own && !others.has(other)) others.set(other, found);
    if (others.size === MOST_TOLD) break;
  }
  return [...others.values()];
}

function isWholly(value: string, pattern: RegExp): boolean {
  const [found] = value.trim().matchAll(pattern);
  return found?.[0].length === value.trim().length;
}

/** Without what makes no difference: spaces in numbers, a scheme, a full stop behind a link. */
function plain(value: string): string {
  return value
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/^www\./, '')
    .replace(/[\s()-]/g, '')
    .replace(/[./,;:!?]+$/, '');
}
