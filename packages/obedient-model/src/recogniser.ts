/**
 * Finds a known text in what a context shows, whatever form it arrived in: folded, escaped, encoded, laced with
 * invisible characters, or in two parts. An attacker hides an instruction from filters in these ways and a capable
 * model reads it all the same; the obedient model must be no worse a reader.
 */
import type { Attack, Scenario } from './scenario.ts';

/** Encodings inside encodings: an escaped base64 text is two deep. */
const MAX_DEPTH = 3;
/** Characters of decoded text for each text read; what is longer was written to waste time. */
const MAX_DECODED = 4_000_000;

/**
 * Letters and digits only, in one case and without accents: spaces, line folding, quotes, zero-width and other
 * format characters cannot hide a text then.
 */
export function canonicalText(text: string): string {
  return withoutTags(text)
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}

/** Tag characters (U+E0020 to U+E007E) show nothing and spell ASCII. */
function withoutTags(text: string): string {
  return text.replace(/[\u{E0020}-\u{E007E}]/gu, (tag) =>
    String.fromCodePoint((tag.codePointAt(0) ?? 0) - 0xe0000),
  );
}

/** Which of a fixed set of texts are visible in the messages read so far. */
export class Recogniser {
  readonly #watches: ReadonlyMap<string, Watch>;

  constructor(texts: Iterable<string>) {
    this.#watches = new Map([...new Set(texts)].map((text) => [text, new Watch(canonicalText(text))]));
  }

  read(text: string): void {
    if (this.#watches.size === 0) return;
    for (const reading of readings(text)) {
      for (const watch of this.#watches.values()) watch.read(reading);
    }
  }

  sees(text: string): boolean {
    return this.#watches.get(text)?.isComplete ?? false;
  }
}

/** The attacks whose text is visible in some texts. */
export function attacksIn(texts: Iterable<string>, scenarios: readonly Scenario[]): readonly Attack[] {
  const attacks = scenarios.flatMap((scenario) => scenario.attacks);
  const recogniser = new Recogniser(attacks.map(({ text }) => text));
  for (const text of texts) recogniser.read(text);
  return attacks.filter(({ text }) => recogniser.sees(text));
}

/** A base64 text that is cut inside a group of four loses up to the three characters of that group in both halves. */
const LOST_AT_A_CUT = 3;

/** How much of one text has been seen: its beginning in one place, its end in the same or another. */
class Watch {
  readonly #text: string;
  #fromStart = 0;
  #fromEnd = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isComplete(): boolean {
    return this.#text !== '' && this.#fromStart + this.#fromEnd + LOST_AT_A_CUT >= this.#text.length;
  }

  read(reading: string): void {
    if (this.isComplete) return;
    const text = this.#text;
    this.#fromStart = longest(this.#fromStart, text.length, (n) => reading.includes(text.slice(0, n)));
    this.#fromEnd = longest(this.#fromEnd, text.length, (n) => reading.includes(text.slice(text.length - n)));
  }
}

/** The largest length from `least` on that is found; a part of what is found is found too, so halving works. */
function longest(least: number, most: number, isFound: (length: number) => boolean): number {
  let low = least;
  let high = most;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (isFound(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The text and everything that decoding makes of it, each in canonical form. */
function readings(text: string): ReadonlySet<string> {
  const known = new Set([text]);
  let layer = [text];
  let budget = MAX_DECODED;
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const next: string[] = [];
    for (const decoded of layer.flatMap((form) => DECODERS.flatMap((decode) => decode(form)))) {
      if (decoded === '' || known.has(decoded) || decoded.length > budget) continue;
      budget -= decoded.length;
      known.add(decoded);
      next.push(decoded);
    }
    layer = next;
  }
  return new Set([...known].map(canonicalText));
}

type Decoder = (text: string) => readonly string[];

const DECODERS: readonly Decoder[] = [
  (text) => [unescaped(text)],
  (text) => [withoutEntities(text)],
  (text) => [percentDecoded(text)],
  fromBase64,
  fromHex,
];

/** JSON and YAML escapes, and backslashes before line ends. */
function unescaped(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(/\\(?:u([0-9a-f]{4})|x([0-9a-f]{2})|([\s\S]))/gi, (_match, wide, narrow, plain) => {
    if (typeof plain === 'string') return 'nrtbfv0'.includes(plain) ? ' ' : plain;
    return String.fromCharCode(Number.parseInt(String(wide ?? narrow), 16));
  });
}

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['nbsp', ' '],
  ['shy', ''],
  ['zwj', ''],
  ['zwnj', ''],
]);

function withoutEntities(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]{2,5}));?/gi, (match, hex, decimal, name) => {
    if (typeof name === 'string') return ENTITIES.get(name.toLowerCase()) ?? match;
    const code = typeof hex === 'string' ? Number.parseInt(hex, 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : match;
  });
}

function percentDecoded(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) =>
    Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'),
  );
}

/** Also wrapped to lines, and cut anywhere: a half of an encoded text need not begin at a group of four. */
function fromBase64(text: string): readonly string[] {
  const runs = text.match(/(?:[\w+/-]{40,}\s+)*[\w+/-]{12,}/g) ?? [];
  return runs.flatMap((run) => {
    const digits = run.replace(/\s/g, '');
    return [0, 1, 2, 3]
      .map((offset) => Buffer.from(digits.slice(offset), 'base64').toString('utf8'))
      .filter(isMostlyText);
  });
}

function fromHex(text: string): readonly string[] {
  const runs = text.match(/(?:(?:\\x|0x)?[0-9a-f]{2}[\s:,]{0,2}){8,}/gi) ?? [];
  return runs.flatMap((run) => {
    const digits = run.replace(/\\x|0x|[\s:,]/gi, '');
    return [digits, digits.slice(1)]
      .map((from) => Buffer.from(from.slice(0, from.length & ~1), 'hex').toString('utf8'))
      .filter(isMostlyText);
  });
}

/** Decoding what was never encoded gives noise, which is not worth keeping. */
function isMostlyText(text: string): boolean {
  const noise = text.match(/[\p{Cc}\uFFFD]/gu)?.length ?? 0;
  return text.length > 0 && noise * 5 < text.length;
}
