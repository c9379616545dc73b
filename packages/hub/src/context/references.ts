/**
 * Opaque references: free text of another app as a context may hold it, without seeing it (architecture, "Text
 * from elsewhere is data"). The text goes where the reference is placed, and only the hub puts it there.
 */
import {
  type AppId,
  type EphemeralId,
  type FunctionalityName,
  isJsonObject,
  type Json,
  joinLabels,
  type Label,
  namedArguments,
} from '@cordon/core';

export interface HeldText {
  readonly reference: string;
  readonly text: string;
  /** The app that answered with it. */
  readonly origin: AppId;
  /** Other apps whose words may stand in it: those that `origin` asked, and did not have to read. */
  readonly carries: readonly AppId[];
  readonly functionality: FunctionalityName;
  readonly peer: EphemeralId;
  readonly label: Label;
}

/** The worst of a label and of those of other things. */
export function joinedLabel(label: Label, others: readonly { readonly label: Label }[]): Label {
  return others.reduce((joined, other) => joinLabels(joined, other.label), label);
}

/** A held text that a message names. */
export interface PlacedText extends HeldText {
  /** The arguments in which it stands, as `NamedArgument` writes their paths; an empty path: the message is a text. */
  readonly places: readonly string[];
}

/** Texts, and characters of them, that one context may hold. Attack: answers that are lists of a million words. */
const MOST_HELD = 20_000;
const MOST_CHARACTERS = 32 * 1024 * 1024;

/** `$12`, not followed by another digit or a word; so `$5.00` in a price is text, unless `$5` is held. */
const REFERENCE = /\$(\d{1,6})(?![\d\w])/g;

/**
 * So many characters are put in place of references in one message; the references behind them stay as they are.
 * Attack: an answer that names a long text half a million times.
 */
const MOST_PLACED = 4 * 1024 * 1024;

export class References {
  readonly #held = new Map<string, HeldText>();
  #characters = 0;

  get isHolding(): boolean {
    return this.#held.size > 0;
  }

  /** Whether these texts may be kept besides those that are. */
  hasRoomFor(texts: readonly string[]): boolean {
    const more = texts.reduce((sum, text) => sum + text.length, 0);
    return this.#held.size + texts.length <= MOST_HELD && this.#characters + more <= MOST_CHARACTERS;
  }

  /** Keeps `text` and answers what the context gets to see of it. */
  hold(entry: Omit<HeldText, 'reference'>): Json {
    const reference = `$${this.#held.size + 1}`;
    this.#held.set(reference, { ...entry, reference });
    this.#characters += entry.text.length;
    return { ref: reference, length: roughLength(entry.text) };
  }

  get(reference: string): HeldText | undefined {
    return this.#held.get(reference);
  }

  /**
   * The held texts that `value` names, anywhere in its strings: one for each app whose words may stand in it. Whoever
   * asks "whose text is this?" gets all of them.
   */
  namedIn(value: Json): readonly PlacedText[] {
    const places = new Map<HeldText, Set<string>>();
    for (const { path, text } of namedArguments({ '': unwrap(value) })) {
      for (const [reference] of text.matchAll(REFERENCE)) {
        const held = this.#held.get(reference);
        if (held !== undefined) places.set(held, (places.get(held) ?? new Set()).add(path));
      }
    }
    return [...places].flatMap(([held, paths]) =>
      [held.origin, ...held.carries].map((origin) => ({ ...held, origin, places: [...paths] })),
    );
  }

  /** `value` with each reference replaced by its text; `{"ref": "$3"}` as a whole stands for the text alone. */
  resolve(value: Json, frame: (held: HeldText) => string = (held) => held.text): Json {
    let room = MOST_PLACED;
    return mapStrings(unwrap(value), (text) =>
      text.replace(REFERENCE, (match) => {
        const held = this.#held.get(match);
        if (held === undefined) return match;
        room -= held.text.length;
        return room < 0 ? match : frame(held);
      }),
    );
  }
}

/** Attack: a private text is chosen so that its length tells what it says. Only its order of magnitude is shown. */
function roughLength({ length }: string): number {
  return 10 ** Math.max(2, Math.ceil(Math.log10(Math.max(1, length))));
}

function mapStrings(value: Json, change: (text: string) => string): Json {
  return mapJson(value, (part) => (typeof part === 'string' ? change(part) : undefined));
}

/** Models copy the object that they were shown; it means the text. */
function unwrap(value: Json): Json {
  return mapJson(value, (part) => {
    if (!isJsonObject(part) || typeof part.ref !== 'string') return undefined;
    return Object.keys(part).every((key) => key === 'ref' || key === 'length') ? part.ref : undefined;
  });
}

/** `value` with each part for which `change` gives something replaced by that; undefined: it is kept, and its own parts are looked at. */
export function mapJson(value: Json, change: (part: Json) => Json | undefined): Json {
  const changed = change(value);
  if (changed !== undefined) return changed;
  if (Array.isArray(value)) return value.map((item: Json) => mapJson(item, change));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, mapJson(inner, change)]));
}
