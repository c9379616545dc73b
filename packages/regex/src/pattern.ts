/**
 * Regular expressions of rules (Python's syntax) and of JSON Schemas (ECMAScript's), on texts and often with patterns that
 * attackers write. Which engine runs a pattern is decided here.
 */
import { failed, ok, type Result } from '@cordon/core';
import { BudgetedMatcher } from './budgeted.ts';
import { parseSchemaPattern } from './ecmascript-syntax.ts';
import { FixedTextsMatcher, fixedTextsOf } from './fixed-texts.ts';
import { LinearMatcher, type Match, NO_MATCHES } from './linear.ts';
import { type Alternatives, anchorsOf, type Literals, literalsOf, occursIn } from './literals.ts';
import { PrefixedMatcher, prefixesOf } from './prefixed.ts';
import { compileProgram, instructionsAtMost, MAX_INSTRUCTIONS, type Program } from './program.ts';
import { parsePattern } from './python-syntax.ts';
import type { Node, SyntaxTree } from './syntax-tree.ts';

/** What a pattern may take of steps for a text was not enough: the answer is not known. */
export type Exhausted = 'exhausted';

export const EXHAUSTED_REASON = 'the pattern needs more steps than it may take';

/** What an engine does with a pattern. */
interface Matcher {
  /** Python's `re.match`: anchored at the start only. */
  startsWith(text: string): boolean | Exhausted;
  /** Python's `re.finditer`, whole matches, in UTF-16 offsets. */
  findAll(text: string): readonly Match[] | Exhausted;
}

export interface Pattern extends Matcher {
  /** `budgeted`: it has parts that no engine can run in linear time, so that its steps are counted. */
  readonly engine: 'linear' | 'budgeted';
  /** How many steps it stands for, as a measure of what it takes to keep it. */
  readonly size: number;
  /** Of each of these, one text occurs wherever it matches; where one of them lacks, `findAll` finds nothing. */
  readonly required: readonly Alternatives[];
}

export interface PatternOptions {
  /** `.` matches newlines too. */
  readonly dotAll?: boolean;
}

const MAX_PATTERN_LENGTH = 10_000;

/** A failure is one sentence that never repeats the pattern, which may be data. */
export function compilePattern(pattern: string, options: PatternOptions = {}): Result<Pattern, string> {
  return compiled(pattern, (text) => parsePattern(text, options.dotAll === true));
}

/** A pattern of a JSON Schema, in ECMAScript's syntax; its engine is linear. */
export function compileSchemaPattern(pattern: string): Result<Pattern, string> {
  return compiled(pattern, parseSchemaPattern);
}

function compiled(
  pattern: string,
  parse: (pattern: string) => Result<SyntaxTree, string>,
): Result<Pattern, string> {
  if (pattern.length > MAX_PATTERN_LENGTH)
    return failed(`the pattern is longer than ${MAX_PATTERN_LENGTH} characters`);
  const tree = parse(pattern);
  if (!tree.ok) return tree;
  const { root, needsBudget } = tree.value;
  if (needsBudget) {
    const budgeted: MakeMatcher = (literals) => filtered(new BudgetedMatcher(tree.value), literals);
    return ok(lazyPattern('budgeted', pattern.length, root, budgeted));
  }
  const size = instructionsAtMost(root);
  const program = size > MAX_INSTRUCTIONS ? compileProgram(root) : null;
  if (program !== null && !program.ok) return program;
  const linear: MakeMatcher = (literals) => {
    const texts = fixedTextsOf(root);
    if (texts !== null) return new FixedTextsMatcher(texts);
    const run = program?.value ?? programOf(root);
    const matcher = filtered(new LinearMatcher(run, literals.isAnchored), literals);
    const prefixes = literals.isAnchored ? null : prefixesOf(root);
    return prefixes === null ? matcher : new PrefixedMatcher(prefixes, matcher);
  };
  return ok(lazyPattern('linear', program?.value.instructions.length ?? size, root, linear));
}

/** Of a tree that is small enough for certain. */
function programOf(root: Node): Program {
  const program = compileProgram(root);
  if (!program.ok) throw new Error(program.fault);
  return program.value;
}

type MakeMatcher = (literals: Literals) => Matcher;

/** Loading a policy finds out what is wrong with its patterns; what running them takes is made when they run. */
function lazyPattern(engine: Pattern['engine'], size: number, root: Node, make: MakeMatcher): Pattern {
  const literals = once((): Literals => {
    const { required, isAnchored } = literalsOf(root);
    return { required: required.map(anchorsOf), isAnchored };
  });
  const matcher = once(() => make(literals()));
  return {
    engine,
    size,
    get required() {
      return literals().required;
    },
    startsWith: (text) => matcher().startsWith(text),
    findAll: (text) => matcher().findAll(text),
  };
}

function once<T extends object>(make: () => T): () => T {
  let made: T | null = null;
  return () => {
    made ??= make();
    return made;
  };
}

function filtered(matcher: Matcher, literals: Literals): Matcher {
  return {
    startsWith: (text) => matcher.startsWith(text),
    findAll: (text) => (isRuledOut(literals, text) ? NO_MATCHES : matcher.findAll(text)),
  };
}

function isRuledOut({ required }: Literals, text: string): boolean {
  for (const texts of required) if (!occursIn(texts, text)) return true;
  return false;
}
