import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ANNOUNCING_WORDS } from '../../src/secrets/assignment.ts';
import { FORMS } from '../../src/secrets/kinds.ts';
import { findSecrets } from '../../src/secrets/secrets.ts';
import { growingFast, tried } from '../growth.ts';
import '../../../../tools/seed.ts';

/** Texts that are nothing but beginnings: each is looked at, and none is a secret. */
const HOSTILE = [
  ...new Set(FORMS.flatMap(({ literals }) => literals)),
  ...ANNOUNCING_WORDS,
  '://',
  'a://a:',
  'awskey',
  "awskeykey'",
  "aws key'0123456789012345678901234567890123456789",
  'password=',
  'password password:',
  'key = key = ',
  '-----BEGIN PRIVATE KEY-----\n',
  `-----BEGIN PRIVATE KEY-----\n${'A'.repeat(50)}`,
  'PuTTY-User-Key-File-2: x\n',
  'eyJeyJ.eyJ',
  'eyJ0.eyJ0-',
  'xoxb-1-',
  'basic ',
  'bearer a',
  'sk-ant-api03-a',
  '0123456789:AA',
  '\\n"',
];

test('no text makes the search grow faster than the text', () => {
  assert.deepEqual(growingFast(findSecrets, tried(HOSTILE)), []);
});

test('no text makes it fail, and findings are in order, apart from each other and within the text', () => {
  const piece = fc.oneof(fc.constantFrom(...HOSTILE), fc.string(), fc.string({ unit: 'binary' }));
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join('');
      let last = 0;
      for (const { start, end } of findSecrets(text)) {
        assert.ok(start < end && end <= text.length);
        assert.ok(start >= last);
        last = start;
      }
    }),
    { numRuns: 300 },
  );
});
