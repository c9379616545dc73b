/** Hide what rules found, in a copy of the trace: a range is a path into the input, with offsets in code points. */
import assert from 'node:assert/strict';
import { loadPolicy } from '@cordon/policy';
import { analyze, mask } from '@cordon/policy-tools';

const policy = loadPolicy(`
warn "a key" if:
    (out: ToolOutput)
    any(find("key-[0-9]+", out.content))

warn "a key goes out" if:
    (call: ToolCall)
    any(find("key-[0-9]+", call.arguments.text))
`);
if (!policy.ok) throw new Error(JSON.stringify(policy.fault));

const trace = [
  { type: 'function', id: '1', function: { name: 'send', arguments: '{"text":"it is key-4711"}' } },
  { role: 'tool', tool_call_id: '1', content: '🔑 sent key-4711, kept key-12' },
];
const analysis = analyze(policy.value, trace);
if (!analysis.ok) throw new Error(analysis.fault.message);
const ranges = analysis.value.errors.flatMap((error) => error.ranges);
console.log(ranges);

const masked = mask(trace, ranges, (text) => `<${text.length} characters>`);
assert.deepEqual(masked, [
  { type: 'function', id: '1', function: { name: 'send', arguments: '{"text":"it is <8 characters>"}' } },
  { role: 'tool', tool_call_id: '1', content: '🔑 sent <8 characters>, kept <6 characters>' },
]);
