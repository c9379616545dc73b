import assert from 'node:assert/strict';
import { test } from 'node:test';
import { id, type ModelTool } from '@cordon/core';
import type { HubAnswer, TurnContext } from '@cordon/protocol';
import { type Ask, runTurn } from '../src/index.ts';

type Request = Parameters<Ask>[0];

const tool = (name: string): ModelTool => ({ name, description: '', parameters: { type: 'object' } });

function turn(overrides: Partial<TurnContext> = {}): TurnContext {
  const empty = {
    system: 'be kind',
    history: [],
    data: [],
    tools: [],
    offers: [],
    functionalities: [],
    serves: null,
    maxSteps: 4,
  };
  return { ...empty, query: 'hello', ...overrides };
}

/** A hub that answers model requests from a list and everything else with one output. */
function scriptedHub(replies: readonly { text: string; calls: readonly string[] }[]) {
  const asked: Request[] = [];
  let next = 0;
  const ask: Ask = async (request): Promise<HubAnswer> => {
    asked.push(structuredClone(request));
    if (request.type !== 'model') return { type: 'output', id: 0, text: 'result', isError: false };
    const reply = replies[next++] ?? { text: 'end', calls: [] };
    return {
      type: 'reply',
      id: 0,
      text: reply.text,
      calls: reply.calls.map((name, index) => ({ id: `c${index}`, name, arguments: { ref: '$1' } })),
    };
  };
  return { ask, asked };
}

test('without calls the model’s text is the answer', async () => {
  const { ask, asked } = scriptedHub([{ text: 'hi', calls: [] }]);
  assert.deepEqual(await runTurn(turn(), ask), { kind: 'answer', text: 'hi' });
  assert.deepEqual(asked, [
    {
      type: 'model',
      messages: [
        { role: 'system', text: 'be kind' },
        { role: 'user', text: 'hello' },
      ],
    },
  ]);
});

test('released data stand beside the query', async () => {
  const { ask, asked } = scriptedHub([]);
  await runTurn(turn({ data: [{ name: 'city', value: 'Turin' }] }), ask);
  const [first] = asked;
  assert.equal(
    first?.type === 'model' ? first.messages[1]?.text : '',
    'hello\n\nData that the user released:\ncity: Turin',
  );
});

test('two calls of one turn are made together and both results come back', async () => {
  const { ask, asked } = scriptedHub([{ text: '', calls: ['read', 'list'] }]);
  await runTurn(turn({ tools: [tool('read'), tool('list')] }), ask);
  assert.deepEqual(
    asked.map(({ type }) => type),
    ['model', 'tool', 'tool', 'model'],
  );
  const last = asked.at(-1);
  assert.deepEqual(
    last?.type === 'model'
      ? last.messages.slice(-2).map((message) => message.role === 'tool' && message.callId)
      : [],
    ['c0', 'c1'],
  );
});

test('an offer is asked for by its peer, and never takes the place of an own tool', async () => {
  const offer = {
    name: 'send-mail',
    description: '',
    peer: id<'ephemeral'>('peer-1'),
    request: {},
    response: {},
  };
  const offered = scriptedHub([{ text: '', calls: ['send-mail'] }]);
  await runTurn(turn({ offers: [offer] }), offered.ask);
  assert.deepEqual(offered.asked[1], { type: 'request', peer: 'peer-1', message: { ref: '$1' } });
  const owned = scriptedHub([{ text: '', calls: ['send-mail'] }]);
  await runTurn(turn({ offers: [offer], tools: [tool('send-mail')] }), owned.ask);
  assert.deepEqual(owned.asked[1], { type: 'tool', name: 'send-mail', arguments: { ref: '$1' } });
});

test('probe, request and open go to the hub as what they are', async () => {
  const { ask, asked } = scriptedHub([{ text: '', calls: ['probe', 'request', 'open'] }]);
  await runTurn(turn(), ask);
  assert.deepEqual(asked.slice(1, 4), [
    { type: 'probe', functionality: '' },
    { type: 'request', peer: '', message: null },
    { type: 'open', reference: '$1' },
  ]);
});

test('a model that never stops calling is stopped at its budget', async () => {
  const { ask } = scriptedHub(Array.from({ length: 10 }, () => ({ text: '', calls: ['read'] })));
  assert.deepEqual(await runTurn(turn({ tools: [tool('read')] }), ask), { kind: 'exhausted', steps: 4 });
});
