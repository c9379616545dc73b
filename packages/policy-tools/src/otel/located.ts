/**
 * A value of an OpenTelemetry attribute, and where it stands: plain JSON, the typed form of OTLP
 * (`{"stringValue": …}`), or JSON in a text, which is how structured attributes travel on spans.
 *
 * Recordings are read with it; the hub does not use it.
 */
import { isJsonObject, type Json, type JsonLimits, type JsonObject, parseJson } from '@cordon/core';
import { isList, own } from '../reading/json.ts';
import { join } from '../reading/reading.ts';

/** The text is part of an input that is in memory already; the depth is that of all formats. */
const LIMITS: JsonLimits = { length: 256 * 1024 * 1024, depth: 200, elements: 20_000_000 };

/** `typed`: a value of OTLP; `entries`: a list of keys and such values. */
type Form = 'plain' | 'typed' | 'entries';

export class Located {
  readonly #value: Json;
  readonly #form: Form;
  readonly path: string;

  constructor(value: Json, path: string, form: Form) {
    const text = form === 'typed' ? typedText(value) : null;
    this.#value = text === null ? value : text.text;
    this.#form = text === null ? form : 'plain';
    this.path = text === null ? path : join(path, text.key);
  }

  /** The text itself; null if it is not one. */
  get text(): string | null {
    return typeof this.#value === 'string' ? this.#value : null;
  }

  get isObject(): boolean {
    if (this.#form === 'typed') return typedValues(this.#value, 'kvlistValue') !== null;
    return this.#form === 'entries' || isJsonObject(this.#value);
  }

  /** What is in a text that is JSON; else itself. */
  opened(): Located {
    if (typeof this.#value !== 'string' || !/^\s*[[{]/.test(this.#value)) return this;
    const parsed = parseJson(this.#value, LIMITS);
    return parsed.ok ? new Located(parsed.value, this.path, 'plain') : this;
  }

  /** The elements of a list; null if it is not one. */
  items(): readonly Located[] | null {
    if (this.#form === 'plain') {
      if (!isList(this.#value)) return null;
      return this.#value.map((value, index) => new Located(value, join(this.path, index), 'plain'));
    }
    const list = this.#form === 'typed' ? typedValues(this.#value, 'arrayValue') : null;
    return (
      list?.values.map((value, index) => new Located(value, join(this.path, list.key, index), 'typed')) ??
      null
    );
  }

  /** The fields of an object, in their order; of what is no object none. */
  fields(): readonly (readonly [key: string, value: Located])[] {
    if (this.#form === 'plain') {
      const entries = Object.entries(isJsonObject(this.#value) ? this.#value : {});
      return entries.map(([key, value]) => [key, new Located(value, join(this.path, key), 'plain')]);
    }
    const list = this.#form === 'typed' ? typedValues(this.#value, 'kvlistValue') : null;
    const entries = list?.values ?? (isList(this.#value) ? this.#value : []);
    const path = list === null ? this.path : join(this.path, list.key);
    return entries.flatMap((entry, index): [string, Located][] => {
      const key = isJsonObject(entry) ? own(entry, 'key') : undefined;
      if (!isJsonObject(entry) || typeof key !== 'string') return [];
      return [[key, new Located(own(entry, 'value') ?? null, join(path, index, 'value'), 'typed')]];
    });
  }

  /** The value under `key` of an object; null if there is none. */
  get(key: string): Located | null {
    const found = this.fields().find(([name]) => name === key)?.[1] ?? null;
    return found?.raw === null ? null : found;
  }

  /** As plain JSON; of what is plain, no copy. Its depth is bounded by the check of the whole input. */
  plain(): Json {
    if (this.#form === 'plain') return this.#value;
    if (this.isObject) return Object.fromEntries(this.fields().map(([key, value]) => [key, value.plain()]));
    return this.items()?.map((item) => item.plain()) ?? scalarOf(this.#value);
  }

  /** As it stands, in whatever form. */
  get raw(): Json {
    return this.#value;
  }
}

/** The attributes of a span or event as one object; null: it has none. */
export function attributesAsObject(owner: JsonObject, path: string): Located | null {
  const attributes = own(owner, 'attributes') ?? null;
  const at = join(path, 'attributes');
  if (isList(attributes)) return new Located(attributes, at, 'entries');
  return isJsonObject(attributes) ? new Located(attributes, at, 'plain') : null;
}

/** Attributes: a list of keys and typed values, or an object. */
export function attributesOf(owner: JsonObject, path: string): ReadonlyMap<string, Located> {
  const fields = attributesAsObject(owner, path)?.fields() ?? [];
  return new Map(fields.filter(([, { raw }]) => raw !== null));
}

const SNAKE: ReadonlyMap<string, string> = new Map([
  ['stringValue', 'string_value'],
  ['intValue', 'int_value'],
  ['doubleValue', 'double_value'],
  ['boolValue', 'bool_value'],
  ['arrayValue', 'array_value'],
  ['kvlistValue', 'kvlist_value'],
  ['bytesValue', 'bytes_value'],
]);

function typed(value: Json, kind: string): { readonly key: string; readonly value: Json } | null {
  if (!isJsonObject(value)) return null;
  for (const key of [kind, SNAKE.get(kind) ?? kind]) {
    const inner = own(value, key);
    if (inner !== undefined) return { key, value: inner };
  }
  return null;
}

function typedText(value: Json): { readonly key: string; readonly text: string } | null {
  const found = typed(value, 'stringValue');
  return typeof found?.value === 'string' ? { key: found.key, text: found.value } : null;
}

function typedValues(
  value: Json,
  kind: 'arrayValue' | 'kvlistValue',
): { readonly key: string; readonly values: readonly Json[] } | null {
  const found = typed(value, kind);
  if (found === null) return null;
  const values = isJsonObject(found.value) ? own(found.value, 'values') : undefined;
  // OTLP leaves empty lists out.
  return { key: join(found.key, 'values'), values: isList(values) ? values : [] };
}

/** A number of OTLP can be a text of digits. */
function scalarOf(value: Json): Json {
  const number = typed(value, 'intValue') ?? typed(value, 'doubleValue');
  if (number !== null) return typeof number.value === 'string' ? Number(number.value) : number.value;
  const other = typed(value, 'boolValue') ?? typed(value, 'bytesValue') ?? typed(value, 'stringValue');
  return other === null ? null : other.value;
}
