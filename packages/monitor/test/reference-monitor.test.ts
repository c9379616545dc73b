import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Answer,
  type AnswerPart,
  type AppRequest,
  type Egress,
  type EventId,
  HUB_LABEL,
  id,
  type JsonObject,
  type Label,
  type Proposal,
  settle,
  type ToolCall,
  type ToolOutput,
} from '@cordon/core';
import { emptyPolicy, loadPolicy, type Policy } from '@cordon/policy';
import { type EventPlace, ReferenceMonitor } from '../src/index.ts';

function monitorFor(text: string): ReferenceMonitor {
  const policy = loadPolicy(text);
  assert.ok(policy.ok, JSON.stringify(policy.ok ? null : policy.fault));
  return new ReferenceMonitor({ policy: policy.value });
}

function frame(event: string, causes: readonly string[] = [], app: string | null = null): EventPlace {
  return {
    event: id<'event'>(event),
    app: app === null ? null : id<'app'>(app),
    causes: causes.map((cause): EventId => id(cause)),
  };
}

function toolCall(context: string, app: string, tool: string, args = {}, callId = `${tool}-1`): ToolCall {
  return {
    effect: 'tool-call',
    context: id(context),
    app: id(app),
    tool,
    arguments: args,
    callId,
    irreversible: false,
  };
}

const SECRET: Label = { integrity: 'untrusted', confidentiality: 'private' };

function toolOutput(context: string, app: string, callId: string, text = 'text', label = SECRET): ToolOutput {
  return {
    effect: 'tool-output',
    context: id(context),
    app: id(app),
    tool: 'any',
    callId,
    text,
    structured: null,
    isError: false,
    label,
  };
}

function egress(context: string, app: string): Egress {
  return {
    effect: 'egress',
    context: id(context),
    app: id(app),
    method: 'GET',
    host: 'evil.example',
    port: 443,
    path: '/',
    bytes: 0,
  };
}

test('what was decided is a copy, or a value that nobody can change', async () => {
  const monitor = monitorFor('');
  const spent = (structured: JsonObject) => {
    const proposal = { ...toolOutput('c1', 'mail', 'call-1'), structured };
    const ruling = monitor.admit(monitor.decide(proposal, frame('e1')), 'not-needed');
    assert.ok(ruling.allowed);
    return monitor.spend(ruling.allowance).structured;
  };
  const loose = { rows: [{ a: 1 }] };
  assert.notEqual(spent(loose), loose);
  assert.deepEqual(spent(loose), loose);
  const settled = { rows: [{ a: 1 }] };
  await settle(settled, () => Promise.resolve());
  assert.equal(spent(settled), settled);
  assert.throws(() => settled.rows.push({ a: 2 }), TypeError);
});

function answer(context: string, text: string): Answer {
  return { effect: 'answer', context: id(context), text };
}

function admit(monitor: ReferenceMonitor, proposal: Proposal, at: EventPlace): void {
  assert.equal(monitor.admit(monitor.decide(proposal, at), 'not-needed').allowed, true);
}

const FLOW = `
rule no-mail-after-read:
raise "mail after reading" if:
    (out: ToolOutput) -> (call: ToolCall)
    out is tool:read
    call is tool:send
`;

test('an empty policy allows everything', () => {
  const monitor = monitorFor('');
  assert.deepEqual(monitor.decide(toolCall('s1', 'mail', 'send'), frame('e1')), {
    verdict: 'allow',
    warnings: [],
  });
});

test('a flow within one context is denied, with rule, message and events', () => {
  const monitor = monitorFor(FLOW);
  admit(monitor, toolCall('s1', 'mail', 'read'), frame('e1'));
  admit(monitor, toolOutput('s1', 'mail', 'read-1'), frame('e2'));
  assert.deepEqual(monitor.decide(toolCall('s1', 'mail', 'send'), frame('e3')), {
    verdict: 'deny',
    reasons: [
      { rule: 'no-mail-after-read', message: 'mail after reading', events: ['e2', 'e3'], because: 'rule' },
    ],
    warnings: [],
  });
});

test('the same two effects in contexts that know nothing of each other are allowed', () => {
  const monitor = monitorFor(FLOW);
  admit(monitor, toolCall('s1', 'mail', 'read'), frame('e1'));
  admit(monitor, toolOutput('s1', 'mail', 'read-1'), frame('e2'));
  assert.equal(monitor.decide(toolCall('s2', 'post', 'send'), frame('e3')).verdict, 'allow');
});

test('a message between the contexts makes it a flow', () => {
  const monitor = monitorFor(FLOW);
  admit(monitor, toolCall('s1', 'mail', 'read'), frame('e1'));
  admit(monitor, toolOutput('s1', 'mail', 'read-1'), frame('e2'));
  const request: AppRequest = {
    effect: 'app-request',
    context: id('s1'),
    from: id('mail'),
    to: id('post'),
    peer: id('x'),
    functionality: id('send-text'),
    message: {},
    callId: 'r1',
  };
  admit(monitor, request, frame('e3'));
  monitor.record({ kind: 'user.message', context: id('s2'), text: 'the request' }, frame('e4', ['e3']));
  assert.equal(monitor.decide(toolCall('s2', 'post', 'send'), frame('e5')).verdict, 'deny');
});

test('data that one spoke puts into an app and another takes out is a flow', () => {
  const monitor = monitorFor(FLOW);
  admit(monitor, toolCall('s1', 'mail', 'read'), frame('e1'));
  admit(monitor, toolOutput('s1', 'mail', 'read-1'), frame('e2'));
  admit(monitor, toolCall('s1', 'notes', 'write'), frame('e3'));
  admit(monitor, toolCall('s2', 'notes', 'list'), frame('e4'));
  assert.equal(monitor.decide(toolCall('s2', 'post', 'send'), frame('e5')).verdict, 'allow');
  admit(monitor, toolOutput('s2', 'notes', 'list-1'), frame('e6'));
  assert.equal(monitor.decide(toolCall('s2', 'post', 'send'), frame('e7')).verdict, 'deny');
});

test('an egress of an app knows what the app was given and nothing else', () => {
  const monitor = monitorFor(`
raise "private data leaves" if:
    (out: ToolOutput) -> (leak: Egress)
    "private" in out.labels
`);
  admit(monitor, toolCall('s1', 'mail', 'read'), frame('e1'));
  admit(monitor, toolOutput('s1', 'mail', 'read-1'), frame('e2'));
  assert.equal(monitor.decide(egress('s1', 'maps'), frame('e3')).verdict, 'allow');
  admit(monitor, toolCall('s1', 'maps', 'route'), frame('e4'));
  assert.equal(monitor.decide(egress('s1', 'maps'), frame('e5')).verdict, 'deny');
});

test('a cause that the monitor was never given counts as having seen everything', () => {
  const monitor = monitorFor(FLOW);
  admit(monitor, toolCall('s1', 'mail', 'read'), frame('e1'));
  admit(monitor, toolOutput('s1', 'mail', 'read-1'), frame('e2'));
  assert.equal(monitor.decide(toolCall('s2', 'post', 'send'), frame('e3', ['nobody-knows'])).verdict, 'deny');
});

test('ask needs consent, and consent does not turn a deny into an allow', () => {
  const asking = monitorFor('ask "sure?" if:\n    (c: ToolCall)\n    c is tool:send\n');
  const call = toolCall('s1', 'mail', 'send');
  assert.equal(asking.decide(call, frame('e1')).verdict, 'ask');
  assert.equal(asking.admit(asking.decide(call, frame('e1')), 'not-needed').allowed, false);
  assert.equal(asking.admit(asking.decide(call, frame('e1')), 'given').allowed, true);
  const denying = monitorFor('raise "no" if:\n    (c: ToolCall)\n    c is tool:send\n');
  assert.equal(denying.admit(denying.decide(call, frame('e1')), 'given').allowed, false);
});

test('warn lets the effect happen and says so', () => {
  const monitor = monitorFor('warn "look" if:\n    (c: ToolCall)\n    c is tool:send\n');
  const decision = monitor.decide(toolCall('s1', 'mail', 'send'), frame('e1'));
  assert.deepEqual(decision, {
    verdict: 'allow',
    warnings: [{ rule: 'rule-1', message: 'look', events: ['e1'], because: 'rule' }],
  });
});

test('what cannot be decided is denied, and reasons hold no values of the trace', () => {
  const monitor = monitorFor('raise "to outside" if:\n    (c: ToolCall)\n    c.arguments.to == "x"\n');
  const decision = monitor.decide(toolCall('s1', 'mail', 'send', { secret: 'hunter2' }), frame('e1'));
  assert.equal(decision.verdict, 'deny');
  assert.equal(decision.verdict === 'deny' && decision.reasons[0]?.because, 'undecided');
  assert.equal(JSON.stringify(decision).includes('hunter2'), false);
  assert.equal(monitor.decide(toolCall('s1', 'mail', 'send', { to: 'y' }), frame('e1')).verdict, 'allow');
});

test('a message that is computed from values is shown without them', () => {
  const monitor = monitorFor(
    'raise f"no mail to {c.arguments.to}" if:\n    (c: ToolCall)\n    c is tool:send\n',
  );
  const decision = monitor.decide(toolCall('s1', 'mail', 'send', { to: 'hunter2' }), frame('e1'));
  assert.equal(decision.verdict === 'deny' && decision.reasons[0]?.message, 'no mail to …');
});

test('an allowance gives its proposal back exactly once, and a forged one never', () => {
  const monitor = monitorFor('');
  const call = toolCall('s1', 'mail', 'send', { to: 'a' });
  const ruling = monitor.admit(monitor.decide(call, frame('e1')), 'not-needed');
  assert.ok(ruling.allowed);
  assert.deepEqual(monitor.spend(ruling.allowance), call);
  assert.throws(() => monitor.spend(ruling.allowance));
  const stranger = monitorFor('');
  const other = stranger.admit(stranger.decide(call, frame('e1')), 'not-needed');
  assert.ok(other.allowed);
  assert.throws(() => monitor.spend(other.allowance));
});

test('what is spent is what was decided, whatever became of the object that was handed in', () => {
  const monitor = monitorFor('raise "no" if:\n    (c: ToolCall)\n    c is tool:send({to: "evil"})\n');
  const args = { to: 'friend' };
  const ruling = monitor.admit(
    monitor.decide(toolCall('s1', 'mail', 'send', args), frame('e1')),
    'not-needed',
  );
  args.to = 'evil';
  assert.ok(ruling.allowed);
  assert.deepEqual(monitor.spend(ruling.allowance).arguments, { to: 'friend' });
});

test('what is spent is plain data that nobody can change, with keys of any name', () => {
  const monitor = monitorFor('');
  const args = JSON.parse('{"__proto__":{"to":"enemy"},"list":[{"deep":1}]}');
  const ruling = monitor.admit(
    monitor.decide(toolCall('c', 'mail', 'send', args), frame('e1')),
    'not-needed',
  );
  assert.ok(ruling.allowed);
  const { arguments: spent } = monitor.spend(ruling.allowance);
  assert.equal(JSON.stringify(spent), '{"__proto__":{"to":"enemy"},"list":[{"deep":1}]}');
  assert.equal('to' in spent, false);
  const { list } = spent;
  assert.ok(Array.isArray(list));
  assert.deepEqual(
    [Object.isFrozen(spent), Object.isFrozen(list), Object.isFrozen(list[0])],
    [true, true, true],
  );
  const call = toolCall('c', 'mail', 'send', { run: () => 'no data' });
  assert.throws(() => monitor.admit(monitor.decide(call, frame('e2')), 'not-needed'), /plain data/);
});

test('a decision is admitted once, by the monitor that made it, and anew where the trace has grown', () => {
  const monitor = monitorFor('raise "twice" if:\n    (a: ToolCall) -> (b: ToolCall)\n');
  const call = (at: string) => monitor.decide(toolCall('s1', 'mail', 'send', {}, at), frame(at));
  const [first, second] = [call('e1'), call('e2')];
  assert.deepEqual([first.verdict, second.verdict], ['allow', 'allow']);
  assert.throws(() => monitorFor('').admit(first, 'not-needed'), /did not decide/);
  assert.equal(monitor.admit(first, 'not-needed').allowed, true);
  assert.throws(() => monitor.admit(first, 'not-needed'), /admitted it before/);
  // Attack: two calls are decided on beside each other, each of which is allowed alone.
  assert.equal(monitor.admit(second, 'not-needed').allowed, false);
  assert.throws(() => monitor.admit(second, 'given'), /admitted it before/);
});

test('an effect is evaluated once, and again only where the trace has grown meanwhile', () => {
  const { policy, evaluated } = countingPolicy();
  const monitor = new ReferenceMonitor({ policy });
  const call = (at: string) => monitor.decide(toolCall('s1', 'mail', 'send', {}, at), frame(at));
  assert.equal(monitor.admit(call('e1'), 'not-needed').allowed, true);
  assert.equal(evaluated(), 1);
  const [second, third] = [call('e2'), call('e3')];
  assert.equal(monitor.admit(third, 'not-needed').allowed, true);
  assert.equal(evaluated(), 3);
  assert.equal(monitor.admit(second, 'not-needed').allowed, true);
  assert.equal(evaluated(), 4);
});

/** Counts how often its monitor is asked. */
function countingPolicy(): { readonly policy: Policy; readonly evaluated: () => number } {
  const policy = emptyPolicy();
  let count = 0;
  const monitor: Policy['monitor'] = (...given) => {
    const own = policy.monitor(...given);
    const evaluate = own.evaluate.bind(own);
    own.evaluate = (...asked) => {
      count++;
      return evaluate(...asked);
    };
    return own;
  };
  return { policy: Object.assign(emptyPolicy(), { monitor }), evaluated: () => count };
}

test('a yes is to what was asked: what a rule asks since then is not agreed to', () => {
  const monitor = monitorFor(`
rule sends:
ask "send it?" if:
    (c: ToolCall)
    c is tool:send
rule sends-after-read:
ask "send it after reading?" if:
    (out: ToolOutput) -> (c: ToolCall)
    c is tool:send
`);
  const send = (at: string) => monitor.decide(toolCall('s1', 'mail', 'send', {}, at), frame(at));
  const [first, second] = [send('e1'), send('e2')];
  admit(monitor, toolCall('s2', 'mail', 'read'), frame('e3'));
  assert.equal(monitor.admit(first, 'given').allowed, true);
  admit(monitor, toolOutput('s1', 'mail', 'read-1'), frame('e4'));
  const ruling = monitor.admit(second, 'given');
  assert.deepEqual(ruling.allowed ? [] : ruling.reasons.map(({ rule }) => rule), ['sends-after-read']);
  assert.equal(monitor.admit(send('e5'), 'given').allowed, true);
});

test('a denied effect leaves nothing behind that later decisions could see', () => {
  const monitor = monitorFor(`
raise "twice" if:
    (a: ToolCall) -> (b: ToolCall)
    a is tool:send
    b is tool:send
raise "never" if:
    (c: ToolCall)
    c is tool:send({to: "evil"})
`);
  assert.equal(
    monitor.admit(monitor.decide(toolCall('s1', 'mail', 'send', { to: 'evil' }), frame('e1')), 'not-needed')
      .allowed,
    false,
  );
  assert.equal(
    monitor.admit(monitor.decide(toolCall('s1', 'mail', 'send', { to: 'friend' }), frame('e2')), 'not-needed')
      .allowed,
    true,
  );
  assert.equal(
    monitor.admit(monitor.decide(toolCall('s1', 'mail', 'send', { to: 'friend' }), frame('e3')), 'not-needed')
      .allowed,
    false,
  );
});

test('a limit on the number of calls holds at run time', () => {
  const monitor = monitorFor(`
from invariant import count
raise "too many" if:
    count(min=3):
        (c: ToolCall)
        c is tool:send
`);
  admit(monitor, toolCall('s1', 'mail', 'send', {}, 'c1'), frame('e1'));
  admit(monitor, toolCall('s1', 'mail', 'send', {}, 'c2'), frame('e2'));
  assert.equal(monitor.decide(toolCall('s1', 'mail', 'send', {}, 'c3'), frame('e3')).verdict, 'deny');
  assert.equal(monitor.decide(toolCall('s1', 'mail', 'list', {}, 'c4'), frame('e4')).verdict, 'allow');
});

test('an answer is a message of the assistant, and a model call passes', () => {
  const monitor = monitorFor(
    'raise "no" if:\n    (m: Message)\n    m.role == "assistant"\n    "secret" in m.content\n',
  );
  assert.equal(monitor.decide(answer('s1', 'the secret'), frame('e1')).verdict, 'deny');
  assert.equal(monitor.decide(answer('s1', 'hello'), frame('e1')).verdict, 'allow');
  const call: Proposal = {
    effect: 'model-call',
    context: id('s1'),
    model: 'a/b',
    messages: 1,
    tools: [],
    digest: '',
  };
  admit(monitor, call, frame('e2'));
});

test('labels are those of the event, or of all that was visible where it arose', () => {
  const monitor = monitorFor('raise "tainted" if:\n    (c: ToolCall)\n    "untrusted" in c.labels\n');
  assert.equal(monitor.decide(toolCall('s1', 'mail', 'send'), frame('e1')).verdict, 'allow');
  admit(monitor, toolCall('s1', 'mail', 'read'), frame('e2'));
  admit(monitor, toolOutput('s1', 'mail', 'read-1', 'fine', HUB_LABEL), frame('e3'));
  assert.equal(monitor.decide(toolCall('s1', 'mail', 'send'), frame('e4')).verdict, 'allow');
  admit(monitor, toolOutput('s1', 'mail', 'read-1'), frame('e5'));
  assert.equal(monitor.decide(toolCall('s1', 'mail', 'send'), frame('e6')).verdict, 'deny');
});

const PART: AnswerPart = { effect: 'answer-part', context: id('c'), text: 'two', from: 4 };
const ONE_TWO = 'raise "no" if:\n    (answer: Message)\n    any(find("one two", answer.content))';

test('a part is decided together with what was shown before it', () => {
  const monitor = monitorFor(ONE_TWO);
  const refused = monitor.admitPart(PART, 'one ', frame('e1'));
  assert.equal(refused.allowed, false);
  const allowed = monitor.admitPart(PART, 'not ', frame('e1'));
  assert.ok(allowed.allowed);
  assert.deepEqual(monitor.spend(allowed.allowance), PART);
  assert.throws(() => monitor.spend(allowed.allowance), /spent before/);
});

test('a part that was shown is not in the trace, where the answer is', () => {
  const monitor = monitorFor(
    'raise "again" if:\n    (one: Message) -> (other: Message)\n    "two" in one.content',
  );
  assert.ok(monitor.admitPart(PART, '', frame('e1')).allowed);
  const answer: Answer = { effect: 'answer', context: id('c'), text: 'two' };
  assert.equal(monitor.decide(answer, frame('e2')).verdict, 'allow');
  assert.ok(monitor.admit(monitor.decide(answer, frame('e2')), 'not-needed').allowed);
  assert.equal(monitor.decide(answer, frame('e3')).verdict, 'deny');
});

for (const verb of ['raise', 'ask', 'warn']) {
  test(`what a rule would ${verb} about is not shown in part`, () => {
    const policy = `${verb} "no" if:\n    (answer: Message)\n    "two" in answer.content`;
    assert.equal(monitorFor(policy).admitPart(PART, '', frame('e1')).allowed, false);
    assert.ok(monitorFor(policy).admitPart({ ...PART, text: 'three' }, '', frame('e1')).allowed);
  });
}
