/**
 * Wrong use of `tool` must not compile, and right use must. Run by the type checker only.
 */
import { refuse, tool } from '../src/index.ts';

const input = {
  type: 'object',
  properties: {
    to: { type: 'string', format: 'email' },
    size: { type: 'string', enum: ['small', 'large'] },
    count: { type: 'integer' },
    items: {
      type: 'array',
      items: { type: 'object', properties: { id: { type: 'number' } }, required: ['id'] },
    },
  },
  required: ['to', 'items'],
} as const;
const output = {
  type: 'object',
  properties: { sent: { type: 'boolean' }, unit: { type: 'string', enum: ['USD'] } },
  required: ['sent'],
} as const;

tool({
  description: 'required properties are there, others may be undefined',
  input,
  output,
  run: ({ to, size, count, items }) => {
    const address: string = to;
    const chosen: 'small' | 'large' | undefined = size;
    const number: number | undefined = count;
    const first: number | undefined = items[0]?.id;
    if (address === '') return refuse('no address');
    return { sent: chosen === undefined && number === first, unit: 'USD' };
  },
});

tool({ description: 'may be async', input, output, run: async () => ({ sent: true }) });
tool({ description: 'may refuse only', input, output, run: () => refuse('never') });
tool({ description: 'answers in text without an output schema', input, run: ({ to }) => `sent to ${to}` });
tool({
  description: 'text, async, with refusal',
  input,
  run: async ({ to }) => (to === '' ? refuse('no') : 'yes'),
});

tool({
  description: 'the schema may stand in place',
  input: { type: 'object', properties: { a: { type: 'string', enum: ['x'] } }, required: ['a'] },
  output: { type: 'object', properties: { b: { type: 'string', enum: ['x'] } }, required: ['b'] },
  run: ({ a }) => ({ b: a }),
});

// @ts-expect-error: a required result is missing
tool({ description: '', input, output, run: () => ({ unit: 'USD' }) });
// @ts-expect-error: not one of the enumeration
tool({ description: '', input, output, run: () => ({ sent: true, unit: 'EUR' }) });
// @ts-expect-error: text where the output schema says object
tool({ description: '', input, output, run: () => 'sent' });
// @ts-expect-error: an object without an output schema
tool({ description: '', input, run: () => ({ sent: true }) });
// @ts-expect-error: an object of the same form is no refusal
tool({ description: '', input, run: () => ({ text: 'no' }) });
// @ts-expect-error: an optional argument is used as if it were there
tool({ description: '', input, run: ({ size }) => size.toUpperCase() });
// @ts-expect-error: no such argument
tool({ description: '', input, run: ({ too }) => String(too) });
// @ts-expect-error: `null` is no type of the supported part
tool({ description: '', input: { type: 'object', properties: { a: { type: 'null' } } }, run: () => '' });
