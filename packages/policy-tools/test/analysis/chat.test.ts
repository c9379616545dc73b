import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadPolicy } from '@cordon/policy';
import fc from 'fast-check';
import { analyze, decodeChat } from '../../src/index.ts';
import '../../../../tools/seed.ts';

const POLICY = loadPolicy(`
from invariant import count
raise "x" if:
    (c: ToolCall) -> (o: ToolOutput)
    c is tool:*({a: "x.*"})
    (s: str) in c.arguments
    s in o.content
raise "y" if:
    (m: Message)
    any(find("(a|aa)+$", m.content))
    count(min=1):
        (d: dict)
        d.a == m.content
`);

function analyzed(trace: unknown): boolean {
  assert.ok(POLICY.ok);
  return analyze(POLICY.value, trace).ok;
}

test('whatever is given as a trace is analysed or refused, never thrown', () => {
  const key = fc.constantFrom(
    'role',
    'content',
    'tool_calls',
    'id',
    'type',
    'function',
    'tools',
    'name',
    'arguments',
    'metadata',
    '__proto__',
    'context',
    'causes',
  );
  const text = fc.constantFrom(
    'user',
    'tool',
    'assistant',
    'function',
    '{"a": 1}',
    '[',
    '\u0000',
    '\ud800',
    'x',
    'aaaa!',
  );
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      text,
      fc.constantFrom(null, true, 1, -0, Number.NaN),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(key, tie('value'), { maxKeys: 6 }),
    ),
  }));
  fc.assert(
    fc.property(fc.array(value, { maxLength: 5 }), (trace) => typeof analyzed(trace) === 'boolean'),
    { numRuns: 500 },
  );
});

test('deep values are refused instead of exhausting the stack', () => {
  const deep = JSON.parse(`${'['.repeat(10_000)}${']'.repeat(10_000)}`);
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: { a: deep } } };
  const decoded = decodeChat([
    { role: 'user', content: 'a' },
    { role: 'assistant', content: null, tool_calls: [call] },
  ]);
  assert.deepEqual(decoded, {
    ok: false,
    fault: { path: '1', message: 'values are nested more than 200 deep' },
  });
});

test('a key that is named like a prototype is a key like any other', () => {
  const trace = JSON.parse(
    '[{"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": {"__proto__": {"to": "x"}}}}]}]',
  );
  const policy = loadPolicy('raise "x" if:\n    (c: ToolCall)\n    c.arguments.to == "x"\n');
  assert.ok(policy.ok);
  const analysis = analyze(policy.value, trace);
  assert.deepEqual(analysis.ok && [analysis.value.errors.length, analysis.value.undecided.length], [0, 1]);
});

test('many calls in one message, all with the same id, are read', () => {
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
  const decoded = decodeChat([
    { role: 'assistant', content: null, tool_calls: Array.from({ length: 20_000 }, () => call) },
  ]);
  assert.equal(decoded.ok && decoded.value.length, 1);
});
