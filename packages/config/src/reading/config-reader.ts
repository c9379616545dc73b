/**
 * Reads typed values out of a located JSON tree. Every problem becomes a diagnostic with its path and range, and
 * reading continues, so that a person sees all problems at once. Written by hand instead of with a schema library:
 * that would have to be taught places, suggestions and tolerance, and its import alone takes 30 to 50 ms of the
 * half second in which `cordon chat` shows its prompt.
 *
 * Ring 0.
 */
import { type Diagnostic, type Json, type JsonObject, visibleLine } from '@cordon/core';
import { type JsonMember, type JsonNode, LineMap, type Span } from './json-text.ts';
import { suggestion } from './nearest.ts';

/** A value and how to name it: `apps.mail.manifest.network[0]`. `span` may be the key's instead of the value's. */
export interface Located {
  readonly node: JsonNode;
  readonly path: string;
}

export interface Problem {
  readonly code: string;
  readonly message: string;
  readonly help?: string;
  readonly severity?: Diagnostic['severity'];
}

/** Attack: a file of nothing but mistakes. What a person can read is bounded, and so is the memory for it. */
const MOST_DIAGNOSTICS = 100;

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

  report(path: string, span: Span, problem: Problem): void {
    const { severity = 'error', ...rest } = problem;
    const full = this.#diagnostics.length >= MOST_DIAGNOSTICS;
    if (full && (severity === 'warning' || this.hasErrors)) return;
    const place = { file: this.#file, range: this.#lines.range(span), ...(path === '' ? {} : { path }) };
    this.#diagnostics.push({ severity, ...place, ...rest });
  }

  reportAt(at: Located, problem: Problem): void {
    this.report(at.path, at.node.span, problem);
  }

  /** For a problem that is found later, when more is loaded. */
  placeOf({ node, path }: Located): Pick<Diagnostic, 'file' | 'range' | 'path'> {
    return { file: this.#file, range: this.#lines.range(node.span), path };
  }

  /** Where a value begins, from 1. */
  lineOf({ node }: Located): number {
    return this.#lines.range(node.span).line;
  }

  string(at: Located): string | null {
    if (at.node.kind === 'string') return at.node.value;
    return this.#mistyped(at, 'a string');
  }

  boolean(at: Located): boolean | null {
    if (at.node.kind === 'boolean') return at.node.value;
    return this.#mistyped(at, '`true` or `false`');
  }

  number(at: Located): number | null {
    if (at.node.kind === 'number') return at.node.value;
    return this.#mistyped(at, 'a number');
  }

  /** The items of an array; reports anything else, and is empty then. */
  items(at: Located, wanted = 'an array'): Located[] {
    if (at.node.kind === 'array') {
      return at.node.items.map((node, index) => ({ node, path: `${at.path}[${index}]` }));
    }
    this.#mistyped(at, wanted);
    return [];
  }

  /** The members of an object whose keys are free, each key once. */
  entries(at: Located): { key: string; keySpan: Span; at: Located }[] {
    if (at.node.kind !== 'object') {
      this.#mistyped(at, 'an object');
      return [];
    }
    return this.#distinct(at.node.members, at.path).map((member) => ({
      key: member.key,
      keySpan: member.keySpan,
      at: { node: member.value, path: under(at.path, member.key) },
    }));
  }

  /** An object with known keys; reports anything else, and is null then. */
  object(at: Located): ObjectReader | null {
    if (at.node.kind !== 'object') return this.#mistyped(at, 'an object');
    return new ObjectReader(this, at, this.#distinct(at.node.members, at.path));
  }

  /** `JSON.parse` takes the last of two equal keys and a person reads the first, so neither is taken. */
  #distinct(members: readonly JsonMember[], path: string): JsonMember[] {
    const seen = new Map<string, JsonMember>();
    for (const member of members) {
      if (!seen.has(member.key)) seen.set(member.key, member);
      else {
        this.report(under(path, member.key), member.keySpan, {
          code: 'CFG004',
          message: `the key ${quoted(member.key)} appears a second time`,
          help: 'keep one of them',
        });
      }
    }
    return [...seen.values()];
  }

  #mistyped(at: Located, wanted: string): null {
    this.reportAt(at, {
      code: 'CFG005',
      message: `${wanted} should stand here, not ${KIND_NAMES[at.node.kind]}`,
    });
    return null;
  }
}

/** Keys that are asked for become known; `finish` reports the rest. */
export class ObjectReader {
  readonly at: Located;
  readonly #reader: ConfigReader;
  readonly #members: ReadonlyMap<string, JsonMember>;
  readonly #known = new Set<string>();

  constructor(reader: ConfigReader, at: Located, members: readonly JsonMember[]) {
    this.at = at;
    this.#reader = reader;
    this.#members = new Map(members.map((member) => [member.key, member]));
  }

  get(key: string): Located | null {
    this.#known.add(key);
    const member = this.#members.get(key);
    return member === undefined ? null : { node: member.value, path: under(this.at.path, key) };
  }

  required(key: string, help: string): Located | null {
    const found = this.get(key);
    if (found === null) {
      const { span } = this.at.node;
      this.#reader.report(
        this.at.path,
        { start: span.start, end: span.start + 1 },
        {
          code: 'CFG007',
          message: `the key \`${key}\` is missing`,
          help,
        },
      );
    }
    return found;
  }

  /** Where the key itself stands. */
  keySpan(key: string): Span {
    return this.#members.get(key)?.keySpan ?? this.at.node.span;
  }

  /**
   * Reports every key that was not read. `remedy` may know better than the nearest known key, or lower the
   * problem to a warning, for keys that belong to other clients.
   */
  finish(remedy: (key: string) => Problem | null = () => null): void {
    for (const [key, member] of this.#members) {
      if (this.#known.has(key)) continue;
      const problem = remedy(key) ?? this.#unknown(key);
      this.#reader.report(under(this.at.path, key), member.keySpan, problem);
    }
  }

  #unknown(key: string): Problem {
    const help = suggestion(key, this.#known, `known keys: ${[...this.#known].join(', ')}`);
    return { code: 'CFG006', message: `the key ${quoted(key)} is unknown`, help };
  }
}

/** A whole number within bounds; `silent` where the key is missing, or after a report. */
export function readBounded(
  reader: ConfigReader,
  object: ObjectReader,
  name: string,
  [least, most]: readonly [number, number],
  silent: number,
): number {
  const at = object.get(name);
  const value = at === null ? silent : reader.number(at);
  if (at === null || value === null) return silent;
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  reader.reportAt(at, {
    code: 'CFG015',
    message: `\`${name}\` must be a whole number from ${least} to ${most}`,
    help: `leave it out for ${silent}`,
  });
  return silent;
}

const KIND_NAMES: Readonly<Record<JsonNode['kind'], string>> = {
  null: '`null`',
  boolean: 'a boolean',
  number: 'a number',
  string: 'a string',
  array: 'an array',
  object: 'an object',
};

/** User text inside a message: made visible, short, in backticks. */
export function quoted(text: string): string {
  return `\`${visibleLine(text, 80)}\``;
}

/** The path of a key, in dots where it reads well and in brackets where it would not. */
export function under(path: string, key: string): string {
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
