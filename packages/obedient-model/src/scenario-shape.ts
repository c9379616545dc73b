/**
 * The shape of a scenario file: which keys there are and of which types, with everything that is wrong at once. What
 * the values mean is read by `scenario-reader`. By hand, because a schema library costs each start of `cordon` more
 * time than all of this package.
 *
 * Ring 1.
 */
import { isJsonObject, type Json } from '@cordon/core';

export interface ScenarioFile {
  readonly name: string;
  readonly description: string;
  readonly curious: boolean;
  readonly tasks: readonly TaskFile[];
  readonly attacks: readonly AttackFile[];
}

export interface TaskFile {
  readonly id: string;
  readonly query: string;
  readonly app: string | null;
  readonly calls: readonly CallFile[];
  readonly beliefs: ReadonlyMap<string, Json>;
  readonly answers: readonly AnswerFile[];
}

export interface AnswerFile {
  /** Undefined: always. */
  readonly when: Json | undefined;
  readonly text: string;
}

export interface AttackFile {
  readonly id: string;
  readonly text: string;
  readonly calls: readonly CallFile[];
  readonly beliefs: ReadonlyMap<string, Json>;
  readonly answer: string | null;
}

export interface CallFile {
  readonly id: string;
  readonly app: string;
  readonly tool: string;
  readonly functionality: string | null;
  readonly purpose: string | null;
  /** Undefined: always. */
  readonly when: Json | undefined;
  readonly arguments: ReadonlyMap<string, Json>;
  readonly needs: readonly string[];
  /** Null: the call has nothing read. */
  readonly finds: ReadonlyMap<string, Json> | null;
}

export interface ShapeProblem {
  readonly kind: 'value' | 'unknown-key';
  /** Like `tasks[0].calls[1].id`; empty for the whole file. */
  readonly path: string;
  readonly message: string;
}

/** A value and where it stands; `undefined` where the key is missing. */
interface Place {
  readonly value: unknown;
  readonly path: string;
}

const CALL_KEYS = [
  'id',
  'app',
  'tool',
  'functionality',
  'purpose',
  'when',
  'arguments',
  'needs',
  'finds',
] as const;

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/** One reader for one file. The result is of use only while `problems` is empty. */
export class ShapeReader {
  readonly problems: ShapeProblem[] = [];

  scenario(value: unknown): ScenarioFile | null {
    const keys = ['name', 'description', 'curious', 'tasks', 'attacks'] as const;
    return this.#object({ value, path: '' }, keys, (at) => ({
      name: this.#name(at('name')),
      description: this.#text(at('description')),
      curious: this.#optional(at('curious'), (place) => this.#flag(place)) ?? false,
      tasks: this.#list(at('tasks'), (place) => this.#task(place)),
      attacks: this.#list(at('attacks'), (place) => this.#attack(place)),
    }));
  }

  #task(task: Place): TaskFile | null {
    const keys = ['id', 'query', 'app', 'calls', 'beliefs', 'answers'] as const;
    return this.#object(task, keys, (at) => ({
      id: this.#name(at('id')),
      query: this.#line(at('query')),
      app: this.#optional(at('app'), (place) => this.#line(place)),
      calls: this.#list(at('calls'), (place) => this.#call(place)),
      beliefs: this.#beliefs(at('beliefs')),
      answers: this.#answers(at('answers')),
    }));
  }

  #answers(answers: Place): readonly AnswerFile[] {
    if (Array.isArray(answers.value) && answers.value.length === 0)
      this.#report(answers, 'needs at least one answer');
    return this.#list(answers, (answer) =>
      this.#object(answer, ['when', 'text'] as const, (at) => ({
        when: this.#condition(at('when')),
        text: this.#text(at('text')),
      })),
    );
  }

  #attack(attack: Place): AttackFile | null {
    return this.#object(attack, ['id', 'text', 'calls', 'beliefs', 'answer'] as const, (at) => ({
      id: this.#name(at('id')),
      text: this.#line(at('text')),
      calls: this.#list(at('calls'), (place) => this.#call(place)),
      beliefs: this.#beliefs(at('beliefs')),
      answer: this.#optional(at('answer'), (place) => this.#text(place)),
    }));
  }

  #call(call: Place): CallFile | null {
    return this.#object(call, CALL_KEYS, (at) => ({
      id: this.#name(at('id')),
      app: this.#line(at('app')),
      tool: this.#line(at('tool')),
      functionality: this.#optional(at('functionality'), (place) => this.#line(place)),
      purpose: this.#optional(at('purpose'), (place) => this.#line(place)),
      when: this.#condition(at('when')),
      arguments: this.#entries(at('arguments')),
      needs: this.#optional(at('needs'), (place) => this.#list(place, (need) => this.#line(need))) ?? [],
      finds: this.#optional(at('finds'), (place) => this.#entries(place)),
    }));
  }

  #beliefs(place: Place): ReadonlyMap<string, Json> {
    const beliefs = this.#optional(place, (present) => this.#entries(present)) ?? new Map<string, Json>();
    for (const called of beliefs.keys()) this.#name({ value: called, path: `${place.path}.${called}` });
    return beliefs;
  }

  #condition(place: Place): Json | undefined {
    return place.value === undefined ? undefined : this.#json(place);
  }

  #object<K extends string, T>(
    { value, path }: Place,
    keys: readonly K[],
    read: (at: (key: K) => Place) => T,
  ): T | null {
    if (!isObject(value)) return this.#report({ value, path }, 'must be an object', null);
    const known = new Set<string>(keys);
    const below = (key: string) => (path === '' ? key : `${path}.${key}`);
    for (const key of Object.keys(value).filter((key) => !known.has(key))) {
      const message = `\`${key.slice(0, 64)}\` is no key of this object`;
      this.problems.push({ kind: 'unknown-key', path: below(key), message });
    }
    return read((key) => ({
      value: Object.hasOwn(value, key) ? value[key] : undefined,
      path: below(key),
    }));
  }

  #list<T>({ value, path }: Place, read: (item: Place) => T | null): readonly T[] {
    if (!Array.isArray(value)) return this.#report({ value, path }, 'must be a list', []);
    const items: readonly unknown[] = value;
    return items
      .map((item, index) => read({ value: item, path: `${path}[${index}]` }))
      .filter((item) => item !== null);
  }

  #entries({ value, path }: Place): ReadonlyMap<string, Json> {
    if (!isObject(value)) return this.#report({ value, path }, 'must be an object', new Map());
    return new Map(
      Object.entries(value).map(([key, inner]) => [
        key,
        this.#json({ value: inner, path: `${path}.${key}` }),
      ]),
    );
  }

  #optional<T>(place: Place, read: (present: Place) => T): T | null {
    return place.value === undefined ? null : read(place);
  }

  #name(place: Place): string {
    const text = this.#text(place);
    if (typeof place.value === 'string' && !NAME.test(text))
      this.#report(place, 'is no name: use letters, digits, `-` and `_`');
    return text;
  }

  #line(place: Place): string {
    if (place.value === '') this.#report(place, 'must not be empty');
    return this.#text(place);
  }

  #text(place: Place): string {
    return typeof place.value === 'string' ? place.value : this.#report(place, 'must be text', '');
  }

  #flag(place: Place): boolean {
    return typeof place.value === 'boolean'
      ? place.value
      : this.#report(place, 'must be true or false', false);
  }

  #json(place: Place): Json {
    return isJson(place.value) ? place.value : this.#report(place, 'must be a JSON value', null);
  }

  #report(place: Place, message: string): void;
  #report<T>(place: Place, message: string, instead: T): T;
  #report<T>({ value, path }: Place, message: string, instead?: T): T | undefined {
    this.problems.push({ kind: 'value', path, message: value === undefined ? 'is missing' : message });
    return instead;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isJson(value: unknown): value is Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isJson);
  return isJsonObject(value) && Object.values(value).every(isJson);
}
