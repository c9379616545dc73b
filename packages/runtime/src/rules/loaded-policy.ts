/** Loading a policy with all that its rules may import: the same for every command and for the hub. Ring 0. */
import type { Diagnostic, Result } from '@cordon/core';
import { type Asking, standardDetectors } from '@cordon/detectors';
import { loadPolicy, type Policy, type PolicyOptions } from '@cordon/policy/rules';

/** `loadPolicy` of `@cordon/policy`, with the standard library's detectors. `asking`: who answers them; absent: nobody. */
export function loadedPolicy(
  text: string,
  options: Omit<PolicyOptions, 'detectors'>,
  asking?: Asking,
): Result<Policy, readonly Diagnostic[]> {
  return loadPolicy(text, { ...options, detectors: standardDetectors(asking, options.longTexts) });
}
