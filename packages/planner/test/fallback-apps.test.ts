import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fallbackApps } from '../src/fallback-apps.ts';
import { app } from './app.ts';

const APPS = [app('mail', 'Reads and sends mail'), app('drive', 'Keeps documents')];

test('the words of the query choose', () => {
  assert.deepEqual(fallbackApps('Summarize my newest mail', APPS), ['mail']);
  assert.deepEqual(fallbackApps('Hello there', APPS), []);
});

test('with one app and nothing to go by, that app serves', () => {
  assert.deepEqual(fallbackApps('What is in notes.txt?', [app('filesystem', null)]), ['filesystem']);
});

test('apps of which nothing is said cannot be ruled out by words, unless a described one fits', () => {
  const silent = [app('filesystem', null), app('memory', null)];
  assert.deepEqual(fallbackApps('Read notes.txt and note it', silent), ['filesystem', 'memory']);
  assert.deepEqual(fallbackApps('Read notes.txt into memory', silent), ['memory', 'filesystem']);
  assert.deepEqual(fallbackApps('Summarize my newest mail', [...silent, ...APPS]), ['mail']);
  const many = ['a1', 'b1', 'c1', 'd1', 'e1', 'f1', 'g1'].map((name) => app(name, null));
  assert.deepEqual(fallbackApps('Read notes.txt', many), []);
});
