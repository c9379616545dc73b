/** The policy and its parameters, as every command about traces is given them. */
import type { JsonObject } from '@cordon/core';
import type { Asking } from '@cordon/detectors';
import type { Policy } from '@cordon/policy';
import {
  type Dialect,
  emptinessWarnings,
  type ParameterOptions,
  parameterWarnings,
  readParameters,
  readPolicyFiles,
} from '@cordon/scan/traces';
import type { CommandContext } from './command-context.ts';

export interface PolicyOptions extends ParameterOptions {
  /** Other policies that are in force as well. */
  readonly policy: readonly string[];
  readonly dialect: Dialect;
}

export interface PolicyInUse {
  readonly policy: Policy;
  readonly parameters: JsonObject;
}

/** Null: something cannot be used. Errors and warnings are on standard error. */
export function policyInUse(
  context: CommandContext,
  file: string,
  options: PolicyOptions,
  asking?: Asking,
): PolicyInUse | null {
  const policies = readPolicyFiles([file, ...options.policy], options.dialect, asking);
  const parameters = readParameters(options);
  if (!policies.ok || !parameters.ok) {
    context.noteDiagnostics([policies, parameters].flatMap((read) => (read.ok ? [] : read.fault)));
    return null;
  }
  const { policy, parameters: read } = policies.value;
  context.noteDiagnostics([
    ...policy.warnings,
    ...emptinessWarnings(policy),
    ...parameterWarnings(parameters.value, read),
  ]);
  return { policy, parameters: parameters.value };
}
