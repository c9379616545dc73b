/**
 * What a text says in an encoding: escapes of links, of HTML and of JSON, and runs of base64. One layer is taken off, so
 * that nothing grows: who encodes twice is not found, and the flow rules hold for him as for everybody.
 */

export interface Decoding {
  readonly text: string;
  /** It is what the whole text says, not a part of it. */
  readonly isWhole: boolean;
}

/** The text without its escapes, and what its base64 says; empty where it has neither. Linear in the text. */
export function decodingsOf(text: string): readonly Decoding[] {
  const plain = ESCAPE.test(text) ? unescaped(text) : text;
  const decodings: Decoding[] = plain === text ? [] : [{ text: plain, isWhole: true }];
  if (plain.length < LEAST_BASE64) return decodings;
  const { length } = plain.trim();
  for (const [run] of plain.matchAll(BASE64)) {
    const spelled = base64(run);
    if (spelled !== null) decodings.push({ text: spelled, isWhole: run.length === length });
  }
  return decodings;
}

/**
 * An address as people write it: `https://www.example.org/` is `www.example.org`. Null: it is none, or is written so. Who names a
 * place names it whatever way a program has to put it.
 */
export function spokenLink(text: string): string | null {
  const [, rest] = /^\s*https?:\/\/([^\s@]{1,2000})$/i.exec(text.trimEnd()) ?? [];
  return rest === undefined ? null : rest.replace(/\/$/, '');
}

const ESCAPE = /%[0-9a-f]{2}|&(?:#|[a-z])|\\[nrtu"/\\]/i;
/** Percent escapes stand in runs, because several of them are one character. */
const ESCAPES =
  /(?:%[0-9a-f]{2})+|&#x[0-9a-f]{1,6};|&#\d{1,7};|&(?:amp|lt|gt|quot|apos|nbsp);|\\u[0-9a-f]{4}|\\[nrt"/\\]/gi;

const NAMED: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
  '&nbsp;': ' ',
  '\\n': '\n',
  '\\r': '\n',
  '\\t': '\t',
};

function unescaped(text: string): string {
  return text.replace(ESCAPES, (found) => {
    const named = found.toLowerCase();
    const known = Object.hasOwn(NAMED, named) ? NAMED[named] : undefined;
    if (known !== undefined) return known;
    if (found.startsWith('%')) return percent(found);
    if (found.startsWith('&#')) {
      const isHex = found.charAt(2).toLowerCase() === 'x';
      return character(Number.parseInt(found.slice(isHex ? 3 : 2), isHex ? 16 : 10));
    }
    return found.length === 6 ? character(Number.parseInt(found.slice(2), 16)) : found.slice(1);
  });
}

function percent(run: string): string {
  try {
    return decodeURIComponent(run);
  } catch {
    return run;
  }
}

function character(code: number): string {
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '';
}

/** Shorter runs of letters are words. */
const LEAST_BASE64 = 12;
const BASE64 = /[A-Za-z0-9+/_-]{12,}={0,2}/g;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const SEXTETS: ReadonlyMap<string, number> = new Map([
  ...[...ALPHABET].map((letter, index): [string, number] => [letter, index]),
  ['-', 62],
  ['_', 63],
]);

/** Null: it is no text in base64. What is in capitals or small letters alone is a name, or nothing. */
function base64(run: string): string | null {
  const letters = run.replace(/=+$/, '');
  if (letters.length % 4 === 1 || !/[a-z]/.test(letters) || !/[A-Z]/.test(letters)) return null;
  let escaped = '';
  let bits = 0;
  let held = 0;
  for (const letter of letters) {
    held = (held << 6) | (SEXTETS.get(letter) ?? 0);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    const byte = (held >> bits) & 0xff;
    if (byte < 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return null;
    escaped += `%${byte.toString(16).padStart(2, '0')}`;
    held &= (1 << bits) - 1;
  }
  try {
    return decodeURIComponent(escaped);
  } catch {
    return null;
  }
}
