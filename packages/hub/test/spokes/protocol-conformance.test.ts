/**
 * The protocol as docs/protocol.md says it, against the real hub: a second agent loop that was written from the document
 * runs as a process of its own and shares no code with this one.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { isJsonObject, type JsonSchema, ok, parseJson } from '@cordon/core';
import { decodeHubMessage, decodeSpokeMessage, HUB_SCHEMAS, SPOKE_SCHEMAS } from '@cordon/protocol';
import { app, NUMBER, type ScriptedApp, serves, shape, TEXT } from '@cordon/testkit/hub/app.ts';
import { validatorOnDemand } from '../../src/apps/schema-validator.ts';
import type { SpokeLauncher } from '../../src/index.ts';
import { yes } from '../fixture/consent.ts';
import { call, field, type Line, plan } from '../fixture/model.ts';
import { type Scene, stageFor } from '../fixture/stage.ts';

const CONFORMANCE = join(import.meta.dirname, '../../../../conformance/protocol');

function secondLoop(versions?: string): SpokeLauncher {
  return {
    launch: async () => {
      const child = spawn(process.execPath, [join(CONFORMANCE, 'loop.js')], {
        stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
        env: versions === undefined ? {} : { PROTOCOL_VERSIONS: versions },
      });
      const link = child.stdio[3];
      assert.ok(link instanceof Duplex);
      const ended = new Promise<string>((resolve) => child.once('exit', (code) => resolve(`code ${code}`)));
      return ok({ link, layers: [], ended, stderrTail: () => '', kill: () => child.kill('SIGKILL') });
    },
  };
}

const LETTER = 'The rent is 840 euros.';
const NOTES = app('notes', { keep: { input: shape({ text: TEXT }), reply: 'kept' } });
const MAIL = app(
  'mail',
  { search: { reply: { structured: { text: LETTER, count: 1 } } } },
  { functionalities: [serves('newest-mail', 'search', shape({}), shape({ text: TEXT, count: NUMBER }))] },
);
const OFFICE: ScriptedApp = app(
  'office',
  {},
  { functionalities: [serves('translation', null, shape({ q: TEXT }), shape({ words: NUMBER }))] },
);
const BOTH = plan([{ app: 'notes' }, { app: 'mail', uses: ['newest-mail'], after: [1] }]);
const hear: Line = ({ results }) => results.join(' ');
const RENT = { type: 'object', properties: { sum: { type: 'number' } } };

function scene(notes: readonly Line[], more: Partial<Scene> = {}): Scene {
  return {
    apps: [NOTES, MAIL, OFFICE],
    user: yes(),
    spokes: secondLoop(),
    script: { planner: [BOTH], notes },
    ...more,
  };
}

const FETCH = call('newest-mail');
const TURNS: readonly (readonly [string, Scene, string])[] = [
  ['an answer', scene(['four']), 'four'],
  [
    'calls of own tools, several at once',
    scene([[call('keep', { text: 'a' }), call('keep', { text: 'b' })], hear]),
    'kept kept',
  ],
  ['a tool that is not there', scene([[call('burn', {})], hear]), 'there is no tool `burn`'],
  [
    'an offer of the plan, with a reference in the answer',
    scene([[FETCH], 'It says $1']),
    `It says «${LETTER}» (from newest-mail)`,
  ],
  [
    'a response as values and references',
    scene([[FETCH], hear]),
    `{"text":{"ref":"«${LETTER}» (from newest-mail)","length":100},"count":1}`,
  ],
  ['a text that is opened', scene([[FETCH], [call('open', { ref: '$1' })], hear]), LETTER],
  [
    'a text that is read',
    scene([[FETCH], [call('read', { ref: '$1', schema: RENT })], hear], {
      script: {
        planner: [BOTH],
        notes: [[FETCH], [call('read', { ref: '$1', schema: RENT })], hear],
        reader: ['{"sum":840}'],
      },
    }),
    '{"sum":840}',
  ],
  [
    'a probe that is refused',
    scene([[call('probe', { functionality: 'payment' })], hear]),
    'refused: not permitted',
  ],
  [
    'data that the user gives',
    scene([[call('need', { kinds: ['name', 'city'], for: 'keep' })], hear], {
      user: () => ({ allow: true, duration: 'once', edits: [{ name: 'city', value: 'Turin' }] }),
    }),
    '{"values":{"city":"Turin"}}',
  ],
  [
    'data for a tool that it does not have',
    scene([[call('need', { kinds: ['name'], for: 'burn' })], hear]),
    'malformed: `for` names no tool of yours that takes data',
  ],
  [
    'a request to a peer that is none',
    scene([[call('request', { peer: 'peer-1', message: {} })], hear]),
    'malformed: there is no such peer',
  ],
];

for (const [what, played, answer] of TURNS) {
  test(`a loop that is written from the document serves ${what}`, async (t) => {
    assert.equal((await stageFor(t, played).ask('my rent')).answer, answer);
  });
}

const TRANSLATES = (office: readonly Line[]): Scene => ({
  ...scene([]),
  script: {
    planner: [plan([{ app: 'notes' }])],
    notes: [
      [call('probe', { functionality: 'translation' })],
      ({ results: [offer] }) => [call('request', { peer: field(offer, 'peer'), message: { q: 'x' } })],
      hear,
    ],
    office,
  },
});

test('it probes, requests and serves what another context of its kind asks', async (t) => {
  const stage = stageFor(t, TRANSLATES(['well', '{"words":2}']));
  assert.equal((await stage.ask('translate')).answer, '{"words":2}');
});

test('it says that it has no answer of the format', async (t) => {
  const stage = stageFor(t, TRANSLATES(['well', 'so', 'no']));
  assert.equal((await stage.ask('translate')).answer, 'malformed: the answer was malformed');
});

test('it says that the steps are used up', async (t) => {
  const many: Line[] = [[call('keep', { text: 'a' })], [call('keep', { text: 'b' })], 'done'];
  const stage = stageFor(t, scene(many, { limits: { steps: 2 } }));
  assert.match((await stage.ask('go on')).reason ?? '', /2 rounds of calls without an answer/);
});

test('it ends when its turn is cancelled', async (t) => {
  const stage = stageFor(
    t,
    scene(['done'], { meanwhile: (who, running) => who === 'notes' && running.cancel() }),
  );
  assert.equal((await stage.ask('go on')).kind, 'cancelled');
});

for (const [versions, kind] of [
  ['2,7', 'answered'],
  ['7', 'failed'],
] as const) {
  test(`a loop that speaks ${versions} has a query ${kind}`, async (t) => {
    assert.equal(
      (await stageFor(t, scene(['four'], { spokes: secondLoop(versions) })).ask('hello')).kind,
      kind,
    );
  });
}

interface MessageCase {
  readonly what: string;
  readonly from: 'spoke' | 'hub';
  readonly line: string;
  readonly valid: boolean;
}

const CASES: readonly MessageCase[] = JSON.parse(readFileSync(join(CONFORMANCE, 'messages.json'), 'utf8'));

test('each message of the list is in the protocol, or is not, as the list says', () => {
  assert.ok(CASES.length > 50);
  for (const { what, from, line, valid } of CASES) {
    const decoded = from === 'spoke' ? decodeSpokeMessage(line) : decodeHubMessage(line);
    assert.equal(decoded.ok, valid, what);
  }
});

test('a validator of the whole standard says the same of each by the printed schemas', async () => {
  const validator = await validatorOnDemand()();
  let compared = 0;
  for (const { what, from, line, valid } of CASES) {
    const message = parseJson(line);
    if (!message.ok || !isJsonObject(message.value)) continue;
    const schemas: Readonly<Record<string, JsonSchema>> = from === 'spoke' ? SPOKE_SCHEMAS : HUB_SCHEMAS;
    const { type } = message.value;
    const schema = typeof type === 'string' && Object.hasOwn(schemas, type) ? schemas[type] : undefined;
    if (schema === undefined) continue;
    assert.equal(validator.check(schema, message.value).ok, valid, what);
    compared++;
  }
  assert.ok(compared > 70);
});
