import assert from 'node:assert/strict';
import { test } from 'node:test';
import { analyze } from '@cordon/policy-tools';
import { loadedPolicy } from '../src/rules/policies.ts';

const RULES = `from invariant.detectors import secrets, pii

raise "secret" if:
    (m: Message)
    any(secrets(m))

raise "mail" if:
    (m: Message)
    "EMAIL_ADDRESS" in pii(m)
`;

test('the rules of users import detectors by name', () => {
  const policy = loadedPolicy(RULES, { file: 'mine.gr' });
  assert.ok(policy.ok);
  assert.deepEqual(policy.value.warnings, []);
  const found = (content: string): unknown => {
    const analysis = analyze(policy.value, [{ role: 'user', content }]);
    assert.ok(analysis.ok);
    assert.deepEqual(analysis.value.undecided, []);
    return analysis.value.errors.map(({ ranges }) => ranges);
  };
  assert.deepEqual(found('write to ada@example.org'), [['0', '0.content:9-24']]);
  assert.deepEqual(found('write to ada'), []);
});
