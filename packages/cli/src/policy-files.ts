/**
 * Policies from files, for the commands that ask them about traces: read, loaded, and joined into one.
 *
 * Ring 1.
 */
import { type Diagnostic, failed, ok, type Result } from '@cordon/core';
import { joinPolicies, loadPolicy, type Policy, type PolicyOptions } from '@cordon/policy';
import { readTextFile } from './text-file.ts';

export type Dialect = NonNullable<PolicyOptions['dialect']>;

export const DIALECTS: readonly Dialect[] = ['cordon', 'invariant'];

export interface PolicyFiles {
  /** All in force. */
  readonly policy: Policy;
  /** One a file, in order. */
  readonly policies: readonly Policy[];
  /** Names that the policies read from `input`. */
  readonly parameters: ReadonlySet<string>;
}

/**
 * Reads policies. A file that is named twice counts once. Fails with every error and warning of all files; success
 * has the warnings in `policy.warnings`.
 */
export function readPolicyFiles(
  files: readonly string[],
  dialect: Dialect = 'cordon',
): Result<PolicyFiles, readonly Diagnostic[]> {
  const loaded = [...new Set(files)].map((file) => {
    const text = readTextFile(file);
    return text.ok ? loadPolicy(text.value, { file, dialect }) : failed([text.fault]);
  });
  if (loaded.some((policy) => !policy.ok)) {
    return failed(loaded.flatMap((policy) => (policy.ok ? policy.value.warnings : policy.fault)));
  }
  const policies = loaded.flatMap((policy) => (policy.ok ? [policy.value] : []));
  const parameters = new Set(policies.flatMap(({ tree }) => [...parametersRead(tree)]));
  return ok({ policy: joinPolicies(policies), policies, parameters });
}

/** `input.NAME` and `input["NAME"]`, wherever they stand. Without recursion: the tree may be deep. */
function parametersRead(tree: Policy['tree']): ReadonlySet<string> {
  const names = new Set<string>();
  const waiting: unknown[] = [tree];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (typeof node !== 'object' || node === null) continue;
    const name = parameterName(node);
    if (name !== null) names.add(name);
    for (const inner of Object.values(node)) if (typeof inner === 'object') waiting.push(inner);
  }
  return names;
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
