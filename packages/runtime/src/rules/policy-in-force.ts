/** The policy that holds for whatever this machine runs: the default one and the user's files. Ring 0. */
import { join, resolve } from 'node:path';
import { BASE_PACK } from '@cordon/config/packs';
import { readTextFile } from '@cordon/config/reading';
import { type Diagnostic, failed, ok, type Result } from '@cordon/core';
import type { Asking } from '@cordon/detectors';
import { joinPolicies, type LongTexts, type Policy } from '@cordon/policy/rules';
import { loadedPolicy } from './loaded-policy.ts';

/** The folder that holds `packages/`, `examples/` and `policies/`. */
export const CODE_ROOT = resolve(import.meta.dirname, '../../../..');

/** The file of a ready-made policy. */
export function packFile(name: string): string {
  return join(CODE_ROOT, 'policies', `${name}.gr`);
}

export interface PoliciesWanted {
  /** Names of ready-made policies, besides the one that is always in force. */
  readonly packs: readonly string[];
  /** Files of the user. */
  readonly files: readonly string[];
  /** Who answers what their detectors ask; absent: nobody. */
  readonly asking?: Asking | undefined;
  /** Where long texts are looked at; absent: by whoever decides, at once. */
  readonly longTexts?: LongTexts | undefined;
}

/** All that is in force, one after the other: the base, the packs, the user's files. */
export function readEachPolicy(wanted: PoliciesWanted): Result<readonly Policy[], readonly Diagnostic[]> {
  const files = [packFile(BASE_PACK.name), ...wanted.packs.map(packFile), ...wanted.files];
  const loaded = files.map((file) => readPolicy(file, wanted));
  const problems = loaded.flatMap((policy) => (policy.ok ? [] : policy.fault));
  return problems.length > 0
    ? failed(problems)
    : ok(loaded.flatMap((policy) => (policy.ok ? [policy.value] : [])));
}

/** The same as one policy; a failure holds what is wrong in any of them. */
export function readPolicies(wanted: PoliciesWanted): Result<Policy, readonly Diagnostic[]> {
  const each = readEachPolicy(wanted);
  return each.ok ? ok(joinPolicies(each.value)) : each;
}

function readPolicy(
  file: string,
  { asking, longTexts }: PoliciesWanted,
): Result<Policy, readonly Diagnostic[]> {
  const text = readTextFile(file);
  if (!text.ok) return failed([text.fault]);
  return loadedPolicy(text.value, longTexts === undefined ? { file } : { file, longTexts }, asking);
}
