/** Which tools a model is shown: those that there is something to use on. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DATA_KINDS, id } from '@cordon/core';
import type { TurnContext } from '../src/message.ts';
import { offeredTools } from '../src/offered-tools.ts';

const CONTEXT: TurnContext = {
  system: '',
  history: [],
  query: 'q',
  data: [],
  tools: [{ name: 'own', description: '', parameters: {} }],
  offers: [{ name: 'planned', description: '', peer: id('p'), request: {}, response: {} }],
  functionalities: [{ name: 'ride-fare', description: 'the fare of a ride' }],
  serves: null,
  maxSteps: 5,
};
const NOTHING = { hasPeer: false, hasReference: false, mayNeed: false };

function names(context: TurnContext, given = NOTHING): readonly string[] {
  return offeredTools(context, given).map(({ name }) => name);
}

test('own tools and planned ones come first, and others can be asked for from the start', () => {
  assert.deepEqual(names(CONTEXT), ['own', 'planned', 'probe']);
});

test('a request can be sent once there is somebody to send it to', () => {
  assert.deepEqual(names(CONTEXT, { ...NOTHING, hasPeer: true }), ['own', 'planned', 'probe', 'request']);
});

test('what is done with a text of others is offered once there is one', () => {
  assert.deepEqual(names(CONTEXT, { ...NOTHING, hasReference: true }), [
    'own',
    'planned',
    'probe',
    'open',
    'read',
  ]);
});

test('a context that knows of no functionality cannot ask for one', () => {
  assert.deepEqual(names({ ...CONTEXT, functionalities: [] }), ['own', 'planned']);
});

test('a name means the own tool, whatever else is called so', () => {
  const tools = [{ name: 'open', description: 'Opens the door.', parameters: {} }];
  const offered = offeredTools({ ...CONTEXT, tools }, { ...NOTHING, hasPeer: true, hasReference: true });
  assert.deepEqual(
    offered.filter(({ name }) => name === 'open').map(({ description }) => description),
    ['Opens the door.'],
  );
});

test('data can be asked for in the name of what takes arguments', () => {
  const takesName = { properties: { name: { type: 'string' } } };
  const [own] = CONTEXT.tools;
  assert.ok(own !== undefined);
  const tools = [own, { ...own, name: 'book', parameters: takesName }];
  const offers = CONTEXT.offers.map((offer) => ({ ...offer, request: takesName }));
  const offered = offeredTools({ ...CONTEXT, tools, offers }, { ...NOTHING, mayNeed: true });
  const need = offered.find(({ name }) => name === 'need');
  assert.deepEqual(need?.parameters.properties, {
    kinds: { type: 'array', items: { enum: DATA_KINDS } },
    for: { type: 'string', enum: ['book', 'planned'] },
  });
  assert.deepEqual(names(CONTEXT, { ...NOTHING, mayNeed: true }), ['own', 'planned', 'probe']);
});
