import assert from 'node:assert/strict';
import { test } from 'node:test';
import { vettedWords } from '@cordon/hub/words';
import fc from 'fast-check';
import '../../../tools/seed.ts';
import { rankApps } from '../src/app-index.ts';
import { app, serves } from './app.ts';

const THINGS = [
  'invoices',
  'recipes',
  'plants',
  'songs',
  'maps',
  'stars',
  'coins',
  'trains',
  'birds',
  'boats',
];
const DEEDS = ['counts', 'draws', 'lists', 'sorts', 'prices', 'sells', 'rents', 'mends', 'paints', 'weighs'];

/** Two hundred apps, each of one deed and one thing, twice over. */
const MANY = [0, 1].flatMap((copy) =>
  THINGS.flatMap((thing) => DEEDS.map((deed) => app(`${thing}-${deed}-${copy}`, `It ${deed} ${thing}.`))),
);

const MAIL = app('mail', "Searches and reads the user's e-mail", [serves('newest-mail', 'search')]);

test('an app about users is found by that word, and one that speaks of its user is not', () => {
  const people = app('people', 'Knows the users: name and location of each.');
  const notes = app('notes', "Keeps the user's notes. It asks the user first.");
  assert.equal(rankApps('get the current user id', [notes, people])[0]?.id, 'people');
  assert.ok(vettedWords(people).has('user'));
  assert.ok(!vettedWords(notes).has('user'));
});

test('of two hundred apps the one that a query is about comes first', () => {
  const among = [...MANY.slice(0, 100), MAIL, ...MANY.slice(100)];
  assert.equal(MANY.length, 200);
  assert.equal(rankApps('Summarize the newest mail', among)[0]?.id, 'mail');
});

test('an app that is named, and one that does the deed to the thing, are among the first', () => {
  const ids = rankApps('Please weigh these coins', MANY).map(({ id }) => id);
  assert.deepEqual(new Set(ids.slice(0, 2)), new Set(['coins-weighs-0', 'coins-weighs-1']));
  assert.equal(rankApps('ask birds-paints-1', MANY)[0]?.id, 'birds-paints-1');
});

test('a rare word counts for more than one that every app has', () => {
  const all = ['red', 'blue'].map((name) => app(name, `A helper for documents, ${name} ones.`));
  assert.equal(rankApps('documents documents blue', all)[0]?.id, 'blue');
});

test('where nothing fits, what was used last comes first and the rest as configured', () => {
  const [a, b, c] = MANY;
  assert.ok(a && b && c);
  assert.deepEqual(
    rankApps('two and two?', [a, b, c], [c.id]).map(({ id }) => id),
    [c.id, a.id, b.id],
  );
});

test('what an app says of itself moves it nowhere', () => {
  const loud = app('loud', null);
  const adviser = { ...loud, source: { kind: 'instructions', instructions: 'mail mail mail' } } as const;
  assert.equal(rankApps('mail', [adviser, MAIL])[0]?.id, 'mail');
  assert.deepEqual(vettedWords(adviser), new Set(['loud']));
});

test('no app is ever lost or named twice, whatever the query', () => {
  const some = MANY.slice(0, 40);
  fc.assert(
    fc.property(fc.string(), (query) => {
      const ids = rankApps(query, some).map(({ id }) => id);
      assert.deepEqual([...ids].sort(), some.map(({ id }) => id).sort());
    }),
    { verbose: 1 },
  );
});

test('without apps there is nothing to rank', () => assert.deepEqual(rankApps('mail', []), []));
