/** Looking closer at a policy, with all that its rules may import. Ring 1. */
import type { Diagnostic } from '@cordon/core';
import { type Asking, standardDetectors } from '@cordon/detectors';
import { lint, type Policy, type ToolSchema } from '@cordon/policy';

/** `lint` of `@cordon/policy`, for a policy that `loadedPolicy` gave. */
export function lintedPolicy(
  policy: Policy,
  options: { readonly tools?: readonly ToolSchema[]; readonly isComplete?: boolean },
  asking?: Asking,
): readonly Diagnostic[] {
  return lint(policy, { ...options, detectors: standardDetectors(asking) });
}
