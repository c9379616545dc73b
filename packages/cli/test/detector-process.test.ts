/** Rules of a session whose detectors need a third-party parser: the process that runs it decides, and ends with the session. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Workplace } from '@cordon/testkit/cordon-program.ts';

const NO_NAMES = `from invariant.detectors import pii
raise "a name" if:
    (asked: Message) -> (answer: Message)
    asked.role == "user"
    answer.role == "assistant"
    any(pii(asked, ["PERSON"]))`;

for (const [query, outcome, code] of [
  ['My name is Ada Lovelace', 'refused', 1],
  ['good morning', 'answered', 0],
] as const)
  test(`in a session a rule about names decides about an answer to “${query}”: ${outcome}`, () => {
    using place = new Workplace({ 'names.gr': NO_NAMES });
    const args = ['ask', query, '--model', 'obedient', '--json', '--policy', 'names.gr'];
    const { lines, err, code: ended } = place.run(args);
    const end = lines.find((line) => Object(line).kind === 'query.ended');
    assert.equal(Object(end).outcome, outcome, err);
    assert.equal(ended, code);
  });
