/**
 * An agent loop in an attacker's hand: it may send any bytes at any time, as the one that asks, as the one that serves
 * what an honest one asks, or as both. Whatever it does, the hub stays up, no effect happens without a decision that allows
 * it, what it receives names nothing that it may not know, and other spokes do not notice.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Event } from '@cordon/core';
import type { HubMessage, TurnContext } from '@cordon/protocol';
import { app, NUMBER, type ScriptedApp, serves, shape, TEXT } from '@cordon/testkit/hub/app.ts';
import { launcherOf, loopsFor, READY, type SpokeEnd } from '@cordon/testkit/hub/spoke.ts';
import fc from 'fast-check';
import { runs } from '../../../../tools/cases.ts';
import { SEED } from '../../../../tools/seed.ts';
import { yes } from '../fixture/consent.ts';
import { call, field, type Line, plan } from '../fixture/model.ts';
import { raiseStage, type Stage } from '../fixture/stage.ts';

/** Words of other contexts: what is installed, what was said there. The peers that were offered there are added. */
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
/** Serves by a context of its own. */
const OFFICE: ScriptedApp = app(
  'office',
  { stamp: 'stamped' },
  { functionalities: [serves('translation', null, shape({ to: TEXT }), shape({ text: TEXT }))] },
);
const NOTES = app('notes', { keep: 'kept' });
const APPS = [MAIL, BANK, RIDES, OFFICE, NOTES];

/** One thing that the loop does. A peer is one that it was offered, one of another context, or made up. */
type Move =
  | { readonly kind: 'line'; readonly line: string }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | {
      readonly kind: 'request';
      readonly peer: 'own' | 'foreign' | 'invented';
      readonly id: number;
      readonly message: unknown;
    }
  | { readonly kind: 'again'; readonly times: number }
  | { readonly kind: 'huge'; readonly of: 'text' | 'line' | 'lists' | 'values'; readonly kibibytes: number }
  | { readonly kind: 'finish' }
  | { readonly kind: 'pause'; readonly turns: number }
  | { readonly kind: 'hang-up' }
  | { readonly kind: 'go-deaf' }
  | { readonly kind: 'die' };

const id = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 6 }) },
  { weight: 1, arbitrary: fc.constantFrom(-1, 0.5, 1e300, Number.MAX_SAFE_INTEGER) },
);
const reference = fc.constantFrom('$1', '$2', '$999999', '$', '', 'peer-1', '__proto__', '~reader#3');
const names = fc.constantFrom('rides', 'hiddenbank', 'ride-fare', 'send', 'translation', 'mail#1');
const text = fc.oneof(fc.string(), reference, names);
const args = fc.oneof(
  fc.constant({}),
  fc.record({ to: text }),
  fc.record({ to: fc.jsonValue() }),
  fc.constant({ to: { ref: '$1', length: 1 } }),
  fc.constant({ to: 'Turin' }),
  fc.dictionary(text, fc.jsonValue(), { maxKeys: 3 }),
);
const tool = fc.oneof(
  fc.constantFrom('read', 'send', 'fare', 'hidden-tool', 'probe', 'constructor', 'stamp', 'keep'),
  fc.string(),
);
/** By these words the scripted model knows that the context of `mail` asks. */
const PROMPT = { role: 'system', text: MAIL.instructions };
const messages = fc.array(
  fc.oneof(
    fc.constant(PROMPT),
    fc.record({ role: fc.constantFrom('system', 'user'), text: fc.string() }),
    fc.record({ role: fc.constant('assistant'), text, calls: fc.constant([]) }),
    fc.record({ role: fc.constant('tool'), text, callId: text, name: text, isError: fc.boolean() }),
    fc.jsonValue(),
  ),
  { maxLength: 3 },
);
const FORM = { type: 'object', properties: { sum: { type: 'number' } } };
const schema = fc.oneof(
  fc.constantFrom<unknown>(FORM, { type: 'string' }, {}, { $ref: '#' }, { anyOf: [{}] }, { enum: ['x'] }),
  fc.jsonValue(),
  fc.dictionary(
    fc.constantFrom('type', 'enum', 'items', 'maxItems', 'properties', '__proto__'),
    fc.jsonValue(),
  ),
);
const functionality = fc.constantFrom('ride-fare', 'translation', 'payment', 'rides', '', 'x'.repeat(300));

const kinds = fc.oneof(
  fc.array(fc.constantFrom('name', 'email', 'birth-date', 'password', '__proto__'), { maxLength: 8 }),
  fc.jsonValue(),
);

/** What each message of a spoke is made of, right or nearly. */
const FIELDS: readonly Readonly<Record<string, fc.Arbitrary<unknown>>>[] = [
  { type: fc.constant('tool'), id, name: tool, arguments: args },
  { type: fc.constant('probe'), id, functionality },
  { type: fc.constant('open'), id, reference },
  { type: fc.constant('read'), id, reference, schema },
  { type: fc.constant('need'), id, kinds, for: fc.oneof(tool, functionality) },
  { type: fc.constant('model'), id, messages },
  { type: fc.constantFrom('answer', 'exhausted', 'unfit'), id, text, steps: id },
  { type: fc.constant('answer'), id, text },
  { type: fc.constant('exhausted'), id, steps: id },
  { type: fc.constant('unfit'), id },
  { type: fc.constant('ready'), versions: fc.array(id, { maxLength: 3 }) },
  // What only the hub may say, and what nobody says.
  {
    type: fc.constantFrom('turn', 'cancel', 'welcome', 'reply', 'offer', 'response', 'gone', 'grant'),
    id,
    text,
  },
];

const PROTOTYPES = [
  '{"__proto__":1}',
  '{"type":"tool","id":1,"name":"send","arguments":{"to":"x","__proto__":{"admin":true}}}',
  '{"type":"request","id":2,"peer":"__proto__","message":{}}',
  '{"type":"request","id":2,"peer":"p","message":{"\\u005f_proto__":{}}}',
  '{"type":"__proto__","id":1}',
  '{"type":"probe","id":1,"functionality":"constructor"}',
];

const move: fc.Arbitrary<Move> = fc.oneof(
  ...FIELDS.map((fields) => ({
    weight: 3,
    arbitrary: fc.record(fields).map((all): Move => ({ kind: 'line', line: JSON.stringify(all) })),
  })),
  {
    weight: 6,
    arbitrary: fc
      .record({ peer: fc.constantFrom('own', 'own', 'foreign', 'invented'), id, message: args })
      .map((request): Move => ({ kind: 'request', ...request })),
  },
  { weight: 5, arbitrary: fc.integer({ min: 0, max: 20 }).map((turns): Move => ({ kind: 'pause', turns })) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 40 }).map((times): Move => ({ kind: 'again', times })) },
  { weight: 2, arbitrary: fc.constantFrom(...PROTOTYPES).map((line): Move => ({ kind: 'line', line })) },
  { weight: 2, arbitrary: fc.string().map((line): Move => ({ kind: 'line', line })) },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom('{', '[[[[', 'null', '[]', '""', '{}', '\r')
      .map((line): Move => ({ kind: 'line', line })),
  },
  { weight: 2, arbitrary: fc.uint8Array({ maxLength: 64 }).map((bytes): Move => ({ kind: 'bytes', bytes })) },
  // Half a message; what comes next is its other half.
  {
    weight: 2,
    arbitrary: fc
      .constantFrom('{"type":"tool","id":3,"na', '{"type":"answer","id":1,"te', '"', '\\')
      .map((half): Move => ({ kind: 'bytes', bytes: Buffer.from(half) })),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({
        of: fc.constantFrom('text', 'line', 'lists', 'values'),
        kibibytes: fc.constantFrom(64, 1024, 3 * 1024, 5 * 1024),
      })
      .map((huge): Move => ({ kind: 'huge', ...huge })),
  },
  { weight: 2, arbitrary: fc.constant<Move>({ kind: 'finish' }) },
  { weight: 1, arbitrary: fc.constantFrom<Move>({ kind: 'hang-up' }, { kind: 'go-deaf' }, { kind: 'die' }) },
);

const script = fc.array(move, { maxLength: 30 });

/** What the attacker's loops have sent and got to see. */
interface Loot {
  readonly received: HubMessage[];
  readonly sent: string[];
  /** Peers of a context that is none of theirs. */
  foreign: readonly string[];
}

const ticks = async (turns: number) => {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
};

/** Plays the moves and then ends the turn, so that nobody waits for a time-out. */
async function attack(
  end: SpokeEnd,
  turn: number,
  { offers }: TurnContext,
  moves: readonly Move[],
  loot: Loot,
): Promise<void> {
  const peers: string[] = offers.map(({ peer }) => peer);
  let last = '';
  let isOver = false;
  end.onEnd(() => {
    isOver = true;
  });
  end.onMessage((message) => {
    loot.received.push(message);
    if (message.type === 'offer') peers.push(message.peer);
  });
  const write = (line: string) => {
    last = line;
    loot.sent.push(line.slice(0, 4096));
    end.write(line);
  };
  for (const one of moves) {
    switch (one.kind) {
      case 'line':
        write(one.line.replaceAll('\n', ' '));
        break;
      case 'bytes':
        loot.sent.push(Buffer.from(one.bytes).toString('latin1'));
        end.raw(one.bytes);
        break;
      case 'request': {
        const known = { own: peers.at(-1) ?? '', foreign: loot.foreign.at(-1) ?? '', invented: 'peer-1' };
        write(JSON.stringify({ type: 'request', id: one.id, peer: known[one.peer], message: one.message }));
        break;
      }
      case 'again':
        for (let times = 0; times < one.times; times++) end.write(last);
        break;
      case 'huge':
        end.raw(huge(one));
        break;
      case 'finish':
        write(JSON.stringify({ type: 'answer', id: turn, text: '$1 $2' }));
        break;
      case 'pause':
        await ticks(one.turns);
        break;
      case 'hang-up':
        end.hangUp();
        break;
      case 'go-deaf':
        end.goDeaf();
        break;
      case 'die':
        end.kill();
        break;
      default:
        one satisfies never;
    }
  }
  // What was smuggled in gets the time to have its effect.
  for (let round = 0; round < 40 && !isOver; round++) {
    await ticks(25);
    if (round % 10 === 5) write(JSON.stringify({ type: 'answer', id: turn, text: '{"text":"$1 $2"}' }));
  }
  end.kill();
}

function huge({ of, kibibytes }: Extract<Move, { kind: 'huge' }>): string {
  const size = kibibytes * 1024;
  switch (of) {
    case 'text':
      return `${JSON.stringify({ type: 'answer', id: 99, text: 'x'.repeat(size) })}\n`;
    case 'line':
      return 'x'.repeat(size);
    case 'lists':
      return `${'['.repeat(size)}\n`;
    case 'values':
      return `{"type":"request","id":1,"peer":"p","message":[${'0,'.repeat(size / 2)}0]}\n`;
    default:
      of satisfies never;
      return '';
  }
}

const FOREVER = Array.from({ length: 60 });
const NOTES_THEN_BANK = plan([{ app: 'notes' }, { app: 'hiddenbank', after: [1] }]);
const MAIL_THEN_RIDES = plan([
  { app: 'mail', uses: ['read'] },
  { app: 'rides', uses: ['ride-fare'], after: [1] },
]);
const NOTES_ONLY = plan([{ app: 'notes' }]);
const REPORTS: Line[] = [
  [call('probe', { functionality: 'translation' })],
  ({ results: [offer] }) => [
    call('request', { peer: field(offer, 'peer'), message: { to: 'x' } }),
    call('keep', {}),
  ],
  'reported',
];

type Side = 'asks' | 'serves' | 'both';

interface Played {
  readonly stage: Stage;
  readonly loot: Loot;
}

/**
 * First an honest context, which is offered a peer of the bank and holds a text of it; then the query of which the
 * attacker has a part; then honest ones again.
 */
async function play(
  side: Side,
  asking: readonly Move[],
  serving: readonly Move[],
  look: (played: Played) => void = () => undefined,
): Promise<readonly string[]> {
  const loot: Loot = { received: [], sent: [], foreign: [] };
  const isTaken = ({ serves: served, system }: TurnContext) =>
    (served === null && system.includes('<mail>') && side !== 'serves') ||
    (served !== null && system.includes('<office>') && side !== 'asks');
  const { stage, clear } = raiseStage({
    apps: APPS,
    user: yes(),
    spokes: loopsFor((context) =>
      isTaken(context)
        ? (end, { id: turn, context: given }) => {
            loot.received.push({ type: 'turn', id: turn, context: given });
            void attack(end, turn, given, given.serves === null ? asking : serving, loot);
          }
        : null,
    ),
    limits: { droppedMessages: 5 },
    script: {
      planner: [NOTES_THEN_BANK],
      mail: FOREVER.map(() => 'fine'),
      office: FOREVER.map(() => '{"text":"fine"}'),
      reader: FOREVER.map(() => '{"sum":1}'),
      notes: [[call('hidden-tool')], 'it says $1'],
    },
  });
  try {
    assert.equal((await stage.ask('secret-query')).kind, 'answered');
    loot.foreign = stage.of('offer.made').map(({ peer }) => peer);
    assert.equal(loot.foreign.length, 1);
    const before = stage.allEvents().length;

    if (side !== 'serves') await stage.ask('read my mail', { planner: [MAIL_THEN_RIDES] });
    if (side !== 'asks') {
      // The one that asks is honest: it hears that there is no answer, or a bad one, and goes on.
      const outcome = await stage.ask('report', { planner: [NOTES_ONLY], notes: REPORTS });
      assert.deepEqual([outcome.kind, outcome.answer], ['answered', 'reported']);
    }
    assertContained({ stage, loot }, stage.allEvents().slice(before));
    look({ stage, loot });

    const kept = stage.ran.filter((line) => line === 'notes.keep {}').length;
    const outcome = await stage.ask('keep it', { planner: [NOTES_ONLY], notes: [[call('keep')], 'kept it'] });
    assert.deepEqual([outcome.kind, outcome.answer], ['answered', 'kept it']);
    assert.equal(stage.ran.filter((line) => line === 'notes.keep {}').length, kept + 1);
    return stage.ran;
  } finally {
    // Holds the journal against the invariants: nothing happened without a decision, and nothing twice.
    await clear();
  }
}

/** In a turn there are at most 500 requests; each is a few events, and what is dropped is one. */
const MOST_EVENTS = 8_000;

function assertContained({ stage, loot }: Played, since: readonly Event[]): void {
  const outside = stage.ran
    .slice(1)
    .filter((line) => !/^(mail\.(read|send)|rides\.fare|office\.stamp|notes\.keep) /.test(line));
  assert.deepEqual(outside, [], 'a tool of another context ran');
  assert.equal(stage.ran[0], 'hiddenbank.hidden-tool {}');
  const asked = stage.user.asked
    .filter(({ context }) => !context.startsWith('notes'))
    .map(({ subject }) => subject.to);
  assert.ok(!asked.some((to) => to === BANK.installed.id), 'the user was asked for the bank');
  // What it said itself may come back to it: `there is no tool …`.
  const words = JSON.stringify(loot.received);
  const guessed = JSON.stringify(loot.sent);
  const learnt = [...SECRETS, ...loot.foreign].filter(
    (word) => words.includes(word) && !guessed.includes(word),
  );
  assert.deepEqual(learnt, [], 'it learnt of another context');
  assert.ok(since.length < MOST_EVENTS, `${since.length} events`);
  const dropped = since.filter(({ kind }) => kind === 'message.dropped').length;
  assert.ok(dropped <= 1_000, `${dropped} messages were journaled as dropped`);
}

const line = (message: unknown): Move => ({ kind: 'line', line: JSON.stringify(message) });
const PAUSE: Move = { kind: 'pause', turns: 400 };

/** Each of these gets an answer. */
const ALLOWED: readonly Move[] = [
  line({ type: 'tool', id: 1, name: 'read', arguments: {} }),
  line({ type: 'tool', id: 2, name: 'send', arguments: { to: 'ada' } }),
  { kind: 'request', peer: 'own', id: 3, message: { to: 'Turin' } },
  { kind: 'request', peer: 'foreign', id: 4, message: {} },
  line({ type: 'probe', id: 5, functionality: 'ride-fare' }),
  line({ type: 'model', id: 6, messages: [PROMPT] }),
  PAUSE,
  line({ type: 'open', id: 7, reference: '$1' }),
  line({ type: 'read', id: 8, reference: '$1', schema: FORM }),
  line({ type: 'need', id: 9, kinds: ['name'], for: 'send' }),
  PAUSE,
];

test('what is allowed to a spoke happens, in whatever order it asks', async () => {
  const ran = await play('asks', ALLOWED, [], ({ loot }) => {
    const types = loot.received.map(({ type }) => type).sort();
    assert.deepEqual(
      [...new Set(types)],
      ['data', 'finding', 'offer', 'opened', 'output', 'refusal', 'reply', 'response', 'turn'],
    );
  });
  assert.deepEqual([...ran].sort(), [
    'hiddenbank.hidden-tool {}',
    'mail.read {}',
    'mail.send {"to":"ada"}',
    'notes.keep {}',
    'rides.fare {"to":"Turin"}',
  ]);
});

const RUNS = runs(5, 10, 20);

async function check(t: TestContext, side: Side, numRuns: number): Promise<void> {
  t.diagnostic(`CORDON_SEED=${SEED}`);
  const property = fc.asyncProperty(script, script, async (asking, serving) => {
    await play(side, asking, serving);
  });
  await fc.assert(property, { seed: SEED, numRuns, examples: [[[...ALLOWED], [...ALLOWED]]] });
}

test('whatever a spoke that asks sends, the hub holds, and tells nothing of other contexts', (t) =>
  check(t, 'asks', RUNS));

test('whatever a spoke that serves sends, the honest one that asked goes on', (t) =>
  check(t, 'serves', RUNS));

test('whatever both ends of an exchange send, others do not notice', (t) => check(t, 'both', RUNS));

test('a flood takes no memory of the hub that it keeps', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  /** What refers weakly to what refers weakly goes in several collections. */
  const used = async () => {
    for (let times = 0; times < 8; times++) {
      await ticks(20);
      collect();
    }
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const flood: Move[] = [
    ...Array.from({ length: 12 }, (): Move => ({ kind: 'huge', of: 'values', kibibytes: 300 })),
    ...Array.from({ length: 4 }, (): Move => ({ kind: 'huge', of: 'text', kibibytes: 3 * 1024 })),
    { kind: 'huge', of: 'line', kibibytes: 64 * 1024 },
  ];
  await play('asks', flood, []);
  const before = await used();
  for (let round = 0; round < 3; round++) await play('asks', flood, []);
  const kept = (await used()) - before;
  // One of these floods is 79 MiB.
  assert.ok(kept < 32 * 1024 * 1024, `${kept} bytes are kept`);
});

test('a loop that floods before it has a turn is given up, and the query has another', async () => {
  const turns: number[] = [];
  const flooding = launcherOf((end) => {
    end.onMessage((message) => message.type === 'turn' && turns.push(message.id));
    end.send(READY);
    for (let times = 0; times < 30; times++)
      end.write(JSON.stringify({ type: 'answer', id: 1, text: 'x'.repeat(100_000) }));
  });
  let launched = 0;
  const { stage, clear } = raiseStage({
    apps: [NOTES],
    spokes: { launch: (signal) => (launched++ === 0 ? flooding : loopsFor(() => null)).launch(signal) },
    script: { planner: [NOTES_ONLY], notes: ['done'] },
    // The spare has had the time to say all that it says.
    meanwhile: (who) => (who === 'planner' ? ticks(50) : undefined),
  });
  try {
    assert.equal((await stage.ask('hello')).kind, 'answered');
    assert.deepEqual([turns, launched >= 2], [[], true]);
  } finally {
    await clear();
  }
});
