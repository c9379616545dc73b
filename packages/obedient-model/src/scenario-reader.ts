/**
 * Reads scenario files: strictly, all problems at once, each with the path of its key. Described for authors in
 * `examples/scenarios/README.md`.
 *
 * Ring 1.
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
  Template,
  Value,
} from './scenario.ts';
import {
  type AttackFile,
  type CallFile,
  type ScenarioFile,
  type ShapeProblem,
  ShapeReader,
  type TaskFile,
} from './scenario-shape.ts';

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
  const shape = new ShapeReader();
  const content = shape.scenario(value);
  if (content === null || shape.problems.length > 0)
    return failed(shape.problems.map((problem) => shapeDiagnostic(problem, file)));
  const reader = new Reader(content, file);
  const scenario = reader.scenario();
  return reader.problems.length === 0 ? ok(scenario) : failed(reader.problems);
}

function shapeDiagnostic({ kind, path, message }: ShapeProblem, file: string): Diagnostic {
  if (kind === 'value') return { code: 'SCN002', severity: 'error', file, path, message };
  const help = 'the keys are listed in `examples/scenarios/README.md`';
  return { code: 'SCN003', severity: 'error', file, path, message, help };
}

/** From the shape to the meaning: values, conditions, templates, and the names that they use. */
class Reader {
  readonly problems: Diagnostic[] = [];
  readonly #file: string;
  readonly #source: ScenarioFile;
  readonly #calls: ReadonlySet<string>;
  readonly #attacks: ReadonlySet<string>;
  readonly #beliefs: ReadonlySet<string>;

  constructor(source: ScenarioFile, file: string) {
    this.#source = source;
    this.#file = file;
    const owners = [...source.tasks, ...source.attacks];
    this.#calls = new Set(owners.flatMap(({ calls }) => calls.map(({ id }) => id)));
    this.#attacks = new Set(source.attacks.map(({ id }) => id));
    this.#beliefs = new Set(source.tasks.flatMap(({ beliefs }) => [...beliefs.keys()]));
  }

  scenario(): Scenario {
    const { name: called, description, curious, tasks, attacks } = this.#source;
    this.#checkUnique();
    return {
      name: called,
      description,
      curious,
      tasks: tasks.map((task, index) => this.#task(task, `tasks[${index}]`)),
      attacks: attacks.map((attack, index) => this.#attack(attack, `attacks[${index}]`)),
    };
  }

  #checkUnique(): void {
    const seen = new Set<string>();
    const check = (id: string, path: string) => {
      if (seen.has(id)) this.#report('SCN006', path, `the id \`${id}\` is used twice`);
      seen.add(id);
    };
    for (const kind of ['tasks', 'attacks'] as const) {
      for (const [index, owner] of this.#source[kind].entries()) {
        check(owner.id, `${kind}[${index}].id`);
        for (const [number, call] of owner.calls.entries()) {
          check(call.id, `${kind}[${index}].calls[${number}].id`);
        }
      }
    }
  }

  #task(task: TaskFile, path: string): Task {
    return {
      id: task.id,
      query: task.query,
      app: task.app,
      calls: task.calls.map((call, index) => this.#call(call, `${path}.calls[${index}]`)),
      beliefs: new Map(
        [...task.beliefs].map(([key, value]) => [key, this.#value(value, `${path}.beliefs.${key}`)]),
      ),
      answers: task.answers.map(({ when, text }, index) => ({
        when: this.#when(when, `${path}.answers[${index}].when`),
        text: this.#template(text, `${path}.answers[${index}].text`),
      })),
    };
  }

  #attack(attack: AttackFile, path: string): Attack {
    this.#checkRecognisable(attack.text, `${path}.text`);
    return {
      id: attack.id,
      text: attack.text,
      calls: attack.calls.map((call, index) => this.#call(call, `${path}.calls[${index}]`)),
      beliefs: new Map(
        [...attack.beliefs].map(([key, change]) => {
          if (!this.#beliefs.has(key)) this.#unknown('belief', key, `${path}.beliefs.${key}`);
          return [key, this.#change(change, `${path}.beliefs.${key}`)];
        }),
      ),
      answer: attack.answer === null ? null : this.#template(attack.answer, `${path}.answer`),
    };
  }

  #call(call: CallFile, path: string): ScenarioCall {
    return {
      id: call.id,
      app: call.app,
      tool: call.tool,
      functionality: call.functionality ?? call.tool,
      purpose: call.purpose ?? `${call.tool} of ${call.app} (${call.id})`,
      when: this.#when(call.when, `${path}.when`),
      arguments: new Map(
        [...call.arguments].map(([key, value]) => [key, this.#value(value, `${path}.arguments.${key}`)]),
      ),
      needs: call.needs,
      finds: call.finds === null ? null : this.#finds(call.tool, call.finds, `${path}.finds`),
    };
  }

  #finds(tool: string, finds: ReadonlyMap<string, Json>, path: string): ReadonlyMap<string, RegExp> {
    if (tool !== AGENT_TOOLS.read)
      this.#report('SCN004', path, `only a call of \`${AGENT_TOOLS.read}\` has something found in a text`);
    return new Map([...finds].map(([key, pattern]) => [key, this.#pattern(pattern, `${path}.${key}`)]));
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
      if (!this.#beliefs.has(inner)) this.#unknown('belief', inner, `${path}.belief`);
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

  #when(json: Json | undefined, path: string): Condition | null {
    return json === undefined ? null : this.#condition(json, path);
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
        this.#checkRecognisable(json.sees, `${path}.sees`);
        return { kind: 'sees', text: json.sees };
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
    for (const [index, belief] of names.entries()) {
      if (!this.#beliefs.has(belief)) this.#unknown('belief', belief, `${path}.of[${index}]`);
    }
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

  #checkRecognisable(text: string, path: string): void {
    if (canonicalText(text).length >= MIN_RECOGNISED) return;
    this.#report(
      'SCN004',
      path,
      `a text to recognise needs at least ${MIN_RECOGNISED} letters and digits`,
      'shorter texts occur in harmless words',
    );
  }

  #unknown(kind: string, called: string, path: string): void {
    this.#report('SCN005', path, `there is no ${kind} \`${called.slice(0, 64)}\``);
  }

  #report(code: string, path: string, message: string, help?: string): void {
    const diagnostic: Diagnostic = { code, severity: 'error', file: this.#file, path, message };
    this.problems.push(help === undefined ? diagnostic : { ...diagnostic, help });
  }
}

const ESCAPE = 'write `{"literal": …}` around a value that is meant as it stands';

function segments(path: string): readonly string[] {
  return path.split('.').filter((segment) => segment !== '');
}
