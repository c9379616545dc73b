import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '@cordon/core';
import { freeTexts } from '../../src/commands/apps/free-texts.ts';

test('fields that can say anything are named, and closed ones are not', () => {
  const schema: Json = {
    type: 'object',
    properties: {
      to: { type: 'string', format: 'email' },
      day: { type: 'string', format: 'date' },
      kind: { type: 'string', enum: ['a', 'b'] },
      count: { type: 'integer' },
      tags: { type: 'array', items: { type: 'string' } },
      who: { type: 'object', properties: { name: { type: 'string' }, age: { type: 'number' } } },
      any: {},
      wide: { type: ['string', 'number'] },
    },
  };
  assert.deepEqual(freeTexts(schema), ['to', 'tags[]', 'who.name', 'any', 'wide']);
});
