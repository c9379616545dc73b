/**
 * A policy, from its text to rules that can be evaluated.
 *
 * Ring 0.
 */
import { type Diagnostic, failed, ok, type Result } from '@cordon/core';
import type { PolicyTree } from './ast.ts';
import type { Detectors } from './builtins.ts';
import { check } from './checker.ts';
import { Diagnostics } from './codes.ts';
import { type CompiledRule, compile } from './compiler.ts';
import { parse } from './parser.ts';
import { Source } from './source.ts';

export interface Policy {
  readonly source: Source;
  readonly tree: PolicyTree;
  readonly rules: readonly CompiledRule[];
  readonly warnings: readonly Diagnostic[];
}

export interface PolicyOptions {
  /** Shown in diagnostics. */
  readonly file?: string;
  /** `invariant` refuses what the seed language does not have. */
  readonly dialect?: 'cordon' | 'invariant';
  /** Functions that rules import by name; a detector that is missing makes its rules undecided. */
  readonly detectors?: Detectors;
}

/** Reads, checks and compiles a policy. Fails with all diagnostics, errors and warnings, in the order of the text. */
export function loadPolicy(text: string, options: PolicyOptions = {}): Result<Policy, readonly Diagnostic[]> {
  const source = new Source(options.file ?? 'policy.gr', text);
  const diagnostics = new Diagnostics(source);
  const tree = parse(source, diagnostics);
  const detectors = options.detectors ?? new Map();
  check(tree, diagnostics, { dialect: options.dialect ?? 'cordon', detectors });
  if (diagnostics.hasErrors()) return failed(diagnostics.all());
  return ok({ source, tree, rules: compile(tree, detectors).rules, warnings: diagnostics.all() });
}

/** The policy without rules: it forbids nothing. */
export function emptyPolicy(): Policy {
  return {
    source: new Source('empty.gr', ''),
    tree: { imports: [], definitions: [], rules: [] },
    rules: [],
    warnings: [],
  };
}

/** One policy out of several, all in force. Rules keep their ids; where two files use one id, the later says its file. */
export function joinPolicies(policies: readonly Policy[]): Policy {
  const [first = emptyPolicy(), ...rest] = policies;
  const taken = new Set(first.rules.map(({ id }) => id));
  const rules = rest.flatMap((policy) =>
    policy.rules.map((rule) => {
      const id = taken.has(rule.id) ? `${policy.source.file}#${rule.id}` : rule.id;
      taken.add(id);
      return { ...rule, id };
    }),
  );
  return {
    ...first,
    rules: [...first.rules, ...rules],
    warnings: policies.flatMap(({ warnings }) => warnings),
  };
}
