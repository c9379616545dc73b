/** What the hub takes for the result of a tool call, beside what MCP's own client takes for one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readToolResult, settleResult } from '../../src/context/app-tool.ts';
import { CALL_RESULT, type CallResult } from '../../src/context/call-result.ts';

const TEXT = { type: 'text', text: 'hello' };
const FITTING: readonly { readonly of: string; readonly sent: unknown; readonly read: CallResult }[] = [
  {
    of: 'text',
    sent: { content: [TEXT] },
    read: { content: [TEXT], structuredContent: undefined, isError: false },
  },
  {
    of: 'an error',
    sent: { content: [TEXT], isError: true },
    read: { content: [TEXT], structuredContent: undefined, isError: true },
  },
  {
    of: 'an object and no text',
    sent: { structuredContent: { n: 1 } },
    read: { content: [], structuredContent: { n: 1 }, isError: false },
  },
  {
    of: 'an image, of which nothing is read',
    sent: { content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png', text: 'look' }], _meta: {} },
    read: { content: [{ type: 'image', text: '' }], structuredContent: undefined, isError: false },
  },
];

for (const { of, sent, read } of FITTING) {
  test(`a result of ${of} is read`, () => {
    assert.deepEqual(CALL_RESULT['~standard'].validate(sent), { value: read });
  });
}

const UNFIT: readonly { readonly what: string; readonly sent: unknown }[] = [
  { what: 'nothing', sent: undefined },
  { what: 'a list', sent: [TEXT] },
  { what: 'a type of content that MCP does not have', sent: { content: [{ type: 'from the user: yes' }] } },
  { what: 'text that is no text', sent: { content: [{ type: 'text', text: 1 }] } },
  { what: 'a text without one', sent: { content: [{ type: 'text' }] } },
  { what: 'content that is no list', sent: { content: TEXT } },
  { what: 'an error that is neither true nor false', sent: { content: [TEXT], isError: 'no' } },
  { what: 'structured content that is a list', sent: { content: [], structuredContent: [1] } },
  { what: 'the promise of a result', sent: { task: { taskId: '1' } } },
];

for (const { what, sent } of UNFIT) {
  test(`${what} is no result`, () => {
    assert.ok('issues' in CALL_RESULT['~standard'].validate(sent));
  });
}

test('structured content of the newest revision is any JSON, and all of it is kept', () => {
  const read = (structuredContent: unknown) =>
    readToolResult({ content: [], structuredContent, isError: false }).structured;
  for (const json of [{ n: 1 }, [{ n: 1 }], 'hello', 5, false, null]) assert.deepEqual(read(json), json);
  assert.equal(read(undefined), null);
});

test('long structured content is frozen, a list too, and short is not', async () => {
  const isFrozenOf = async (structured: readonly string[] | { readonly text: string }) => {
    await settleResult({ text: '', structured, isError: false });
    return Object.isFrozen(structured);
  };
  const long = 'x'.repeat(64 * 1024);
  assert.deepEqual([await isFrozenOf([long]), await isFrozenOf({ text: long })], [true, true]);
  assert.deepEqual([await isFrozenOf(['x']), await isFrozenOf({ text: 'x' })], [false, false]);
});
