/**
 * Memory against a model that keeps each owner in a map of its own: whatever owners are called and whatever is done, in
 * a store with or without a key, nobody ever sees or loses anything by what is done for somebody else.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { DEFAULT_LABEL, id, type SessionId, USER_LABEL } from '@cordon/core';
import { type MemoryOwner, parseStoreKey, type Store } from '@cordon/trace';
import { runs } from '../../../../tools/cases.ts';
import { SEED } from '../../../../tools/seed.ts';
import { storeIn, temporaryFolder } from '../fixture.ts';

const NAMES = [
  'mail',
  'system',
  'vanilla',
  'shared',
  '"system"',
  '"mail"',
  'MAIL',
  'mail ',
  'm\u0430il',
  '',
  '%',
  '_ail',
  '*',
  'm?il',
  "mail' OR '1'='1",
  "mail'; DELETE FROM turns; --",
  'mail\u0000',
  'mail\u0000notes',
  'mail\ud800',
  'mail\udc00',
  'mail\ufffd',
  'e\u0301',
  '\u00e9',
  '__proto__',
  'constructor',
  '~0',
  'x'.repeat(300),
];
const OWNERS: readonly MemoryOwner[] = [
  { kind: 'system' },
  { kind: 'vanilla' },
  { kind: 'shared' },
  ...NAMES.map((name): MemoryOwner => ({ kind: 'spoke', app: id(name) })),
];

interface Kept {
  turns: { session: SessionId; text: string }[];
  facts: Map<string, string>;
  summaries: Map<SessionId, string>;
}

const RUNS = runs(1, 2);

for (const key of [null, 'ab'.repeat(32)]) {
  test(`owners never meet, ${key === null ? 'in the clear' : 'sealed'} (CORDON_SEED=${SEED})`, (t) => {
    for (let run = 0; run < RUNS; run++) {
      const parsed = key === null ? null : parseStoreKey(key);
      const store = storeIn(t, temporaryFolder(t), { key: parsed?.ok === true ? parsed.value : null });
      check(store, randomOf(SEED + run));
    }
  });
}

function check(store: Store, random: (below: number) => number): void {
  const sessions = [store.sessions.create(), store.sessions.create()];
  const model = new Map<MemoryOwner, Kept>();
  for (const owner of OWNERS) model.set(owner, { turns: [], facts: new Map(), summaries: new Map() });
  const pick = <T>(items: readonly T[]): T => {
    const item = items[random(items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  };
  for (let step = 0; step < 250; step++) {
    const owner = pick(OWNERS);
    const session = pick(sessions);
    const kept = model.get(owner);
    const memory = store.memory(owner);
    if (kept === undefined) throw new Error('no model of the owner');
    const text = `${pick(NAMES)} ${step}`;
    const by = { origin: null, source: null, label: pick([USER_LABEL, DEFAULT_LABEL]) };
    switch (random(5)) {
      case 0:
      case 1:
        memory.record(session, 'user', text, by);
        kept.turns.push({ session, text });
        break;
      case 2: {
        const name = pick(NAMES);
        memory.learn(name, text, { ...by, label: USER_LABEL });
        kept.facts.set(name, text);
        break;
      }
      case 3: {
        const open = memory.open(session);
        const last = open.at(random(Math.max(1, open.length)));
        if (last === undefined) break;
        memory.summarise(session, {
          text,
          madeBy: 'extract',
          through: last.place,
          source: null,
          label: by.label,
        });
        kept.summaries.set(session, text);
        break;
      }
      default:
        if (random(6) !== 0) break;
        store.memories.deleteOwner(owner);
        model.set(owner, { turns: [], facts: new Map(), summaries: new Map() });
    }
  }
  for (const [owner, kept] of model) {
    const memory = store.memory(owner);
    for (const session of sessions) {
      const texts = kept.turns.filter((turn) => turn.session === session).map(({ text }) => text);
      assert.deepEqual(
        memory.history(session).map(({ text }) => text),
        texts,
      );
      assert.equal(memory.summary(session)?.text ?? null, kept.summaries.get(session) ?? null);
      assert.ok(memory.open(session).length <= texts.length);
    }
    assert.deepEqual(new Map(memory.facts().map(({ name, value }) => [name, value])), kept.facts);
  }
}

/** xorshift32 */
function randomOf(seed: number): (below: number) => number {
  let state = seed | 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}
