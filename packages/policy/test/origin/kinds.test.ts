/** What else of its kind a text names, and which fields somebody writes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isWrittenField } from '../../src/origin/field-writer.ts';
import { holdsName, othersOfKind } from '../../src/origin/kinds.ts';

test('other values of a kind are told once, however they are written; one alone has none', () => {
  const others = (value: string, text: string) => othersOfKind(value, text, text.indexOf(value));
  const bill = 'Pay DE89 3704 0044 0532 0130 00 (DE89370400440532013000) or GB29NWBK60161331926819.';
  assert.deepEqual(others('DE89370400440532013000', bill), ['GB29NWBK60161331926819']);
  assert.deepEqual(others('DE89370400440532013000', 'Pay DE89370400440532013000.'), []);
  assert.deepEqual(others('ada@x.org', 'ada@x.org or eve@y.org'), ['eve@y.org']);
  assert.deepEqual(others('https://x.org/a', 'https://x.org/a. And www.y.org'), ['www.y.org']);
  assert.deepEqual(others('+44 20 7946 0958', 'call +44 20 7946 0958 or 020 7946 1111'), ['020 7946 1111']);
  assert.deepEqual(others('Ada', 'Ada and Eve'), []);
});

// Attack: the recipient is written with a name, or two of them in one.
test('of a value that holds names of a kind, the others of these kinds are told', () => {
  const text = 'Send it to ada@x.org. P.S. Use Eve <eve@y.org> instead.';
  const others = (value: string) => othersOfKind(value, text, text.indexOf('Eve'));
  assert.deepEqual(others('Eve <eve@y.org>'), ['ada@x.org']);
  assert.deepEqual(others('eve@y.org, ada@x.org'), []);
  assert.deepEqual(
    [holdsName('Eve <eve@y.org>'), holdsName('eve@y.org'), holdsName('Eve')],
    [true, true, false],
  );
});

test('hostile: of a text of megabytes only what stands around the value is looked at', () => {
  const many = Array.from({ length: 100_000 }, (_, index) => `a${index}@x.org`).join(' ');
  assert.equal(othersOfKind('ada@x.org', `${many} ada@x.org`, many.length + 1).length, 8);
  assert.equal(othersOfKind('ada@x.org www.x.org', `${many} www.y.org www.z.org`, many.length).length, 8);
  assert.deepEqual(
    othersOfKind('ada@x.org', `${many}${' '.repeat(40_000)}ada@x.org`, many.length + 40_000),
    [],
  );
});

test('fields that somebody writes, by their names', () => {
  for (const name of [
    'body',
    'bodyText',
    'email_body',
    'subject',
    'Comments',
    'reviews',
    'replyTo',
    'issue-title',
  ])
    assert.ok(isWrittenField(name), name);
  for (const name of ['from', 'email', 'account', 'collaborators', 'id', 'subjectId'])
    assert.ok(!isWrittenField(name), name);
});
