import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Grant, GrantDuration, PermissionSubject } from '@cordon/core';
import fc from 'fast-check';

import { openOrThrow, storeIn, subjectOf, temporaryFolder } from '../fixture.ts';
import '../../../../tools/seed.ts';

/** Those that end at a time have a property of their own below. */
type Duration = Exclude<GrantDuration, 'until'>;

type Step =
  | {
      readonly kind: 'give';
      readonly what: number;
      readonly session: number;
      readonly digest: number;
      readonly duration: Duration;
    }
  | { readonly kind: 'find'; readonly what: number; readonly session: number; readonly digest: number }
  | { readonly kind: 'consume'; readonly grant: number; readonly session: number }
  | { readonly kind: 'revoke'; readonly grant: number }
  | { readonly kind: 'end'; readonly session: number }
  | { readonly kind: 'reopen' };

const SUBJECTS: readonly PermissionSubject[] = [
  subjectOf('a'),
  subjectOf('b'),
  subjectOf('a', 'irreversible-action'),
];
const DURATIONS: readonly Duration[] = ['permanent', 'session', 'once'];
const two = fc.nat(1);
const grant = fc.nat(5);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('give'),
      what: fc.nat(2),
      session: two,
      digest: two,
      duration: fc.constantFrom(...DURATIONS),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('find'), what: fc.nat(2), session: two, digest: two }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('consume'), grant, session: two }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('revoke'), grant }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('end'), session: two }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reopen') }) },
);

/** What grants mean. */
class Model {
  readonly grants: {
    what: number;
    session: number;
    digest: number;
    duration: Duration;
    dead: boolean;
  }[] = [];
  readonly ended = new Set<number>();
  live(n: number, session: number): boolean {
    const given = this.grants[n];
    if (given === undefined || given.dead) return false;
    return given.duration === 'permanent' || (given.session === session && !this.ended.has(session));
  }
  found(what: number, session: number, digest: number): number | null {
    const serving = this.grants
      .map((given, n) => ({
        ...given,
        n,
        rank: (given.digest === digest ? 0 : 3) + DURATIONS.indexOf(given.duration),
      }))
      .filter((given) => given.what === what && this.live(given.n, session))
      .filter((given) => given.duration !== 'once' || given.digest === digest);
    return serving.sort((a, b) => a.rank - b.rank || a.n - b.n)[0]?.n ?? null;
  }
}

test('for any sequence of give, find, consume, revoke, end and restart the store agrees with the model', (t) => {
  const property = fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
    const folder = temporaryFolder(t);
    let store = openOrThrow(folder);
    const sessions = [store.sessions.create(), store.sessions.create()] as const;
    const model = new Model();
    const given: Grant[] = [];
    for (const taken of steps) {
      switch (taken.kind) {
        case 'give': {
          const { what, duration } = taken;
          const session = sessions[taken.session] ?? sessions[0];
          const subject = SUBJECTS[what] ?? subjectOf('none');
          const result = store.grants.give({ subject, duration, session, digest: `${taken.digest}` });
          assert.equal(result.ok, !(what === 2 && duration === 'permanent'));
          if (!result.ok) break;
          given.push(result.value);
          model.grants.push({ what, session: taken.session, digest: taken.digest, duration, dead: false });
          break;
        }
        case 'find': {
          const subject = SUBJECTS[taken.what] ?? subjectOf('none');
          const found = store.grants.find(subject, sessions[taken.session] ?? sessions[0], `${taken.digest}`);
          const expected = model.found(taken.what, taken.session, taken.digest);
          assert.equal(found?.id, expected === null ? undefined : given[expected]?.id);
          break;
        }
        case 'consume': {
          const target = given[taken.grant];
          if (target === undefined) break;
          const expected = model.live(taken.grant, taken.session);
          assert.equal(store.grants.consume(target.id, sessions[taken.session] ?? sessions[0]), expected);
          const entry = model.grants[taken.grant];
          if (expected && entry?.duration === 'once') entry.dead = true;
          break;
        }
        case 'revoke': {
          const target = given[taken.grant];
          if (target === undefined) break;
          store.grants.revoke(target.id);
          const entry = model.grants[taken.grant];
          if (entry !== undefined) entry.dead = true;
          break;
        }
        case 'end': {
          const session = sessions[taken.session] ?? sessions[0];
          if (store.sessions.resume(session).ok) store.journal.end(session);
          model.ended.add(taken.session);
          break;
        }
        case 'reopen':
          store.close();
          store = openOrThrow(folder);
          break;
        default:
          taken satisfies never;
      }
    }
    store.close();
  });
  fc.assert(property, { numRuns: 60 });
});

test('a store that is opened again has the same grants', (t) => {
  const folder = temporaryFolder(t);
  const first = openOrThrow(folder);
  const session = first.sessions.create();
  first.grants.give({ subject: subjectOf('a'), duration: 'permanent', session, digest: 'd' });
  const listed = first.grants.list();
  first.close();
  assert.equal(listed.length, 1);
  assert.deepEqual(storeIn(t, folder).grants.list(), listed);
});
