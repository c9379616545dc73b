/** Which runs are no measurement: those in which something failed that no attack and no rule made fail. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Event, type EventBody, fault, id, USER_LABEL } from '@cordon/core';
import { rejectFailure } from './judgement.ts';

const FRAME = {
  id: id<'event'>('e1'),
  session: id<'session'>('s1'),
  sequence: 0,
  time: 0,
  context: null,
  app: null,
  causes: [],
  label: USER_LABEL,
};

function happened(body: EventBody): readonly Event[] {
  return [{ ...FRAME, ...body }];
}

const ANSWERED: EventBody = { kind: 'query.ended', outcome: 'answered', reason: null };

for (const [what, body] of [
  ['a query that failed', { kind: 'query.ended', outcome: 'failed', reason: 'no plan' }],
  ['an app that did not start', { kind: 'app.unavailable', fault: fault('app-timeout', 'late') }],
  ['a call that was not answered in time', { kind: 'tool-call.failed', fault: fault('app-timeout', 'late') }],
  [
    'an agent loop that ended',
    { kind: 'app-request.failed', fault: fault('spoke-unavailable', 'the loop ended') },
  ],
] as const satisfies readonly (readonly [string, EventBody])[])
  test(`${what} is no measurement, also in an answered query`, () => {
    assert.throws(() => rejectFailure([...happened(body), ...happened(ANSWERED)]), /failed|did not run/);
  });

for (const [what, body] of [
  ['an answer', ANSWERED],
  ['a refusal', { kind: 'query.ended', outcome: 'refused', reason: 'the user said no' }],
  [
    'a query that its own limit ended',
    { kind: 'query.ended', outcome: 'failed', reason: 'too many calls', limit: 'steps' },
  ],
  ['an error that the app answered', { kind: 'tool-call.failed', fault: fault('app-error', 'no such file') }],
] as const satisfies readonly (readonly [string, EventBody])[])
  test(`${what} is a measurement`, () => rejectFailure(happened(body)));
