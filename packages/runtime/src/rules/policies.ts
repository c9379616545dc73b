/**
 * Loads policies, with every function that their rules may import: the same way for the hub and for each command.
 */
import { join } from 'node:path';
import { BASE_PACK } from '@cordon/config/packs';
import { CODE_ROOT, readTextFile } from '@cordon/config/reading';
import { type Diagnostic, failed, ok, type Result } from '@cordon/core';
import { type Asking, standardDetectors } from '@cordon/detectors';
import { joinPolicies, loadPolicy, type Policy, type PolicyOptions } from '@cordon/policy';

/** The file of a ready-made policy. */
export function packFile(name: string): string {
  return join(CODE_ROOT, 'policies', `${name}.gr`);
}

/** How a policy is loaded; `asking` answers what its detectors ask; without it they have no answer. */
export interface LoadOptions extends Pick<PolicyOptions, 'dialect' | 'textQuestions'> {
  readonly asking?: Asking | undefined;
}

/** `loadPolicy` of `@cordon/policy`, with the standard library's detectors. */
export function loadedPolicy(
  text: string,
  options: Omit<PolicyOptions, 'detectors'>,
  asking?: Asking,
): Result<Policy, readonly Diagnostic[]> {
  return loadPolicy(text, { ...options, detectors: standardDetectors(asking, options.textQuestions) });
}

/** Reads policies, one a file. A file that is named twice counts once. Fails with every error and warning of all files. */
export function readPolicyTexts(
  files: readonly string[],
  { asking, ...options }: LoadOptions,
): Result<readonly Policy[], readonly Diagnostic[]> {
  const loaded = [...new Set(files)].map((file) => {
    const text = readTextFile(file);
    return text.ok ? loadedPolicy(text.value, { file, ...options }, asking) : failed([text.fault]);
  });
  return loaded.every((policy) => policy.ok)
    ? ok(loaded.map((policy) => policy.value))
    : failed(loaded.flatMap((policy) => (policy.ok ? policy.value.warnings : policy.fault)));
}

export interface PoliciesWanted extends LoadOptions {
  /** Names of ready-made policies, besides the one that is always in force. */
  readonly packs: readonly string[];
  /** Files of the user. */
  readonly files: readonly string[];
}

/** All that is in force, in order: the base, the packs, the user's files. */
export function readEachPolicy({
  packs,
  files,
  ...options
}: PoliciesWanted): Result<readonly Policy[], readonly Diagnostic[]> {
  return readPolicyTexts([packFile(BASE_PACK.name), ...packs.map(packFile), ...files], options);
}

/** The same as one policy. */
export function readPolicies(wanted: PoliciesWanted): Result<Policy, readonly Diagnostic[]> {
  const each = readEachPolicy(wanted);
  return each.ok ? ok(joinPolicies(each.value)) : each;
}
