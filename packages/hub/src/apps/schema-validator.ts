/**
 * Validation against JSON Schemas that apps and manifests bring. A schema is hostile, also when it is compiled: its
 * size and its time are bounded, it knows of no other schema, and its patterns do not run on V8's backtracking engine.
 */
import { isNativeError } from 'node:util/types';
import { createContext, Script } from 'node:vm';
import {
  canonicalJson,
  closedFormats,
  failed,
  isJsonObject,
  type Json,
  type JsonSchema,
  ok,
  type Result,
} from '@cordon/core';
import { compileSchemaPattern, EXHAUSTED_REASON } from '@cordon/regex';
import type { Ajv2020, AnySchemaObject, ValidateFunction } from 'ajv/dist/2020.js';

const SCHEMA_LENGTH = 256 * 1024;
const SHOWN_ERRORS = 5;

/** The same validator each time; the first time waits for its library. */
export type LoadValidator = () => Promise<SchemaValidator>;

/** Loads the library when the first schema is to be checked: it takes 15 ms, which no start should wait for. */
export function validatorOnDemand(): LoadValidator {
  let loading: Promise<SchemaValidator> | null = null;
  return () => {
    loading ??= import('ajv/dist/2020.js').then((library) => new SchemaValidator(library.Ajv2020));
    return loading;
  };
}

interface Compiled {
  readonly validate: ValidateFunction;
  /** Whether a check takes no longer than it takes to read the value, whatever the value is. */
  readonly isPlain: boolean;
}

export class SchemaValidator {
  readonly #Ajv: typeof Ajv2020;
  readonly #compiled = new Map<string, Compiled | string>();
  /** The same by identity: a tool's schema is the same object at each call. */
  readonly #known = new WeakMap<JsonSchema, Compiled | string>();

  constructor(Ajv: typeof Ajv2020) {
    this.#Ajv = Ajv;
  }

  /** The value, or what is wrong with it in words that a model can act on. What takes too long is wrong. */
  check(schema: JsonSchema, value: Json): Result<Json, string> {
    const known = this.#known.get(schema) ?? this.#recognised(schema);
    // A time limit takes a separate thread, which costs more than most checks.
    if (typeof known === 'object' && known.isPlain) return judged(known.validate, value);
    const checked = inTime(() => {
      const compiled = this.#compile(schema);
      return typeof compiled === 'string' ? failed(compiled) : judged(compiled.validate, value);
    });
    return checked.ok ? checked.value : checked;
  }

  /** Another object with the same content as one that was compiled before. */
  #recognised(schema: JsonSchema): Compiled | string | undefined {
    const compiled = this.#compiled.get(canonicalJson(schema));
    if (compiled !== undefined) this.#known.set(schema, compiled);
    return compiled;
  }

  /** Does ahead of time what the first check of a schema would do. */
  prepare(schema: JsonSchema): void {
    inTime(() => this.#compile(schema));
  }

  #compile(schema: JsonSchema): Compiled | string {
    const key = canonicalJson(schema);
    const compiled =
      this.#compiled.get(key) ??
      (key.length > SCHEMA_LENGTH ? 'the schema is too large' : this.#compileNew(schema));
    this.#compiled.set(key, compiled);
    this.#known.set(schema, compiled);
    return compiled;
  }

  #compileNew(schema: JsonSchema): Compiled | string {
    try {
      const { $schema: _, $id: __, ...plain } = schema;
      const copy: AnySchemaObject = structuredClone(plain);
      return { validate: this.#newAjv().compile(copy), isPlain: isPlain(plain) };
    } catch (error) {
      return `the schema cannot be used: ${error instanceof Error ? error.message.slice(0, 200) : 'unknown reason'}`;
    }
  }

  /** One for each schema: an instance keeps every `$id` that it has met, so that one app could spoil another's. */
  #newAjv(): Ajv2020 {
    return new this.#Ajv({
      strict: false,
      allErrors: false,
      meta: false,
      validateSchema: false,
      // Unknown formats say nothing; closed ones are checked again where they count (core/schema.ts).
      formats: Object.fromEntries(closedFormats().map((name) => [name, true])),
      validateFormats: false,
      code: { regExp: linearRegExp },
    });
  }
}

function judged(validate: ValidateFunction, value: Json): Result<Json, string> {
  if (validate(value)) return ok(value);
  const problems = (validate.errors ?? []).slice(0, SHOWN_ERRORS);
  return failed(
    problems
      .map(({ instancePath, message }) => `${instancePath || 'message'} ${message ?? 'is invalid'}`)
      .join('; '),
  );
}

/** Keywords that look at a value once: what refers, combines, compares items or matches patterns is not among them. */
const PLAIN_KEYWORDS: ReadonlySet<string> = new Set(
  `type enum const required format minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf
  minItems maxItems minProperties maxProperties
  title description default examples deprecated readOnly writeOnly`.split(/\s+/),
);

/** Recursion is as deep as the schema, which came out of bounded JSON. */
function isPlain(schema: Json): boolean {
  if (typeof schema === 'boolean') return true;
  if (!isJsonObject(schema)) return false;
  return Object.entries(schema).every(([keyword, value]) => {
    if (PLAIN_KEYWORDS.has(keyword)) return true;
    if (keyword === 'properties') return isJsonObject(value) && Object.values(value).every(isPlain);
    return (keyword === 'items' || keyword === 'additionalProperties') && isPlain(value);
  });
}

/** How long the hub may compute for one check. */
const MILLISECONDS = 500;
/** A busy machine may have given the hub next to nothing of that time; then the check is made again, so often at most. */
const ATTEMPTS = 5;

const surroundings: { work: () => void } = { work: () => undefined };
createContext(surroundings);
const run = new Script('work()');

/**
 * Attack: definitions that each name the next one twice, or `uniqueItems` over a long list, keep a validator busy for
 * ever, and with it the hub. V8 stops what runs in a script with a time limit, wherever the functions were made. The
 * limit is by the clock; what counts against a schema is the time that it was computed for.
 */
function inTime<T>(work: () => T): Result<T, string> {
  let left = MILLISECONDS;
  for (let attempt = 1; attempt <= ATTEMPTS && left >= 1; attempt++) {
    const before = process.threadCpuUsage();
    const done = attempted(work);
    if (done !== 'interrupted') return done;
    const { user, system } = process.threadCpuUsage(before);
    left -= (user + system) / 1000;
  }
  return failed('the schema takes too long to check');
}

function attempted<T>(work: () => T): Result<T, string> | 'interrupted' {
  let result: Result<T, string> | 'interrupted' = 'interrupted';
  surroundings.work = () => {
    result = ok(work());
  };
  try {
    run.runInContext(surroundings, { timeout: MILLISECONDS });
    return result;
  } catch (error) {
    // Out of stack: a schema may name itself without end.
    return isTimeout(error) ? 'interrupted' : failed('the schema cannot be checked');
  }
}

/** The error is one of the other context, so it is no instance of ours. */
function isTimeout(error: unknown): boolean {
  return isNativeError(error) && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}

/**
 * `pattern` of a schema as linear-time matching; a pattern that is not understood makes the schema unusable. Where a text takes too
 * many steps nobody knows whether it fits, so the check fails, whatever the schema makes of a match.
 */
function linearRegExp(pattern: string) {
  const compiled = compileSchemaPattern(pattern);
  if (!compiled.ok) throw new Error(compiled.fault);
  const test = (text: string) => {
    const matches = compiled.value.findAll(text);
    if (matches === 'exhausted') throw new Error(EXHAUSTED_REASON);
    return matches.length > 0;
  };
  return { test };
}
linearRegExp.code = 'linearRegExp';
