/**
 * The part of JSON Schema that apps declare their tools with, and the TypeScript type of what such a schema admits.
 * A schema that uses anything else is refused at start (`schemaProblems`), so what is declared is what is checked.
 */
import { isJsonObject, type Json } from './json.ts';

interface Prose {
  readonly title?: string;
  readonly description?: string;
  readonly default?: Json;
  readonly examples?: readonly Json[];
  readonly $comment?: string;
}

export interface StringSchema extends Prose {
  readonly type: 'string';
  readonly enum?: readonly string[];
  readonly const?: string;
  readonly format?: Format;
  readonly minLength?: number;
  readonly maxLength?: number;
}

export interface NumberSchema extends Prose {
  readonly type: 'number' | 'integer';
  readonly enum?: readonly number[];
  readonly const?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

export interface BooleanSchema extends Prose {
  readonly type: 'boolean';
  readonly const?: boolean;
}

export interface ArraySchema extends Prose {
  readonly type: 'array';
  readonly items: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** Closed unless `additionalProperties: true` is written: see `closedSchema`. */
export interface ObjectSchema extends Prose {
  readonly type: 'object';
  readonly properties: { readonly [name: string]: Schema };
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
}

export type Schema = StringSchema | NumberSchema | BooleanSchema | ArraySchema | ObjectSchema;

/** The value that a schema admits; properties that are not `required` are optional. */
export type FromSchema<S> = S extends { readonly const: infer V }
  ? V
  : S extends { readonly enum: readonly (infer V)[] }
    ? V
    : S extends { readonly type: 'string' }
      ? string
      : S extends { readonly type: 'number' | 'integer' }
        ? number
        : S extends { readonly type: 'boolean' }
          ? boolean
          : S extends { readonly type: 'array'; readonly items: infer I }
            ? readonly FromSchema<I>[]
            : S extends { readonly type: 'object'; readonly properties: infer P }
              ? FromProperties<P, RequiredName<S>>
              : never;

type RequiredName<S> = S extends { readonly required: readonly (infer R)[] } ? R : never;

type FromProperties<P, R> = {
  readonly [K in keyof P as K extends R ? K : never]: FromSchema<P[K]>;
} & {
  readonly [K in keyof P as K extends R ? never : K]?: FromSchema<P[K]>;
};

/** String formats that are checked. All but the last two are closed: their values cannot carry a sentence. */
export const FORMATS = {
  date: /^\d{4}-\d{2}-\d{2}$/,
  time: /^\d{2}:\d{2}(:\d{2})?(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})?$/,
  'date-time': /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(:\d{2})?(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})?$/,
  uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i,
  identifier: /^[A-Za-z]{0,8}[-_]?\d{1,18}$/,
  email: /^[^\s@<>"]{1,64}@[^\s@<>"]{1,255}$/,
  uri: /^[A-Za-z][A-Za-z0-9+.-]{0,31}:[^\s<>"]+$/,
} as const satisfies Readonly<Record<string, RegExp>>;

export type Format = keyof typeof FORMATS;

export function isFormat(name: unknown): name is Format {
  return typeof name === 'string' && Object.hasOwn(FORMATS, name);
}

const PROSE = ['title', 'description', 'default', 'examples', '$comment'];
const KEYWORDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['string', ['enum', 'const', 'format', 'minLength', 'maxLength']],
  ['number', ['enum', 'const', 'minimum', 'maximum']],
  ['integer', ['enum', 'const', 'minimum', 'maximum']],
  ['boolean', ['const']],
  ['array', ['items', 'minItems', 'maxItems']],
  ['object', ['properties', 'required', 'additionalProperties']],
]);

/**
 * What in `schema` lies outside the supported part, as sentences with a JSON-pointer-like place; empty if nothing.
 * The compiler finds wrong types, but not every surplus keyword. For an author's own schema only: it recurses.
 */
export function schemaProblems(schema: unknown, at = '#'): readonly string[] {
  if (!isJsonObject(schema)) return [`${at}: a schema must be an object`];
  const type = schema.type;
  const known = typeof type === 'string' ? KEYWORDS.get(type) : undefined;
  if (known === undefined) return [`${at}: \`type\` must be one of ${[...KEYWORDS.keys()].join(', ')}`];
  const problems = Object.keys(schema)
    .filter((key) => key !== 'type' && !known.includes(key) && !PROSE.includes(key))
    .map((key) => `${at}: \`${key}\` is not supported for the type ${type}`);
  if (schema.format !== undefined && !isFormat(schema.format))
    problems.push(`${at}: \`format\` must be one of ${Object.keys(FORMATS).join(', ')}`);
  if (schema.enum !== undefined && !Array.isArray(schema.enum))
    problems.push(`${at}: \`enum\` must be a list`);
  if (type === 'array') problems.push(...schemaProblems(schema.items, `${at}/items`));
  if (type === 'object') problems.push(...objectProblems(schema, at));
  return problems;
}

function objectProblems(schema: { readonly [key: string]: Json }, at: string): readonly string[] {
  const { properties, required = [], additionalProperties = false } = schema;
  if (!isJsonObject(properties)) return [`${at}: \`properties\` must be an object`];
  if (!Array.isArray(required)) return [`${at}: \`required\` must be a list`];
  const problems = Object.entries(properties).flatMap(([name, inner]) =>
    schemaProblems(inner, `${at}/properties/${name}`),
  );
  for (const name of required)
    if (typeof name !== 'string' || !Object.hasOwn(properties, name))
      problems.push(`${at}: \`required\` names ${JSON.stringify(name)}, which is no property`);
  if (typeof additionalProperties !== 'boolean')
    problems.push(`${at}: \`additionalProperties\` must be true or false`);
  return problems;
}

/**
 * The schema with `additionalProperties: false` written wherever the author was silent. It is what is published and
 * what is checked: an undeclared key is a mistake of the caller, or a place to hide data in.
 */
export function closedSchema(schema: Schema): Schema {
  if (schema.type === 'array') return { ...schema, items: closedSchema(schema.items) };
  if (schema.type === 'object') return closedObjectSchema(schema);
  return schema satisfies StringSchema | NumberSchema | BooleanSchema;
}

/** As `closedSchema`, for the schema of a whole request or result. */
export function closedObjectSchema(schema: ObjectSchema): ObjectSchema {
  const properties = Object.entries(schema.properties).map(([name, inner]) => [name, closedSchema(inner)]);
  return { additionalProperties: false, ...schema, properties: Object.fromEntries(properties) };
}
