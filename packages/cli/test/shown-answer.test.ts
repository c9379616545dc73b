import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Screen } from '@cordon/console/text';
import { DEFAULT_LABEL, type Event, type EventBody, type EventId, id } from '@cordon/core';
import { ShownAnswer } from '../src/print/shown-answer.ts';

function stand() {
  let screen = '';
  const output = { write: (text: string) => (screen += text) };
  const answer = new ShownAnswer(new Screen({ output, columns: () => 80, hasColor: false }));
  const see = (name: string, causes: readonly EventId[], body: EventBody) => {
    const frame = { id: id<'event'>(name), session: id<'session'>('s'), sequence: 0, time: 0 };
    const event: Event = { ...frame, context: null, app: null, causes, label: DEFAULT_LABEL, ...body };
    answer.see(event);
  };
  let parts = 0;
  const part = (text: string, from: number, isShown = true) => {
    const name = `part ${++parts}`;
    const of = [id<'event'>(name)];
    see(name, [], { kind: 'answer-part.proposed', effect: 'answer-part', text, from });
    if (isShown) see(`${name} shown`, of, { kind: 'answer-part.executed', milliseconds: 0 });
  };
  const asks = () =>
    see('m', [], {
      kind: 'model-call.proposed',
      effect: 'model-call',
      model: 'm',
      messages: 1,
      tools: [],
      digest: '',
    });
  const ask = () => see('u', [], { kind: 'user.message', text: 'And now?' });
  return { answer, part, asks, ask, screen: () => screen };
}

test('of an answer that was shown in part the rest is printed', () => {
  const { answer, part, screen } = stand();
  part('One.\n\n', 0);
  part('Two.\n\n', 6);
  answer.end('One.\n\nTwo.\n\nThree.');
  assert.equal(screen(), '  │ One.\n  │ \n  │ Two.\n  │ \n  │ Three.\n');
});

test('nothing is printed behind an answer of which all was shown', () => {
  const { answer, part, screen } = stand();
  part('One.\n\n', 0);
  answer.end('One.\n\n');
  assert.equal(screen(), '  │ One.\n  │ \n');
});

test('an answer that begins otherwise than what was shown is printed whole', () => {
  const { answer, part, screen } = stand();
  part('One.\n\n', 0);
  answer.end('Uno.');
  assert.equal(screen(), '  │ One.\n  │ \n  │ Uno.\n');
});

test('words before a call are no part of the answer, also where it begins with them', () => {
  const { answer, part, asks, screen } = stand();
  part('One.\n\n', 0);
  asks();
  answer.end('One.\n\nTwo.');
  assert.equal(screen(), '  │ One.\n  │ \n  │ One.\n  │ \n  │ Two.\n');
});

test('a part that was not allowed is not printed', () => {
  const { answer, part, screen } = stand();
  part('One.\n\n', 0, false);
  answer.end('One.');
  assert.equal(screen(), '  │ One.\n');
});

test('what an earlier query that came to no answer had shown is no beginning of the next answer', () => {
  const { answer, part, ask, screen } = stand();
  part('One.\n\n', 0);
  ask();
  answer.end('One.\n\nTwo.');
  assert.equal(screen(), '  │ One.\n  │ \n  │ One.\n  │ \n  │ Two.\n');
});
