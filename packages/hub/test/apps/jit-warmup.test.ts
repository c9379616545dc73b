/** The warm-up of a first call succeeds, leaves nothing behind, and is not reported. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Json, type JsonSchema, ok, type Result } from '@cordon/core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { AppStart } from '../../src/apps/app-start.ts';
import { PRETENDED_APP, PRETENDED_LAUNCHER, warmUp } from '../../src/apps/jit-warmup.ts';
import { SchemaValidator, validatorOnDemand } from '../../src/apps/schema-validator.ts';

test('every call of the warm-up is answered like the call of a real app, and its process ends', async () => {
  const ends: string[] = [];
  const start = new AppStart({
    launcher: {
      launch: async (app, network, signal) => {
        const launched = await PRETENDED_LAUNCHER.launch(app, network, signal);
        if (launched.ok) void launched.value.ended.then((reason) => ends.push(reason));
        return launched;
      },
    },
    connect: () => Promise.reject(new Error('it is not elsewhere')),
    networkOf: () => Promise.resolve(null),
    validator: validatorOnDemand(),
    now: Date.now,
  });
  const opened = await start.open(PRETENDED_APP, new AbortController().signal, {
    givenUp: () => undefined,
    listedAnew: () => null,
  });
  assert.ok(opened.ok, opened.ok ? '' : opened.fault.message);
  const call = {
    effect: 'tool-call',
    context: 'c',
    app: PRETENDED_APP.id,
    tool: 'say',
    arguments: {},
    callId: '1',
    irreversible: false,
  } as never;
  const answered = await opened.value.call(call, new AbortController().signal);
  assert.deepEqual(answered, ok({ text: 'hello', structured: { text: 'hello' }, isError: false }));
  await warmUp(opened.value);
  assert.equal(await opened.value.ended, 'the warm-up is over');
  assert.deepEqual(ends, ['the warm-up is over']);
});

/** Keeps by which objects schemas were named. */
class WatchedValidator extends SchemaValidator {
  readonly schemas: JsonSchema[] = [];

  override check(schema: JsonSchema, value: Json): Result<Json, string> {
    this.schemas.push(schema);
    return super.check(schema, value);
  }
}

test('the schema of a result is read once for an app, and not at each call', async () => {
  const validator = new WatchedValidator(Ajv2020);
  const start = new AppStart({
    launcher: PRETENDED_LAUNCHER,
    connect: () => Promise.reject(new Error('it is not elsewhere')),
    networkOf: () => Promise.resolve(null),
    validator: () => Promise.resolve(validator),
    now: Date.now,
  });
  const opened = await start.open(PRETENDED_APP, new AbortController().signal, {
    givenUp: () => undefined,
    listedAnew: () => null,
  });
  assert.ok(opened.ok);
  await warmUp(opened.value);
  assert.equal(validator.schemas.length, 8);
  // By identity: another object would be read anew, however long it is.
  assert.equal(new Set(validator.schemas).size, 1);
});
