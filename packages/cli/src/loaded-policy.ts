/** Loading a policy with all that its rules may import: the same for every command and for the hub. Ring 1. */
import type { Diagnostic, Result } from '@cordon/core';
import { standardDetectors } from '@cordon/detectors';
import { lint, loadPolicy, type Policy, type PolicyOptions, type ToolSchema } from '@cordon/policy';

/** `loadPolicy` of `@cordon/policy`, with the standard library's detectors. */
export function loadedPolicy(
  text: string,
  options: Omit<PolicyOptions, 'detectors'>,
): Result<Policy, readonly Diagnostic[]> {
  return loadPolicy(text, { ...options, detectors: standardDetectors() });
}

/** `lint` of `@cordon/policy`, for a policy that was loaded so. */
export function lintedPolicy(
  policy: Policy,
  options: { readonly tools?: readonly ToolSchema[]; readonly isComplete?: boolean },
): readonly Diagnostic[] {
  return lint(policy, { ...options, detectors: standardDetectors() });
}
