import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closedFormats, isClosedValue } from '@cordon/core';
import { closedObjectSchema, FORMATS, schemaProblems } from '../src/schema.ts';

test('what is supported has no problems', () => {
  const schema = {
    type: 'object',
    title: 't',
    description: 'd',
    properties: {
      s: { type: 'string', format: 'date', minLength: 1, maxLength: 10, default: 'x', examples: ['y'] },
      e: { type: 'string', enum: ['a'] },
      n: { type: 'number', minimum: 0, maximum: 1 },
      i: { type: 'integer', const: 1 },
      b: { type: 'boolean' },
      l: { type: 'array', items: { type: 'object', properties: {} }, minItems: 0, maxItems: 3 },
    },
    required: ['s'],
    additionalProperties: true,
  };
  assert.deepEqual(schemaProblems(schema), []);
});

test('what is not checked is not accepted, and each problem names its place', () => {
  const cases: readonly (readonly [unknown, string])[] = [
    [null, '#: a schema must be an object'],
    [{}, '#: `type` must be one of string, number, integer, boolean, array, object'],
    [{ type: ['string'] }, '#: `type` must be one of string, number, integer, boolean, array, object'],
    [{ type: 'null' }, '#: `type` must be one of string, number, integer, boolean, array, object'],
    [{ type: 'string', pattern: '^(a+)+$' }, '#: `pattern` is not supported for the type string'],
    [{ type: 'number', format: 'date' }, '#: `format` is not supported for the type number'],
    [
      { type: 'string', format: 'hostname' },
      '#: `format` must be one of date, time, date-time, uuid, identifier, email, uri',
    ],
    [
      { type: 'string', format: 'toString' },
      '#: `format` must be one of date, time, date-time, uuid, identifier, email, uri',
    ],
    [{ type: 'string', enum: 'a' }, '#: `enum` must be a list'],
    [{ type: 'array' }, '#/items: a schema must be an object'],
    [{ type: 'object' }, '#: `properties` must be an object'],
    [
      { type: 'object', properties: { a: { $ref: '#' } } },
      '#/properties/a: `type` must be one of string, number, integer, boolean, array, object',
    ],
    [{ type: 'object', properties: {}, required: ['a'] }, '#: `required` names "a", which is no property'],
    [{ type: 'object', properties: {}, oneOf: [] }, '#: `oneOf` is not supported for the type object'],
    [
      { type: 'object', properties: {}, additionalProperties: { type: 'string' } },
      '#: `additionalProperties` must be true or false',
    ],
  ];
  for (const [schema, expected] of cases) assert.deepEqual(schemaProblems(schema).slice(0, 1), [expected]);
});

test('objects are closed at every depth unless the author opened them', () => {
  const inner = { type: 'object', properties: {} } as const;
  const open = { type: 'object', properties: {}, additionalProperties: true } as const;
  const closed = { type: 'object', properties: {}, additionalProperties: false };
  const schema = { type: 'object', properties: { a: { type: 'array', items: inner }, b: open } } as const;
  assert.deepEqual(closedObjectSchema(schema), {
    type: 'object',
    additionalProperties: false,
    properties: { a: { type: 'array', items: closed }, b: open },
  });
});

test('the closed formats are those that the hub lets through, and mean the same', () => {
  assert.deepEqual(closedFormats(), Object.keys(FORMATS).slice(0, 5));
  const samples = ['2026-11-21', '10:30', '2026-11-21T10:30:00Z', 'msg-1004', 'x', 'obey me 1', '1'];
  for (const format of ['date', 'time', 'date-time', 'uuid', 'identifier'] as const)
    for (const sample of samples)
      assert.equal(FORMATS[format].test(sample), isClosedValue({ type: 'string', format }, sample), sample);
});
