/**
 * Policy parameters (`input` in rules) from the command line: `--param name=value` and `--params FILE`.
 *
 * See docs/cli.md.
 */

import {
  type JsonMember,
  LineMap,
  parseJsonFile,
  plainJson,
  quoted,
  readTextFile,
  suggestion,
} from '@cordon/config/reading';
import {
  type Diagnostic,
  failed,
  isJsonObject,
  type Json,
  type JsonObject,
  ok,
  parseJson,
  type Result,
} from '@cordon/core';
import type { ParametersRead } from './policy-files.ts';

/** As commander parses them. */
export interface ParameterOptions {
  /** Each `name=value`. */
  readonly param?: readonly string[];
  /** A file with a JSON object. */
  readonly params?: string;
}

const OPTION = '--param';
const FORM = 'write `--param name=value`, with a value in JSON or a text as it is';

/**
 * The parameters: those of the file, then those of the options, which win. A value that is JSON is that value, any
 * other is a text. Fails with all that is wrong; a name twice is wrong, because it can have one value only.
 */
export function readParameters(options: ParameterOptions): Result<JsonObject, readonly Diagnostic[]> {
  const problems: Diagnostic[] = [];
  const file: Result<JsonObject, Diagnostic> =
    options.params === undefined ? ok({}) : parametersOf(options.params);
  if (!file.ok) problems.push(file.fault);
  const given = new Map<string, Json>();
  for (const pair of options.param ?? []) {
    const problem = addPair(given, pair);
    if (problem !== null) problems.push(problem);
  }
  if (!file.ok || problems.length > 0) return failed(problems);
  return ok(Object.fromEntries([...Object.entries(file.value), ...given]));
}

/** Names that the options have and no rule reads, and names that rules read and no option gives: most often one slip. */
export function parameterWarnings(
  parameters: JsonObject,
  { names, isOpen }: ParametersRead,
): readonly Diagnostic[] {
  const given = Object.keys(parameters);
  const unused = given
    .filter((name) => !isOpen && !names.has(name))
    .map((name): Diagnostic => {
      const help = suggestion(name, names, 'leave it out');
      return problemOf('PAR003', 'warning', `no rule reads the parameter ${quoted(name)}`, help);
    });
  const missing = [...names]
    .filter((name) => name !== 'data' && !Object.hasOwn(parameters, name))
    .map((name): Diagnostic => {
      const help = `give it with \`--param ${name}=…\`; until then what needs it is undecided`;
      return problemOf(
        'PAR004',
        'warning',
        `the policy reads the parameter ${quoted(name)}, which is not given`,
        help,
      );
    });
  return [...unused, ...missing];
}

function addPair(given: Map<string, Json>, pair: string): Diagnostic | null {
  const at = pair.indexOf('=');
  if (at <= 0) return problemOf('PAR001', 'error', `${quoted(pair)} is no \`name=value\``, FORM);
  const name = pair.slice(0, at);
  if (given.has(name)) {
    return problemOf('PAR002', 'error', `the parameter ${quoted(name)} is given twice`, 'keep one of them');
  }
  const parsed = parseJson(pair.slice(at + 1));
  const value = parsed.ok ? parsed.value : pair.slice(at + 1);
  const problem = unusable(name, value);
  if (problem !== null) return problemOf('PAR002', 'error', problem.message, problem.help);
  given.set(name, value);
  return null;
}

function parametersOf(file: string): Result<JsonObject, Diagnostic> {
  const text = readTextFile(file);
  if (!text.ok) return text;
  const tree = parseJsonFile(file, text.value);
  if (!tree.ok) return tree;
  const twice = tree.value.kind === 'object' ? keyGivenTwice(tree.value.members) : null;
  if (twice !== null) {
    const message = `the parameter ${quoted(twice.key)} is given twice`;
    const range = new LineMap(text.value).range(twice.keySpan);
    return failed({ code: 'PAR002', severity: 'error', file, range, message, help: 'keep one of them' });
  }
  const value = plainJson(tree.value);
  const frame = { severity: 'error', file } as const;
  if (!isJsonObject(value)) {
    const message = 'the parameters are a JSON object';
    return failed({ code: 'PAR001', ...frame, message, help: 'write `{"name": value, …}`' });
  }
  for (const [name, inner] of Object.entries(value)) {
    const problem = unusable(name, inner);
    if (problem !== null) return failed({ code: 'PAR002', ...frame, ...problem });
  }
  return ok(value);
}

/** The later one. Two values of one parameter are a slip, and which of them counts decides what is denied. */
function keyGivenTwice(members: readonly JsonMember[]): JsonMember | null {
  const seen = new Set<string>();
  for (const member of members) {
    if (seen.has(member.key)) return member;
    seen.add(member.key);
  }
  return null;
}

/** Specification 12: `input.data` is the trace. A number beyond all bounds would be read as infinite. */
function unusable(name: string, value: Json): { readonly message: string; readonly help: string } | null {
  if (name === 'data' || name === '__proto__') {
    return { message: `a parameter cannot be named \`${name}\``, help: 'choose another name' };
  }
  if (!holdsFinite(value)) {
    return {
      message: `the parameter ${quoted(name)} holds a number that is too large`,
      help: 'write it as a text',
    };
  }
  return null;
}

/** The depth is bounded by the reader of the JSON. */
function holdsFinite(value: Json): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value !== 'object' || value === null || Object.values(value).every(holdsFinite);
}

function problemOf(
  code: string,
  severity: Diagnostic['severity'],
  message: string,
  help: string,
): Diagnostic {
  return { code, severity, file: OPTION, message, help };
}
