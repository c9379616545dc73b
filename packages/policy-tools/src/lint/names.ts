/**
 * Names that nothing uses, names that hide others, and lines that do not count.
 *
 * No decision depends on it.
 */
import { BUILTINS, type Expression, freeNames, type Identifier, variablesOf } from '@cordon/policy';
import { type LintBody, type LintContext, partsOf } from './context.ts';

export function lintNames(context: LintContext): void {
  unusedDefinitions(context);
  for (const body of context.bodies) {
    if (body.kind !== 'rule') unusedAssignments(context, body);
  }
  unusedParameters(context);
  hiddenNames(context);
  surplusLines(context);
}

// ── what nothing uses ───────────────────────────────────────────────────────────────────────────────────────────

function unusedDefinitions(context: LintContext): void {
  const { tree, diagnostics } = context;
  // A file of definitions alone is there for others to look at.
  if (tree.rules.length === 0) return;
  const used = usedNames(context);
  for (const definition of tree.definitions) {
    const { name } = definition;
    if (used.has(name.name)) continue;
    const what = definition.parameters === null ? 'constant' : 'predicate';
    diagnostics.warning('POL057', name, `nothing uses the ${what} \`${name.name}\``, 'remove it, or use it');
  }
  for (const imported of tree.imports) {
    if (used.has(imported.alias)) continue;
    diagnostics.warning('POL057', imported, `nothing uses the import \`${imported.alias}\``, 'remove it');
  }
}

/** Names from outside of bodies that rules use, directly or through definitions that they use. */
function usedNames({ tree, names }: LintContext): ReadonlySet<string> {
  const used = new Set<string>();
  const open: string[] = [];
  const use = (name: string): void => {
    if (used.has(name)) return;
    used.add(name);
    open.push(name);
  };
  for (const rule of tree.rules) namesIn([...rule.body, rule.message], new Set()).forEach(use);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const named = names.resolve(next);
    if (named?.kind !== 'definition') continue;
    const { parameters, body } = named.definition;
    namesIn(body, new Set(parameters?.map(({ name }) => name))).forEach(use);
    // Imported types are used where parameters name them.
    for (const { type } of parameters ?? []) if (type !== null) use(type);
  }
  return used;
}

function namesIn(lines: readonly Expression[], parameters: ReadonlySet<string>): ReadonlySet<string> {
  const { declarations, assignments } = variablesOf(lines);
  const own = new Set([...declarations, ...assignments].map(({ variable }) => variable.name));
  const found = new Set<string>();
  for (const line of lines) {
    for (const name of freeNames(line)) if (!own.has(name) && !parameters.has(name)) found.add(name);
  }
  for (const part of partsOf(lines)) {
    if (part.kind === 'quantifier') found.add(part.callee.name);
    if (part.kind === 'declaration') found.add(part.type.name);
  }
  return found;
}

/** In rules the checker reports them. */
function unusedAssignments({ diagnostics }: LintContext, { lines }: LintBody): void {
  const { assignments } = variablesOf(lines);
  if (assignments.length === 0) return;
  const used = new Set(lines.flatMap((line) => [...freeNames(line)]));
  for (const { variable } of assignments) {
    if (!used.has(variable.name))
      diagnostics.warning('POL056', variable, `nothing uses \`${variable.name}\``);
  }
}

function unusedParameters({ tree, diagnostics }: LintContext): void {
  for (const { name, parameters, body } of tree.definitions) {
    if (parameters === null) continue;
    const used = new Set(body.flatMap((line) => [...freeNames(line)]));
    for (const parameter of parameters) {
      if (used.has(parameter.name) || parameter.name.startsWith('_')) continue;
      const span = { start: parameter.start, end: parameter.start + parameter.name.length };
      diagnostics.warning(
        'POL056',
        span,
        `\`${name.name}\` does not use its parameter \`${parameter.name}\``,
        'remove it, or begin its name with `_`',
      );
    }
  }
}

// ── names that hide others ──────────────────────────────────────────────────────────────────────────────────────

function hiddenNames(context: LintContext): void {
  const { tree, diagnostics } = context;
  const imports = new Set(tree.imports.map(({ alias }) => alias));
  const definitions = new Map(tree.definitions.map((definition) => [definition.name.name, definition]));
  const called = calledNames(context);
  const outside = ({ name }: Identifier): string | null => {
    if (imports.has(name)) return 'an import';
    return BUILTINS.has(name) || name === 'input' ? 'a built-in' : null;
  };
  for (const { name } of tree.definitions) report(context, name, outside(name));
  const variable = (name: Identifier): void => {
    const definition = definitions.get(name.name);
    const isNoun = NOUNS.has(name.name) && !called.has(name.name) && !imports.has(name.name);
    if (definition === undefined) report(context, name, isNoun ? null : outside(name));
    else report(context, name, definition.parameters === null ? 'a constant' : 'a predicate');
  };
  for (const { parameters } of tree.definitions) {
    for (const { name, start } of parameters ?? []) variable({ name, start, end: start + name.length });
  }
  for (const { body } of [...tree.definitions, ...tree.rules]) {
    const parts = partsOf(body);
    const declared = parts.filter((part) => part.kind === 'declaration' || part.kind === 'assignment');
    for (const one of declared) variable(one.variable);
    const own = new Set(declared.map((one) => one.variable.name));
    for (const { variable: loop } of parts.filter((part) => part.kind === 'comprehension')) {
      if (own.has(loop.name)) {
        diagnostics.warning(
          'POL058',
          loop,
          `\`${loop.name}\` hides the variable of the same name inside of this list`,
          'use another name',
        );
      } else variable(loop);
    }
  }
}

/** Functions whose names are also what one calls such values; they only hide where the policy calls the function. */
const NOUNS: ReadonlySet<string> = new Set(['text', 'image', 'server', 'sum', 'tool_call']);

function calledNames({ tree }: LintContext): ReadonlySet<string> {
  const parts = partsOf([...tree.definitions, ...tree.rules].flatMap(({ body }) => body));
  const calls = parts.filter((part) => part.kind === 'call');
  return new Set(calls.flatMap(({ callee }) => (callee.kind === 'name' ? [callee.name] : [])));
}

function report({ diagnostics }: LintContext, name: Identifier, hidden: string | null): void {
  if (hidden === null) return;
  const message = `\`${name.name}\` hides ${hidden} of the same name`;
  diagnostics.warning('POL058', name, message, 'use another name');
}

/** A block as the value of a constant is its first line. */
function surplusLines({ tree, diagnostics }: LintContext): void {
  for (const { name, parameters, body } of tree.definitions) {
    const [, second] = body;
    const last = body.at(-1);
    if (parameters !== null || second === undefined || last === undefined) continue;
    diagnostics.warning(
      'POL070',
      { start: second.start, end: last.end },
      `the value of \`${name.name}\` is the first line of its block, the others do not count`,
      `write a predicate: \`${name.name}() := …\``,
    );
  }
}
