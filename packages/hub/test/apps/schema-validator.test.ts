import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as after } from 'node:timers/promises';
import type { JsonSchema } from '@cordon/core';
import { validatorOnDemand } from '../../src/apps/schema-validator.ts';

const validator = await validatorOnDemand()();

const FARE: JsonSchema = {
  type: 'object',
  properties: { from: { type: 'string', maxLength: 5 }, stops: { type: 'array', items: { type: 'number' } } },
  required: ['from'],
  additionalProperties: false,
};

for (const round of ['for the first time', 'compiled before', 'and again']) {
  test(`a plain schema says the same ${round}`, () => {
    assert.deepEqual(validator.check(FARE, { from: 'here', stops: [1] }), {
      ok: true,
      value: { from: 'here', stops: [1] },
    });
    assert.deepEqual(validator.check(FARE, { from: 'too far away' }), {
      ok: false,
      fault: '/from must NOT have more than 5 characters',
    });
    assert.deepEqual(validator.check(FARE, { from: 'here', other: 1 }), {
      ok: false,
      fault: 'message must NOT have additional properties',
    });
  });
}

test('what was compiled ahead says the same', () => {
  const schema = { type: 'object', properties: { a: { type: 'integer' } } };
  validator.prepare(schema);
  assert.equal(validator.check(schema, { a: 1 }).ok, true);
  assert.equal(validator.check(schema, { a: 1.5 }).ok, false);
});

/** Each takes minutes without a limit; each has been checked once before, so that its schema is compiled. */
const SLOW: Readonly<Record<string, readonly [schema: JsonSchema, value: unknown]>> = {
  'items that are compared': [
    { type: 'object', properties: { list: { type: 'array', uniqueItems: true } } },
    { list: Array.from({ length: 60_000 }, (_, index) => ({ a: { b: index } })) },
  ],
  'a pattern with many states over a long text': [
    { type: 'string', pattern: `(${'a?'.repeat(400)}){2}b` },
    'a'.repeat(1_000_000),
  ],
};
for (const [name, [schema, value]] of Object.entries(SLOW)) {
  test(`${name}: refused in time, also when the schema is known`, () => {
    validator.check(schema, {});
    assert.equal(validator.check(schema, value as never).ok, false);
  });
}

/** Checks a value whose first look at it stops the process, so that all time passes and none is computed. */
const STOPPED = `
  const { validatorOnDemand } = await import(process.argv[1]);
  const validator = await validatorOnDemand()();
  const schema = { type: 'object', properties: { list: { type: 'array', uniqueItems: true } } };
  let isFirst = true;
  const value = { get list() {
    if (isFirst) { isFirst = false; process.kill(process.pid, 'SIGSTOP'); }
    return [1, 2];
  } };
  process.stdout.write(JSON.stringify(validator.check(schema, value)));
`;

test('a machine that gives the hub no time makes no schema a slow one', async () => {
  const validatorFile = new URL('../../src/apps/schema-validator.ts', import.meta.url).href;
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', STOPPED, validatorFile];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let answer = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    answer += text;
  });
  const closed = once(child, 'close');
  const state = () => / ([A-Z]) /.exec(readFileSync(`/proc/${child.pid}/stat`, 'utf8'))?.[1];
  while (state() !== 'T') await after(10);
  await after(700);
  child.kill('SIGCONT');
  await closed;
  assert.deepEqual(JSON.parse(answer), { ok: true, value: { list: [1, 2] } });
});
