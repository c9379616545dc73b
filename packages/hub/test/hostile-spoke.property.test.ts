/**
 * An agent loop in an attacker's hand: it may send any message at any time. Whatever it does, the hub stays up, no
 * tool runs without a decision that allows it, and what it receives names nothing that it may not know.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HubMessage } from '@cordon/protocol';
import fc from 'fast-check';
import { app, NUMBER, serves, shape, TEXT } from './fixture/app.ts';
import { yes } from './fixture/consent.ts';
import { plan } from './fixture/model.ts';
import { launcherOf, READY } from './fixture/spoke.ts';
import { raiseStage, type Stage } from './fixture/stage.ts';

/** Words of other contexts: what is installed, what was said there, the peers that were offered there. */
const SECRETS = ['hiddenbank', 'BALANCE-OF-BANK', 'WORDS-OF-BANK', 'hidden-tool', 'secret-query'];

const MAIL = app(
  'mail',
  { read: 'a mail', send: { input: shape({ to: TEXT }), reply: 'sent' } },
  { irreversible: ['send'], untrusted: ['read'] },
);
const BANK = app('hiddenbank', {
  'hidden-tool': { description: 'WORDS-OF-BANK', reply: 'BALANCE-OF-BANK' },
});
const RIDES = app(
  'rides',
  { fare: { reply: { structured: { amount: 12, note: 'a note' } } } },
  {
    functionalities: [
      serves('ride-fare', 'fare', shape({ to: TEXT }), shape({ amount: NUMBER, note: TEXT })),
    ],
  },
);

/** One line of the spoke. A peer is one that it was offered, one of another context, or made up. */
type Said =
  | { readonly kind: 'raw'; readonly line: string }
  | { readonly kind: 'fields'; readonly fields: Readonly<Record<string, unknown>> }
  | {
      readonly kind: 'request';
      readonly peer: 'own' | 'foreign' | 'invented';
      readonly id: number;
      readonly message: unknown;
    }
  | { readonly kind: 'pause' };

const id = fc.oneof(fc.integer({ min: 0, max: 6 }), fc.constant(1), fc.constant(-1), fc.constant(1e300));
const reference = fc.constantFrom('$1', '$2', '$999999', '$', '', 'peer-1', '__proto__');
const text = fc.oneof(fc.string(), reference, fc.constantFrom('rides', 'hiddenbank', 'ride-fare', 'send'));
const args = fc.oneof(
  fc.constant({}),
  fc.record({ to: text }),
  fc.record({ to: fc.jsonValue() }),
  fc.constant({ ref: '$1', length: 1 }),
  fc.dictionary(text, fc.jsonValue(), { maxKeys: 3 }),
);
const tool = fc.oneof(
  fc.constantFrom('read', 'send', 'fare', 'hidden-tool', 'probe', 'constructor'),
  fc.string(),
);
/** By these words the scripted model knows that the context of `mail` asks. */
const PROMPT = { role: 'system', text: MAIL.instructions };
const messages = fc.array(
  fc.oneof(
    fc.constant(PROMPT),
    fc.record({ role: fc.constantFrom('system', 'user'), text }),
    fc.record({ role: fc.constant('assistant'), text, calls: fc.constant([]) }),
    fc.record({ role: fc.constant('tool'), text, callId: text, name: text, isError: fc.boolean() }),
    fc.jsonValue(),
  ),
  { maxLength: 3 },
);

const said: fc.Arbitrary<Said> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.string().map((line): Said => ({ kind: 'raw', line: line.replaceAll('\n', ' ') })),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('{', '[[[[', '{"type":"ready","versions":[2]}', '{"__proto__":1}', 'null')
      .map((line): Said => ({ kind: 'raw', line })),
  },
  { weight: 3, arbitrary: fields({ type: fc.constant('tool'), id, name: tool, arguments: args }) },
  {
    weight: 3,
    arbitrary: fields({
      type: fc.constant('probe'),
      id,
      functionality: fc.constantFrom('ride-fare', 'payment', 'rides', ''),
    }),
  },
  { weight: 2, arbitrary: fields({ type: fc.constant('open'), id, reference }) },
  { weight: 2, arbitrary: fields({ type: fc.constant('model'), id, messages }) },
  {
    weight: 1,
    arbitrary: fields({
      type: fc.constantFrom('answer', 'exhausted', 'turn', 'nothing'),
      id,
      text,
      steps: id,
    }),
  },
  {
    weight: 4,
    arbitrary: fc
      .record({ peer: fc.constantFrom('own', 'own', 'foreign', 'invented'), id, message: args })
      .map((request): Said => ({ kind: 'request', ...request })),
  },
  { weight: 3, arbitrary: fc.constant<Said>({ kind: 'pause' }) },
);

function fields(shapeOf: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<Said> {
  return fc.record(shapeOf).map((all): Said => ({ kind: 'fields', fields: all }));
}

/** What one run of the hostile loop got to see. */
interface Loot {
  readonly received: HubMessage[];
  readonly foreignPeers: string[];
}

const after = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** In its first turn it only takes down the peers that another context was offered. */
function attackers(script: readonly Said[], loot: Loot, patienceMs: number) {
  let turns = 0;
  return launcherOf(({ onMessage, write, send }) => {
    const peers: string[] = [];
    onMessage((message) => {
      if (message.type === 'offer') peers.push(message.peer);
      if (turns > 1) loot.received.push(message);
      if (message.type !== 'turn') return;
      turns++;
      if (turns === 1)
        return collect(
          message.context.offers.map(({ peer }) => peer),
          message.id,
        );
      loot.received.push(message);
      peers.push(...message.context.offers.map(({ peer }) => peer));
      void attack(message.id);
    });
    const collect = (offered: readonly string[], turn: number) => {
      loot.foreignPeers.push(...offered);
      send({ type: 'answer', id: turn, text: 'BALANCE-OF-BANK' });
    };
    const attack = async (turn: number) => {
      for (const one of script) {
        if (one.kind === 'pause') await after(1);
        else write(lineOf(one, peers, loot.foreignPeers));
      }
      // It lets the hub finish what is open, so that what was smuggled in has its effect; then it answers.
      const until = Date.now() + patienceMs;
      while (loot.received.length < 1 + script.length && Date.now() < until) await after(1);
      for (let round = 0; round < 3; round++) {
        send({ type: 'answer', id: turn, text: '$1 $2' });
        await after(5);
      }
    };
    send(READY);
  });
}

function lineOf(
  one: Exclude<Said, { kind: 'pause' }>,
  own: readonly string[],
  foreign: readonly string[],
): string {
  if (one.kind === 'raw') return one.line;
  if (one.kind === 'fields') return JSON.stringify(one.fields);
  const peers = { own: own.at(-1) ?? '', foreign: foreign.at(-1) ?? '', invented: 'peer-1' };
  return JSON.stringify({ type: 'request', id: one.id, peer: peers[one.peer], message: one.message });
}

/** Each of these gets an answer. */
const ALLOWED: readonly Said[] = [
  { kind: 'fields', fields: { type: 'tool', id: 1, name: 'read', arguments: {} } },
  { kind: 'fields', fields: { type: 'tool', id: 2, name: 'send', arguments: { to: 'ada' } } },
  { kind: 'request', peer: 'own', id: 3, message: { to: 'Turin' } },
  { kind: 'request', peer: 'foreign', id: 4, message: {} },
  { kind: 'fields', fields: { type: 'probe', id: 5, functionality: 'ride-fare' } },
  { kind: 'fields', fields: { type: 'model', id: 6, messages: [PROMPT] } },
];

const RIDES_THEN_BANK = plan([{ app: 'rides' }, { app: 'hiddenbank', after: [1] }]);
const MAIL_THEN_RIDES = plan([
  { app: 'mail', uses: ['read'] },
  { app: 'rides', uses: ['ride-fare'], after: [1] },
]);

/** First another context, which is offered a peer for the bank; then the one that the attacker has. */
async function play(script: readonly Said[], patienceMs: number): Promise<readonly string[]> {
  const loot: Loot = { received: [], foreignPeers: [] };
  const { stage, clear } = raiseStage({
    apps: [MAIL, BANK, RIDES],
    user: yes(),
    spokes: attackers(script, loot, patienceMs),
    limits: { idleSeconds: 1, droppedMessages: 5 },
    script: {
      planner: [RIDES_THEN_BANK, MAIL_THEN_RIDES],
      mail: Array.from({ length: 30 }, () => 'fine'),
    },
  });
  try {
    assert.equal((await stage.ask('secret-query')).kind, 'answered');
    assert.equal(loot.foreignPeers.length, 1);
    assert.deepEqual(stage.ran, []);
    const outcome = await stage.ask('read my mail');
    assert.notEqual(outcome.kind, 'cancelled');
    assertContained(stage, loot, script);
    return stage.ran;
  } finally {
    await clear();
  }
}

function assertContained(stage: Stage, { received, foreignPeers }: Loot, script: readonly Said[]): void {
  const outside = stage.ran.filter((line) => !/^(mail\.(read|send)|rides\.fare) /.test(line));
  assert.deepEqual(outside, [], 'a tool of another context ran');
  const asked = stage.user.asked.map(({ subject }) => subject.to);
  assert.ok(!asked.some((to) => to === BANK.installed.id), 'the user was asked for the bank');
  // What it said itself may come back to it: `there is no tool …`.
  const words = JSON.stringify(received);
  const guessed = JSON.stringify(script);
  const learnt = [...SECRETS, ...foreignPeers].filter(
    (word) => words.includes(word) && !guessed.includes(word),
  );
  assert.deepEqual(learnt, [], 'it learnt of another context');
}

test('what is allowed to a spoke happens, in whatever order it asks', async () => {
  const ran = await play(ALLOWED, 5_000);
  assert.deepEqual([...ran].sort(), ['mail.read {}', 'mail.send {"to":"ada"}', 'rides.fare {"to":"Turin"}']);
});

test('whatever a spoke sends, the hub stays up, decides every effect and tells nothing of other contexts', async (t) => {
  const seed = Date.now() % 1_000_000_000;
  t.diagnostic(`seed ${seed}`);
  const property = fc.asyncProperty(fc.array(said, { maxLength: 25 }), async (script) => {
    await play(script, 20);
  });
  await fc.assert(property, { seed, numRuns: 40, examples: [[[...ALLOWED]]] });
});
