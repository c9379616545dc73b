/**
 * The issues that `semgrep(data, lang)` of the rule language gives: from our own rules, which are the constructs that our
 * readers of code know. The semgrep program is not run, and its registry is not read.
 */

import type { Stretch } from '../text/finding.ts';
import type { Construct, ConstructKind } from './construct.ts';

export interface CodeIssue extends Stretch {
  readonly description: string;
  readonly severity: 'info' | 'warning' | 'error';
}

/** How bad each kind is in code that someone is about to run; a kind that is not here is a warning. */
const SEVERITIES: Readonly<Partial<Record<ConstructKind, CodeIssue['severity']>>> = {
  UNPARSEABLE: 'error',
  DYNAMIC_CODE: 'error',
  INTROSPECTION: 'error',
  ENCODED_PAYLOAD: 'error',
  NATIVE_CODE: 'error',
  DESERIALIZATION: 'error',
  DOWNLOAD_AND_RUN: 'error',
  REVERSE_SHELL: 'error',
  DESTRUCTIVE: 'error',
  PERSISTENCE: 'error',
  ENVIRONMENT: 'info',
  NETWORK: 'info',
  FILE_WRITE: 'info',
};

export function issuesIn(constructs: readonly Construct[]): readonly CodeIssue[] {
  return constructs.map(({ kind, reason, start, end }) => ({
    description: `${kind}: ${reason}`,
    severity: SEVERITIES[kind] ?? 'warning',
    start,
    end,
  }));
}
