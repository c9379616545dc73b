/** Secrets in texts: keys, tokens and passwords, by their form. Ring 1. */
import type { Finding } from '../finding.ts';

const KINDS: readonly { readonly kind: string; readonly pattern: RegExp }[] = [
  { kind: 'GITHUB_TOKEN', pattern: /(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9_]{36}/g },
  { kind: 'AWS_ACCESS_KEY', pattern: /(?:A3T[A-Z0-9]|ABIA|ACCA|AKIA|ASIA)[0-9A-Z]{16}/g },
  { kind: 'AZURE_STORAGE_KEY', pattern: /AccountKey=[A-Za-z0-9+/=]{88}/g },
  { kind: 'SLACK_TOKEN', pattern: /xox[abposr]-\d{1,20}-[A-Za-z0-9-]{1,100}/gi },
];

/** Every secret, in the order of its start. */
export function findSecrets(text: string): readonly Finding[] {
  return KINDS.flatMap(({ kind, pattern }) =>
    [...text.matchAll(pattern)].map((match) => ({
      kind,
      start: match.index,
      end: match.index + match[0].length,
      confidence: 0.9,
      reason: 'the form of such a key',
    })),
  ).sort((a, b) => a.start - b.start);
}
