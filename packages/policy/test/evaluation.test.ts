/**
 * Rules that once did not fire where the definition says that they do, or spoke where it says nothing: each with the
 * reason why it was so, and held against the reference.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluatePending } from '@cordon/reference';
import { loadPolicy, type ToolCallEvent, type TraceEvent } from '../src/index.ts';

type Verdict = 'violated' | 'open' | 'quiet';

/** What a rule says before each event; the reference has to say the same. */
function verdictsOf(text: string, events: readonly TraceEvent[]): readonly Verdict[] {
  const policy = loadPolicy(text);
  assert.ok(policy.ok, JSON.stringify(policy.ok ? null : policy.fault));
  const monitor = policy.value.monitor();
  return events.map((event, index) => {
    const found = monitor.evaluate([event]).findings;
    const expected = evaluatePending(policy.value, events.slice(0, index), [event]);
    monitor.append([event]);
    const own = verdict(found.map(({ open }) => open === null));
    assert.equal(own, verdict(expected.map(({ status }) => status === 'violated')), `before event ${index}`);
    return own;
  });
}

function verdict(violations: readonly boolean[]): Verdict {
  return violations.includes(true) ? 'violated' : violations.length > 0 ? 'open' : 'quiet';
}

function call(name: string, callId: string, args: ToolCallEvent['arguments'] = {}): TraceEvent {
  return { type: 'ToolCall', id: callId, callId, kind: 'function', name, arguments: args };
}

function output(callId: string, content: string | null): TraceEvent {
  return { type: 'ToolOutput', id: `${callId}-output`, role: 'tool', callId, content };
}

function message(id: string, content: string): TraceEvent {
  return { type: 'Message', id, role: 'user', content, toolCalls: [] };
}

// ── which events concern a rule ───────────────────────────────────────────────────────────────────────────────

test('a line of forall tells the output of another tool from an output without a call', () => {
  const text = `
from invariant import forall
raise "x" if:
    (c: ToolCall)
    not forall:
        (o: ToolOutput)
        o is tool:read
`;
  assert.deepEqual(verdictsOf(text, [call('read', 'a'), output('a', 'x'), call('read', 'b')]), [
    'quiet',
    'quiet',
    'quiet',
  ]);
  assert.deepEqual(verdictsOf(text, [call('send', 'a'), output('a', 'x'), call('send', 'b')]), [
    'quiet',
    'violated',
    'violated',
  ]);
});

test('forall under another name does not count as something that later events cannot change', () => {
  const text = `
from invariant import forall as every
raise "x" if:
    (c: ToolCall)
    not every:
        (m: Message) -> c
`;
  const events = [message('m', 'a'), call('send', 'a'), message('n', 'b')];
  assert.deepEqual(verdictsOf(text, events), ['quiet', 'quiet', 'violated']);
});

test('a pattern and something undecided: the output of another tool is refuted, one without a call is undecided', () => {
  const guarded = `
raise "x" if:
    (o: ToolOutput)
    o is tool:read and o.content.lower() == "x"
`;
  const either = `
raise "x" if:
    (o: ToolOutput)
    (o is tool:read and o.content.lower() == "x") or o.error
`;
  for (const text of [guarded, either]) {
    assert.deepEqual(verdictsOf(text, [output('none', null)]), ['open']);
    assert.deepEqual(verdictsOf(text, [call('send', 'a'), output('a', null)]), ['quiet', 'quiet']);
    assert.deepEqual(verdictsOf(text, [call('read', 'a'), output('a', null)]), ['quiet', 'open']);
    assert.deepEqual(verdictsOf(text, [call('read', 'a'), output('a', 'X')]), ['quiet', 'violated']);
  }
});

test('a variable with the name of a predicate is what is called', () => {
  const text = `
is_a(x: ToolCall) := x is tool:a
is_b(x: ToolCall) := x is tool:b
raise "x" if:
    (c: ToolCall)
    is_a := is_b
    is_a(c)
`;
  assert.deepEqual(verdictsOf(text, [call('a', '1'), call('b', '2')]), ['quiet', 'violated']);
});

test('a pattern whose name ends with a line end is found', () => {
  const text = 'raise "x" if:\n    (c: ToolCall)\n    c is tool:"""send\n"""\n';
  assert.deepEqual(verdictsOf(text, [call('send', '1'), call('send\n', '2')]), ['quiet', 'violated']);
});

// ── what is undecided ─────────────────────────────────────────────────────────────────────────────────────────

test('what is undecided in a list decides nothing, however deep it stands and whatever asks', () => {
  const lines: readonly string[] = [
    'not [w for w in ["a"] if w in c.arguments.to]',
    '(1 if [w for w in ["a"] if w in c.arguments.to] else 2) == 2',
    'not ([w for w in ["a"] if w in c.arguments.to] or False)',
    '[[c.arguments.to]] != [["a"]]',
    '[[t for t in [c.arguments.to]]] != [["a"]]',
    '{"k": [c.arguments.to]} != {"k": ["a"]}',
    'not (c is tool:send({to: tuple([c.arguments.to, 1])}) or c.arguments.to == "a")',
    'len([1 for w in [t for t in ["a"] if t in c.arguments.to]]) == 0',
    'f"{[c.arguments.to]}" != "[\'a\']"',
  ];
  for (const line of lines) {
    const text = `raise "x" if:\n    (c: ToolCall)\n    ${line}\n`;
    const events = [call('send', '1', { to: 'b' }), call('send', '2', { to: 'a' }), call('send', '3')];
    assert.deepEqual(verdictsOf(text, events), ['violated', 'quiet', 'open'], line);
  }
});

test('a variable over a list with something undecided in it is bound to the rest, and may be bound to more', () => {
  const text = 'raise "x" if:\n    (c: ToolCall)\n    (t: str) in ["b", c.arguments.to]\n    t == "a"\n';
  const events = [call('send', '1', { to: 'b' }), call('send', '2', { to: 'a' }), call('send', '3')];
  assert.deepEqual(verdictsOf(text, events), ['quiet', 'violated', 'open']);
});

// ── what is new ───────────────────────────────────────────────────────────────────────────────────────────────

test('that one element of a value fulfils a rule does not hide that another does now', () => {
  const text = `
told(w: str) :=
    (m: Message)
    w in m.content
ask "x" if:
    (c: ToolCall)
    (w: str) in c.arguments
    told(w)
`;
  const events = [call('send', '1', { to: 'ann', cc: 'bob' }), message('m', 'ann'), message('n', 'bob')];
  assert.deepEqual(verdictsOf(text, events), ['quiet', 'violated', 'violated']);
  assert.deepEqual(verdictsOf(text, [...events, message('o', 'eve')]).at(-1), 'quiet');
});

// ── what grows ────────────────────────────────────────────────────────────────────────────────────────────────

test('the clock of a process that many contexts call is kept small where it learns, not where something arises', () => {
  const policy = loadPolicy(
    'raise "x" if:\n    (m: Message) -> (o: ToolOutput)\n    m.content == "secret"\n',
  );
  assert.ok(policy.ok);
  const delivered = Array.from({ length: 300 }, (_, index): TraceEvent => {
    return { ...call('send', `c${index}`), context: `task-${index}`, deliveredTo: 'app:x' };
  });
  const answer: TraceEvent = { ...output('c0', 'x'), context: 'last', bornFrom: 'app:x' };
  const told = (before: number): TraceEvent[] => [
    ...delivered.slice(0, before),
    { ...message('m', 'secret'), context: `task-${before}` },
    ...delivered.slice(before),
  ];
  for (const before of [0, 100, 299]) {
    const monitor = policy.value.monitor();
    monitor.append(told(before));
    assert.equal(monitor.evaluate([answer]).findings.length, 1);
  }
  const unheard = policy.value.monitor();
  unheard.append([...delivered, { ...message('m', 'secret'), context: 'elsewhere' }]);
  assert.deepEqual(unheard.evaluate([answer]).findings, []);
});

test('each element of a value is compared with itself, not looked for among the others', () => {
  const policy = loadPolicy(`
heard(w: str) :=
    (m: Message)
    w in m.content
raise "x" if:
    (c: ToolCall)
    (w: str) in c.arguments.words
    heard(w)
`);
  assert.ok(policy.ok);
  const reads = [50, 100, 200].map((size) => {
    let count = 0;
    const words = Array.from({ length: size }, (_, index) => `w${index}`);
    const args = {
      get words() {
        count++;
        return words;
      },
    };
    const monitor = policy.value.monitor();
    monitor.append([call('send', '1', args), message('m', words.join(' '))]);
    count = 0;
    assert.deepEqual(monitor.evaluate([message('n', 'z')]).findings, []);
    return count;
  });
  assert.equal(reads[1], reads[0]);
  assert.equal(reads[2], reads[0]);
});

// ── what is listed ────────────────────────────────────────────────────────────────────────────────────────────

test('undecided assignments, however many, hide no violation', () => {
  const policy = loadPolicy('raise "x" if:\n    (c: ToolCall)\n    c.arguments.to == "eve"\n');
  assert.ok(policy.ok);
  const flood = Array.from({ length: 20_001 }, (_, index) => call('send', `${index}`));
  const analysis = policy.value.analyzeEvents([...flood, call('send', 'last', { to: 'eve' })]);
  assert.deepEqual(
    analysis.errors.map(({ events }) => events),
    [{ c: 'last' }],
  );
  assert.equal(analysis.undecided.length, 20_001);
  assert.match(analysis.undecided.at(-1)?.reason ?? '', /others are not listed/);
});

// ── what never fires ──────────────────────────────────────────────────────────────────────────────────────────

test('a variable that ranges over what needs it is refused, as it would be bound to nothing', () => {
  const bodies: readonly string[] = [
    '(a: str) in a',
    '(a: str) in b\n    (b: str) in a',
    '(a: str) in y\n    y := [a, "q"]',
  ];
  for (const body of bodies) {
    const policy = loadPolicy(`raise "x" if:\n    (c: ToolCall)\n    ${body}\n    a == "q"\n`);
    assert.ok(!policy.ok, body);
    assert.ok(policy.fault.some(({ code, severity }) => code === 'POL023' && severity === 'error'));
  }
  const chain = loadPolicy(
    'raise "x" if:\n    (b: str) in y\n    y := [a]\n    (a: str) in ["q"]\n    a == b\n',
  );
  assert.ok(chain.ok);
  assert.equal(chain.value.analyzeEvents([]).errors.length, 1);
});

// ── what is thrown ────────────────────────────────────────────────────────────────────────────────────────────

test('nothing, repeated as often as a call says, is nothing', () => {
  const text =
    'raise "x" if:\n    (c: ToolCall)\n    [] * c.arguments.n == []\n    "" * c.arguments.n == ""\n';
  assert.deepEqual(verdictsOf(text, [call('a', '1', { n: 1e300 }), call('a', '2', { n: 2 })]), [
    'violated',
    'violated',
  ]);
});

// ── what was evaluated ────────────────────────────────────────────────────────────────────────────────────────

test('an evaluation is appended once, and only while the trace is as it was', () => {
  const policy = loadPolicy('raise "twice" if:\n    (a: ToolCall) -> (b: ToolCall)\n');
  assert.ok(policy.ok);
  const monitor = policy.value.monitor({});
  const first = monitor.evaluate([call('send', '1')]);
  monitor.append(first);
  // Attack: two calls are evaluated beside each other, each of which is allowed alone.
  assert.throws(() => monitor.append(first), /trace has grown/);
  assert.equal(monitor.decide([call('send', '2')]).verdict, 'deny');
});
