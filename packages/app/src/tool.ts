/**
 * One tool of an app: what it declares, and its function wrapped so that nothing undeclared goes in or comes out.
 */
import { checkValue } from './check.ts';
import type { Fetched, FetchInit } from './host.ts';
import type { Json, JsonObject } from './json.ts';
import { closedObjectSchema, type FromSchema, type ObjectSchema, schemaProblems } from './schema.ts';

/** Hints to anyone who runs the app (MCP); hosts use them to be stricter, so silence means the worst. */
export interface ToolAnnotations {
  readonly title?: string;
  /** It changes nothing anywhere. */
  readonly readOnlyHint?: boolean;
  /** What it changes cannot be had back. */
  readonly destructiveHint?: boolean;
  /** The same call again changes nothing more. */
  readonly idempotentHint?: boolean;
  /** It reaches things beyond the app itself: the network, other people. */
  readonly openWorldHint?: boolean;
}

/** "No, because …": an ordinary answer to the model, made by `refuse`. A class, so that no result is taken for one. */
export class Refused {
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }
  get text(): string {
    return this.#text;
  }
}

/** What `run` returns when it cannot do what was asked; `text` is shown to the model as the tool's error. */
export function refuse(text: string): Refused {
  return new Refused(text);
}

export interface ToolDefinition<I extends ObjectSchema, O extends ObjectSchema | undefined, R> {
  readonly description: string;
  readonly input: I;
  /** Without it the tool answers in text. */
  readonly output?: O;
  readonly annotations?: ToolAnnotations;
  /** Gets arguments that fit `input`. May be async. A throw is a bug: the caller learns only that there was one. */
  readonly run: (args: FromSchema<I>, context: ToolContext) => R | Promise<R>;
}

export interface ToolContext {
  /** A request that the host makes: allowed by its user and policy, with a credential that stays with the host. */
  readonly fetch: (url: string, init?: FetchInit) => Promise<Fetched>;
}

/** Of a tool that is called without a host. */
const ALONE: ToolContext = { fetch: async () => ({ ok: false, reason: 'there is no host' }) };

type Returned<O> = (O extends ObjectSchema ? FromSchema<O> : string) | Refused;

export type ToolOutcome =
  | { readonly kind: 'structured'; readonly value: JsonObject }
  | { readonly kind: 'text'; readonly text: string }
  /** The arguments do not fit, or the tool said no. */
  | { readonly kind: 'refused'; readonly text: string }
  /** A bug of the app; `error` is for its log and never for the caller. */
  | { readonly kind: 'failed'; readonly error: unknown };

export interface Tool {
  readonly description: string;
  readonly input: ObjectSchema;
  readonly output: ObjectSchema | null;
  readonly annotations: ToolAnnotations;
  /** Checks the arguments, runs the tool, checks what it returned. Never rejects. */
  readonly call: (args: Json, context?: ToolContext) => Promise<ToolOutcome>;
}

/**
 * A tool for `serve`. The types of `run`'s arguments and result follow from the schemas.
 *
 * Throws a `TypeError` that names the place if a schema uses something outside the supported part of JSON Schema.
 */
export function tool<
  const I extends ObjectSchema,
  // `const`, and its own parameter: so a returned `'USD'` is not widened to `string`.
  const R extends Returned<O>,
  const O extends ObjectSchema | undefined = undefined,
>(definition: ToolDefinition<I, O, R>): Tool {
  const input = checkedSchema('input', definition.input);
  const output = definition.output === undefined ? null : checkedSchema('output', definition.output);
  const call = async (args: Json, context: ToolContext = ALONE): Promise<ToolOutcome> => {
    const checked = checkValue<ObjectSchema>(input, args);
    if (!checked.ok) return { kind: 'refused', text: `invalid arguments: ${checked.problems.join('; ')}` };
    try {
      return outcomeOf(await definition.run(checked.value as FromSchema<I>, context), output);
    } catch (error) {
      return { kind: 'failed', error };
    }
  };
  const { description, annotations = {} } = definition;
  return Object.freeze({ description, input, output, annotations, call });
}

function checkedSchema(which: string, schema: ObjectSchema): ObjectSchema {
  const problems = schemaProblems(schema, which);
  if (problems.length > 0) throw new TypeError(problems.join('; '));
  if (schema.type !== 'object') throw new TypeError(`${which}: \`type\` must be object`);
  return closedObjectSchema(schema);
}

function outcomeOf(returned: unknown, output: ObjectSchema | null): ToolOutcome {
  if (returned instanceof Refused) return { kind: 'refused', text: returned.text };
  if (output === null) {
    if (typeof returned === 'string') return { kind: 'text', text: returned };
    return { kind: 'failed', error: new TypeError('a tool without `output` must return a string') };
  }
  // What leaves is what was checked: getters and `toJSON` have had their say, `undefined` is gone.
  const value: unknown = JSON.parse(JSON.stringify(returned) ?? 'null');
  const checked = checkValue<ObjectSchema>(output, value);
  if (checked.ok) return { kind: 'structured', value: value as JsonObject };
  return { kind: 'failed', error: new TypeError(`the result does not fit: ${checked.problems.join('; ')}`) };
}
