import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonSchema } from '@cordon/core';
import fc from 'fast-check';
import {
  CHECKED_KEYWORDS,
  HUB_SCHEMAS,
  misfit,
  misfitOfAnswer,
  readingsOf,
  SPOKE_SCHEMAS,
} from '../src/index.ts';
import '../../../tools/seed.ts';

function keywordsOf(schema: Json): readonly string[] {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return [];
  return Object.entries(schema).flatMap(([keyword, inner]) => {
    if (keyword === 'properties') return [keyword, ...Object.values(inner ?? {}).flatMap(keywordsOf)];
    if (keyword === 'anyOf') return [keyword, ...(inner as Json[]).flatMap(keywordsOf)];
    return [keyword, ...keywordsOf(inner)];
  });
}

test('the schemas of the messages use nothing that the check does not know', () => {
  const used = new Set([...Object.values(SPOKE_SCHEMAS), ...Object.values(HUB_SCHEMAS)].flatMap(keywordsOf));
  assert.ok(used.size > 8);
  assert.deepEqual(
    [...used].filter((keyword) => !CHECKED_KEYWORDS.has(keyword)),
    [],
  );
});

const FITS: readonly (readonly [JsonSchema, Json])[] = [
  [{}, null],
  [{ type: ['string', 'null'] }, null],
  [{ type: 'integer' }, 2],
  [{ type: 'number', minimum: 1, maximum: 2 }, 1.5],
  [{ type: 'string', maxLength: 2 }, '𝒳𝒳'],
  [{ type: 'array', items: { type: 'boolean' }, maxItems: 2 }, [true, false]],
  [{ enum: ['a', { b: [1, 2] }] }, { b: [1, 2] }],
  [
    { type: 'object', properties: { a: {} }, additionalProperties: { type: 'number' } },
    { a: 'x', b: 1 },
  ],
  [{ anyOf: [{ type: 'number' }, { const: 'x' }] }, 'x'],
  // What is not known here is left to the hub.
  [{ type: 'string', pattern: '^a$' }, 'b'],
];

const MISFITS: readonly (readonly [JsonSchema, Json, string])[] = [
  [{ type: 'integer' }, 1.5, 'the message must be integer'],
  [{ type: 'number', maximum: 2 }, 3, ' is too small or too large'],
  [{ type: 'string', maxLength: 2 }, 'abc', ' is too short or too long'],
  [{ type: 'string', minLength: 1 }, '', ' is too short or too long'],
  [{ type: 'array', maxItems: 1 }, [1, 2], ' has too few or too many items'],
  [{ enum: ['a'] }, 'b', 'the message is none of the values'],
  [
    { properties: { a: { type: 'array', items: { type: 'string' } } } },
    { a: ['x', 1] },
    '/a/1 must be string',
  ],
  [{ required: ['a'] }, {}, '/a is missing'],
  [{ required: ['constructor'] }, {}, '/constructor is missing'],
  [{ additionalProperties: false }, { a: 1 }, 'the message has a field that is unknown'],
  [
    { anyOf: [{ type: 'number' }, { const: 'x' }] },
    'y',
    'the message fits none of the forms that it may have',
  ],
];

test('what fits has nothing wrong, what does not says where', () => {
  for (const [schema, value] of FITS) assert.equal(misfit(schema, value), null);
  for (const [schema, value, problem] of MISFITS) assert.equal(misfit(schema, value), problem);
});

test('a reference may stand where a text may, and nowhere else', () => {
  const references = { allowsReferences: true } as const;
  const schema = {
    type: 'object',
    properties: { note: { type: 'string', maxLength: 3 }, sum: { type: 'number' } },
  };
  const whole = { ref: '$1', length: 900 };
  assert.equal(misfit(schema, { note: whole, sum: 1 }, references), null);
  assert.equal(misfit(schema, { note: 'see $1, please' }, references), null);
  assert.equal(misfit(schema, { sum: whole }, references), '/sum must be no text');
  assert.equal(misfit(schema, { note: whole }), '/note must be string');
  assert.equal(misfit(schema, { note: { ref: '$1', more: 1 } }, references), '/note must be string');
});

test('an answer is read as JSON, as a block of code, or as the one text of the response', () => {
  const schema = { type: 'object', properties: { fare: { type: 'number' } }, required: ['fare'] };
  assert.equal(misfitOfAnswer(schema, '{"fare":12}'), null);
  assert.equal(misfitOfAnswer(schema, '```json\n{"fare":12}\n```'), null);
  assert.equal(misfitOfAnswer(schema, 'twelve'), '/fare is missing');
  assert.equal(
    misfitOfAnswer({ type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }, 'hi'),
    null,
  );
  assert.deepEqual(readingsOf('x'), [{ text: 'x' }, 'x']);
});

test('no schema and no value makes the check throw', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), fc.boolean(), (schema, value, allowsReferences) => {
      const asSchema = {
        properties: { a: schema },
        items: schema,
        anyOf: [schema],
        required: schema,
      } as JsonSchema;
      const problem = misfit(asSchema, { a: value } as Json, { allowsReferences });
      assert.ok(problem === null || typeof problem === 'string');
    }),
    { verbose: 1 },
  );
});
