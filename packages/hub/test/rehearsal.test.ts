/** The rehearsal of a first call: it goes through, it leaves nothing, and nobody is told of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ok } from '@cordon/core';
import { AppStart } from '../src/app-start.ts';
import { PRETENDED_APP, PRETENDED_LAUNCHER, rehearse } from '../src/rehearsal.ts';
import { validatorOnDemand } from '../src/schema-validator.ts';

test('every call of the rehearsal is answered as that of an app is, and its process ends', async () => {
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
  await rehearse(opened.value);
  assert.equal(await opened.value.ended, 'the rehearsal is over');
  assert.deepEqual(ends, ['the rehearsal is over']);
});
