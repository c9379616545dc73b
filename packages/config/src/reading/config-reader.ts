/**
 * Reads typed values out of a located JSON tree. Every problem becomes a diagnostic with its path and range, and
 * reading continues, so that a person sees all problems at once. Written by hand instead of with a schema library:
 * that would have to be taught places, suggestions and tolerance, and its import alone takes 30 to 50 ms of the
 * half second in which `cordon chat` shows its prompt.
 */
import {
  type Diagnostic,
  type Json,
  type JsonObject,
  NAME_PATTERN,
  type SourceRange,
  visibleLine,
} from '@cordon/core';
import { type JsonMember, type JsonNode, LineMap, type Span } from './json-text.ts';
import { suggestion } from './nearest.ts';

export interface Problem {
  readonly code: string;
  readonly message: string;
  readonly help?: string;
  readonly severity?: Diagnostic['severity'];
}

/** Where a problem stands. */
export interface Place {
  readonly file: string;
  readonly range: SourceRange;
  readonly path?: string;
}

/** The smallest and the largest value. */
export type Bounds = readonly [least: number, most: number];

/** Attack: a file of nothing but mistakes. What a person can read is bounded, and so is the memory for it. */
const MOST_DIAGNOSTICS = 100;

/** Collects what is wrong with one text. */
export class ConfigReader {
  readonly #file: string;
  readonly #lines: LineMap;
  readonly #diagnostics: Diagnostic[] = [];

  constructor(file: string, text: string) {
    this.#file = file;
    this.#lines = new LineMap(text);
  }

  get diagnostics(): readonly Diagnostic[] {
    return this.#diagnostics;
  }

  get hasErrors(): boolean {
    return this.#diagnostics.some(({ severity }) => severity === 'error');
  }

  /** The whole text, whose tree this is. */
  root(node: JsonNode): Located {
    return new Located(this, node, '', node.span);
  }

  place(path: string, span: Span): Place {
    return { file: this.#file, range: this.#lines.range(span), ...(path === '' ? {} : { path }) };
  }

  report(place: Place, { severity = 'error', ...problem }: Problem): void {
    const full = this.#diagnostics.length >= MOST_DIAGNOSTICS;
    if (full && (severity === 'warning' || this.hasErrors)) return;
    this.#diagnostics.push({ severity, ...place, ...problem });
  }
}

/**
 * A value, where it stands, and how to name it: `apps.mail.manifest.network[0]`. What reads it as something that it is not
 * reports that and returns null.
 */
export class Located {
  readonly node: JsonNode;
  readonly path: string;
  readonly #reader: ConfigReader;
  readonly #keySpan: Span;
  #entries: readonly Entry[] | null = null;

  /** @param keySpan of the key that it stands behind; of what stands behind none, its own */
  constructor(reader: ConfigReader, node: JsonNode, path: string, keySpan: Span) {
    this.#reader = reader;
    this.node = node;
    this.path = path;
    this.#keySpan = keySpan;
  }

  /** For a problem that is found later, when more is loaded. */
  get place(): Place {
    return this.#reader.place(this.path, this.node.span);
  }

  report(problem: Problem): null {
    return this.#report(this.node.span, problem);
  }

  /** Reports what is wrong with the key. */
  reportKey(problem: Problem): null {
    return this.#report(this.#keySpan, problem);
  }

  /** Reports at the first character, where the value as a whole would be too much to show. */
  reportStart(problem: Problem): null {
    const { start } = this.node.span;
    return this.#report({ start, end: start + 1 }, problem);
  }

  #report(span: Span, problem: Problem): null {
    this.#reader.report(this.#reader.place(this.path, span), problem);
    return null;
  }

  #mistyped(wanted: string): null {
    const message = `${wanted} should stand here, not ${KIND_NAMES[this.node.kind]}`;
    return this.report({ code: 'CFG005', message });
  }

  string(): string | null {
    return this.node.kind === 'string' ? this.node.value : this.#mistyped('a string');
  }

  boolean(): boolean | null {
    return this.node.kind === 'boolean' ? this.node.value : this.#mistyped('`true` or `false`');
  }

  number(): number | null {
    return this.node.kind === 'number' ? this.node.value : this.#mistyped('a number');
  }

  /** A string of which `problemOf` says nothing worse than a warning. */
  checked(problemOf: (text: string) => Problem | null): string | null {
    const text = this.string();
    const problem = text === null ? null : problemOf(text);
    if (problem !== null) this.report(problem);
    return problem === null || problem.severity === 'warning' ? text : null;
  }

  /** One of `words`; for any other string, `problemOf` says what is wrong. */
  word<W extends string>(words: readonly W[], problemOf: (text: string) => Problem): W | null {
    const text = this.string();
    const word = words.find((candidate) => candidate === text) ?? null;
    if (text !== null && word === null) this.report(problemOf(text));
    return word;
  }

  /** The items of an array; empty after a report. */
  items(wanted = 'an array'): Located[] {
    if (this.node.kind !== 'array') {
      this.#mistyped(wanted);
      return [];
    }
    return this.node.items.map(
      (node, index) => new Located(this.#reader, node, `${this.path}[${index}]`, node.span),
    );
  }

  /** What `read` makes of each item of an array; null is left out. */
  list<T>(wanted: string, read: (item: Located) => T | null): T[] {
    return this.items(wanted)
      .map(read)
      .filter((value) => value !== null);
  }

  /** The members of an object whose keys are free, each key once; empty after a report. */
  entries(): readonly Entry[] {
    if (this.node.kind === 'object') this.#entries ??= this.#distinct(this.node.members);
    else if (this.#entries === null) this.#mistyped('an object');
    this.#entries ??= [];
    return this.#entries;
  }

  /** What `read` makes of each member of an object whose key `problemOf` accepts; null is left out. */
  mapped<T>(problemOf: (key: string) => Problem | null, read: (key: string, at: Located) => T | null): T[] {
    return this.entries()
      .map(([key, at]) => {
        const problem = problemOf(key);
        return problem === null ? read(key, at) : at.reportKey(problem);
      })
      .filter((value) => value !== null);
  }

  /** An object with known keys. */
  object(): ObjectReader | null {
    if (this.node.kind !== 'object') return this.#mistyped('an object');
    return new ObjectReader(this, new Map(this.entries()));
  }

  /** An object of whole numbers within bounds; `silent` has those of keys that are missing. */
  wholes<K extends string>(
    bounds: Readonly<Record<K, Bounds>>,
    silent: Readonly<Record<K, number>>,
  ): Readonly<Record<K, number>> {
    const object = this.object();
    const numbers = object?.wholes(bounds, silent) ?? silent;
    object?.finish();
    return numbers;
  }

  /** What stands behind a key, where this is an object that has it. Reports nothing. */
  member(key: string): Located | null {
    const found =
      this.node.kind === 'object' ? this.node.members.find((member) => member.key === key) : undefined;
    return found === undefined ? null : this.#behind(found);
  }

  /** The strings in it, however deep. */
  strings(): readonly Located[] {
    switch (this.node.kind) {
      case 'string':
        return [this];
      case 'array':
        return this.items().flatMap((item) => item.strings());
      case 'object':
        return this.node.members.flatMap((member) => this.#behind(member).strings());
      default:
        return [];
    }
  }

  /** `JSON.parse` takes the last of two equal keys and a person reads the first, so neither is taken. */
  #distinct(members: readonly JsonMember[]): readonly Entry[] {
    const seen = new Map<string, Located>();
    for (const member of members) {
      const at = this.#behind(member);
      if (!seen.has(member.key)) seen.set(member.key, at);
      else {
        const message = `the key ${quoted(member.key)} appears a second time`;
        at.reportKey({ code: 'CFG004', message, help: 'keep one of them' });
      }
    }
    return [...seen];
  }

  #behind({ key, keySpan, value }: JsonMember): Located {
    return new Located(this.#reader, value, under(this.path, key), keySpan);
  }
}

type Entry = readonly [key: string, at: Located];

/** Keys that are asked for become known; `finish` reports the rest. */
export class ObjectReader {
  readonly at: Located;
  readonly #members: ReadonlyMap<string, Located>;
  readonly #known = new Set<string>();

  constructor(at: Located, members: ReadonlyMap<string, Located>) {
    this.at = at;
    this.#members = members;
  }

  get(key: string): Located | null {
    this.#known.add(key);
    return this.#members.get(key) ?? null;
  }

  required(key: string, help: string): Located | null {
    const found = this.get(key);
    if (found === null)
      this.at.reportStart({ code: 'CFG007', message: `the key \`${key}\` is missing`, help });
    return found;
  }

  /** What `read` makes of what stands behind a key; null where nothing does. */
  read<T>(key: string, read: (at: Located) => T): T | null {
    const at = this.get(key);
    return at === null ? null : read(at);
  }

  string(key: string): string | null {
    return this.read(key, (at) => at.string());
  }

  boolean(key: string): boolean | null {
    return this.read(key, (at) => at.boolean());
  }

  /** A whole number within bounds; `silent` where the key is missing, or after a report. */
  whole(key: string, [least, most]: Bounds, silent: number): number {
    const at = this.get(key);
    const value = at?.number() ?? null;
    if (at === null || value === null) return silent;
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    const message = `\`${key}\` must be a whole number from ${least} to ${most}`;
    at.report({ code: 'CFG015', message, help: `leave it out for ${silent}` });
    return silent;
  }

  /** The same for all keys of `bounds`. */
  wholes<K extends string>(
    bounds: Readonly<Record<K, Bounds>>,
    silent: Readonly<Record<K, number>>,
  ): Readonly<Record<K, number>> {
    const numbers: Record<K, number> = { ...silent };
    for (const key in bounds) numbers[key] = this.whole(key, bounds[key], silent[key]);
    return numbers;
  }

  /**
   * Reports every key that was not read. `remedy` may know better than the nearest known key, or lower the
   * problem to a warning, for keys that belong to other clients.
   */
  finish(remedy: (key: string) => Problem | null = () => null): void {
    for (const [key, at] of this.#members)
      if (!this.#known.has(key)) at.reportKey(remedy(key) ?? this.#unknown(key));
  }

  #unknown(key: string): Problem {
    const help = suggestion(key, this.#known, `known keys: ${[...this.#known].join(', ')}`);
    return { code: 'CFG006', message: `the key ${quoted(key)} is unknown`, help };
  }
}

const KIND_NAMES: Readonly<Record<JsonNode['kind'], string>> = {
  null: '`null`',
  boolean: 'a boolean',
  number: 'a number',
  string: 'a string',
  array: 'an array',
  object: 'an object',
};

/** What is wrong with a name that the user gave to `what`; null: nothing. */
export function nameProblem(name: string, what: string): Problem | null {
  if (NAME_PATTERN.test(name)) return null;
  return {
    code: 'CFG008',
    message: `${quoted(name)} is no name for ${what}`,
    help: 'use up to 64 letters, digits, `.`, `_` and `-`, beginning with a letter or digit',
  };
}

/** Whether a text can be the name of an environment variable. */
export function isVariableName(text: string): boolean {
  return /^[A-Za-z_]\w{0,127}$/.test(text);
}

/** What to say of a text that cannot be the name of a variable or header. */
export function unnamed(name: string, what: string): Problem {
  const message = `${quoted(name)} is no name for ${what}`;
  return { code: 'CFG008', message, help: 'use letters, digits and `_`' };
}

/** User text inside a message: made visible, short, in backticks. */
export function quoted(text: string): string {
  return `\`${visibleLine(text, 80)}\``;
}

/** The path of a key, in dots where it reads well and in brackets where it would not. */
function under(path: string, key: string): string {
  const plain = /^[A-Za-z_$][\w$-]{0,79}$/.test(key);
  if (!plain) return `${path}["${visibleLine(key, 80).replaceAll('"', '\\"')}"]`;
  return path === '' ? key : `${path}.${key}`;
}

/** The plain value. Keys are set on a null prototype first, so that no key means more than its name. */
export function plainJson(node: JsonNode): Json {
  switch (node.kind) {
    case 'null':
      return null;
    case 'boolean':
    case 'number':
    case 'string':
      return node.value;
    case 'array':
      return node.items.map(plainJson);
    case 'object':
      return plainObject(node.members);
  }
}

function plainObject(members: readonly JsonMember[]): JsonObject {
  return Object.fromEntries(members.map(({ key, value }) => [key, plainJson(value)]));
}
