/**
 * Rules that say what another rule says already: the same lines up to the names of variables, or more lines than a
 * rule whose effect is at least as strong.
 *
 * No decision depends on it.
 */

import { type Expression, type RuleTree, variablesOf } from '@cordon/policy';
import { conjuncts, isOrder, keyOf, type LintContext } from './context.ts';

/** Rules beyond are compared with nothing: pairs would take too long. */
const MAX_COMPARED = 300;
/** Ways to map the variables of one rule to those of another that are tried, in all. */
const MAX_TRIES = 2000;
/** Lines and UTF-16 units of a rule; a longer one is compared with nothing. */
const MAX_LINES = 100;
const MAX_LENGTH = 10_000;

const STRENGTH = { raise: 3, ask: 2, warn: 1 } as const;

interface Shape {
  readonly rule: RuleTree;
  readonly id: string;
  readonly variables: readonly { readonly name: string; readonly type: string }[];
  readonly lines: readonly Expression[];
  readonly assigned: ReadonlyMap<string, Expression>;
  /** The lines without the names of variables. */
  readonly anonymous: ReadonlySet<string>;
  /** The lines with their own names. */
  readonly keys: ReadonlySet<string>;
}

export function lintDuplicates(context: LintContext): void {
  const tries = { left: MAX_TRIES };
  const compared = context.tree.rules
    .slice(0, MAX_COMPARED)
    .flatMap((rule, number) => (rule.end - rule.start > MAX_LENGTH ? [] : shapeOf(rule, number)))
    .filter((shape) => shape.lines.length <= MAX_LINES);
  const reported = new Set<RuleTree>();
  for (const [index, shape] of compared.entries()) {
    for (const [other, candidate] of compared.entries()) {
      if (index === other || reported.has(candidate.rule) || !covers(candidate, shape, tries)) continue;
      // Of two equal rules the later is the superfluous one.
      const isSame = candidate.anonymous.size === shape.anonymous.size && covers(shape, candidate, tries);
      if (isSame && other > index) continue;
      reported.add(shape.rule);
      report(context, shape, candidate, isSame);
      break;
    }
  }
}

function report(context: LintContext, shape: Shape, by: Shape, isSame: boolean): void {
  const { rule } = shape;
  const at = rule.name ?? { start: rule.start, end: rule.message.end };
  const where = `\`${by.id}\` in line ${context.line(by.rule)}`;
  context.diagnostics.warning(
    'POL059',
    at,
    isSame ? `this rule says the same as ${where}` : `wherever this rule acts, ${where} acts as well`,
    isSame ? 'remove one of them' : 'remove it, or remove lines that make the other one act too often',
  );
}

function shapeOf(rule: RuleTree, number: number): Shape {
  const { declarations, assignments } = variablesOf(rule.body);
  const assigned = new Map(assignments.map(({ variable, value }) => [variable.name, value]));
  const variables = declarations.map(({ variable, type }) => ({ name: variable.name, type: type.name }));
  const names = new Set(variables.map(({ name }) => name));
  const lines = [...conjuncts(rule.body).flatMap(withDeclarations)].filter(
    (line) => line.kind !== 'assignment',
  );
  return {
    rule,
    id: rule.name?.name ?? `rule-${number + 1}`,
    variables,
    lines,
    assigned,
    anonymous: new Set(lines.map((line) => keyOf(line, assigned, (name) => (names.has(name) ? '_' : null)))),
    keys: new Set(lines.map((line) => keyOf(line, assigned))),
  };
}

/** `(a: T) -> (b: U)`, like the other orders, is `(a: T)`, `(b: U)` and `a -> b`. */
function withDeclarations(line: Expression): readonly Expression[] {
  if (!isOrder(line)) return [line];
  const sides = [line.left, line.right];
  const declarations = sides.filter((side) => side.kind === 'declaration');
  const [left = line.left, right = line.right] = sides.map((side): Expression => {
    if (side.kind !== 'declaration') return side;
    return { kind: 'name', name: side.variable.name, start: side.start, end: side.end };
  });
  return [...declarations, { ...line, left, right }];
}

/** Whether `general` acts wherever `special` does, and at least as strongly. */
function covers(general: Shape, special: Shape, tries: { left: number }): boolean {
  if (STRENGTH[general.rule.effect] < STRENGTH[special.rule.effect]) return false;
  // A warning says which of the other's questions are better answered with no.
  if (general.rule.effect === 'ask' && special.rule.effect === 'warn') return false;
  if (general.rule.whenUndecided === 'allow' && special.rule.whenUndecided !== 'allow') return false;
  if (general.anonymous.size > special.anonymous.size) return false;
  for (const line of general.anonymous) if (!special.anonymous.has(line)) return false;
  return isMapped(general, special, 0, new Map(), tries);
}

/** Tries to map each variable of `general` to one of `special`, so that every line becomes one of `special`. */
function isMapped(
  general: Shape,
  special: Shape,
  index: number,
  mapped: Map<string, string>,
  tries: { left: number },
): boolean {
  const variable = general.variables[index];
  if (variable === undefined) {
    tries.left--;
    const renaming = (name: string): string | null => mapped.get(name) ?? null;
    return general.lines.every((line) => special.keys.has(keyOf(line, general.assigned, renaming)));
  }
  for (const target of special.variables) {
    if (target.type !== variable.type || tries.left <= 0) continue;
    mapped.set(variable.name, target.name);
    if (isMapped(general, special, index + 1, mapped, tries)) return true;
  }
  mapped.delete(variable.name);
  return false;
}
