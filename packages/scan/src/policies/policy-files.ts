/**
 * Policies from files, for the commands that ask them about traces: read, loaded, and joined into one.
 *
 * Ring 1.
 */
import { type Diagnostic, ok, type Result } from '@cordon/core';
import type { Asking } from '@cordon/detectors';
import { joinPolicies, type Policy, type PolicyOptions } from '@cordon/policy';
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

/** `input.NAME` and `input["NAME"]`, wherever they stand. Without recursion: a tree may be deep. */
function parametersRead(policies: readonly Policy[]): ParametersRead {
  const names = new Set<string>();
  let isOpen = false;
  const waiting: unknown[] = policies.map(({ tree }) => tree);
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (typeof node !== 'object' || node === null) continue;
    const name = parameterName(node);
    if (name !== null) names.add(name);
    else if (isInput(node)) isOpen = true;
    else for (const inner of Object.values(node)) if (typeof inner === 'object') waiting.push(inner);
  }
  return { names, isOpen };
}

function parameterName(node: object): string | null {
  if (!('kind' in node && 'object' in node) || !isInput(node.object)) return null;
  const key = node.kind === 'member' && 'name' in node ? node.name : 'index' in node ? node.index : null;
  if (typeof key !== 'object' || key === null) return null;
  if ('name' in key && typeof key.name === 'string' && node.kind === 'member') return key.name;
  return 'value' in key && typeof key.value === 'string' ? key.value : null;
}

function isInput(node: unknown): boolean {
  if (typeof node !== 'object' || node === null) return false;
  return 'kind' in node && node.kind === 'name' && 'name' in node && node.name === 'input';
}
