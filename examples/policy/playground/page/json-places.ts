/**
 * Where the parts of a JSON text stand in it: from the ranges of findings (`2.content:5-9`, code points of the value)
 * to characters of the text as it was typed, through escapes, and into arguments that are JSON inside of a string.
 */

/** Offsets into the whole text in UTF-16 units; the end is exclusive. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
  /** Whether it is characters of a text, or a whole value. */
  readonly isPrecise: boolean;
}

/** A text, and for each index of it the offset in the whole: the text itself, or one that was spelt with escapes. */
interface Spelling {
  readonly text: string;
  readonly offset: (index: number) => number;
}

interface Place {
  readonly start: number;
  readonly end: number;
  readonly children: ReadonlyMap<string, Place>;
  /** Of a string: from its value to the whole text. */
  readonly spelling: Spelling | null;
}

/** Where paths begin in a log of one request, beside its root (`docs/policy/traces.md`, Paths). */
const LISTS = ['messages', 'contents', 'input', 'request.messages', 'request.contents', 'request.input'];

/** Deeper values have no places of their own. */
const MAX_DEPTH = 250;

/** Looks ranges up in `text`, which has to be JSON. */
export class JsonPlaces {
  readonly #root: Place | null;

  constructor(text: string) {
    this.#root = placesIn({ text, offset: (index) => index });
  }

  /** Null: the range leads nowhere. */
  find(range: string): TextRange | null {
    const found = /^(.*):(\d+)-(\d+)$/s.exec(range);
    const path = found?.[1] ?? range;
    const place = this.#placeOf(path) ?? this.#inList(path);
    if (place === null) return null;
    if (found === null || place.spelling === null) return { ...spanOf(place), isPrecise: false };
    const { text, offset } = place.spelling;
    const start = unitsBefore(text, Number(found[2]));
    const end = unitsBefore(text, Number(found[3]));
    return { start: offset(start), end: offset(end), isPrecise: true };
  }

  #inList(path: string): Place | null {
    for (const list of LISTS) {
      const place = this.#placeOf(`${list}.${path}`);
      if (place !== null) return place;
    }
    return null;
  }

  /** A key may hold dots, so a path can mean several places: the longest key that there is is taken. */
  #placeOf(path: string): Place | null {
    let place = this.#root;
    const keys = path === '' ? [] : path.split('.');
    for (let at = 0; at < keys.length && place !== null; ) {
      const children: ReadonlyMap<string, Place> = childrenOf(place);
      let length = Math.min(keys.length - at, 16);
      while (length > 1 && !children.has(keys.slice(at, at + length).join('.'))) length--;
      place = children.get(keys.slice(at, at + length).join('.')) ?? null;
      at += length;
    }
    return place;
  }
}

function spanOf({ start, end }: Place): { readonly start: number; readonly end: number } {
  return { start, end };
}

/** The parts of a value; of a string those of the JSON that it is. */
function childrenOf(place: Place): ReadonlyMap<string, Place> {
  if (place.spelling === null) return place.children;
  return placesIn(place.spelling)?.children ?? place.children;
}

function unitsBefore(text: string, points: number): number {
  let units = 0;
  for (let counted = 0; counted < points && units < text.length; counted++)
    units += (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1;
  return units;
}

// ── reading ───────────────────────────────────────────────────────────────────────────────────────────────────

const NO_CHILDREN: ReadonlyMap<string, Place> = new Map();

/** Null: it is no JSON. */
function placesIn(spelling: Spelling): Place | null {
  try {
    JSON.parse(spelling.text);
  } catch {
    return null;
  }
  return new Reader(spelling).value(0);
}

/** Reads a text that is known to be JSON. */
class Reader {
  readonly #text: string;
  readonly #offset: (index: number) => number;
  #at = 0;

  constructor({ text, offset }: Spelling) {
    this.#text = text;
    this.#offset = offset;
  }

  value(depth: number): Place {
    this.#space();
    const start = this.#at;
    const first = this.#text[start];
    if (first === '"') {
      const spelling = this.#string();
      return this.#place(start, NO_CHILDREN, spelling);
    }
    if (first === '{' || first === '[') {
      const children = this.#parts(first === '{', depth);
      return this.#place(start, children, null);
    }
    while (this.#at < this.#text.length && !/[\s,\]}]/.test(this.#text[this.#at] ?? '')) this.#at++;
    return this.#place(start, NO_CHILDREN, null);
  }

  #place(start: number, children: ReadonlyMap<string, Place>, spelling: Spelling | null): Place {
    return { start: this.#offset(start), end: this.#offset(this.#at), children, spelling };
  }

  #parts(isObject: boolean, depth: number): ReadonlyMap<string, Place> {
    const parts = new Map<string, Place>();
    if (depth >= MAX_DEPTH) {
      this.#at = this.#text.length;
      return parts;
    }
    this.#at++;
    for (let index = 0; ; index++) {
      this.#space();
      const next = this.#text[this.#at];
      if (next === undefined || next === ']' || next === '}') break;
      let key = String(index);
      if (isObject) {
        key = this.#string().text;
        this.#space();
        this.#at++;
      }
      parts.set(key, this.value(depth + 1));
      this.#space();
      if (this.#text[this.#at] === ',') this.#at++;
    }
    this.#at++;
    return parts;
  }

  #string(): Spelling {
    this.#at++;
    const units: string[] = [];
    const starts: number[] = [];
    while (this.#at < this.#text.length && this.#text[this.#at] !== '"') {
      starts.push(this.#at);
      if (this.#text[this.#at] !== '\\') units.push(this.#text[this.#at++] ?? '');
      else {
        const length = this.#text[this.#at + 1] === 'u' ? 6 : 2;
        units.push(unescaped(this.#text.slice(this.#at, this.#at + length)));
        this.#at += length;
      }
    }
    const end = this.#at++;
    const offset = this.#offset;
    return { text: units.join(''), offset: (index) => offset(starts[index] ?? end) };
  }

  #space(): void {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at++;
  }
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
  ['b', '\b'],
  ['f', '\f'],
]);

function unescaped(written: string): string {
  const name = written[1] ?? '';
  return name === 'u'
    ? String.fromCharCode(Number.parseInt(written.slice(2), 16))
    : (ESCAPES.get(name) ?? name);
}
