/** Policies from files, for the commands that ask them about traces: read, loaded, and joined into one. */
import { type Diagnostic, ok, type Result } from '@cordon/core';
import type { Asking } from '@cordon/detectors';
import { type Expression, joinPolicies, type Policy, type PolicyOptions, walk } from '@cordon/policy';
import { readPolicyTexts } from '@cordon/runtime/policies';

export type Dialect = NonNullable<PolicyOptions['dialect']>;

export const DIALECTS: readonly Dialect[] = ['cordon', 'invariant'];

/** What the rules want of `input`. */
export interface ParametersRead {
  readonly names: ReadonlySet<string>;
  /** They also use `input` as a whole, or under names that they compute: then any parameter may count. */
  readonly isOpen: boolean;
}

export interface PolicyFiles {
  /** All in force. */
  readonly policy: Policy;
  /** One a file, in order. */
  readonly policies: readonly Policy[];
  readonly parameters: ParametersRead;
}

/**
 * Reads policies. A file that is named twice counts once. Fails with every error and warning of all files; success
 * has the warnings in `policy.warnings`. `asking`: who answers their detectors.
 */
export function readPolicyFiles(
  files: readonly string[],
  dialect: Dialect = 'cordon',
  asking?: Asking,
): Result<PolicyFiles, readonly Diagnostic[]> {
  const read = readPolicyTexts(files, { dialect, asking });
  if (!read.ok) return read;
  const policies = read.value;
  return ok({ policy: joinPolicies(policies), policies, parameters: parametersRead(policies) });
}

/** A policy that forbids nothing is rarely meant: most often it is the wrong file, or one with definitions alone. */
export function emptinessWarnings({ rules, source: { file } }: Policy): readonly Diagnostic[] {
  if (rules.length > 0) return [];
  const message = 'there is no rule, so nothing is found and everything is allowed';
  return [{ code: 'CFG038', severity: 'warning', file, message, help: 'write one: `raise "…" if:`' }];
}

/** `input.NAME` and `input["NAME"]`, wherever they stand. */
function parametersRead(policies: readonly Policy[]): ParametersRead {
  const names = new Set<string>();
  const named = new Set<Expression>();
  let isOpen = false;
  const visit = (part: Expression): void => {
    if ((part.kind === 'member' || part.kind === 'index') && isInput(part.object)) {
      const name = part.kind === 'member' ? part.name.name : textIn(part.index);
      if (name === null) return;
      names.add(name);
      named.add(part.object);
    } else if (isInput(part) && !named.has(part)) isOpen = true;
  };
  for (const { tree } of policies) {
    const lines = [...tree.definitions, ...tree.rules].flatMap(({ body }) => body);
    for (const line of [...lines, ...tree.rules.map(({ message }) => message)]) walk(line, visit);
  }
  return { names, isOpen };
}

function textIn(expression: Expression): string | null {
  return expression.kind === 'literal' && typeof expression.value === 'string' ? expression.value : null;
}

function isInput(expression: Expression): boolean {
  return expression.kind === 'name' && expression.name === 'input';
}
