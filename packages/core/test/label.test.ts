import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_LABEL, HUB_LABEL, joinLabels, type Label, labelNames, USER_LABEL } from '../src/index.ts';

const ALL: readonly Label[] = [
  HUB_LABEL,
  USER_LABEL,
  { integrity: 'untrusted', confidentiality: 'public' },
  DEFAULT_LABEL,
];

test('what is not known to be otherwise is untrusted and private', () => {
  assert.deepEqual(labelNames(DEFAULT_LABEL), ['untrusted', 'private']);
});

test('joining never lowers: untrusted stays untrusted, private stays private', () => {
  for (const a of ALL) {
    for (const b of ALL) {
      const joined = joinLabels(a, b);
      const isUntrusted = a.integrity === 'untrusted' || b.integrity === 'untrusted';
      const isPrivate = a.confidentiality === 'private' || b.confidentiality === 'private';
      assert.deepEqual(joined, {
        integrity: isUntrusted ? 'untrusted' : 'trusted',
        confidentiality: isPrivate ? 'private' : 'public',
      });
    }
  }
});

test('the labels form a lattice: joining is idempotent, commutative and associative', () => {
  for (const a of ALL) {
    assert.deepEqual(joinLabels(a, a), a);
    assert.deepEqual(joinLabels(a, HUB_LABEL), a);
    for (const b of ALL) {
      assert.deepEqual(joinLabels(a, b), joinLabels(b, a));
      for (const c of ALL) assert.deepEqual(joinLabels(joinLabels(a, b), c), joinLabels(a, joinLabels(b, c)));
    }
  }
});
