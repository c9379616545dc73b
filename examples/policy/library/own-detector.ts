/** A function of the program that rules import by name: it gets texts, and marks what its answer is about. */
import assert from 'node:assert/strict';
import { defineDetector, loadPolicy } from '@cordon/policy';
import { analyze, ExplainingMonitor } from '@cordon/policy-tools';

const pii = defineDetector({
  name: 'pii',
  run: ({ texts, mark }) =>
    texts.flatMap((text, index) =>
      [...text.matchAll(/\b[A-Z]{2}\d{20}\b/g)].map((found) => {
        mark(index, found.index, found.index + found[0].length);
        return 'IBAN';
      }),
    ),
});

const text = `
from invariant.detectors import pii
raise "an account number" if:
    (m: Message)
    "IBAN" in pii(m)
`;
const policy = loadPolicy(text, { detectors: [pii] });
if (!policy.ok) throw new Error(JSON.stringify(policy.fault));
const analysis = analyze(policy.value, [{ role: 'user', content: 'Pay to DE44500105175407324931.' }]);
assert.deepEqual(analysis.ok && analysis.value.errors[0]?.ranges, ['0', '0.content:7-29']);

// Without the detector it loads with a warning; then the rule is undecided, and what is undecided denies.
const bare = loadPolicy(text);
assert.ok(bare.ok);
console.log(bare.value.warnings.map(({ code, message }) => `${code} ${message}`).join('\n'));
const event = { type: 'Message', role: 'user', content: 'hello', toolCalls: [] } as const;
const [reason] = new ExplainingMonitor(bare.value).decide([event]).reasons;
console.log(reason?.message);
assert.equal(reason?.because, 'undecided');
