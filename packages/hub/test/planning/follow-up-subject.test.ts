import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Event, type EventBody, HUB_LABEL, id, type Label, USER_LABEL } from '@cordon/core';
import { FollowUpSubject } from '../../src/planning/follow-up-subject.ts';

/** What a session is about after a query whose plan needs these facts, and in which this was released. */
function factsAfter(needs: readonly string[], name: string, label: Label): readonly string[] | undefined {
  const subject = new FollowUpSubject();
  let sequence = 0;
  const saw = (body: EventBody, causes: Event['causes'] = []): void => {
    const frame = {
      session: id<'session'>('s'),
      context: null,
      app: null,
      causes,
      label: HUB_LABEL,
      time: 0,
    };
    subject.saw({ ...frame, id: id(`e${sequence}`), sequence: sequence++, ...body } as Event);
  };
  const step = { id: '1', app: id<'app'>('bank'), task: 'look', uses: [], needs, after: [] };
  const item = { name, value: '12', origin: id<'app'>('bank'), label };
  saw({ kind: 'user.message', text: 'how much is it' });
  saw({ kind: 'plan.made', plan: { steps: [step], candidates: [] }, origin: 'planner' });
  saw({ kind: 'data-release.proposed', effect: 'data-release', to: id('bank'), items: [item] });
  saw({ kind: 'data-release.executed', milliseconds: 0 }, [id('e2')]);
  saw({ kind: 'query.ended', outcome: 'answered', reason: null });
  return subject.current?.facts;
}

const UNTRUSTED: Label = { integrity: 'untrusted', confidentiality: 'private' };
for (const [what, needs, name, label, wanted] of [
  ['a fact of the user that the plan needs', ['balance'], 'balance', USER_LABEL, ['balance']],
  ['a value that an app observed under the same name', ['bank/balance'], 'balance', USER_LABEL, []],
  ['a value of an app that others may have written', ['balance'], 'balance', UNTRUSTED, []],
  ['a text behind a reference', ['balance'], '$1', USER_LABEL, []],
] as const) {
  test(`after ${what} was released a follow-up wants ${wanted.length} facts`, () => {
    assert.deepEqual(factsAfter(needs, name, label), wanted);
  });
}
