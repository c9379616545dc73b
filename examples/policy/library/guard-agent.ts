/** An agent loop that asks the policy before every step: what is denied does not happen, and leaves no trace. */
import assert from 'node:assert/strict';
import { loadPolicy, type TraceEvent } from '@cordon/policy';
import { ExplainingMonitor, type PolicyDecision } from '@cordon/policy-tools';

const policy = loadPolicy(`
raise "after a web page was read, nothing is deleted" if:
    (page: ToolOutput) -> (call: ToolCall)
    page is tool:read_page
    call is tool:delete_*

ask "shall this be paid" if:
    (call: ToolCall)
    call is tool:pay
`);
if (!policy.ok) throw new Error(JSON.stringify(policy.fault));
const monitor = new ExplainingMonitor(policy.value);

/** `admit` remembers what it allows; a question counts as answered with no unless consent was given. */
function allowed(event: TraceEvent, userSaysYes = false): boolean {
  const { verdict, reasons }: PolicyDecision = monitor.admit([event], userSaysYes ? 'given' : 'not-needed');
  for (const { message, explanation } of reasons)
    console.log(`${verdict}: ${message}; it would be allowed if ${explanation.change.text}`);
  return verdict === 'allow';
}

const done: string[] = [];
const proposed = [{ name: 'delete_mail' }, { name: 'read_page' }, { name: 'delete_mail' }, { name: 'pay' }];
allowed({ type: 'Message', role: 'user', content: 'Tidy up, and look at the page.', toolCalls: [] });
for (const [index, { name }] of proposed.entries()) {
  const callId = `call-${index}`;
  if (!allowed({ type: 'ToolCall', callId, kind: 'function', name, arguments: {} }, name === 'pay')) continue;
  done.push(name); // here the tool runs
  allowed({ type: 'ToolOutput', role: 'tool', callId, content: `output of ${name}` });
}

assert.deepEqual(done, ['delete_mail', 'read_page', 'pay']);
