/** A walk through `grants.pml`, done by the real store: two hubs and a third process over one folder, step by step. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Grant, type GrantTerm, id, type PermissionSubject, type SessionId } from '@cordon/core';
import { openStore, type Store } from '@cordon/trace';
import { describeStep, NONE, type Step } from '../src/label.ts';

const NOON = 1_700_000_000_000;
const EVENING = NOON + 6 * 3600_000;
const SUBJECTS: readonly PermissionSubject[] = [
  { scope: 'exchange', from: null, to: id('mail'), what: 'send' },
  { scope: 'irreversible-action', from: null, to: id('mail'), what: 'send' },
];
const TERMS: Readonly<Record<number, GrantTerm>> = {
  1: { duration: 'once' },
  2: { duration: 'session' },
  3: { duration: 'until', until: EVENING },
  4: { duration: 'permanent' },
};

/** Fails at the first step whose outcome is another than the model's. */
export function walkGrants(walk: readonly Step[]): void {
  const folder = mkdtempSync(join(tmpdir(), 'cordon-walk-'));
  let now = NOON;
  const open = (): Store => {
    const opened = openStore(folder, () => now);
    assert.ok(opened.ok);
    return opened.value;
  };
  const hubs = [open(), open()];
  const elsewhere = open();
  const sessions = hubs.map(({ sessions }): SessionId => sessions.create());
  const given: Grant[] = [];

  const outcomeOf = ({ label, values: [a, b, c, d] }: Step): readonly number[] => {
    const store = hubs[a] ?? elsewhere;
    const session = sessions[a] ?? id('none');
    const subjectIn = (key: number) => SUBJECTS[key >> 1] ?? assert.fail(`no subject ${key}`);
    switch (label) {
      case 'GIVE': {
        const term = TERMS[c] ?? assert.fail(`no term ${c}`);
        const result = store.grants.give({ subject: subjectIn(d), ...term, session, digest: `${d & 1}` });
        if (!result.ok) return [a, NONE, c, d];
        given.push(result.value);
        return [a, given.length - 1, c, d];
      }
      case 'FIND': {
        const found = store.grants.find(subjectIn(c), session, `${c & 1}`);
        return [a, found === null ? NONE : given.findIndex((grant) => grant.id === found.id), c, 0];
      }
      case 'CONSUME': {
        const grant = given[b] ?? assert.fail(`grant ${b} was never given`);
        return [a, b, store.grants.consume(grant.id, session) ? 1 : 0, 0];
      }
      case 'REVOKE': {
        const grant = given[a] ?? assert.fail(`grant ${a} was never given`);
        return [a, elsewhere.grants.revoke(grant.id) ? 1 : 0, 0, 0];
      }
      case 'EXPIRE':
        now = EVENING;
        return [0, 0, 0, 0];
      case 'END_SESSION':
        assert.ok(store.sessions.resume(session).ok);
        store.journal.end(session);
        return [a, 0, 0, 0];
      case 'RESTART':
        store.close();
        hubs[a] = open();
        return [a, 0, 0, 0];
      default:
        return assert.fail(`the store knows no ${describeStep({ label, values: [a, b, c, d] })}`);
    }
  };

  try {
    for (const [index, one] of walk.entries()) {
      const outcome = outcomeOf(one);
      assert.deepEqual(outcome, one.values, `step ${index}, ${describeStep(one)}`);
    }
  } finally {
    for (const store of [...hubs, elsewhere]) store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
