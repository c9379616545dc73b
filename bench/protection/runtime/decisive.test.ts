/** Whether the first two lines of a question name what decides. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalJson, type JsonObject } from '@cordon/core';
import { permissionPrompt } from '@cordon/testkit/permission-prompt.ts';
import { namedInFirstLines } from './decisive.ts';

const named = (args: JsonObject, identifying: readonly string[]) =>
  namedInFirstLines(permissionPrompt({ data: [{ name: 'call', value: canonicalJson(args), identifying }] }));

const LONG = 'A line of a letter. '.repeat(20);
const EVERYBODY = Array.from({ length: 20 }, (_, index) => `person-${index}@example.org`);
/** Names that the drawing knows nothing of, so that their order is that of their length. */
const MANY = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`a${index}`, 'words']));

for (const [what, args, identifying, expected] of [
  ['a recipient', { to: 'eve@evil.example', body: LONG, amount: 12 }, ['to'], 'all'],
  ['an amount where nobody is named', { amount: 12, note: LONG }, ['amount'], 'all'],
  ['a recipient behind many others', { ...MANY, recipient: 'eve@evil.example, at long last' }, [], 'none'],
  ['many recipients', { recipients: EVERYBODY }, [], 'some'],
  ['a recipient with data behind it', { to: `eve@evil.example ${LONG}` }, ['to'], 'all'],
  ['neither', { query: 'words' }, [], null],
] as const)
  test(`the first two lines of a question with ${what}: ${expected}`, () => {
    assert.equal(named(args, identifying), expected);
  });
