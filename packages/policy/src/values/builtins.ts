/**
 * The functions that rules may call: those that are always there (specification 13.1), and what can be imported
 * from the standard library (13.2, 13.3). All are pure. A function whose detector is not installed is undecided.
 */

import { type Json, parseJson } from '@cordon/core';
import { EXHAUSTED_REASON, type Match } from '@cordon/regex';
import type { Detector } from './detector.ts';
import { saidIn, textsOf } from './evidence.ts';
import { images, imageUrls } from './methods.ts';
import { compare, elements, truth } from './operators.ts';
import type { PatternCache } from './pattern-cache.ts';
import { jsonTextOf } from './python-str.ts';
import { areLong, type TextQuestions } from './text-questions.ts';
import {
  ANY,
  BOOL,
  INT,
  LIST,
  listOf,
  NUMBER,
  STR,
  TEXT_OR_NONE,
  TEXTS,
  type Type,
  typeOf,
} from './types.ts';
import {
  type Dictionary,
  type Highlight,
  isContents,
  isDictionary,
  isList,
  isTraceObject,
  isUndecided,
  kindOf,
  RuleMessage,
  tuple,
  type Undecided,
  undecided,
  undecidedIn,
  type Value,
} from './value.ts';
export interface FunctionSpec {
  readonly name: string;
  /** How many arguments, those with a name included. */
  readonly least: number;
  readonly most: number;
  /** Names that arguments may have; null: any. */
  readonly names: readonly string[] | null;
  /** What is known of its result. */
  readonly result: Type;
  /** Whether the seed language lacks it. */
  readonly isAddition?: boolean;
}

type Run = (
  cache: PatternCache,
  positional: readonly Value[],
  named: ReadonlyMap<string, Value>,
  mark: Highlight,
) => Value;

interface Builtin extends FunctionSpec {
  readonly run: Run;
}

const MANY = Number.POSITIVE_INFINITY;

function define(name: string, least: number, most: number, result: Type, run: Run): Builtin {
  return { name, least, most, names: [], result, run };
}

/** The functions that ask where a value came from. */
export const ORIGIN_FUNCTIONS: ReadonlySet<string> = new Set(['origin', 'from_user']);
const ORIGIN_BY_NAME = 'where a value came from is asked by the name of the function, where it is called';

const VIOLATION = typeOf('Violation');

const TABLE: readonly Builtin[] = [
  define('any', 1, 1, BOOL, (_, [items]) => quantified('any', items ?? null)),
  { ...define('all', 1, 1, BOOL, (_, [items]) => quantified('all', items ?? null)), isAddition: true },
  define('empty', 1, 1, BOOL, (_, [value]) => {
    const length = lengthOf(value ?? null);
    return typeof length === 'number' ? length === 0 : length;
  }),
  define('len', 1, 1, INT, (_, [value]) => lengthOf(value ?? null)),
  define('match', 2, 2, BOOL, (cache, [pattern, text]) => match(cache, pattern ?? null, text ?? null)),
  define('find', 2, 2, TEXTS, (cache, [pattern, text], _, mark) =>
    find(cache, pattern ?? null, text ?? null, mark),
  ),
  define('json_loads', 1, 1, ANY, (_, [text]) => loadJson(text ?? null)),
  // Its name is no name of a rule: only the module `json` has it.
  define('json.dumps', 1, 1, STR, (_, [value]) => jsonTextOf(value ?? null)),
  define('min', 1, MANY, ANY, (_, values) => extreme('min', values)),
  define('max', 1, MANY, ANY, (_, values) => extreme('max', values)),
  define('sum', 1, 1, NUMBER, (_, [items]) => sum(items ?? null)),
  define('tuple', 1, 1, LIST, (_, [items]) => tupleOf(items ?? null)),
  // Rules have no output; the result is what rules rely on.
  { ...define('print', 0, MANY, BOOL, () => true), names: null },
  define('text', 0, MANY, TEXTS, (_, values) => values.flatMap(textsOf)),
  define('image', 0, MANY, TEXTS, (_, values) => values.flatMap(imagesIn)),
  define('tool_call', 1, 1, typeOf('ToolCall'), (_, [output]) => linkedCall(output ?? null)),
  // Their meaning needs the trace and the event that the value was read from: the compiler has it.
  { ...define('origin', 1, 1, listOf(typeOf('Origin')), () => undecided(ORIGIN_BY_NAME)), isAddition: true },
  { ...define('from_user', 1, 1, BOOL, () => undecided(ORIGIN_BY_NAME)), isAddition: true },
  define('server', 1, 1, TEXT_OR_NONE, (_, [event]) => serverOf(event ?? null)),
  { ...define('Violation', 0, MANY, VIOLATION, (_, args, kwargs) => violation(args, kwargs)), names: null },
  {
    ...define('PolicyViolation', 0, MANY, VIOLATION, (_, args, kwargs) => violation(args, kwargs)),
    names: null,
  },
];

/** By name; the functions themselves, without their code. */
export const BUILTINS: ReadonlyMap<string, FunctionSpec> = new Map(
  TABLE.map((builtin) => [builtin.name, builtin]),
);

/** Runs a built-in function on known arguments. */
export function runBuiltin(
  name: string,
  cache: PatternCache,
  positional: readonly Value[],
  named: ReadonlyMap<string, Value>,
  mark: Highlight,
): Value {
  const builtin = RUNS.get(name);
  return builtin === undefined
    ? undecided(`\`${name}\` is not available`)
    : builtin(cache, positional, named, mark);
}

const RUNS: ReadonlyMap<string, Run> = new Map(TABLE.map((builtin) => [builtin.name, builtin.run]));

/** `ranges` is accepted and means nothing: the monitor knows them. */
function violation(args: readonly Value[], kwargs: ReadonlyMap<string, Value>): Value {
  return new RuleMessage(args, new Map([...kwargs].filter(([name]) => name !== 'ranges')));
}

function quantified(which: 'any' | 'all', value: Value): Value {
  const items = elements(value);
  if (items === null) return undecided(`\`${which}\` of ${kindOf(value)}`);
  const decisive = which === 'any';
  const found = items.some((item) => !isUndecided(item) && truth(item) === decisive);
  if (found) return decisive;
  return undecidedIn(items) ?? !decisive;
}

function tupleOf(value: Value): Value {
  const items = elements(value);
  return items === null ? undecided(`\`tuple\` of ${kindOf(value)}`) : tuple(items);
}

function lengthOf(value: Value): Value {
  if (typeof value === 'string') return codePoints(value);
  return elements(value)?.length ?? undecided(`\`len\` of ${kindOf(value)}`);
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

function match(cache: PatternCache, pattern: Value, text: Value): Value {
  if (typeof pattern !== 'string') return undecided(`\`match\` with a pattern of kind ${kindOf(pattern)}`);
  if (typeof text !== 'string') return undecided(`\`match\` in ${kindOf(text)}`);
  const compiled = cache.compile(pattern);
  if (!compiled.ok) return undecided(compiled.fault);
  if (cache.textQuestions !== null && areLong([text])) {
    const reply = cache.textQuestions.ask({ kind: 'match', pattern, text });
    if (isUndecided(reply)) return reply;
    return typeof reply.answer === 'boolean' ? reply.answer : undecided('`match` failed');
  }
  const isMatch = compiled.value.startsWith(text);
  return isMatch === 'exhausted' ? undecided(EXHAUSTED_REASON) : isMatch;
}

function find(cache: PatternCache, pattern: Value, text: Value, mark: Highlight): Value {
  const matches = matchesIn(cache, pattern, text);
  if (!('length' in matches)) return matches;
  for (const found of matches) mark(1, 0, found.start, found.end);
  const whole = typeof text === 'string' ? text : '';
  return matches.map((found) => whole.slice(found.start, found.end));
}

/** What `find` finds, by where it stands. */
export function matchesIn(cache: PatternCache, pattern: Value, text: Value): readonly Match[] | Undecided {
  if (typeof pattern !== 'string') return undecided(`\`find\` with a pattern of kind ${kindOf(pattern)}`);
  if (typeof text !== 'string') return undecided(`\`find\` in ${kindOf(text)}`);
  const compiled = cache.compile(pattern);
  if (!compiled.ok) return undecided(compiled.fault);
  if (cache.textQuestions !== null && areLong([text]))
    return foundElsewhere(pattern, text, cache.textQuestions);
  const matches = compiled.value.findAll(text);
  return matches === 'exhausted' ? undecided(EXHAUSTED_REASON) : matches;
}

/** The process answers with the start and the end of each match. */
function foundElsewhere(
  pattern: string,
  text: string,
  textQuestions: TextQuestions,
): readonly Match[] | Undecided {
  const reply = textQuestions.ask({ kind: 'find', pattern, text });
  if (isUndecided(reply)) return reply;
  return readMatches(reply.answer, text.length) ?? undecided('`find` failed');
}

/** Null: not places of a text, one behind the other. Attack: a hundred thousand matches, each of which is the whole text. */
function readMatches(answer: Json, length: number): readonly Match[] | null {
  if (!Array.isArray(answer) || answer.length % 2 !== 0) return null;
  const matches: Match[] = [];
  let before = 0;
  for (let at = 0; at < answer.length; at += 2) {
    const [start, end] = [answer[at], answer[at + 1]];
    if (!isPlace(start, before, length) || !isPlace(end, start, length)) return null;
    matches.push({ start, end });
    before = end;
  }
  return matches;
}

function isPlace(value: Json | undefined, first: number, last: number): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= first && value <= last;
}

function loadJson(text: Value): Value {
  if (typeof text !== 'string') return undecided(`\`json_loads\` of ${kindOf(text)}`);
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : undecided('the text is not JSON');
}

function extreme(which: 'min' | 'max', values: readonly Value[]): Value {
  const items = values.length === 1 ? elements(values[0] ?? null) : values;
  if (items === null) return undecided(`\`${which}\` of ${kindOf(values[0] ?? null)}`);
  let best = items[0];
  if (best === undefined) return undecided(`\`${which}\` of nothing`);
  for (const item of items.slice(1)) {
    const order = compare(item, best);
    if (order === null) return undecided(`\`${which}\` of values that have no order`);
    if (which === 'min' ? order < 0 : order > 0) best = item;
  }
  return best;
}

function sum(value: Value): Value {
  const items = elements(value);
  if (items === null) return undecided(`\`sum\` of ${kindOf(value)}`);
  let total = 0;
  for (const item of items) {
    if (typeof item !== 'number' && typeof item !== 'boolean')
      return undecided(`\`sum\` with ${kindOf(item)}`);
    total += Number(item);
  }
  return total;
}

function imagesIn(value: Value): readonly string[] {
  if (typeof value === 'string') return /^data:image\/(png|jpeg)/.test(value) ? [value] : [];
  if (isContents(value)) return images(value);
  if (isList(value)) return value.flatMap(imagesIn);
  // The seed language gives nothing for an image itself, so a rule over images would never look at one.
  if (isTraceObject(value) && value.type === 'Image') return imageUrls(value);
  const said = saidIn(value);
  return said === null ? [] : imagesIn(said);
}

function linkedCall(output: Value): Value {
  if (!isTraceObject(output) || output.type !== 'ToolOutput')
    return undecided(`\`tool_call\` of ${kindOf(output)}`);
  return output.call ?? undecided('the tool output has no call');
}

function serverOf(event: Value): Value {
  if (!isTraceObject(event)) return undecided(`\`server\` of ${kindOf(event)}`);
  const own = event.field('server');
  if (own !== undefined) return own;
  const metadata = event.field('metadata') ?? null;
  return isDictionary(metadata) && Object.hasOwn(metadata, 'server') ? (metadata.server ?? null) : null;
}

// ── what can be imported ──────────────────────────────────────────────────────────────────────────────────────

/** Functions that need a detector, by module (specification 13.2, 13.3). */
const DETECTORS: Readonly<Record<string, readonly string[]>> = {
  pii: ['pii'],
  secrets: ['secrets'],
  prompt_injection: ['prompt_injection', 'unicode'],
  moderation: ['moderated'],
  code: ['python_code', 'ipython_code', 'semgrep'],
  copyright: ['copyright'],
  fuzzy_matching: ['fuzzy_contains'],
  sentence_similarity: ['is_similar', 'embedding_similarity'],
};

const PARSERS = ['html_code', 'links', 'ocr'];

/** What is known of their results; what is not here can give anything. */
export const DETECTOR_RESULTS: ReadonlyMap<string, Type> = new Map([
  ...['prompt_injection', 'moderated', 'fuzzy_contains', 'is_similar', 'llm_confirm'].map(
    (name): [string, Type] => [name, BOOL],
  ),
  ...['secrets', 'pii', 'unicode', 'copyright', 'ocr', 'links'].map((name): [string, Type] => [name, TEXTS]),
  ['should_allow_rbac', BOOL],
  ['semgrep', LIST],
  ['embedding_similarity', NUMBER],
  ['llm', STR],
]);

/** What results of `semgrep` and `python_code` are, for variables over them. */
const RESULT_TYPES: ReadonlySet<string> = new Set(['CodeIssue', 'PythonDetectorResult']);

const CODE_SEVERITY: Dictionary = { INFO: 'info', WARNING: 'warning', ERROR: 'error' };

const CODE_MODULES: ReadonlySet<string> = new Set(['invariant.detectors', 'invariant.detectors.code']);

/** Of Python's module, the two functions that need nothing of the host. */
const JSON_FUNCTIONS: ReadonlyMap<string, string> = new Map([
  ['loads', 'json_loads'],
  ['dumps', 'json.dumps'],
]);

const MODULES: ReadonlyMap<string, readonly string[]> = new Map([
  ['invariant.detectors', Object.values(DETECTORS).flat()],
  ...Object.entries(DETECTORS).map(([name, functions]): [string, readonly string[]] => [
    `invariant.detectors.${name}`,
    functions,
  ]),
  ['invariant.parsers', PARSERS],
  ['invariant.parsers.html', ['html_code', 'links']],
  ['invariant.parsers.ocr', ['ocr']],
  ['invariant.access_control', ['should_allow_rbac', 'AccessControlViolation']],
  ['json', []],
]);

/** What a name of a module stands for. `file` functions read the host's files and are never offered. */
export type Imported =
  | { readonly kind: 'builtin'; readonly name: string }
  | { readonly kind: 'quantifier'; readonly name: string }
  | { readonly kind: 'type'; readonly name: string }
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'detector'; readonly name: string };

const QUANTIFIERS: ReadonlySet<string> = new Set(['forall', 'count']);

/** Null: the module has no such name, or there is no such module. */
export function importedName(
  module: string,
  name: string,
  isType: (name: string) => boolean,
): Imported | null {
  if (
    module === 'invariant' ||
    module === 'invariant.stdlib.invariant.quantifiers' ||
    module === 'invariant.quantifiers'
  ) {
    if (QUANTIFIERS.has(name)) return { kind: 'quantifier', name };
    if (BUILTINS.has(name)) return { kind: 'builtin', name };
    if (isType(name)) return { kind: 'type', name };
    return name === 'llm' || name === 'llm_confirm' ? { kind: 'detector', name } : null;
  }
  if (module.startsWith('invariant.builtins') && BUILTINS.has(name)) return { kind: 'builtin', name };
  if (module === REGISTERED) return { kind: 'detector', name };
  if (module === 'json') {
    const builtin = JSON_FUNCTIONS.get(name);
    return builtin === undefined ? null : { kind: 'builtin', name: builtin };
  }
  if (CODE_MODULES.has(module)) {
    if (RESULT_TYPES.has(name)) return { kind: 'type', name };
    if (name === 'CodeSeverity') return { kind: 'value', value: CODE_SEVERITY };
  }
  return (MODULES.get(module) ?? []).includes(name) ? { kind: 'detector', name } : null;
}

/** Where functions are that the program registers and the standard library does not have. */
export const REGISTERED = 'cordon.detectors';

export function isModule(module: string): boolean {
  return (
    module === 'invariant' ||
    module === 'invariant.quantifiers' ||
    module === REGISTERED ||
    MODULES.has(module)
  );
}

/** Functions that the program provides, e.g. detectors, by the name under which rules import them. */
export type Detectors = ReadonlyMap<string, Detector>;
