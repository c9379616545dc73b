/**
 * Reads scenario files: strictly, all problems at once, each with the path of its key. Described for authors in
 * `examples/scenarios/README.md`.
 */
import {
  AGENT_TOOLS,
  type Diagnostic,
  failed,
  isJsonObject,
  type Json,
  ok,
  parseJson,
  type Result,
} from '@cordon/core';
import { canonicalText } from './recogniser.ts';
import type {
  Attack,
  BeliefChange,
  Condition,
  Reference,
  Scenario,
  ScenarioCall,
  Task,
  TaskAnswer,
  Template,
  Value,
} from './scenario.ts';
import { isObject, type Place, ShapeReader } from './scenario-shape.ts';

/** Shorter texts would be "recognised" in harmless words. Letters and digits. */
const MIN_RECOGNISED = 12;

/**
 * @param text the file's content
 * @param file its name, for diagnostics
 * @returns the scenario, or everything that is wrong with the file (codes `SCN001` to `SCN006`)
 */
export function parseScenario(text: string, file: string): Result<Scenario, readonly Diagnostic[]> {
  const parsed = parseJson(text);
  if (parsed.ok) return decodeScenario(parsed.value, file);
  return failed([
    { code: 'SCN001', severity: 'error', file, message: `the file is not JSON: ${parsed.fault}` },
  ]);
}

/** The same for a value that is parsed already: converters of other data sets build one. */
export function decodeScenario(value: unknown, file: string): Result<Scenario, readonly Diagnostic[]> {
  const reader = new Reader(value, file);
  const scenario = reader.scenario({ value, path: '' });
  // What a file with another shape means is not worth telling.
  const problems = reader.misshapen.length > 0 ? reader.misshapen : reader.problems;
  return scenario !== null && problems.length === 0 ? ok(scenario) : failed(problems);
}

/** Shape and meaning: values, conditions, templates, and the names that they use. */
class Reader extends ShapeReader {
  readonly problems: Diagnostic[] = [];
  readonly #calls: ReadonlySet<string>;
  readonly #attacks: ReadonlySet<string>;
  readonly #beliefs: ReadonlySet<string>;

  constructor(value: unknown, file: string) {
    super(file);
    const source = { value, path: '' };
    const tasks = below(source, 'tasks');
    const attacks = below(source, 'attacks');
    const calls = [...tasks, ...attacks].flatMap((owner) => [owner, ...below(owner, 'calls')]);
    this.#calls = new Set([...tasks, ...attacks].flatMap((owner) => idsOf(below(owner, 'calls'))));
    this.#attacks = new Set(idsOf(attacks));
    this.#beliefs = new Set(
      tasks.flatMap(({ value: task }) => (isObject(task.beliefs) ? Object.keys(task.beliefs) : [])),
    );
    this.#checkUnique(calls);
  }

  scenario(source: Place): Scenario | null {
    const keys = ['name', 'description', 'curious', 'tasks', 'attacks'] as const;
    return this.object(source, keys, (at) => ({
      name: this.name(at('name')),
      description: this.text(at('description')),
      curious: this.optional(at('curious'), (place) => this.flag(place)) ?? false,
      tasks: this.list(at('tasks'), (place) => this.#task(place)),
      attacks: this.list(at('attacks'), (place) => this.#attack(place)),
    }));
  }

  #checkUnique(owners: readonly ObjectPlace[]): void {
    const seen = new Set<unknown>();
    for (const { value, path } of owners) {
      if (seen.has(value.id)) this.#report('SCN006', `${path}.id`, `the id \`${value.id}\` is used twice`);
      seen.add(value.id);
    }
  }

  #task(task: Place): Task | null {
    const keys = ['id', 'query', 'app', 'calls', 'beliefs', 'answers'] as const;
    return this.object(task, keys, (at) => ({
      id: this.name(at('id')),
      query: this.line(at('query')),
      app: this.optional(at('app'), (place) => this.line(place)),
      calls: this.list(at('calls'), (place) => this.#call(place)),
      beliefs: this.#beliefsIn(at('beliefs'), (value, path) => this.#value(value, path)),
      answers: this.#answers(at('answers')),
    }));
  }

  #answers(answers: Place): readonly TaskAnswer[] {
    if (Array.isArray(answers.value) && answers.value.length === 0)
      this.reportShape(answers, 'needs at least one answer');
    return this.list(answers, (answer) =>
      this.object(answer, ['when', 'text'] as const, (at) => ({
        when: this.#when(at('when')),
        text: this.#template(this.text(at('text')), at('text').path),
      })),
    );
  }

  #attack(attack: Place): Attack | null {
    return this.object(attack, ['id', 'text', 'calls', 'beliefs', 'answer'] as const, (at) => ({
      id: this.name(at('id')),
      text: this.#recognisable(this.line(at('text')), at('text').path),
      calls: this.list(at('calls'), (place) => this.#call(place)),
      beliefs: this.#beliefsIn(at('beliefs'), (change, path, key) => {
        this.#checkBelief(key, path);
        return this.#change(change, path);
      }),
      answer: this.optional(at('answer'), (place) => this.#template(this.text(place), place.path)),
    }));
  }

  #call(call: Place): ScenarioCall | null {
    const keys = [
      ...(['id', 'app', 'tool', 'functionality', 'purpose', 'when'] as const),
      ...(['arguments', 'needs', 'finds'] as const),
    ];
    return this.object(call, keys, (at) => {
      const id = this.name(at('id'));
      const app = this.line(at('app'));
      const tool = this.line(at('tool'));
      return {
        id,
        app,
        tool,
        functionality: this.optional(at('functionality'), (place) => this.line(place)) ?? tool,
        purpose: this.optional(at('purpose'), (place) => this.line(place)) ?? `${tool} of ${app} (${id})`,
        when: this.#when(at('when')),
        arguments: this.entries(at('arguments'), (value, path) => this.#value(value, path)),
        needs: this.optional(at('needs'), (place) => this.list(place, (need) => this.line(need))) ?? [],
        finds: this.optional(at('finds'), (place) => this.#finds(tool, place)),
      };
    });
  }

  #beliefsIn<T>(place: Place, read: (value: Json, path: string, key: string) => T): ReadonlyMap<string, T> {
    const beliefs = this.optional(place, (present) => this.entries(present, read));
    for (const called of beliefs?.keys() ?? []) this.name({ value: called, path: `${place.path}.${called}` });
    return beliefs ?? new Map();
  }

  #finds(tool: string, finds: Place): ReadonlyMap<string, RegExp> {
    if (tool !== AGENT_TOOLS.read)
      this.#report(
        'SCN004',
        finds.path,
        `only a call of \`${AGENT_TOOLS.read}\` has something found in a text`,
      );
    return this.entries(finds, (pattern, path) => this.#pattern(pattern, path));
  }

  #change(change: Json, path: string): BeliefChange {
    if (isJsonObject(change) && Object.keys(change).length === 1) {
      if (typeof change.add === 'number') return { kind: 'add', amount: change.add };
      if (change.set !== undefined) return { kind: 'set', value: this.#value(change.set, `${path}.set`) };
    }
    this.#report('SCN004', path, 'a change of belief is `{"add": number}` or `{"set": value}`');
    return { kind: 'add', amount: 0 };
  }

  #value(json: Json, path: string): Value {
    if (typeof json === 'string') return this.#text(json, path);
    if (Array.isArray(json)) {
      const items: readonly Json[] = json;
      return { kind: 'list', items: items.map((item, index) => this.#value(item, `${path}[${index}]`)) };
    }
    if (!isJsonObject(json)) return { kind: 'literal', value: json };
    const special = ['literal', 'result', 'visible', 'belief', 'everything', 'base64'].find((key) =>
      Object.hasOwn(json, key),
    );
    if (special !== undefined) return this.#special(special, json, path);
    const entries = Object.entries(json).map(([key, inner]): [string, Value] => [
      key,
      this.#value(inner, `${path}.${key}`),
    ]);
    return { kind: 'object', entries: new Map(entries) };
  }

  #text(text: string, path: string): Value {
    if (!text.includes('${')) return { kind: 'literal', value: text };
    return { kind: 'template', template: this.#template(text, path) };
  }

  #special(kind: string, json: Readonly<Record<string, Json>>, path: string): Value {
    const allowed = kind === 'result' ? ['result', 'path', 'match'] : [kind];
    const odd = Object.keys(json).find((key) => !allowed.includes(key));
    if (odd !== undefined) {
      this.#report('SCN004', `${path}.${odd}`, `\`${odd}\` does not stand beside \`${kind}\``, ESCAPE);
    }
    const inner = json[kind] ?? null;
    if (kind === 'literal') return { kind, value: inner };
    if (kind === 'everything' && inner === true) return { kind };
    if (kind === 'base64') return { kind, value: this.#value(inner, `${path}.base64`) };
    if (kind === 'visible' && typeof inner === 'string') {
      return { kind, pattern: this.#pattern(inner, `${path}.visible`) };
    }
    if (kind === 'belief' && typeof inner === 'string') {
      this.#checkBelief(inner, `${path}.belief`);
      return { kind, name: inner };
    }
    if (kind === 'result' && typeof inner === 'string') return this.#result(inner, json, path);
    this.#report('SCN004', `${path}.${kind}`, `\`${kind}\` has no such form`, ESCAPE);
    return { kind: 'literal', value: null };
  }

  #result(call: string, json: Readonly<Record<string, Json>>, path: string): Value {
    if (!this.#calls.has(call)) this.#unknown('call', call, `${path}.result`);
    const { path: inside = '', match } = json;
    if (typeof inside !== 'string')
      this.#report('SCN004', `${path}.path`, 'a path is text like `items.0.id`');
    return {
      kind: 'result',
      call,
      path: typeof inside === 'string' ? segments(inside) : [],
      match: match === undefined ? null : this.#pattern(match, `${path}.match`),
    };
  }

  #when(place: Place): Condition | null {
    return this.optional(place, (present) => this.#condition(this.json(present), present.path));
  }

  #condition(json: Json, path: string): Condition {
    const found = isJsonObject(json) ? this.#conditionOf(json, path) : null;
    if (found !== null) return found;
    this.#report(
      'SCN004',
      path,
      'this is no condition',
      'it has one of the forms in `examples/scenarios/README.md`',
    );
    return { kind: 'all', conditions: [] };
  }

  #conditionOf(json: Readonly<Record<string, Json>>, path: string): Condition | null {
    const keys = Object.keys(json).sort().join(' ');
    switch (keys) {
      case 'least of':
        return this.#least(json.least, json.of, path);
      case 'has':
        return { kind: 'has', value: this.#value(json.has ?? null, `${path}.has`) };
      case 'matches pattern':
        return {
          kind: 'matches',
          value: this.#value(json.matches ?? null, `${path}.matches`),
          pattern: this.#pattern(json.pattern ?? null, `${path}.pattern`),
        };
      case 'sees':
        if (typeof json.sees !== 'string') return null;
        return { kind: 'sees', text: this.#recognisable(json.sees, `${path}.sees`) };
      case 'obeys':
        if (typeof json.obeys !== 'string') return null;
        if (!this.#attacks.has(json.obeys)) this.#unknown('attack', json.obeys, `${path}.obeys`);
        return { kind: 'obeys', attack: json.obeys };
      case 'not':
        return { kind: 'not', condition: this.#condition(json.not ?? null, `${path}.not`) };
      case 'all': {
        if (!Array.isArray(json.all)) return null;
        const inner: readonly Json[] = json.all;
        return {
          kind: 'all',
          conditions: inner.map((one, at) => this.#condition(one, `${path}.all[${at}]`)),
        };
      }
      default:
        return null;
    }
  }

  #least(least: Json | undefined, of: Json | undefined, path: string): Condition | null {
    if (typeof least !== 'string' || !Array.isArray(of)) return null;
    const names = of.filter((item: Json) => typeof item === 'string');
    if (names.length !== of.length || !names.includes(least)) return null;
    for (const [index, belief] of names.entries()) this.#checkBelief(belief, `${path}.of[${index}]`);
    return { kind: 'least', belief: least, of: names };
  }

  #template(text: string, path: string): Template {
    const parts: (string | Reference)[] = [];
    let from = 0;
    for (const found of text.matchAll(/\$\{([^}]*)\}/g)) {
      parts.push(text.slice(from, found.index));
      const [called = '', ...inside] = segments(found[1] ?? '');
      if (!this.#calls.has(called) && !this.#beliefs.has(called)) {
        this.#unknown('call or belief', called, path);
      }
      parts.push({ name: called, path: inside });
      from = found.index + found[0].length;
    }
    return [...parts, text.slice(from)].filter((part) => part !== '');
  }

  /** Patterns are the author's; they run on what a context shows, so they should be plain. */
  #pattern(json: Json, path: string): RegExp {
    try {
      if (typeof json === 'string') return new RegExp(json, 'imu');
    } catch {
      // Reported below, with its path.
    }
    this.#report('SCN004', path, 'this is no regular expression');
    return /(?!)/;
  }

  #recognisable(text: string, path: string): string {
    if (canonicalText(text).length < MIN_RECOGNISED) {
      const message = `a text to recognise needs at least ${MIN_RECOGNISED} letters and digits`;
      this.#report('SCN004', path, message, 'shorter texts occur in harmless words');
    }
    return text;
  }

  #checkBelief(belief: string, path: string): void {
    if (!this.#beliefs.has(belief)) this.#unknown('belief', belief, path);
  }

  #unknown(kind: string, called: string, path: string): void {
    this.#report('SCN005', path, `there is no ${kind} \`${called.slice(0, 64)}\``);
  }

  #report(code: string, path: string, message: string, help?: string): void {
    const diagnostic: Diagnostic = { code, severity: 'error', file: this.file, path, message };
    this.problems.push(help === undefined ? diagnostic : { ...diagnostic, help });
  }
}

const ESCAPE = 'write `{"literal": …}` around a value that is meant as it stands';

function segments(path: string): readonly string[] {
  return path.split('.').filter((segment) => segment !== '');
}

/** An object and where it stands. */
interface ObjectPlace {
  readonly value: Readonly<Record<string, unknown>>;
  readonly path: string;
}

/** The objects of a list, as far as it is one: what else is there is told where it is read. */
function below({ value, path }: Place, key: string): readonly ObjectPlace[] {
  const list: unknown = isObject(value) ? value[key] : null;
  if (!Array.isArray(list)) return [];
  const items: readonly unknown[] = list;
  return items.flatMap((item, index) =>
    isObject(item) ? [{ value: item, path: `${path === '' ? '' : `${path}.`}${key}[${index}]` }] : [],
  );
}

function idsOf(objects: readonly ObjectPlace[]): readonly string[] {
  return objects.flatMap(({ value: { id } }) => (typeof id === 'string' ? [id] : []));
}
