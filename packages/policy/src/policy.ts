/** A policy, from its text to rules that can be evaluated. */
import { type Diagnostic, failed, type JsonObject, ok, type Result } from '@cordon/core';
import { checkTypes } from './check/checker.ts';
import { isWithinLimits } from './check/definition-limits.ts';
import { compile } from './compile/compiler.ts';
import type { CompiledRule } from './evaluate/compiled-rule.ts';
import { RuleProgram } from './evaluate/rule-set.ts';
import type { FlowRecord } from './events/provenance.ts';
import { PolicyMonitor } from './policy-monitor.ts';
import type { PolicyTree } from './syntax/ast.ts';
import { Diagnostics } from './syntax/codes.ts';
import { parseTokens } from './syntax/parser.ts';
import { Source } from './syntax/source.ts';
import type { Detectors } from './values/builtins.ts';
import type { Detector } from './values/detector.ts';
import { MOST_PATTERNS, PatternCache } from './values/pattern-cache.ts';
import type { TextQuestions } from './values/text-questions.ts';

/** Rules that can be asked about traces: any number of them, one after the other or side by side. */
export class Policy {
  /** The text, exactly as it was given. */
  readonly source: Source;
  readonly tree: PolicyTree;
  /** In the order of the text; their ids are unique. */
  readonly rules: readonly CompiledRule[];
  /** What loading found beside errors, in the order of the text. `lint` looks closer. */
  readonly warnings: readonly Diagnostic[];
  /** The rules with their plans, made once. */
  readonly program: RuleProgram;

  /** Where long texts are looked at; null: by whoever decides, at once. */
  readonly textQuestions: TextQuestions | null;

  constructor(parts: Pick<Policy, 'source' | 'tree' | 'rules' | 'warnings' | 'textQuestions'>) {
    this.source = parts.source;
    this.tree = parts.tree;
    this.rules = parts.rules;
    this.warnings = parts.warnings;
    this.textQuestions = parts.textQuestions;
    this.program = new RuleProgram(parts.rules, parts.textQuestions);
  }

  /**
   * Watches a trace that is empty yet.
   * @param paths keeps the ways of flows for explanations, and then findings hold evidence; without, a decision pays nothing for it
   */
  monitor(parameters: JsonObject = {}, paths: FlowRecord | null = null): PolicyMonitor {
    return new PolicyMonitor(this.program, parameters, paths);
  }
}

export interface PolicyOptions {
  /** Shown in diagnostics. */
  readonly file?: string;
  /** `invariant` refuses what the seed language does not have; `cordon` if it is absent. */
  readonly dialect?: 'cordon' | 'invariant';
  /** Functions that rules import by name; a detector that is missing makes its rules undecided. */
  readonly detectors?: readonly Detector[];
  /** Where patterns and origins are looked for in long texts; absent: by whoever decides, at once. */
  readonly textQuestions?: TextQuestions;
}

/** Reads, checks and compiles a policy. Fails with all diagnostics, errors and warnings, in the order of the text. */
export function loadPolicy(text: string, options: PolicyOptions = {}): Result<Policy, readonly Diagnostic[]> {
  const source = new Source(options.file ?? 'policy.gr', text);
  const diagnostics = new Diagnostics(source);
  const { tree } = parseTokens(source, diagnostics);
  if (!isWithinLimits(tree, diagnostics)) return failed(diagnostics.all());
  const detectors: Detectors = new Map((options.detectors ?? []).map((one) => [one.name, one]));
  // What the checker compiles to look at, the rules run.
  const { textQuestions = null } = options;
  const patterns = new PatternCache(MOST_PATTERNS, textQuestions);
  checkTypes(tree, diagnostics, { dialect: options.dialect ?? 'cordon', detectors, patterns });
  if (diagnostics.hasErrors()) return failed(diagnostics.all());
  const { rules } = compile(tree, source, detectors, patterns);
  return ok(new Policy({ source, tree, rules, warnings: diagnostics.all(), textQuestions }));
}

/** The policy without rules: it forbids nothing. */
export function emptyPolicy(): Policy {
  const tree = { imports: [], definitions: [], rules: [] };
  return new Policy({
    source: new Source('empty.gr', ''),
    tree,
    rules: [],
    warnings: [],
    textQuestions: null,
  });
}

/** One policy out of several, all in force. Rules keep their ids; where two files use one id, the later says its file. */
export function joinPolicies(policies: readonly Policy[]): Policy {
  const [first = emptyPolicy(), ...rest] = policies;
  const taken = new Set(first.rules.map(({ id }) => id));
  const rules = rest.flatMap((policy) =>
    policy.rules.map((rule) => {
      let id = taken.has(rule.id) ? `${policy.source.file}#${rule.id}` : rule.id;
      for (let again = 2; taken.has(id); again++) id = `${policy.source.file}#${rule.id}#${again}`;
      taken.add(id);
      return { ...rule, id };
    }),
  );
  return new Policy({
    source: first.source,
    tree: first.tree,
    rules: [...first.rules, ...rules],
    warnings: policies.flatMap(({ warnings }) => warnings),
    textQuestions: policies.find(({ textQuestions }) => textQuestions !== null)?.textQuestions ?? null,
  });
}
