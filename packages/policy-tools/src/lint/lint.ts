/**
 * The linter: what loads and is probably not what its author meant. It looks closer than loading may take time for,
 * and only when it is asked (`cordon check`). Each concern has its own `lint-….ts`.
 *
 * No decision depends on it. Never throws; the work is bounded for trees of any size.
 */
import type { Diagnostic } from '@cordon/core';
import {
  checkTypes,
  type Detector,
  Diagnostics,
  PatternCache,
  type PolicyTree,
  type Source,
  type Span,
} from '@cordon/policy';
import { lintApart } from './apart.ts';
import { LintContext } from './context.ts';
import { lintCost } from './cost.ts';
import { lintDifferences } from './differences.ts';
import { lintDuplicates } from './duplicates.ts';
import { lintNames } from './names.ts';
import type { ToolSchema } from './tool-schema.ts';
import { lintTools } from './tools.ts';
import { lintTruth } from './truth.ts';
import { lintValues } from './values.ts';

/** What was loaded: a `Policy` is one. */
export interface LintSubject {
  readonly tree: PolicyTree;
  readonly source: Source;
}

export interface LintOptions {
  /** The tools of the installed apps. Without them, tools are not checked. */
  readonly tools?: readonly ToolSchema[];
  /** Whether there are no other tools; if there may be, only those that look misspelt are reported. */
  readonly isComplete?: boolean;
  /** As they were given to `loadPolicy`. */
  readonly detectors?: readonly Detector[];
}

/**
 * Everything that looks wrong in a policy beside what loading has reported, as warnings in the order of the text.
 * What only differs from other implementations of the language is reported for rules that these accept.
 */
export function lint({ tree, source }: LintSubject, options: LintOptions = {}): readonly Diagnostic[] {
  const additions: Span[] = [];
  const detectors = new Map((options.detectors ?? []).map((one) => [one.name, one]));
  // What loading reports was reported; here only what is known of the expressions counts.
  const types = checkTypes(tree, new Diagnostics(source), {
    dialect: 'cordon',
    patterns: new PatternCache(),
    detectors,
    onAddition: (at) => additions.push(at),
  });
  const diagnostics = new Diagnostics(source);
  const context = new LintContext({ tree, source, types, additions, diagnostics });
  lintNames(context);
  lintTruth(context);
  lintValues(context);
  lintDuplicates(context);
  lintCost(context, detectors);
  lintDifferences(context);
  if (options.tools !== undefined) {
    lintTools(context, options.tools, options.isComplete ?? true);
    lintApart(context, options.tools);
  }
  return diagnostics.all();
}
