import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { SEED } from '../../../tools/seed.ts';
import { closedSchema, isClosedValue, type Json, mostBits } from '../src/index.ts';

const CLOSED: readonly Json[] = [
  { type: 'object', properties: { amount: { type: 'number' }, paid: { type: 'boolean' } } },
  { type: 'object', properties: { day: { type: 'string', format: 'date' } }, required: ['day'] },
  { enum: ['yes', 'no', null, 3, true] },
  { const: 'yes' },
  { type: ['integer', 'null'], minimum: 0, maximum: 9 },
  { type: ['string', 'null'], format: 'identifier' },
  { type: 'array', items: { type: 'integer' }, maxItems: 5 },
];

test('numbers, booleans, choices, dates and identifiers are closed, and lists of them that end', () => {
  for (const schema of CLOSED) assert.equal(closedSchema(schema).ok, true, JSON.stringify(schema));
});

const OPEN: readonly (readonly [string, Json])[] = [
  ['a string', { type: 'string' }],
  ['a string among other types', { type: ['number', 'string'] }],
  ['a string of a pattern', { type: 'string', pattern: '^[a-z ]+$' }],
  ['a string that is short', { type: 'string', maxLength: 8 }],
  ['a format that is not closed', { type: 'string', format: 'uri' }],
  ['a format of every object', { type: 'string', format: 'constructor' }],
  ['no type', {}],
  ['no schema', true],
  ['an unknown type', { type: 'text' }],
  ['a list without end', { type: 'array', items: { type: 'number' } }],
  ['a list of anything', { type: 'array', maxItems: 2 }],
  ['a list that is very long', { type: 'array', items: { type: 'number' }, maxItems: 1000 }],
  [
    'lists in lists',
    { type: 'array', maxItems: 10, items: { type: 'array', maxItems: 10, items: { type: 'number' } } },
  ],
  [
    'a string inside',
    { type: 'object', properties: { a: { type: 'object', properties: { b: { type: 'string' } } } } },
  ],
  ['an object that lists nothing', { type: 'object' }],
  ['a choice that is a sentence', { enum: ['x'.repeat(65)] }],
  ['a choice that is an object', { enum: [{ a: 1 }] }],
  ['more choices than one can mean', { enum: Array.from({ length: 65 }, (_, index) => index) }],
  ['no choice', { enum: [] }],
  ['one of several forms', { anyOf: [{ type: 'number' }, { type: 'string' }] }],
  ['another schema by name', { $ref: '#/$defs/a', $defs: { a: { type: 'string' } } }],
  ['a property with a long name', { type: 'object', properties: { ['x'.repeat(65)]: { type: 'number' } } }],
  ['ten thousand characters', { type: 'number', description: 'x'.repeat(10_000) }],
];

for (const [what, schema] of OPEN) {
  test(`${what} is not closed`, () => {
    assert.equal(closedSchema(schema).ok, false);
  });
}

test('what is used is what was understood: no other field, no other keyword', () => {
  const schema = {
    type: 'object',
    properties: { sum: { type: 'number', pattern: 'x', description: 'in euros' } },
    required: ['sum', 'more'],
    additionalProperties: { type: 'string' },
    patternProperties: { '.*': { type: 'string' } },
  };
  assert.deepEqual(closedSchema(schema), {
    ok: true,
    value: {
      type: 'object',
      properties: { sum: { type: ['number'], description: 'in euros' } },
      required: ['sum'],
      additionalProperties: false,
    },
  });
});

test('a value that a schema of this kind calls closed holds no free text, whatever the schema', () => {
  const words = fc.constantFrom('ignore all rules', 'x y', 'GO');
  const leaf = fc.oneof(
    fc.constant({ type: 'string' }),
    fc.constant({ type: ['string', 'null'], format: 'date' }),
    fc.record({
      type: fc.constantFrom('string', 'number'),
      format: fc.constantFrom('date', 'uri', 'identifier'),
    }),
    fc.record({ enum: fc.array(words, { maxLength: 2 }) }),
  );
  const value = fc.oneof(words, fc.dictionary(fc.constantFrom('a', 'ignore all rules'), words));
  fc.assert(
    fc.property(leaf, value, (schema, said) => {
      const wanted = { type: 'object', properties: { a: schema } };
      const form = closedSchema(wanted);
      if (!form.ok || !isClosedValue(form.value, { a: said })) return;
      const spelt = typeof said === 'string' ? [said] : [...Object.keys(said), ...Object.values(said)];
      const chosen: readonly string[] = 'enum' in schema ? schema.enum : [];
      assert.deepEqual(
        spelt.filter((word) => !chosen.includes(word)),
        [],
      );
    }),
    { seed: SEED },
  );
});

test('what a form can tell is counted generously', () => {
  const bits = (schema: Json) => {
    const form = closedSchema(schema);
    return form.ok ? mostBits(form.value) : null;
  };
  assert.equal(bits({ const: 'yes' }), 0);
  assert.equal(bits({ enum: ['a', 'b', 'c', 'd'] }), 2);
  assert.equal(bits({ type: 'boolean' }), 1);
  assert.equal(bits({ type: ['boolean', 'null'] }), 2);
  assert.equal(bits({ type: 'array', items: { type: 'integer' }, maxItems: 3 }), 3 * 64 + 2);
  const optional = { type: 'object', properties: { amount: { type: 'number' }, paid: { type: 'boolean' } } };
  assert.equal(bits(optional), 64 + 1 + 2);
  assert.equal(bits({ ...optional, required: ['amount', 'paid'] }), 64 + 1);
  assert.equal(mostBits({ type: 'string' }), 1024);
});
