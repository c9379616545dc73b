/**
 * Large values that are frozen, together with their texts. To freeze and write the largest keeps a thread busy for a tenth of
 * a second, so it is done once, and others run between its pieces. Afterwards the value itself serves as a copy that nobody
 * changes, and its texts need not be written again to be hashed, kept or compared.
 */
import { isJsonObject, type Json, type JsonObject } from './json.ts';
import { quoted } from './quoted.ts';

export interface SettledTexts {
  /** As `JSON.stringify` writes it. */
  readonly plain: string;
  /** As `canonicalJson` does. */
  readonly canonical: string;
}

/** INVARIANT: what is in here is frozen, and so is all that is in it. */
const TEXTS = new WeakMap<object, SettledTexts>();

/** Values between two pauses: a few milliseconds. */
const VALUES_IN_ONE_GO = 8_192;

/**
 * Freezes a value and keeps its texts as long as somebody has the value. It must come from `JSON.parse`, and nobody may change
 * it meanwhile.
 * @param pause resolves when others have had their turn
 */
export async function settle(value: JsonObject | readonly Json[], pause: () => Promise<void>): Promise<void> {
  if (TEXTS.has(value)) return;
  const writer = new Writer(value, false);
  const plain = await finished(writer, pause);
  const canonical = writer.isSorted ? plain : await finished(new Writer(value, true), pause);
  TEXTS.set(value, { plain, canonical });
}

/** Null: it is not settled. */
export function settledTexts(value: object): SettledTexts | null {
  return TEXTS.get(value) ?? null;
}

/** As `JSON.stringify` of plain data. A value that is settled is not written again, nor is a member of the value that is. */
export function jsonText(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const known = TEXTS.get(value);
  if (known !== undefined) return known.plain;
  if (!isJsonObject(value) || !Object.values(value).some(isSettled)) return JSON.stringify(value);
  const members = Object.entries(value).flatMap(([key, inner]) =>
    inner === undefined ? [] : [`${quoted(key)}:${jsonText(inner)}`],
  );
  return `{${members.join()}}`;
}

function isSettled(value: unknown): boolean {
  return typeof value === 'object' && value !== null && TEXTS.has(value);
}

async function finished(writer: Writer, pause: () => Promise<void>): Promise<string> {
  for (;;) {
    const text = writer.goOn();
    if (text !== null) return text;
    await pause();
  }
}

/** A list or an object that is being written, with the names of its members. */
interface Open {
  readonly value: JsonObject | readonly Json[];
  readonly keys: readonly string[] | null;
  next: number;
}

class Writer {
  readonly #sorts: boolean;
  readonly #open: Open[] = [];
  readonly #pieces: string[] = [];
  /** Of the piece that is being written: many short texts are joined faster than one long text grows. */
  #parts: string[] = [];
  /** Whether all keys so far stood in their canonical order. */
  isSorted = true;

  constructor(value: JsonObject | readonly Json[], sorts: boolean) {
    this.#sorts = sorts;
    this.#write(value);
  }

  /** The text, once all of it is written. */
  goOn(): string | null {
    for (let left = VALUES_IN_ONE_GO; left > 0; left--) {
      const innermost = this.#open.at(-1);
      if (innermost === undefined) return this.#text();
      this.#step(innermost);
    }
    this.#pieces.push(this.#parts.join(''));
    this.#parts = [];
    return null;
  }

  #text(): string {
    return [...this.#pieces, ...this.#parts].join('');
  }

  #step(open: Open): void {
    const { value, keys, next } = open;
    const isOver = next === (keys ?? (value as readonly Json[])).length;
    if (isOver) {
      this.#parts.push(keys === null ? ']' : '}');
      this.#open.pop();
      return;
    }
    open.next++;
    if (next > 0) this.#parts.push(',');
    if (keys === null) return this.#write((value as readonly Json[])[next] ?? null);
    const key = keys[next] ?? '';
    this.#parts.push(quoted(key), ':');
    this.#write((value as JsonObject)[key] ?? null);
  }

  #write(value: Json): void {
    if (typeof value === 'string') return void this.#parts.push(quoted(value));
    if (typeof value !== 'object' || value === null) return void this.#parts.push(JSON.stringify(value));
    Object.freeze(value);
    const keys = isJsonObject(value) ? this.#keysOf(value) : null;
    this.#parts.push(keys === null ? '[' : '{');
    this.#open.push({ value, keys, next: 0 });
  }

  #keysOf(value: JsonObject): readonly string[] {
    const keys = Object.keys(value);
    if (this.#sorts) return keys.sort();
    this.isSorted &&= keys.every((key, at) => at === 0 || (keys[at - 1] ?? '') < key);
    return keys;
  }
}
