import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { findSecrets } from '../../src/secrets/secrets.ts';

/** What the seed language searches for, as its specification has it (13.2). */
const SEED: Readonly<Record<string, readonly RegExp[]>> = {
  GITHUB_TOKEN: [/(ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9_]{36}/],
  AWS_ACCESS_KEY: [
    /(?:A3T[A-Z0-9]|ABIA|ACCA|AKIA|ASIA)[0-9A-Z]{16}/,
    /aws.{0,20}?(?:key|pwd|pw|password|pass|token).{0,20}?['"]([0-9a-zA-Z/+]{40})['"]/i,
  ],
  AZURE_STORAGE_KEY: [/AccountKey=[a-zA-Z0-9+/=]{88}/],
  SLACK_TOKEN: [
    /xox(?:a|b|p|o|s|r)-(?:\d+-)+[a-z0-9]+/i,
    /https:\/\/hooks\.slack\.com\/services\/T[a-z0-9_]+\/B[a-z0-9_]+\/[a-z0-9_]+/i,
  ],
};

const characters = (alphabet: string, least: number, most: number) =>
  fc.string({ unit: fc.constantFrom(...alphabet), minLength: least, maxLength: most });
const ALNUM = 'ABCXYZabcxyz0189';

const PIECE = fc.oneof(
  fc.constantFrom(
    'ghp_',
    'gho_',
    'ghs_',
    'AKIA',
    'ASIA',
    'A3T',
    'ABIA',
    'aws',
    'AWS_',
    'key',
    'token',
    'pass',
    '"',
    "'",
    ' = ',
    ': ',
    'AccountKey=',
    'xoxb-',
    'XOXP-',
    '12-',
    '-',
    '_',
    '\n',
    'https://hooks.slack.com/services/',
    'T1/',
    'B2/',
    'password = ',
    'example',
    'xxxx',
    '://a:',
    '@',
  ),
  characters(`${ALNUM}_`, 30, 40),
  characters('ABCXYZ0189', 14, 18),
  characters(`${ALNUM}/+`, 39, 41),
  characters(`${ALNUM}+/=`, 87, 89),
  characters(ALNUM, 0, 6),
);

test('whatever the seed language reports is reported, whatever stands around it', () => {
  fc.assert(
    fc.property(fc.array(PIECE, { minLength: 1, maxLength: 8 }), (pieces) => {
      const text = pieces.join('');
      const kinds = new Set(
        findSecrets(text)
          .filter(({ confidence }) => confidence >= 0.5)
          .map(({ kind }) => kind),
      );
      for (const [kind, patterns] of Object.entries(SEED))
        if (patterns.some((pattern) => pattern.test(text))) assert.ok(kinds.has(kind), `${kind} in ${text}`);
    }),
    { numRuns: 3000 },
  );
});
