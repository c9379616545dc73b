import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuse, tool } from '../src/index.ts';

const input = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const;
const output = { type: 'object', properties: { half: { type: 'integer' } }, required: ['half'] } as const;

test('arguments that fit reach the function, others do not', async () => {
  const seen: number[] = [];
  const halve = tool({ description: '', input, output, run: ({ n }) => ({ half: seen.push(n) && n / 2 }) });
  assert.deepEqual(await halve.call({ n: 4 }), { kind: 'structured', value: { half: 2 } });
  assert.deepEqual(await halve.call({ n: '4' }), {
    kind: 'refused',
    text: 'invalid arguments: /n must be a number',
  });
  assert.deepEqual(await halve.call({}), { kind: 'refused', text: 'invalid arguments: /n is required' });
  assert.deepEqual(await halve.call(null), {
    kind: 'refused',
    text: 'invalid arguments: the value must be an object',
  });
  assert.deepEqual(seen, [4]);
});

test('a result that does not fit the output schema is a failure of the app, not an answer', async () => {
  const halve = tool({ description: '', input, output, run: ({ n }) => ({ half: n / 2, more: 'text' }) });
  const plain = tool({ description: '', input, output, run: ({ n }) => ({ half: n / 2 }) });
  assert.equal((await halve.call({ n: 4 })).kind, 'failed');
  assert.equal((await plain.call({ n: 3 })).kind, 'failed');
  assert.equal((await plain.call({ n: 4 })).kind, 'structured');
});

test('an undefined property of a result is the same as none', async () => {
  const optional = { type: 'object', properties: { a: { type: 'string' } } } as const;
  const none = tool({
    description: '',
    input,
    output: optional,
    run: () => Object({ a: undefined }),
  });
  assert.deepEqual(await none.call({ n: 1 }), { kind: 'structured', value: {} });
});

test('saying no, throwing and rejecting are three outcomes that never escape', async () => {
  const error = new Error('broken');
  const no = tool({ description: '', input, run: () => refuse('closed on Mondays') });
  const thrown = tool({
    description: '',
    input,
    run: (): string => {
      throw error;
    },
  });
  const rejected = tool({ description: '', input, run: (): Promise<string> => Promise.reject(error) });
  assert.deepEqual(await no.call({ n: 1 }), { kind: 'refused', text: 'closed on Mondays' });
  assert.deepEqual(await thrown.call({ n: 1 }), { kind: 'failed', error });
  assert.deepEqual(await rejected.call({ n: 1 }), { kind: 'failed', error });
});

test('a schema outside the supported part is refused when the tool is made', () => {
  const pattern = { type: 'object', properties: { a: { type: 'string', pattern: 'a' } } } as const;
  assert.throws(() => tool({ description: '', input: pattern, run: () => '' }), {
    name: 'TypeError',
    message: 'input/properties/a: `pattern` is not supported for the type string',
  });
});
