import assert from 'node:assert/strict';
import { duplexPair } from 'node:stream';
import { test } from 'node:test';
import { encode, type HubMessage, LineDecoder, type TurnContext } from '@cordon/protocol';
import { runSpoke } from '../src/index.ts';

const TURN: TurnContext = {
  system: '',
  history: [],
  query: 'hello',
  data: [],
  tools: [],
  offers: [],
  functionalities: [],
  serves: null,
  maxSteps: 2,
};

/** A spoke in this process, and the hub's end of its link in the test's hand. */
function spoke() {
  const [hub, link] = duplexPair();
  const heard: string[] = [];
  const decoder = new LineDecoder({ lineBytes: 1 << 20 });
  hub.on('data', (chunk: Buffer) => {
    const lines = decoder.push(chunk);
    heard.push(...(lines.ok ? lines.value : []));
  });
  let ends = 0;
  runSpoke(link, () => {
    ends++;
    link.destroy();
  });
  const settle = async () => {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  const say = async (...messages: readonly (HubMessage | string)[]) => {
    for (const one of messages) hub.write(`${typeof one === 'string' ? one : encode(one)}\n`);
    await settle();
  };
  return { say, heard, ends: () => ends, settle };
}

const WELCOME: HubMessage = { type: 'welcome', version: 2 };
const BEGIN: HubMessage = { type: 'turn', id: 1, context: TURN };
const REPLY: HubMessage = { type: 'reply', id: 1, text: 'hi', calls: [] };

test('a spoke says what it speaks, serves a turn and waits for the next', async () => {
  const { say, heard, ends } = spoke();
  await say(WELCOME, BEGIN);
  await say(REPLY);
  assert.deepEqual(heard, [
    '{"type":"ready","versions":[2]}',
    '{"type":"model","messages":[{"role":"system","text":""},{"role":"user","text":"hello"}],"id":1}',
    '{"type":"answer","id":1,"text":"hi"}',
  ]);
  assert.equal(ends(), 0);
});

const ENDS: readonly (readonly [string, readonly (HubMessage | string)[]])[] = [
  ['the hub speaks no version of it', [{ type: 'unsupported', versions: [9] }]],
  ['the hub names a version that it did not', [{ type: 'welcome', version: 9 }]],
  ['a turn comes before the welcome', [BEGIN]],
  ['a second turn comes in the midst of one', [WELCOME, BEGIN, { ...BEGIN, id: 2 }]],
  ['its turn is cancelled', [WELCOME, BEGIN, { type: 'cancel', id: 1 }]],
  ['an answer comes that it did not ask for', [WELCOME, BEGIN, { ...REPLY, id: 7 }]],
  ['an answer comes twice', [WELCOME, BEGIN, REPLY, REPLY]],
  ['what comes is not in the protocol', [WELCOME, '{"type":"turn","id":1}']],
  ['what comes is no JSON', [WELCOME, 'hello']],
];

for (const [what, messages] of ENDS) {
  test(`a spoke ends, once, when ${what}`, async () => {
    const { say, ends } = spoke();
    await say(...messages);
    assert.equal(ends(), 1);
  });
}

test('a cancel that crossed the answer on its way is of a turn that is over', async () => {
  const { say, ends, heard } = spoke();
  await say(WELCOME, BEGIN);
  await say(REPLY);
  await say({ type: 'cancel', id: 1 });
  assert.equal(heard.at(-1), '{"type":"answer","id":1,"text":"hi"}');
  assert.equal(ends(), 0);
});
