/**
 * Reads values of which nothing is known: which keys there are and of which types, with everything that is wrong at once.
 * By hand, because a schema library costs each start of `cordon` more time than all of this package.
 */
import { type Diagnostic, isJsonObject, type Json } from '@cordon/core';

/** A value and where it stands, like `tasks[0].calls[1].id`; `undefined` where the key is missing. */
export interface Place {
  readonly value: unknown;
  readonly path: string;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/** What is read is of use only while `misshapen` is empty. */
export abstract class ShapeReader {
  /** Codes `SCN002` and `SCN003`. */
  readonly misshapen: Diagnostic[] = [];
  protected readonly file: string;

  constructor(file: string) {
    this.file = file;
  }

  protected object<K extends string, T>(
    { value, path }: Place,
    keys: readonly K[],
    read: (at: (key: K) => Place) => T,
  ): T | null {
    if (!isObject(value)) return this.reportShape({ value, path }, 'must be an object', null);
    const known = new Set<string>(keys);
    const below = (key: string) => (path === '' ? key : `${path}.${key}`);
    for (const key of Object.keys(value).filter((key) => !known.has(key))) {
      const message = `\`${key.slice(0, 64)}\` is no key of this object`;
      const help = 'the keys are listed in `examples/scenarios/README.md`';
      this.misshapen.push({
        code: 'SCN003',
        severity: 'error',
        file: this.file,
        path: below(key),
        message,
        help,
      });
    }
    return read((key) => ({
      value: Object.hasOwn(value, key) ? value[key] : undefined,
      path: below(key),
    }));
  }

  protected list<T>({ value, path }: Place, read: (item: Place) => T | null): readonly T[] {
    if (!Array.isArray(value)) return this.reportShape({ value, path }, 'must be a list', []);
    const items: readonly unknown[] = value;
    return items
      .map((item, index) => read({ value: item, path: `${path}[${index}]` }))
      .filter((item) => item !== null);
  }

  protected entries<T>(
    { value, path }: Place,
    read: (inner: Json, path: string, key: string) => T,
  ): ReadonlyMap<string, T> {
    if (!isObject(value)) return this.reportShape({ value, path }, 'must be an object', new Map());
    return new Map(
      Object.entries(value).map(([key, inner]) => {
        const place = { value: inner, path: `${path}.${key}` };
        return [key, read(this.json(place), place.path, key)];
      }),
    );
  }

  protected optional<T>(place: Place, read: (present: Place) => T): T | null {
    return place.value === undefined ? null : read(place);
  }

  protected name(place: Place): string {
    const text = this.text(place);
    if (typeof place.value === 'string' && !NAME.test(text))
      this.reportShape(place, 'is no name: use letters, digits, `-` and `_`');
    return text;
  }

  protected line(place: Place): string {
    if (place.value === '') this.reportShape(place, 'must not be empty');
    return this.text(place);
  }

  protected text(place: Place): string {
    return typeof place.value === 'string' ? place.value : this.reportShape(place, 'must be text', '');
  }

  protected flag(place: Place): boolean {
    return typeof place.value === 'boolean'
      ? place.value
      : this.reportShape(place, 'must be true or false', false);
  }

  protected json(place: Place): Json {
    return isJson(place.value) ? place.value : this.reportShape(place, 'must be a JSON value', null);
  }

  protected reportShape(place: Place, message: string): void;
  protected reportShape<T>(place: Place, message: string, instead: T): T;
  protected reportShape<T>({ value, path }: Place, wrong: string, instead?: T): T | undefined {
    const message = value === undefined ? 'is missing' : wrong;
    this.misshapen.push({ code: 'SCN002', severity: 'error', file: this.file, path, message });
    return instead;
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isJson(value: unknown): value is Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isJson);
  return isJsonObject(value) && Object.values(value).every(isJson);
}
