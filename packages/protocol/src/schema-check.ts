/**
 * Whether a value fits a JSON Schema, for both ends of the link: the messages themselves, and in the spoke the formats
 * of what is exchanged. A few keywords, small and quick to load, since the agent loop's start pays for every import.
 * What it does not know it lets pass: the hub checks every exchanged message by the whole standard.
 */
import { canonicalJson, isJsonObject, type Json, type JsonObject, type JsonSchema } from '@cordon/core';

export interface CheckOptions {
  /**
   * A reference (`"$3"` inside a string, or `{"ref": "$3", "length": 120}`) may stand where a string may: its text,
   * which this end has not seen, takes its place.
   */
  readonly allowsReferences: boolean;
}

/** What does not fit, in words for a journal or a model; null: nothing that is known here. */
export function misfit(
  schema: JsonSchema,
  value: Json,
  options: CheckOptions = { allowsReferences: false },
): string | null {
  return new Check(options).value(schema, value);
}

/** The keywords that are checked; `title` and `description` say nothing that could be. */
export const CHECKED_KEYWORDS: ReadonlySet<string> = new Set([
  ...['type', 'enum', 'const', 'anyOf', 'properties', 'required', 'additionalProperties', 'items'],
  ...['minItems', 'maxItems', 'minLength', 'maxLength', 'minimum', 'maximum', 'title', 'description'],
]);

const REFERENCE = /\$\d/;
const WHOLE_REFERENCE = /^\$\d{1,6}$/;

class Check {
  readonly #options: CheckOptions;
  /** Where in the message the check is. Nearly every message fits, so the words for it are put together at a problem only. */
  readonly #path: (string | number)[] = [];

  constructor(options: CheckOptions) {
    this.#options = options;
  }

  /** Recursion is as deep as the value and the schema are, which were both read within limits. */
  value(schema: Json, value: Json): string | null {
    if (schema === false) return `${this.#here()} may not be there`;
    if (!isJsonObject(schema)) return null;
    if (this.#options.allowsReferences && holdsReference(value)) {
      return mayBeText(schema) ? null : `${this.#here()} must be no text`;
    }
    const problem = typed(schema, value) ?? listed(schema, value);
    if (problem !== null) return `${this.#here()} ${problem}`;
    const unfit = this.#alternatives(schema, value);
    if (unfit !== null) return unfit;
    const size = sized(schema, value);
    return size === null ? this.#inside(schema, value) : `${this.#at()} ${size}`;
  }

  #at(): string {
    return this.#path.map((key) => `/${key}`).join('');
  }

  #here(): string {
    return this.#at() || 'the message';
  }

  #alternatives({ anyOf }: JsonObject, value: Json): string | null {
    if (!isList(anyOf)) return null;
    const depth = this.#path.length;
    for (const one of anyOf) {
      if (this.value(one, value) === null) return null;
      // What did not fit has left the place at which it found that out.
      this.#path.length = depth;
    }
    return `${this.#here()} fits none of the forms that it may have`;
  }

  /** A part of the value; where it does not fit, the path stays. */
  #part(schema: Json, part: Json, key: string | number): string | null {
    this.#path.push(key);
    const problem = this.value(schema, part);
    if (problem === null) this.#path.pop();
    return problem;
  }

  #inside(schema: JsonObject, value: Json): string | null {
    if (isList(value)) {
      const { items } = schema;
      if (items === undefined) return null;
      for (let index = 0; index < value.length; index++) {
        const problem = this.#part(items, value[index] ?? null, index);
        if (problem !== null) return problem;
      }
      return null;
    }
    if (!isJsonObject(value)) return null;
    const { required, additionalProperties } = schema;
    const properties = isJsonObject(schema.properties) ? schema.properties : {};
    const wanted = isList(required) ? required : [];
    const missing = wanted.find((key) => typeof key === 'string' && !Object.hasOwn(value, key));
    if (typeof missing === 'string') return `${this.#at()}/${missing} is missing`;
    for (const key of Object.keys(value)) {
      const known = Object.hasOwn(properties, key) ? properties[key] : additionalProperties;
      // A key that an attacker chose is not repeated.
      if (known === false) return `${this.#here()} has a field that is unknown`;
      const problem = known === undefined ? null : this.#part(known, value[key] ?? null, key);
      if (problem !== null) return problem;
    }
    return null;
  }
}

function holdsReference(value: Json): boolean {
  if (typeof value === 'string') return REFERENCE.test(value);
  if (!isJsonObject(value) || typeof value.ref !== 'string') return false;
  return (
    WHOLE_REFERENCE.test(value.ref) && Object.keys(value).every((key) => key === 'ref' || key === 'length')
  );
}

function mayBeText({ type }: JsonObject): boolean {
  return type === undefined || type === 'string' || (isList(type) && type.includes('string'));
}

/** These say what is wrong, and their caller where. */
function typed({ type }: JsonObject, value: Json): string | null {
  if (type === undefined || (!isList(type) && isOfType(type, value))) return null;
  const names = isList(type) ? type : [type];
  if (names.some((name) => isOfType(name, value))) return null;
  return `must be ${names.filter((name) => typeof name === 'string').join(' or ')}`;
}

function isOfType(name: Json, value: Json): boolean {
  switch (name) {
    case 'object':
      return isJsonObject(value);
    case 'array':
      return isList(value);
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === name;
    case 'integer':
      return typeof value === 'number' && Number.isInteger(value);
    case 'null':
      return value === null;
    default:
      return false;
  }
}

function listed(schema: JsonObject, value: Json): string | null {
  if (isList(schema.enum) && !schema.enum.some((other) => isSame(other, value)))
    return 'is none of the values';
  if (schema.const !== undefined && !isSame(schema.const, value)) return 'is another value';
  return null;
}

function isSame(one: Json, other: Json): boolean {
  if (one === other) return true;
  // Only lists and objects can be the same value and not the same to the engine.
  return typeof one === 'object' && typeof other === 'object' && canonicalJson(one) === canonicalJson(other);
}

function sized(schema: JsonObject, value: Json): string | null {
  if (typeof value === 'number') {
    return outside(value, schema.minimum, schema.maximum) ? 'is too small or too large' : null;
  }
  if (typeof value === 'string') {
    const { minLength, maxLength } = schema;
    if (minLength === undefined && (typeof maxLength !== 'number' || value.length <= maxLength)) return null;
    return outside(characters(value), minLength, maxLength) ? 'is too short or too long' : null;
  }
  if (isList(value)) {
    const { minItems, maxItems } = schema;
    return outside(value.length, minItems, maxItems) ? 'has too few or too many items' : null;
  }
  return null;
}

function outside(size: number, least: Json | undefined, most: Json | undefined): boolean {
  return (typeof least === 'number' && size < least) || (typeof most === 'number' && size > most);
}

/** As JSON Schema counts them: a character beyond the first 65,536 is one. */
function characters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}
