/**
 * Random rules about order and flow over random sessions of several apps, some of them resumed: what the monitor said of each
 * call when it was decided is what the analysis finds in the exported journal. `CORDON_SEED` repeats a run.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toJson } from '@cordon/core';
import { loadPolicy } from '@cordon/policy';
import { analyzeEvents, readTrace } from '@cordon/policy-tools';
import { app } from '@cordon/testkit/hub/app.ts';
import { SEED } from '../../../../tools/seed.ts';
import { Chance } from '../fault/scenario.ts';
import { yes } from '../fixture/consent.ts';
import { call, type Line, plan } from '../fixture/model.ts';
import { type Stage, stageFor } from '../fixture/stage.ts';

const SESSIONS = Number(process.env.CORDON_SESSIONS ?? 12);

const NAMES = ['mail', 'travel', 'notes'] as const;
const TOOLS = ['read', 'list', 'write'] as const;
const APPS = NAMES.map((name) =>
  app(name, { read: 'a text', list: 'a list', write: 'written' }, { untrusted: ['read'] }),
);

const TYPES = ['ToolCall', 'ToolOutput', 'Message', 'ToolCall', 'ToolCall'] as const;

function one<T>(chance: Chance, all: readonly [T, ...T[]]): T {
  return all[chance.number(all.length)] ?? all[0];
}

/** A rule whose last variable is a call, so that it speaks when one is decided. */
function ruleOf(chance: Chance, name: string): string {
  const order = () => one(chance, ['before', 'before', '->', '~>']);
  const first = one(chance, TYPES);
  const lines = [`(a: ${first}) ${order()} (b: ToolCall)`];
  if (chance.flip(0.5)) lines.push(`(m: ${one(chance, TYPES)}) ${order()} ${one(chance, ['a', 'b'])}`);
  if (chance.flip(0.4)) lines.push('a.context != b.context');
  if (chance.flip(0.3)) lines.push(`count(min=2):\n        (q: ToolCall) before b`);
  if (chance.flip(0.5)) lines.push(`b is tool:${one(chance, TOOLS)}`);
  if (first === 'Message' && chance.flip(0.5)) lines.push('a.role == "assistant"');
  if (first === 'ToolCall' && chance.flip(0.5)) lines.push(`a is tool:${one(chance, TOOLS)}`);
  return `rule ${name}:\nwarn "x" if:\n${lines.map((line) => `    ${line}\n`).join('')}`;
}

function saidLive(stage: Stage): readonly string[] {
  const said = stage
    .events()
    .flatMap((event) =>
      'verdict' in event ? event.warnings.map(({ rule }) => `${rule} ${event.causes[0]}`) : [],
    );
  return [...new Set(said)].sort();
}

function foundAfterwards(stage: Stage, text: string): readonly string[] {
  const policy = loadPolicy(text);
  assert.ok(policy.ok);
  const events = stage.events();
  const journal = readTrace(toJson(events), { format: 'cordon-journal' });
  assert.ok(journal.ok);
  const { errors, undecided } = analyzeEvents(policy.value, journal.value.events);
  assert.deepEqual(undecided, []);
  return [...new Set(errors.map(({ rule, events: { b } }) => `${rule} ${events[Number(b)]?.id}`))].sort();
}

async function query(chance: Chance, stage: Stage, number: number): Promise<void> {
  const called = chance.flip(0.4) ? [...NAMES].slice(0, 2) : [one(chance, NAMES)];
  const turn = (name: string): readonly Line[] => {
    const calls = Array.from({ length: chance.number(3) }, () => [call(one(chance, TOOLS))]);
    return [...calls, `answer of ${name} ${number}`];
  };
  const script = Object.fromEntries(called.map((name) => [name, turn(name)]));
  await stage.ask(`query ${number}`, {
    planner: [plan(called.map((name) => ({ app: name })))],
    assistant: ['done'],
    ...script,
  });
}

let spoken = 0;

for (let session = 0; session < SESSIONS; session++) {
  test(`the monitor and the analysis of the journal say the same (CORDON_SEED=${SEED + session})`, async (t) => {
    const chance = new Chance(SEED + session);
    const rules = Array.from({ length: 6 }, (_, at) => ruleOf(chance, `r${at}`));
    const policy = ['from invariant import count\n', ...rules].join('');
    const stage = stageFor(t, { apps: APPS, policy, user: yes(), script: {}, memory: { interactions: 4 } });
    for (let number = 0; number < 2 + chance.number(4); number++) {
      await query(chance, stage, number);
      if (chance.flip(0.4)) await stage.resume();
    }
    const said = saidLive(stage);
    spoken += said.length;
    assert.deepEqual(foundAfterwards(stage, policy), said, policy);
  });
}

test('in some of these sessions rules spoke', () => {
  assert.ok(spoken > SESSIONS, String(spoken));
});
