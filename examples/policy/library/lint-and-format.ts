/** For editors and checks: diagnostics with their places, what is probably not meant, and the canonical form. */
import assert from 'node:assert/strict';
import type { Diagnostic } from '@cordon/core';
import { loadPolicy } from '@cordon/policy';
import { format, lint, parseTools } from '@cordon/policy-tools';

const show = (found: readonly Diagnostic[]): readonly string[] =>
  found.map(
    ({ code, range, message, help }) => `${range?.line}:${range?.column} ${code} ${message} (${help})`,
  );

// What cannot be loaded: all of its problems at once.
const broken = loadPolicy(
  'raise "no" if:\n    (call: ToolCal)\n    call is tool:rm\n    lenght(call.name) > 2\n',
);
if (!broken.ok) console.log(show(broken.fault).join('\n'));
assert.deepEqual(!broken.ok && broken.fault.map(({ code }) => code), ['POL012', 'POL010']);

// What loads, and is probably not what its author meant.
const text = 'raise "no" if:\n  (call:ToolCall)   # any call\n  call is tool:send_mial({to:\'x\'})\n';
const policy = loadPolicy(text);
const tools = parseTools([{ name: 'send_mail', inputSchema: { properties: { to: { type: 'string' } } } }]);
assert.ok(policy.ok && tools.ok);
const warnings = lint(policy.value, { tools: tools.value });
console.log(show(warnings).join('\n'));
assert.deepEqual(
  warnings.map(({ code, range }) => [code, range?.line, range?.column]),
  [['POL066', 3, 16]],
);

const formatted = format(text);
assert.equal(
  formatted.ok && formatted.value,
  'raise "no" if:\n    (call: ToolCall)  # any call\n    call is tool:send_mial({to: "x"})\n',
);
