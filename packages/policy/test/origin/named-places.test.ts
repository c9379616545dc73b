/** What lies at a host or in a folder that somebody named, and what else of its kind a text names. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isWrittenField } from '../../src/origin/field-writer.ts';
import { othersOfKind } from '../../src/origin/kinds.ts';
import { namesPlace, placesAbove } from '../../src/origin/places.ts';

test('a link lies at its host, with and without www; a path in each folder above it, the nearest first', () => {
  assert.deepEqual(placesAbove('https://www.x.org:8080/a?b#c'), ['www.x.org', 'x.org']);
  assert.deepEqual(placesAbove('x.org/a'), ['x.org', 'www.x.org']);
  assert.deepEqual(placesAbove('/home/ada/site/index.html'), ['/home/ada/site', '/home/ada', '/home']);
  assert.deepEqual(placesAbove('~/site/a.txt'), ['~/site']);
  assert.deepEqual(placesAbove('C:\\site\\a.txt'), ['C:\\site', 'C:']);
  for (const value of ['bill', '', 'ada@x.org', 'two words', '/'])
    assert.deepEqual(placesAbove(value), [], value);
});

test('attack: what only looks like a place below another lies nowhere', () => {
  const upwards = ['/home/ada/../eve/a', '/home/ada/%2e%2e/eve', '/site/..', '..\\eve'];
  for (const value of [...upwards, 'https://x.org@evil.example/', 'https://x.org\\@evil.example/'])
    assert.deepEqual(placesAbove(value), [], value);
});

test('a text names a place as it is, and neither a longer one nor one below it', () => {
  assert.ok(namesPlace('get it from www.x.org, please', 'www.x.org'));
  assert.ok(namesPlace('all of /home/ada/site', '/home/ada/site'));
  assert.ok(namesPlace('all of /home/ada/site/', '/home/ada/site'));
  assert.ok(namesPlace('see WWW.X.ORG.', 'www.x.org'));
  for (const text of ['my-x.org', 'x.org.uk', 'me@x.org', 'the user', '/home/ada/site2', 'sub.x.org'])
    for (const place of ['x.org', '/user', '/home/ada/site'])
      assert.ok(!namesPlace(text, place), `${place} in ${text}`);
});

test('other values of a kind are told once, however they are written; one alone has none', () => {
  const bill = 'Pay DE89 3704 0044 0532 0130 00 (DE89370400440532013000) or GB29NWBK60161331926819.';
  assert.deepEqual(othersOfKind('DE89370400440532013000', [bill]), ['GB29NWBK60161331926819']);
  assert.deepEqual(othersOfKind('DE89370400440532013000', ['Pay DE89370400440532013000.']), []);
  assert.deepEqual(othersOfKind('ada@x.org', ['ada@x.org', 'or eve@y.org']), ['eve@y.org']);
  assert.deepEqual(othersOfKind('https://x.org/a', ['www.x.org/a. And www.y.org']), ['www.y.org']);
  assert.deepEqual(othersOfKind('+44 20 7946 0958', ['call +44 20 7946 0958 or 020 7946 1111']), [
    '020 7946 1111',
  ]);
  assert.deepEqual(othersOfKind('Ada', ['Ada and Eve']), []);
});

test('hostile: a text of a megabyte with a hundred thousand addresses is looked at in its first part', () => {
  const text = Array.from({ length: 100_000 }, (_, index) => `a${index}@x.org`).join(' ');
  assert.equal(othersOfKind('ada@x.org', [text, text]).length, 8);
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
