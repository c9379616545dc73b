import assert from 'node:assert/strict';
import { test } from 'node:test';
import { misfitOfAnswer, readingsOf } from '../src/index.ts';

for (const [what, text] of [
  ['JSON', '{"n":1}'],
  ['a block of code', '```\n{"n":1}\n```'],
  ['a block of JSON', '```json\n{"n":1}\n```'],
  ['a block with empty lines', '\n``` json \n\n{"n":1}\n\n```\n'],
] as const) {
  test(`an answer may be ${what}`, () => {
    assert.deepEqual(readingsOf(text)[0], { n: 1 });
  });
}

for (const [what, text] of [
  ['of another language', '```sql\n{"n":1}\n```'],
  ['that does not end', '```json\n{"n":1}'],
  ['of one line', '```{"n":1}```'],
  ['with nothing in it', '```\n```'],
] as const) {
  test(`a block ${what} is the text that it is`, () => {
    assert.deepEqual(readingsOf(text), [{ text }, text]);
  });
}

test('a fence and a million empty lines are read once', () => {
  const text = `\`\`\`${'\n'.repeat(1_000_000)}x`;
  assert.deepEqual(readingsOf(text), [{ text }, text]);
});

test('an answer fits if one of its readings does', () => {
  const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
  assert.equal(misfitOfAnswer(schema, '```json\n{"n":1}\n```'), null);
  assert.equal(misfitOfAnswer(schema, 'one'), '/n is missing');
});
