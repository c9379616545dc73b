/** Values against schemas: what arrives as arguments, what a tool returns, what a state file holds. */
import { isJsonObject, type Json, type JsonObject } from './json.ts';
import {
  type ArraySchema,
  FORMATS,
  type FromSchema,
  type NumberSchema,
  type ObjectSchema,
  type Schema,
  type StringSchema,
} from './schema.ts';

export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Only the first few problems are reported: a list of ten thousand wrong items must not become an answer. */
const MOST_PROBLEMS = 8;

/**
 * `value` as what `schema` admits, or what is wrong with it, as sentences with a JSON-pointer-like place. The texts
 * name places and expectations and never repeat a value. `schema` must have no `schemaProblems`.
 */
export function checkValue<const S extends Schema>(schema: S, value: unknown): Checked<FromSchema<S>> {
  const problems: string[] = [];
  visit(schema, value, '', problems);
  return problems.length === 0 ? { ok: true, value: value as FromSchema<S> } : { ok: false, problems };
}

function visit(schema: Schema, value: unknown, at: string, problems: string[]): void {
  const expected = expectation(schema, value);
  if (expected !== null) problems.push(`${nameOf(at)} must be ${expected}`);
  else if (schema.type === 'array' && Array.isArray(value)) visitItems(schema.items, value, at, problems);
  else if (schema.type === 'object' && isJsonObject(value)) visitProperties(schema, value, at, problems);
}

/** What this value itself, without what it holds, should have been; null if it is that. */
function expectation(schema: Schema, value: unknown): string | null {
  switch (schema.type) {
    case 'string':
      return stringExpectation(schema, value);
    case 'number':
    case 'integer':
      return numberExpectation(schema, value);
    case 'boolean':
      if (typeof value !== 'boolean') return 'true or false';
      return schema.const === undefined || value === schema.const ? null : String(schema.const);
    case 'array':
      return arrayExpectation(schema, value);
    case 'object':
      return isJsonObject(value) ? null : 'an object';
  }
}

function stringExpectation(schema: StringSchema, value: unknown): string | null {
  if (typeof value !== 'string') return 'a string';
  if (schema.const !== undefined && value !== schema.const) return JSON.stringify(schema.const);
  if (schema.enum !== undefined && !schema.enum.includes(value)) return oneOf(schema.enum);
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, format } = schema;
  if (lengthOf(value) < minLength) return `at least ${minLength} characters long`;
  if (lengthOf(value) > maxLength) return `at most ${maxLength} characters long`;
  return format === undefined || FORMATS[format].test(value) ? null : `of the format ${format}`;
}

function numberExpectation(schema: NumberSchema, value: unknown): string | null {
  if (typeof value !== 'number' || !Number.isFinite(value)) return 'a number';
  if (schema.type === 'integer' && !Number.isInteger(value)) return 'a whole number';
  if (schema.const !== undefined && value !== schema.const) return String(schema.const);
  if (schema.enum !== undefined && !schema.enum.includes(value)) return oneOf(schema.enum);
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema;
  if (value < minimum) return `at least ${minimum}`;
  return value > maximum ? `at most ${maximum}` : null;
}

function arrayExpectation(schema: ArraySchema, value: unknown): string | null {
  if (!Array.isArray(value)) return 'a list';
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
  if (value.length < minItems) return `a list of at least ${minItems}`;
  return value.length > maxItems ? `a list of at most ${maxItems}` : null;
}

function visitItems(schema: Schema, items: readonly unknown[], at: string, problems: string[]): void {
  for (const [index, item] of items.entries()) {
    if (problems.length >= MOST_PROBLEMS) return;
    visit(schema, item, `${at}/${index}`, problems);
  }
}

function visitProperties(schema: ObjectSchema, value: JsonObject, at: string, problems: string[]): void {
  for (const name of schema.required ?? [])
    if (!Object.hasOwn(value, name)) problems.push(`${at}/${name} is required`);
  for (const [name, inner] of Object.entries(value)) {
    if (problems.length >= MOST_PROBLEMS) return;
    const declared = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    if (declared !== undefined) visit(declared, inner, `${at}/${name}`, problems);
    // `__proto__` would reach the prototype of whatever object a careless tool copies it into.
    else if (schema.additionalProperties !== true || name === '__proto__')
      problems.push(`${nameOf(at)} has a key that is not declared (declared: ${declaredNames(schema)})`);
  }
}

function nameOf(at: string): string {
  return at === '' ? 'the value' : at;
}

function declaredNames(schema: ObjectSchema): string {
  return Object.keys(schema.properties).join(', ') || 'none';
}

function oneOf(values: readonly Json[]): string {
  return `one of ${values.map((value) => JSON.stringify(value)).join(', ')}`;
}

/** JSON Schema counts code points. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}
