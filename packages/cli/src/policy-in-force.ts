/** The policy that holds for whatever this machine runs: the default one and the user's files. Ring 1. */
import { join, resolve } from 'node:path';
import { type Diagnostic, failed, ok, type Result } from '@cordon/core';
import { joinPolicies, type Policy } from '@cordon/policy';
import { loadedPolicy } from './loaded-policy.ts';
import { readTextFile } from './text-file.ts';

/** The folder that holds `packages/`, `examples/` and `policies/`. */
export const CODE_ROOT = resolve(import.meta.dirname, '../../..');

const DEFAULT_POLICY = join(CODE_ROOT, 'policies', 'default.gr');

/** The default policy and the user's files are all in force; a failure holds what is wrong in any of them. */
export function readPolicies(files: readonly string[]): Result<Policy, readonly Diagnostic[]> {
  const loaded = [DEFAULT_POLICY, ...files].map(readPolicy);
  const problems = loaded.flatMap((policy) => (policy.ok ? [] : policy.fault));
  if (problems.length > 0) return failed(problems);
  return ok(joinPolicies(loaded.flatMap((policy) => (policy.ok ? [policy.value] : []))));
}

function readPolicy(file: string): Result<Policy, readonly Diagnostic[]> {
  const text = readTextFile(file);
  return text.ok ? loadedPolicy(text.value, { file }) : failed([text.fault]);
}
