/** A function of the program over elements of the trace: it gets whole events, and may take its time. */
import assert from 'node:assert/strict';
import { defineDetectors, ownDetectors } from '@cordon/detectors';
import { loadPolicy } from '@cordon/policy';
import { analyzeEvents, readTrace } from '@cordon/policy-tools';

const TEAMS = new Map([['ada@example.org', 'sales']]);

const own = ownDetectors(
  defineDetectors({
    leaves_team: {
      parameters: ['call', 'team'],
      evaluate: async ({ call, team }) => TEAMS.get(Object(call).arguments.to) !== team,
    },
  }),
  { clock: Date.now, seconds: 5 },
);

const text = `
from cordon.detectors import leaves_team
raise "a mail leaves the team" if:
    (call: ToolCall)
    call is tool:send_mail
    leaves_team(call, team="sales")
`;
const policy = loadPolicy(text, { detectors: own.detectors });
if (!policy.ok) throw new Error(JSON.stringify(policy.fault));

const call = { type: 'function', function: { name: 'send_mail', arguments: { to: 'eve@example.net' } } };
const trace = readTrace([{ role: 'assistant', content: null, tool_calls: [{ id: '1', ...call }] }]);
if (!trace.ok) throw new Error(trace.fault.message);
const { events } = trace.value;
const analysis = await own.judged((awaited) => analyzeEvents(policy.value, events, {}, awaited));
assert.equal(analysis.errors[0]?.message, 'a mail leaves the team');
