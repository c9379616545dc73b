/**
 * Reading one untrusted trace: fields are taken with the path at which they stand, and the first thing that is
 * wrong decides; what is read after it is thrown away. What every format shares, and no format's own words.
 *
 * Recordings are read with it; the hub does not use it.
 */
import { failed, isJsonObject, type Json, type JsonObject, ok, parseJson, type Result } from '@cordon/core';
import { type EventFrame, isShallow, MAX_DEPTH, type TraceEvent } from '@cordon/policy';
import { isContainer, isList, own } from './json.ts';
import {
  besideKey,
  ROLES,
  type StrangeKey,
  shownWord,
  strangeKey,
  strangeKeyMessage,
  strangeRoleMessage,
} from './known-keys.ts';
import { isMark, type KnownKeys } from './note-shape.ts';
import { holdsConversation } from './spoken.ts';

/** What is wrong with an input that is no trace. */
export interface TraceFault {
  /** Where, e.g. `2.tool_calls.0.function`; empty: the whole. */
  readonly path: string;
  /** One sentence, lower-case start, no full stop. */
  readonly message: string;
}

/**
 * Whose meaning messages have. `invariant`: every role but `tool` is a message, as in that language. `cordon`: the role
 * `function`, the older form of `tool`, is a tool output.
 */
export type TraceDialect = 'cordon' | 'invariant';

/** Collects the events of a trace, or the one fault that makes it none. */
export class Reading {
  readonly dialect: TraceDialect;
  readonly events: TraceEvent[] = [];
  #fault: TraceFault | null = null;

  constructor(dialect: TraceDialect = 'cordon') {
    this.dialect = dialect;
  }

  get fault(): TraceFault | null {
    return this.#fault;
  }

  get result(): Result<readonly TraceEvent[], TraceFault> {
    return this.#fault === null ? ok(this.events) : failed(this.#fault);
  }

  wrong(path: string, message: string): void {
    this.#fault ??= { path, message };
  }

  emit(event: TraceEvent): void {
    this.events.push(event);
  }

  /** An object at `path`; an empty one, and the fault, if it is not one. */
  object(value: Json | undefined, path: string, what: string): JsonObject {
    if (isJsonObject(value)) return value;
    this.wrong(path, `${what} is an object`);
    return {};
  }

  /** A list at `path`; an empty one, and the fault, if it is not one. */
  list(value: Json | undefined, path: string, what: string): readonly Json[] {
    if (isList(value)) return value;
    this.wrong(path, `${what} are a list`);
    return [];
  }

  /** The object under `key`; null: absent or null. */
  objectAt(from: JsonObject, key: string, path: string): JsonObject | null {
    const value = own(from, key) ?? null;
    return value === null ? null : this.object(value, join(path, key), `\`${key}\``);
  }

  /** The list under `key`; absent or null: empty. */
  listAt(from: JsonObject, key: string, path: string): readonly Json[] {
    const value = own(from, key) ?? [];
    if (isList(value)) return value;
    this.wrong(join(path, key), `\`${key}\` is a list`);
    return [];
  }

  /** The objects of the list under `key`, each with its place. */
  objectsAt(
    from: JsonObject,
    key: string,
    path: string,
    what: string,
  ): readonly (readonly [object: JsonObject, path: string])[] {
    return this.listAt(from, key, path).map((value, index) => {
      const at = join(path, key, index);
      return [this.object(value, at, what), at];
    });
  }

  /** Reads elements one after the other, until something is wrong. */
  each(list: readonly Json[], path: string, read: (element: Json, path: string) => void): void {
    for (const [index, element] of list.entries()) {
      if (this.#fault !== null) return;
      read(element, join(path, index));
    }
  }

  /** The text under `key`; null: absent or null. */
  textAt(from: JsonObject, key: string, path: string): string | null {
    const value = own(from, key) ?? null;
    if (value === null || typeof value === 'string') return value;
    this.wrong(join(path, key), `\`${key}\` is a text`);
    return null;
  }

  /** The text under `key`, which must be there. */
  nameAt(from: JsonObject, key: string, path: string): string {
    const name = this.textAt(from, key, path);
    if (name === null) this.wrong(path, `\`${key}\` is missing`);
    return name ?? '';
  }

  /** Every key of an element says something, so an unknown one makes the trace unusable. */
  knows(element: JsonObject, known: KnownKeys, path: string, what: string): void {
    const strange = strangeKey(element, known);
    if (strange !== null) this.wrong(join(path, ...strange.keys), strangeKeyMessage(strange, what));
  }

  /**
   * Around a conversation stands what its log says of it; a second conversation there, or words, would be read by nobody.
   *
   * @param told whether a text is among those that were read: who says it again hides nothing
   */
  beside(
    around: JsonObject,
    known: KnownKeys,
    path: string,
    told: (text: string) => boolean = () => false,
  ): void {
    const strange = besideKey(around, known, told);
    if (strange !== null) this.wrong(join(path, ...strange.keys), besideMessage(strange));
  }

  /** What is described may have whatever keys, but no call and no message. */
  describes(described: JsonObject, path: string): void {
    for (const [key, value] of Object.entries(described)) {
      if (holdsConversation(key, value))
        this.wrong(join(path, key), besideMessage({ keys: [key], why: 'spoken' }));
    }
  }

  /** A response without any of `keys` is one of another format, and what it says would be read by nobody. */
  answers(response: JsonObject, keys: readonly string[], path: string): void {
    if (keys.some((key) => Object.hasOwn(response, key))) return;
    this.wrong(path, `a response has ${keys.map((key) => `\`${key}\``).join(' or ')}`);
  }

  /** Whether a message may have this role. */
  role(role: string, path: string): void {
    if (!ROLES.has(role)) this.wrong(path, strangeRoleMessage(role));
  }

  /** The role under `role`, which must be one that messages may have; absent or null: `usual`. */
  roleAt(from: JsonObject, path: string, usual: string | null = null): string {
    const role = this.textAt(from, 'role', path) ?? usual;
    if (role === null) this.wrong(path, '`role` is missing');
    else if (!ROLES.has(role)) this.wrong(join(path, 'role'), strangeRoleMessage(role));
    return role ?? '';
  }

  /** Keys that only another format has: read as this one, the element would say less than it does. */
  refuse(element: JsonObject, keys: readonly string[], path: string, what: string): void {
    for (const key of keys) {
      if (Object.hasOwn(element, key)) this.wrong(join(path, key), `\`${key}\` is no part of ${what} here`);
    }
  }

  /** The first of `keys` that is there, else the first of them. */
  keyIn(from: JsonObject, ...keys: readonly [string, ...string[]]): string {
    return keys.find((key) => own(from, key) !== undefined) ?? keys[0];
  }

  /** Arguments as an object, or as the text of one; nothing and the empty text are no arguments. */
  argumentsOf(value: Json | undefined, path: string): JsonObject {
    const args = parsedArguments(value);
    if (args === null) this.wrong(path, 'the arguments are an object, or the JSON text of one');
    return args ?? {};
  }

  /** Elements that are too deep to be compared are refused before anything recurses into them. */
  checkDepth(input: Json): boolean {
    if (!isContainer(input)) return true;
    for (const [key, child] of isList(input) ? input.entries() : Object.entries(input)) {
      if (isShallow(child)) continue;
      this.wrong(String(key), `values are nested more than ${MAX_DEPTH} deep`);
      return false;
    }
    return true;
  }
}

const NOTHING: EventFrame = {};

/** What only the first event of an element has, and what all of them have. */
export class Frames {
  readonly #shared: EventFrame;
  /** Given away once, whichever view of the frames asks first. */
  readonly #own: { frame: EventFrame };

  private constructor(shared: EventFrame, own: { frame: EventFrame }) {
    this.#shared = shared;
    this.#own = own;
  }

  /** Our own keys `context`, `causes` and `id` may stand on an element of any format. */
  static of(reading: Reading, element: JsonObject, path: string): Frames {
    const hasFrame =
      Object.hasOwn(element, 'context') || Object.hasOwn(element, 'causes') || Object.hasOwn(element, 'id');
    if (!hasFrame) return Frames.none();
    const context = reading.textAt(element, 'context', path);
    const causes = reading.listAt(element, 'causes', path).filter((cause) => {
      if (typeof cause !== 'string') reading.wrong(join(path, 'causes'), 'the causes are ids of events');
      return typeof cause === 'string';
    });
    const id = own(element, 'id');
    const shared = context === null ? {} : { context };
    const ids = typeof id === 'string' ? { id } : {};
    return new Frames(shared, { frame: causes.length === 0 ? ids : { ...ids, causes } });
  }

  /** Of what stands beside the elements. */
  static none(): Frames {
    return new Frames(NOTHING, { frame: NOTHING });
  }

  /** The same frames with more fields. */
  with(more: EventFrame): Frames {
    return new Frames({ ...this.#shared, ...more }, this.#own);
  }

  /** The frame of the element's next event. */
  next(): EventFrame {
    const { frame } = this.#own;
    this.#own.frame = NOTHING;
    return frame === NOTHING ? this.#shared : { ...this.#shared, ...frame };
  }

  /** The frame of a call inside a message. */
  get inner(): EventFrame {
    return this.#shared;
  }
}

function besideMessage({ keys, why }: StrangeKey): string {
  const shown = shownWord(keys.join('.'));
  return why === 'spoken'
    ? `${shown} holds a conversation that is not read here: make it a separate trace`
    : `${shown} stands beside the conversation and could be words of it, which rules would not see: remove it, or make it a message`;
}

export function join(path: string, ...keys: readonly (string | number)[]): string {
  let joined = path;
  for (const key of keys) joined = joined === '' ? String(key) : `${joined}.${key}`;
  return joined;
}

/** As large as a trace may have them, as deep as an event may be. */
const ARGUMENT_LIMITS = { length: 64 * 1024 * 1024, depth: MAX_DEPTH, elements: 10_000_000 };

/** As `Reading.argumentsOf`; null: they are no object. */
export function parsedArguments(value: Json | undefined): JsonObject | null {
  if (value === undefined || value === null || value === '') return {};
  if (typeof value !== 'string') return isJsonObject(value) ? value : null;
  const parsed = parseJson(value, ARGUMENT_LIMITS);
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : null;
}

/** Keys whose texts are marks of the format and never words. */
const MARKS: ReadonlySet<string> = new Set([
  ...['type', 'id', 'status', 'role', 'call_id', 'tool_use_id', 'signature', 'encrypted_content'],
  ...['encrypted_index', 'file_id'],
]);

/** Attack: a word of the output under the key of a mark. */
function isNote(value: Json): boolean {
  return typeof value === 'string' ? isMark(value) || /^[\w+/=.:~-]*$/.test(value) : !isContainer(value);
}

/** A text, and where it stands. */
export interface Words {
  readonly text: string;
  readonly path: string;
}

/** Every text inside a value that the format does not describe: what a model saw must be visible to rules. */
export function wordsIn(root: Json, path: string): readonly Words[] {
  const found: Words[] = [];
  const open: { readonly value: Json; readonly path: string }[] = [{ value: root, path }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, path: at } = next;
    if (typeof value === 'string') {
      if (value !== '') found.push({ text: value, path: at });
    } else if (isContainer(value)) {
      const inner = Object.entries(value)
        .filter(([key, child]) => isList(value) || !MARKS.has(key) || !isNote(child))
        .map(([key, child]) => ({ value: child, path: join(at, key) }));
      for (const child of inner.reverse()) open.push(child);
    }
  }
  return found;
}
