import assert from 'node:assert/strict';
import { test } from 'node:test';
import { analyze, analyzeEvents, ExplainingMonitor, lint } from '@cordon/policy-tools';
import { RuleSet } from '../../src/evaluate/rule-set.ts';
import { defineDetector, loadPolicy, type Policy, type TraceEvent } from '../../src/index.ts';

function policyOf(text: string): Policy {
  const policy = loadPolicy(text);
  assert.ok(policy.ok);
  return policy.value;
}

function call(name: string, args = {}): TraceEvent {
  return { type: 'ToolCall', callId: null, kind: 'function', name, arguments: args };
}

test('a rule remembers only what passes the conditions on one variable', () => {
  const policy = policyOf(
    'raise "x" if:\n    (a: ToolCall) -> (b: ToolCall)\n    a is tool:read\n    b is tool:send\n',
  );
  const monitor = new ExplainingMonitor(policy);
  for (let index = 0; index < 100; index++) monitor.append([call('list')]);
  assert.equal(monitor.size, 0);
  monitor.append([call('read')]);
  assert.equal(monitor.size, 1);
});

/** How many candidates a decision looks at: reads of the arguments of the remembered calls. */
function readsOf(remembered: number, isFlow: boolean): number {
  const flow = isFlow ? '(a: ToolCall) -> (b: ToolCall)' : '(a: ToolCall)\n    (b: ToolCall)';
  const text = `raise "x" if:\n    ${flow}\n    a is tool:read\n    b is tool:send\n    a.arguments.x != b.arguments.y\n`;
  const monitor = policyOf(text).monitor();
  let reads = 0;
  for (let index = 0; index < remembered; index++) {
    const args = {
      get x() {
        reads++;
        return index;
      },
    };
    monitor.append([call('read', args)]);
  }
  reads = 0;
  assert.equal(monitor.evaluate([call('send', { y: -1 })]).findings.length, 1);
  return reads;
}

test('the work of a decision does not grow with the trace where the first candidate violates', () => {
  assert.deepEqual(
    [10, 20, 40].map((size) => readsOf(size, true)),
    [1, 1, 1],
  );
  assert.deepEqual(
    [10, 20, 40].map((size) => readsOf(size, false)),
    [1, 1, 1],
  );
});

test('events that the flow excludes are not looked at', () => {
  const text =
    'raise "x" if:\n    (a: ToolCall) -> (b: ToolCall)\n    a is tool:read\n    b is tool:send\n    a.arguments.x != b.arguments.y\n';
  const monitor = policyOf(text).monitor();
  let reads = 0;
  const args = {
    get x() {
      reads++;
      return 0;
    },
  };
  for (let index = 0; index < 50; index++) monitor.append([{ ...call('read', args), context: 'other' }]);
  reads = 0;
  assert.deepEqual(monitor.evaluate([{ ...call('send', { y: 1 }), context: 'own' }]).findings, []);
  assert.equal(reads, 0);
  assert.equal(monitor.evaluate([{ ...call('send', { y: 1 }), context: 'other' }]).findings.length, 1);
  assert.equal(reads, 1);
});

test('a rule that finds its call inside a message is asked about messages', () => {
  const policy = policyOf('raise "x" if:\n    (m: Message)\n    c := m.tool_calls[0]\n    c is tool:send\n');
  const message = (name: string) => [
    { role: 'assistant', tool_calls: [{ type: 'function', function: { name, arguments: {} } }] },
  ];
  const found = (name: string) => {
    const analysis = analyze(policy, message(name));
    return analysis.ok ? analysis.value.errors.length : null;
  };
  assert.equal(found('send'), 1);
  assert.equal(found('read'), 0);
});

test('a rule asks for its tools by alternatives and predicates', () => {
  const policy = policyOf(
    'out(c: ToolCall) := c is tool:send or c is tool:post\nraise "x" if:\n    (c: ToolCall)\n    out(c)\n',
  );
  const monitor = new ExplainingMonitor(policy);
  assert.deepEqual(
    ['send', 'post', 'read', 'post\n'].map((name) => monitor.decide([call(name)]).verdict),
    ['deny', 'deny', 'allow', 'deny'],
  );
});

test('a cause that names a message stands for the message with its calls', () => {
  const policy = policyOf('raise "x" if:\n    (a: ToolCall) -> (b: ToolCall)\n    b is tool:send\n');
  const flows = (cause: string) => {
    const monitor = new ExplainingMonitor(policy);
    const message: TraceEvent = {
      type: 'Message',
      role: 'assistant',
      content: null,
      id: 'delegation',
      context: 'outer',
      toolCalls: [
        {
          type: 'ToolCall',
          callId: null,
          kind: 'function',
          name: 'delegate',
          arguments: {},
          context: 'outer',
        },
      ],
    };
    const aside: TraceEvent = {
      type: 'Message',
      role: 'user',
      content: '',
      toolCalls: [],
      id: 'aside',
      context: 'outer',
    };
    monitor.append([aside, message]);
    return monitor.decide([{ ...call('send'), context: 'inner', causes: [cause] }]).verdict;
  };
  assert.equal(flows('delegation'), 'deny');
  assert.equal(flows('aside'), 'allow');
});

// ── what a decision costs as the trace grows ──────────────────────────────────────────────────────────────────

const LENGTHS = [100, 200, 400, 800];

/** The event at a position: calls of four tools in turn, so that chains of them are as many as can be. */
function nth(index: number): TraceEvent {
  return call(`t${index % 4}`, { i: index, j: -1 - index });
}

/** How many objects are tried to decide about what comes after as many events. */
function triedAfter(policy: Policy, length: number, eventAt: (index: number) => TraceEvent = nth): number {
  const monitor = new ExplainingMonitor(policy);
  for (let index = 0; index < length; index++) monitor.append([eventAt(index)]);
  const before = monitor.tried;
  for (let next = 0; next < 4; next++) monitor.decide([eventAt(length + next)]);
  return monitor.tried - before;
}

/** The same for listing all that a whole trace holds. */
function triedByAnalysis(policy: Policy, length: number): number {
  const set = new RuleSet(policy.program, {}, 'all', true);
  const report = { add: () => false, skipsOpen: () => false };
  for (let index = 0; index < length; index++) set.advance(nth(index), () => report);
  set.all(() => report);
  return set.tried;
}

function chainOf(...lines: readonly string[]): Policy {
  const flows = ['(a: ToolCall) -> (b: ToolCall)', 'b -> (c: ToolCall)', 'c -> (d: ToolCall)'];
  return policyOf(`raise "x" if:\n${[...flows, ...lines].map((line) => `    ${line}`).join('\n')}\n`);
}

const TOOLS = ['a is tool:t0', 'b is tool:t1', 'c is tool:t2'];

/** Each with an end that never comes, so that no decision may stop at the first chain that it finds. */
const CHAINS: Readonly<Record<string, Policy>> = {
  'whose end is missing': chainOf(...TOOLS, 'd is tool:t3', 'd.arguments.i < 0'),
  'whose beginning is missing': chainOf(...TOOLS, 'd is tool:t3', 'a.arguments.i < 0'),
  'that only goes backwards': chainOf('a is tool:last', 'b is tool:t2', 'c is tool:t1', 'd is tool:t0'),
  'whose neighbours are compared': chainOf(...TOOLS, 'd is tool:t3', 'b.arguments.i == c.arguments.j'),
  'in which nothing can be decided': chainOf('a.arguments.missing == 1', 'd is tool:t3'),
  'with a message about its beginning': policyOf(
    'raise f"{a.arguments.missing}" if:\n    (a: ToolCall) -> (b: ToolCall)\n    b -> (c: ToolCall)\n    c -> (d: ToolCall)\n',
  ),
  'of neighbours': policyOf(
    'raise "x" if:\n    (a: ToolCall) ~> (b: ToolCall)\n    b ~> (c: ToolCall)\n    a is tool:t0\n    c is tool:t1\n',
  ),
  'that forks and joins': policyOf(
    'raise "x" if:\n    (a: ToolCall) -> (b: ToolCall)\n    a -> (c: ToolCall)\n    b -> (d: ToolCall)\n    c -> d\n    b.arguments.i < 0\n',
  ),
};

for (const [name, policy] of Object.entries(CHAINS)) {
  test(`a decision about a chain ${name} costs the same after any number of calls`, () => {
    const tried = LENGTHS.map((length) => triedAfter(policy, length));
    assert.deepEqual(
      tried,
      tried.map(() => tried[0]),
    );
    assert.deepEqual(
      lint(policy).filter(({ code }) => code === 'POL069'),
      [],
    );
  });
}

for (const name of [
  'whose end is missing',
  'that only goes backwards',
  'whose neighbours are compared',
  'of neighbours',
]) {
  test(`an analysis costs no more than the decisions where a chain ${name}`, () => {
    const policy = CHAINS[name] ?? policyOf('');
    const [first = 0, , , last = 0] = LENGTHS.map((length) => triedByAnalysis(policy, length));
    assert.ok(last <= 9 * first + 9, `${first} objects in 100 calls, ${last} in 800`);
  });
}

test('a decision about a chain that holds tries a few objects, and the analysis as many as there are assignments', () => {
  const policy = chainOf(...TOOLS, 'd is tool:t3');
  const tried = LENGTHS.map((length) => triedAfter(policy, length));
  assert.deepEqual(
    tried,
    tried.map(() => tried[0]),
  );
  assert.equal(new ExplainingMonitor(policy).decide([nth(0), nth(1), nth(2), nth(3)]).verdict, 'deny');
  const found = analyzeEvents(
    policy,
    Array.from({ length: 40 }, (_, index) => nth(index)),
  ).errors;
  assert.equal(found.length, (10 * 11 * 12 * 13) / 24);
  assert.ok(triedByAnalysis(policy, 40) < 3 * found.length);
});

/** Rules whose cost grows, with the lines that `check` names. */
const GROWING: Readonly<Record<string, readonly [Policy, string]>> = {
  'adds what two events hold': [
    policyOf('raise "x" if:\n    (a: ToolCall) -> (b: ToolCall)\n    a.arguments.i + b.arguments.i < 0\n'),
    '`O(n)`',
  ],
  'looks for a text in a text': [
    policyOf('raise "x" if:\n    (a: ToolOutput) -> (b: ToolCall)\n    b.arguments.s in a.content\n'),
    '`O(n)`',
  ],
  'compares the ends of a chain': [chainOf('a.arguments.i == d.arguments.j'), '`O(n)`'],
  'adds what three events hold': [
    policyOf(
      'raise "x" if:\n    (a: ToolCall) -> (b: ToolCall)\n    b -> (c: ToolCall)\n    a.arguments.i + b.arguments.i + c.arguments.i < 0\n',
    ),
    '`O(n²)`',
  ],
};

for (const [name, [policy, order]] of Object.entries(GROWING)) {
  test(`a rule that ${name} is said to cost ${order}`, () => {
    const messages = lint(policy).flatMap(({ code, message }) => (code === 'POL069' ? [message] : []));
    assert.equal(messages.length, 1);
    assert.ok(messages[0]?.includes(order), messages[0]);
  });
}

test('detectors look at what an event holds once, however many events flow to it', () => {
  let asked = 0;
  const dear = defineDetector({
    name: 'dear',
    parameters: ['data'],
    run: () => {
      asked++;
      return false;
    },
  });
  const text =
    'from cordon.detectors import dear\nraise "x" if:\n    (o: ToolOutput) -> (c: ToolCall)\n    (part: str) in c.arguments\n    dear(part)\n';
  const policy = loadPolicy(text, { detectors: [dear] });
  assert.ok(policy.ok);
  const events = (calls: number): readonly TraceEvent[] =>
    Array.from({ length: calls }, (_, index): TraceEvent[] => [
      call('send', { text: `text ${index}` }),
      { type: 'ToolOutput', role: 'tool', callId: null, content: 'x' },
    ]).flat();
  const times = [20, 40, 80].map((calls) => {
    asked = 0;
    analyzeEvents(policy.value, events(calls));
    return asked;
  });
  // The first call has nothing behind it.
  assert.deepEqual(times, [19, 39, 79]);
});

test('undecided assignments that are not listed are not looked for either', () => {
  const policy = chainOf('a.arguments.missing == 1', 'd is tool:t3');
  const analysis = analyzeEvents(
    policy,
    Array.from({ length: 400 }, (_, index) => nth(index)),
  );
  assert.equal(analysis.errors.length, 0);
  assert.match(analysis.undecided.at(-1)?.reason ?? '', /^more than 20000 assignments/);
});

const COUNTED: Readonly<Record<string, string>> = {
  'equal calls before': 'before.name == call.name\n        before.arguments == call.arguments',
  'calls of one kind before': 'before is tool:t1',
};

for (const [name, lines] of Object.entries(COUNTED)) {
  test(`a decision that counts ${name} costs the same after any number of calls`, () => {
    const policy = policyOf(
      `from invariant import count\nask "x" if:\n    (call: ToolCall)\n    count(min=4):\n        (before: ToolCall) -> call\n        ${lines}\n`,
    );
    const tried = LENGTHS.map((length) => triedAfter(policy, length));
    assert.deepEqual(
      tried,
      tried.map(() => tried[0]),
    );
    const same = LENGTHS.map((length) => triedAfter(policy, length, () => call('t1', { to: 'a' })));
    assert.deepEqual(
      same,
      same.map(() => same[0]),
    );
    const monitor = new ExplainingMonitor(policy);
    const verdicts = [1, 2, 3, 4, 5].map(
      () => monitor.admit([call('t1', { to: 'a' })], 'not-needed').verdict,
    );
    assert.deepEqual(verdicts, ['allow', 'allow', 'allow', 'allow', 'ask']);
  });
}

// ── order over all contexts ───────────────────────────────────────────────────────────────────────────────────

/** As `nth`, each in a context of its own, which nobody tells of the others. */
function apart(index: number): TraceEvent {
  return { ...nth(index), context: `context ${index}` };
}

const SESSION_ORDER: Readonly<Record<string, Policy>> = {
  'of two events': policyOf(
    'raise "x" if:\n    (a: ToolCall) before (b: ToolCall)\n    a is tool:t0\n    b is tool:t1\n    b.arguments.i < 0\n',
  ),
  'that holds': policyOf(
    'raise "x" if:\n    (a: ToolCall) before (b: ToolCall)\n    a is tool:t0\n    b is tool:t1\n',
  ),
  'of three events, whose beginning is missing': policyOf(
    'raise "x" if:\n    (a: ToolCall) before (b: ToolCall)\n    b before (c: ToolCall)\n    a.arguments.i < 0\n',
  ),
  'of three events, with a flow between two': policyOf(
    'raise "x" if:\n    (a: ToolCall) before (b: ToolCall)\n    b -> (c: ToolCall)\n    a is tool:t0\n    c is tool:t1\n',
  ),
  'with values that are compared': policyOf(
    'raise "x" if:\n    (a: ToolCall) before (b: ToolCall)\n    a is tool:t0\n    b is tool:t1\n    a.arguments.i == b.arguments.j\n',
  ),
  'in a predicate': policyOf(
    'was(c: ToolCall) :=\n    (o: ToolCall) before c\n    o is tool:t0\nraise "x" if:\n    (b: ToolCall)\n    b is tool:t1\n    not was(b)\n',
  ),
};

for (const [name, policy] of Object.entries(SESSION_ORDER)) {
  test(`a decision about the order ${name} costs the same after any number of calls in any number of contexts`, () => {
    const tried = LENGTHS.map((length) => triedAfter(policy, length, apart));
    assert.deepEqual(
      tried,
      tried.map(() => tried[0]),
    );
    assert.deepEqual(
      lint(policy).filter(({ code }) => code === 'POL069'),
      [],
    );
  });
}

test('the first of the whole trace stands for all where later lines only ask what happened earlier', () => {
  const policy = SESSION_ORDER['that holds'] ?? policyOf('');
  const monitor = new ExplainingMonitor(policy);
  assert.equal(monitor.decide([apart(1)]).verdict, 'allow');
  for (let index = 0; index < 400; index++) monitor.append([apart(index)]);
  assert.equal(monitor.size, 1);
  assert.equal(monitor.decide([apart(401)]).verdict, 'deny');
  assert.equal(monitor.decide([apart(402)]).verdict, 'allow');
});

test('an order with a line that compares what the two hold costs O(n), and so it is told', () => {
  const policy = policyOf(
    'raise "x" if:\n    (a: ToolCall) before (b: ToolCall)\n    a.arguments.i + b.arguments.i < 0\n',
  );
  const tried = LENGTHS.map((length) => triedAfter(policy, length, apart));
  assert.deepEqual(tried, [408, 808, 1608, 3208]);
  const told = lint(policy).flatMap(({ code, message }) => (code === 'POL069' ? [message] : []));
  assert.deepEqual(told, [
    'each event costs this rule `O(n)` in the length of the trace: this line relates `a` and `b`, and not by `->`, `before` or `==`',
  ]);
});

// ── blocks and predicates ─────────────────────────────────────────────────────────────────────────────────────

/** A rule about each call, with what it says of the rest of the trace. */
function aboutCalls(lines: readonly string[], predicate = ''): Policy {
  const body = lines.map((line) => `    ${line}\n`).join('');
  return policyOf(
    `from invariant import count, forall\n${predicate}raise "x" if:\n    (call: ToolCall)\n${body}`,
  );
}

/** Each with the lines of a block about `old`, which comes before the call. */
const LOOKING_BACK: Readonly<Record<string, Policy>> = {
  'a predicate': aboutCalls(
    ['was(call)'],
    'was(c: ToolCall) :=\n    (old: ToolCall) -> c\n    old.arguments.i + c.arguments.i < 0\n',
  ),
  'a predicate of two steps': aboutCalls(
    ['was(call)'],
    'was(c: ToolCall) :=\n    (old: ToolCall) -> (b: ToolCall)\n    b -> c\n    old.arguments.i + c.arguments.i < 0\n',
  ),
  'a count': aboutCalls([
    'count(min=2):',
    '    (old: ToolCall) -> call',
    '    old.arguments.i + call.arguments.i < 0',
  ]),
};

for (const [name, policy] of Object.entries(LOOKING_BACK)) {
  test(`${name} that looks back tries nothing of contexts that the call has not seen`, () => {
    const tried = LENGTHS.map((length) => {
      const monitor = new ExplainingMonitor(policy);
      for (let index = 0; index < length; index++)
        monitor.append([{ ...nth(index), context: `other ${index % 3}` }]);
      const before = monitor.tried;
      assert.equal(monitor.decide([{ ...call('send', { i: 0 }), context: 'own' }]).verdict, 'allow');
      return monitor.tried - before;
    });
    assert.deepEqual(tried, [0, 0, 0, 0]);
    assert.ok(triedAfter(policy, 100) > 100, 'in its own context they are tried');
  });
}

test('a count that looks back stops where the maximum is exceeded', () => {
  const policy = aboutCalls(['count(max=3):', '    (old: ToolCall) -> call']);
  const tried = LENGTHS.map((length) => triedAfter(policy, length));
  assert.deepEqual(
    tried,
    tried.map(() => tried[0]),
  );
  const monitor = new ExplainingMonitor(policy);
  const verdicts = [0, 1, 2, 3, 4].map((index) => {
    const { verdict } = monitor.decide([nth(index)]);
    monitor.append([nth(index)]);
    return verdict;
  });
  assert.deepEqual(verdicts, ['deny', 'deny', 'deny', 'deny', 'allow']);
});

/** Blocks whose cost grows: the exponent that `check` tells is the one by which the objects that are tried grow. */
const SEARCHING: Readonly<Record<string, readonly [Policy, 1 | 2]>> = {
  'a block that later events change': [
    aboutCalls(['count(max=2):', '    (o: ToolCall)', '    o is tool:none']),
    1,
  ],
  'a forall': [
    policyOf(
      'from invariant import forall\nraise "x" if:\n    forall:\n        (o: ToolCall)\n        o.arguments.i >= 0\n',
    ),
    1,
  ],
  'a forall for each call': [
    aboutCalls(['forall:', '    (o: ToolCall)', '    o.arguments.i < call.arguments.i']),
    2,
  ],
  'a count of pairs': [
    aboutCalls([
      'count(min=2):',
      '    (a: ToolCall) -> (b: ToolCall)',
      '    b -> call',
      '    a.arguments.i + b.arguments.i < 0',
    ]),
    2,
  ],
  'a predicate of pairs': [
    aboutCalls(
      ['was(call)'],
      'was(c: ToolCall) :=\n    (a: ToolCall) -> (b: ToolCall)\n    b -> c\n    a.arguments.i < b.arguments.j\n',
    ),
    2,
  ],
};

for (const [name, [policy, exponent]] of Object.entries(SEARCHING)) {
  test(`${name} costs O(n${exponent === 2 ? '²' : ''}), and so it is told`, () => {
    // To append each event costs as much: a trace of 800 would take a minute to make.
    const lengths = exponent === 2 ? [50, 100] : LENGTHS.slice(-2);
    const tried = lengths.map((length) => triedAfter(policy, length));
    const [short = 0, long = 0] = tried;
    const grown = Math.log2(long / short);
    assert.ok(Math.abs(grown - exponent) < 0.2, `tried ${tried.join(', ')}`);
    const told = lint(policy).filter(({ code }) => code === 'POL069');
    assert.equal(told.length, 1);
    assert.ok(told[0]?.message.includes(exponent === 2 ? '`O(n²)`' : '`O(n)`'), told[0]?.message);
  });
}
