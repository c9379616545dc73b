import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '@cordon/core';
import { loadPolicy } from '@cordon/policy';
import { analyzeEvents, mask, readTrace } from '../../src/index.ts';

test('characters of a text are replaced, counted in code points', () => {
  const trace = [{ role: 'user', content: '🔑 is KEY1' }];
  assert.deepEqual(mask(trace, ['0', '0.content:5-9']), [{ role: 'user', content: '🔑 is ****' }]);
  assert.deepEqual(trace, [{ role: 'user', content: '🔑 is KEY1' }]);
});

test('a replacement of another length does not move later ranges, and what overlaps is replaced once', () => {
  const trace = [{ content: 'abc def ghi' }];
  const ranges = ['0.content:8-11', '0.content:0-3', '0.content:1-2'];
  assert.deepEqual(
    mask(trace, ranges, (text) => `<${text}>`),
    [{ content: '<abc> def <ghi>' }],
  );
});

test('arguments that are JSON in a string, chunks, and keys with dots are reached', () => {
  const trace = [
    { tool_calls: [{ function: { arguments: '{"to":"bob@x","cc":["amy@x"]}' } }] },
    { content: [{ type: 'text', text: 'secret' }] },
    { content: { 'a.b': 'secret' } },
  ];
  const ranges = ['0.tool_calls.0.function.arguments.cc.0:0-3', '1.content.0.text:0-6', '2.content.a.b:0-1'];
  assert.deepEqual(mask(trace, ranges), [
    { tool_calls: [{ function: { arguments: '{"to":"bob@x","cc":["***@x"]}' } }] },
    { content: [{ type: 'text', text: '******' }] },
    { content: { 'a.b': '*ecret' } },
  ]);
});

test('ranges that lead nowhere, beyond the text, or into no text change nothing else', () => {
  const trace = [{ content: 'abc', n: 5 }];
  const ranges = ['1.content:0-2', '0.n:0-1', '0.missing:0-1', '0.content:2-99', 'nonsense', '0.content:1-'];
  assert.deepEqual(mask(trace, ranges), [{ content: 'ab*', n: 5 }]);
});

test('a key named __proto__ stays a key', () => {
  const trace = JSON.parse('[{"__proto__": "abc"}]');
  assert.equal(JSON.stringify(mask(trace, ['0.__proto__:0-3'])), '[{"__proto__":"***"}]');
});

test('in a log that wraps its list, paths begin at the list, and others at the log', () => {
  const log = { system: 'abc', messages: [{ role: 'user', content: 'abc' }] };
  assert.deepEqual(mask(log, ['0.content:0-2', 'system:1-2']), {
    system: 'a*c',
    messages: [{ role: 'user', content: '**c' }],
  });
});

test('what a rule finds in the description of a parameter is hidden where the log holds it', () => {
  const policy = loadPolicy('raise "x" if:\n    (p: ToolParameter)\n    "eve" in p.description\n');
  assert.ok(policy.ok);
  const schema = { properties: { to: { type: 'string', description: 'mail eve' } } };
  const logs: readonly Json[] = [
    [{ tools: [{ name: 'f', inputSchema: schema }] }],
    { messages: [], tools: [{ type: 'function', function: { name: 'f', parameters: schema } }] },
    { system: 's', messages: [], tools: [{ name: 'f', input_schema: schema }] },
  ];
  for (const log of logs) {
    const read = readTrace(log);
    assert.ok(read.ok);
    const ranges: readonly string[] = analyzeEvents(policy.value, read.value.events).errors.flatMap(
      (error) => error.ranges,
    );
    assert.equal(JSON.stringify(mask(log, ranges)), JSON.stringify(log).replace('mail eve', 'mail ***'));
  }
});
