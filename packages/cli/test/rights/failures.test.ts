/** What is read of a query's events, for a question about missing rights; and when the query may not be asked again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Event, id, USER_LABEL } from '@cordon/core';
import { Failures } from '../../src/context/rights/failures.ts';

let count = 0;

/** An event of the app `notes`, with what comes before it. */
function event(body: object, causes: readonly Event[] = []): Event {
  const frame = {
    id: id<'event'>(`e${count}`),
    session: id<'session'>('s'),
    sequence: count++,
    time: 0,
    context: null,
    app: id<'app'>('notes'),
    causes: causes.map((cause) => cause.id),
    label: USER_LABEL,
  };
  return { ...frame, ...body } as unknown as Event;
}

function observed(...events: readonly Event[]): Failures {
  const failures = new Failures();
  for (const one of events) failures.observe(one);
  return failures;
}

/** A call from its proposal to its outcome. */
function call(irreversible: boolean, verdict: 'allow' | 'deny', outcome: object): readonly Event[] {
  const proposed = event({ kind: 'tool-call.proposed', irreversible });
  const decided = event({ kind: 'tool-call.decided', verdict }, [proposed]);
  return [proposed, decided, event(outcome, [decided])];
}

const executed = (isError: boolean, text = '') => ({
  kind: 'tool-call.executed',
  output: { text, structured: null, isError },
});

// Attack: a grant has the same mail sent twice.
test('a call that cannot be undone and did not fail forbids to ask again', () => {
  assert.equal(observed(...call(true, 'allow', executed(false))).hasActed, true);
  assert.equal(observed(...call(true, 'allow', { kind: 'tool-call.in-doubt' })).hasActed, true);
});

test('a call that failed, was denied, or can be undone does not', () => {
  assert.equal(observed(...call(true, 'allow', executed(true))).hasActed, false);
  assert.equal(observed(...call(true, 'deny', { kind: 'answer.proposed' })).hasActed, false);
  assert.equal(observed(...call(false, 'allow', executed(false))).hasActed, false);
});

test('errors of apps and refused requests are failures, answers are none', () => {
  const words = observed(
    ...call(false, 'allow', executed(true, 'ENOENT')),
    ...call(false, 'allow', executed(false, 'fine')),
  );
  assert.deepEqual(
    words.all.map(({ kind, words: said }) => [kind, said]),
    [['words', 'ENOENT']],
  );
  const refusal = { kind: 'egress.refused', host: 'example.org', port: 993, reason: 'no', times: 1 };
  const hosts = observed(event(refusal), event({ ...refusal, host: null, port: null }));
  assert.deepEqual(
    hosts.all.map((failure) => failure.kind === 'host' && [failure.host, failure.port]),
    [['example.org', 993]],
  );
});
