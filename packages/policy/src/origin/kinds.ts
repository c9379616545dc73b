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
 * Other values of the kind of `value`, or of the names inside of it, around a place of a text, each once; empty: `value` is and holds no
 * such name, or the text has no other. Attack: `Eve <eve@evil.example>`; a text of megabytes, which would keep the hub busy.
 */
export function othersOfKind(value: string, text: string, at: number): readonly string[] {
  const names = namesIn(value);
  if (names.size === 0) return [];
  const own = new Set([...names.values()].flat().map(plain));
  const around = text.slice(Math.max(0, at - MOST_LOOKED_AT), at + MOST_LOOKED_AT);
  const others = new Map<string, string>();
  for (const kind of names.keys())
    for (const [found] of around.matchAll(kind)) {
      const other = plain(found);
      if (!own.has(other) && !others.has(other)) others.set(other, found);
      if (others.size === MOST_TOLD) return [...others.values()];
    }
  return [...others.values()];
}

/** Whether a value is or holds a name of some kind: only of those it can be said that a text has no other. */
export function holdsName(value: string): boolean {
  return namesIn(value).size > 0;
}

/** By kind; of a value that is wholly of one, that kind alone: an account is no telephone number. */
function namesIn(value: string): ReadonlyMap<RegExp, readonly string[]> {
  if (value.length > MOST_NAME) return new Map();
  const kind = KINDS.find((pattern) => isWholly(value, pattern));
  if (kind !== undefined) return new Map([[kind, [value]]]);
  const found = KINDS.map(
    (pattern) => [pattern, [...value.matchAll(pattern)].map(([name]) => name)] as const,
  );
  return new Map(found.filter(([, names]) => names.length > 0));
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

function isWholly(value: string, pattern: RegExp): boolean {
  const [found] = value.trim().matchAll(pattern);
  return found?.[0].length === value.trim().length;
}
