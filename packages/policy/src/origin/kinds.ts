/** What kind of name a value is, and the other values of that kind in a text: a bill with two account numbers names two payees. */

interface Kind {
  readonly name: string;
  readonly pattern: RegExp;
}

/** No part of a pattern can be matched in many ways. */
const KINDS: readonly Kind[] = [
  { name: 'email', pattern: /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/g },
  {
    name: 'url',
    pattern: /(?:https?:\/\/[^\s"'<>]{1,200}|(?<![\w.@-])www\.[\w.-]{1,100}(?:\/[^\s"'<>]{0,200})?)/gi,
  },
  { name: 'account', pattern: /(?<!\w)[A-Z]{2}\d{2}(?: ?[A-Z0-9]){6,32}(?!\w)/g },
  { name: 'number', pattern: /(?<![\w.])\+?\d(?:[ ()/-]{0,2}\d){6,29}(?!\w)/g },
];

/** Characters of a text that are looked at, and values that are told. */
const MOST_LOOKED_AT = 64 * 1024;
const MOST_TOLD = 8;

/** Other values of the kind of `value` in these texts, each once; empty: `value` is of no such kind, or the only one. */
export function othersOfKind(value: string, texts: readonly string[]): readonly string[] {
  const kind = KINDS.find(({ pattern }) => isWholly(value, pattern));
  if (kind === undefined) return [];
  const own = plain(value);
  const others = new Map<string, string>();
  let left = MOST_LOOKED_AT;
  for (const text of texts) {
    for (const [found] of text.slice(0, Math.max(0, left)).matchAll(kind.pattern))
      if (plain(found) !== own && !others.has(plain(found))) others.set(plain(found), found);
    left -= text.length;
    if (left <= 0 || others.size >= MOST_TOLD) break;
  }
  return [...others.values()].slice(0, MOST_TOLD);
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
