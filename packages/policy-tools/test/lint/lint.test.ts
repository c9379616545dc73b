/** What is unused, hidden, superfluous, impossible or costly, whoever reads the rule. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadPolicy } from '@cordon/policy';
import { lint } from '../../src/index.ts';
import { aboutCall, aboutMessage, reports, rule, testPairs } from './reports.ts';

const COUNT = 'from invariant import count\n';
const FORALL = 'from invariant import forall\n';

testPairs([
  {
    name: 'POL056: an assigned name that a predicate does not use',
    policy: `p(m: Message) :=\n    x := m.role\n    m.content == "a"\n${aboutMessage('p(m)')}`,
    expected: ['POL056 2: x'],
    innocent: `p(m: Message) :=\n    x := m.role\n    x == "user"\n${aboutMessage('p(m)')}`,
  },
  {
    name: 'POL056: a parameter that a predicate does not use',
    policy: `p(a: str, b: str) := a == "x"\n${aboutMessage('p(m.role, m.role)')}`,
    expected: ['POL056 1: b'],
    innocent: `p(a: str, _b: str) := a == "x"\n${aboutMessage('p(m.role, m.role)')}`,
  },
  {
    name: 'POL057: a constant that nothing uses, also not through another one that nothing uses',
    policy: `A := "a"\nB := A\n${aboutMessage('m.role == "user"')}`,
    expected: ['POL057 1: A', 'POL057 2: B'],
    innocent: `A := "user"\nB := A\n${aboutMessage('m.role == B')}`,
  },
  {
    name: 'POL057: a predicate that nothing uses',
    policy: `p(m: Message) := m.role == "user"\n${aboutMessage('m.role == "user"')}`,
    expected: ['POL057 1: p'],
    innocent: `p(m: Message) := m.role == "user"\n${aboutMessage('p(m)')}`,
  },
  {
    name: 'POL057: one import of several that nothing uses',
    policy: `from invariant import count, forall\n${aboutCall('forall:', '    (s: str) in c.arguments', '    "f" in s')}`,
    expected: ['POL057 1: count'],
    innocent: `${FORALL}${aboutCall('forall:', '    (s: str) in c.arguments', '    "f" in s')}`,
  },
  {
    name: 'POL058: a variable that hides a built-in function',
    policy: rule('(len: Message)', 'len.role == "user"'),
    expected: ['POL058 2: len'],
    innocent: rule('(length: Message)', 'length.role == "user"'),
  },
  {
    name: 'POL058: a variable named like a value hides the function only where that is called',
    policy: rule('(text: str)', 'any(text(text))'),
    expected: ['POL089 1: raise "x"', 'POL058 2: text'],
    innocent: rule('(text: str)', '(m: Message)', 'text == m.content'),
  },
  {
    name: 'POL058: a variable that hides a constant',
    policy: `LIMIT := 3\n${aboutMessage('LIMIT := 4', 'len(m.role) == LIMIT')}`,
    expected: ['POL057 1: LIMIT', 'POL058 4: LIMIT'],
    innocent: `LIMIT := 3\n${aboutMessage('limit := LIMIT', 'len(m.role) == limit')}`,
  },
  {
    name: 'POL058: a constant that hides a built-in function',
    policy: `len := 1\n${aboutMessage('m.metadata.n == len')}`,
    expected: ['POL058 1: len'],
    innocent: `length := 1\n${aboutMessage('m.metadata.n == length')}`,
  },
  {
    name: 'POL058: the variable of a list that hides one of the rule',
    policy: aboutMessage('any([m == "a" for m in text(m)])'),
    expected: ['POL058 3: m'],
    innocent: aboutMessage('any([part == "a" for part in text(m)])'),
  },
  {
    name: 'POL059: two rules that differ in the names of variables and the order of lines',
    policy: `raise "a" if:\n    (a: ToolOutput) -> (b: ToolCall)\n    a is tool:f\n    b is tool:g\nraise "b" if:\n    (y: ToolCall)\n    y is tool:g\n    (x: ToolOutput) -> y\n    x is tool:f\n`,
    expected: ['POL059 5: raise "b"'],
    innocent: `raise "a" if:\n    (a: ToolOutput) -> (b: ToolCall)\n    a is tool:f\n    b is tool:g\nraise "b" if:\n    (y: ToolOutput)\n    y is tool:g\n    (x: ToolOutput) -> y\n    x is tool:f\n`,
  },
  {
    name: 'POL059: a rule with the lines of another and more',
    policy: `raise "a" if:\n    (c: ToolCall)\n    c is tool:f\nrule second:\nask "b" if:\n    (c: ToolCall)\n    c is tool:f\n    c.arguments.to == "x"\n`,
    expected: ['POL059 4: second'],
    innocent: `ask "a" if:\n    (c: ToolCall)\n    c is tool:f\nrule second:\nraise "b" if:\n    (c: ToolCall)\n    c is tool:f\n    c.arguments.to == "x"\n`,
  },
  {
    name: 'POL059: a warning about what is forbidden anyway',
    policy: `raise "a" if:\n    (c: ToolCall)\n    c is tool:f\nrule second:\nwarn "b" if:\n    (c: ToolCall)\n    c is tool:f\n    c.arguments.to == "x"\n`,
    expected: ['POL059 4: second'],
    innocent: `ask "a" if:\n    (c: ToolCall)\n    c is tool:f\nrule second:\nwarn "b" if:\n    (c: ToolCall)\n    c is tool:f\n    c.arguments.to == "x"\n`,
  },
  {
    name: 'POL060: two tools at once',
    policy: aboutCall('c is tool:a', 'c is tool:b'),
    expected: ['POL060 4: c is tool:b'],
    innocent: aboutCall('c is tool:mail.*', 'c is tool:mail.send'),
  },
  {
    name: 'POL060: a wildcard and a tool that it does not stand for',
    policy: aboutCall('c is tool:mail.*', 'c.function.name == "disk.read"'),
    expected: ['POL060 4: c.function.name == "disk.read"'],
    innocent: aboutCall('c is tool:mail.*', 'c.function.name == "mail.read"'),
  },
  {
    name: 'POL060: one field with two values',
    policy: aboutMessage('m.role == "user" and m.content == "a"', '"assistant" == m.role'),
    expected: ['POL060 4: "assistant" == m.role'],
    innocent: aboutMessage('m.role == "user" and m.content == "a"', '"user" == m.role'),
  },
  {
    name: 'POL060: through the name of a value',
    policy: aboutMessage('r := m.role', 'r == "user"', 'm.role in ["assistant", "system"]'),
    expected: ['POL060 5: m.role in ["assistant", "system"]'],
    innocent: aboutMessage('r := m.role', 'r == "user"', 'm.role in ["assistant", "user"]'),
  },
  {
    name: 'POL060: a condition and its negation',
    policy: aboutMessage('"a" in m.content', 'not ("a" in m.content)'),
    expected: ['POL060 4: not ("a" in m.content)'],
    innocent: aboutMessage('"a" in m.content', 'not ("b" in m.content)'),
  },
  {
    name: 'POL060: a number above and below',
    policy: aboutMessage('len(m.role) > 5', '3 > len(m.role)'),
    expected: ['POL060 4: 3 > len(m.role)'],
    innocent: aboutMessage('len(m.role) > 3', '5 > len(m.role)'),
  },
  {
    name: 'POL060: flows in a circle',
    policy: rule('(a: ToolCall) -> (b: ToolCall)', 'b -> (d: ToolCall)', 'd -> a', 'a is tool:f'),
    expected: ['POL060 4: d -> a'],
    innocent: rule('(a: ToolCall) -> (b: ToolCall)', 'b -> (d: ToolCall)', 'a -> d', 'a is tool:f'),
  },
  {
    name: 'POL060: an order and a flow in a circle',
    policy: rule('(a: ToolCall) before (b: ToolCall)', 'b -> a', 'a is tool:f'),
    expected: ['POL060 3: b -> a'],
    innocent: rule('(a: ToolCall) before (b: ToolCall)', 'a -> b', 'a is tool:f'),
  },
  {
    name: 'POL060: a flow from an event to itself',
    policy: aboutCall('c -> c'),
    expected: ['POL060 3: c -> c'],
    innocent: aboutCall('c -> (d: ToolCall)'),
  },
  {
    name: 'POL060: a type that nothing in a trace has',
    policy: rule('(e: Event)', 'e == e'),
    expected: ['POL089 1: raise "x"', 'POL060 2: Event'],
    innocent: rule('(e: Message)', 'e == e'),
  },
  {
    name: 'POL060: a variable in an empty list, and in None',
    policy: aboutMessage('(s: str) in []', '(t: str) in None', 's == t', 'm.role == s'),
    expected: ['POL060 3: []', 'POL060 4: None'],
    innocent: aboutMessage('(s: str) in ["a"]', '(t: str) in m.content', 's == t', 'm.role == s'),
  },
  {
    name: 'POL060: an event in a text',
    policy: aboutMessage('(c: ToolCall) in m.role', 'c is tool:f'),
    expected: ['POL060 3: m.role'],
    innocent: aboutMessage('(c: ToolCall) in m.tool_calls', 'c is tool:f'),
  },
  {
    name: 'POL061: a constant that switches the rule off',
    policy: `ON := False\n${aboutMessage('m.role == "user"', 'ON')}`,
    expected: ['POL061 5: ON'],
    innocent: `ON := True\n${aboutMessage('m.role == "user"', 'ON')}`,
  },
  {
    name: 'POL061: literals that are never equal',
    policy: aboutMessage('m.role == "user" and 1 == 2'),
    expected: ['POL061 3: 1 == 2'],
    innocent: aboutMessage('m.role == "user" and 1 == True'),
  },
  {
    name: 'POL061: a negative length',
    policy: aboutMessage('len(m.content) < 0'),
    expected: ['POL061 3: len(m.content) < 0'],
    innocent: aboutMessage('len(m.content) < 1'),
  },
  {
    name: 'POL061: a pattern about what is no call',
    policy: aboutMessage('m is tool:f'),
    expected: ['POL061 3: m is tool:f'],
    innocent: rule('(m: ToolOutput)', 'm is tool:f'),
  },
  {
    name: 'POL061: kinds that are never equal',
    policy: aboutMessage('len(m.content) == "3"'),
    expected: ['POL061 3: len(m.content) == "3"'],
    innocent: aboutMessage('len(m.content) == 3.0'),
  },
  {
    name: 'POL061: `is` between texts',
    policy: aboutMessage('m.content is "hello"'),
    expected: ['POL061 3: m.content is "hello"'],
    innocent: aboutMessage('m.content is None'),
  },
  {
    name: 'POL061: a count whose limits exclude each other',
    policy:
      COUNT +
      aboutMessage('m.role == "user"', 'count(min=3, max=2):', '    (c: ToolCall) -> m', '    c is tool:f'),
    expected: ['POL061 5: count(min=3, max=2)'],
    innocent:
      COUNT +
      aboutMessage('m.role == "user"', 'count(min=2, max=3):', '    (c: ToolCall) -> m', '    c is tool:f'),
  },
  {
    name: 'POL062: a count without limits',
    policy: COUNT + aboutMessage('m.role == "user"', 'count():', '    (c: ToolCall) -> m', '    c is tool:f'),
    expected: ['POL062 5: count()'],
    innocent:
      COUNT + aboutMessage('m.role == "user"', 'count(1):', '    (c: ToolCall) -> m', '    c is tool:f'),
  },
  {
    name: 'POL062: different from one or from the other',
    policy: aboutMessage('m.role != "user" or m.role != "system"'),
    expected: ['POL062 3: m.role != "user" or m.role != "system"'],
    innocent: aboutMessage('m.role != "user" and m.role != "system"'),
  },
  {
    name: 'POL063: a misspelt role',
    policy: aboutMessage('m.role == "asistant"'),
    expected: ['POL063 3: "asistant"'],
    innocent: aboutMessage('m.role == "critic"'),
  },
  {
    name: 'POL063: a misspelt role in a list',
    policy: aboutMessage('m.role in ["user", "systm"]'),
    expected: ['POL063 3: "systm"'],
    innocent: aboutMessage('m.role in ["user", "system"]'),
  },
  {
    name: 'POL063: a message of a tool',
    policy: aboutMessage('m.role == "tool"'),
    expected: ['POL063 3: "tool"'],
    innocent: rule('(o: ToolOutput)', 'o.role == "tool"'),
  },
  {
    name: 'POL063: a misspelt label',
    policy: aboutMessage('"untrused" in m.labels'),
    expected: ['POL063 3: "untrused"'],
    innocent: aboutMessage('"untrusted" in m.labels'),
  },
  {
    name: 'POL064: a misspelt method',
    policy: aboutMessage('m.content.lowr() == "a"'),
    expected: ['POL064 3: lowr'],
    innocent: aboutMessage('m.content.lower() == "a"'),
  },
  {
    name: 'POL064: a method of Python',
    policy: aboutCall('c.arguments.to.endswith("@example.org")'),
    expected: ['POL064 3: endswith'],
    innocent: aboutCall('c.arguments.to.strip() == "me@example.org"'),
  },
  {
    name: 'POL064: a field of a list',
    policy: aboutMessage('m.tool_calls.name == "f"'),
    expected: ['POL064 3: name'],
    innocent: aboutMessage('m.tool_calls[0].name == "f"'),
  },
  {
    name: 'POL065: a pattern that goes on behind the end of the text',
    policy: aboutMessage('any(find("a$b", m.content))'),
    expected: ['POL065 3: "a$b"'],
    innocent: aboutMessage('any(find("a\\$b$", m.content))'),
  },
  {
    name: 'POL065: a pattern that begins before the text',
    policy: aboutMessage('any(find("2^10", m.content))'),
    expected: ['POL065 3: "2^10"'],
    innocent: aboutMessage('any(find("[^2]10|x^", m.content))'),
  },
  {
    name: 'POL069: two variables that nothing relates',
    policy: rule('(a: ToolOutput)', '(b: ToolCall)', 'a is tool:f', 'b is tool:g'),
    expected: ['POL069 3: (b: ToolCall)'],
    innocent: rule('(a: ToolOutput) -> (b: ToolCall)', 'a is tool:f', 'b is tool:g'),
  },
  {
    name: 'POL069: a line that relates two variables in a way that is not looked up',
    policy: rule('(a: ToolOutput) -> (b: ToolCall)', 'a.content in b.arguments.body'),
    expected: ['POL069 3: a.content in b.arguments.body'],
    innocent: rule('(a: ToolOutput) -> (b: ToolCall)', 'a.content == b.arguments.body'),
  },
  {
    name: 'POL069: a block about the whole trace, for which older events are looked at again',
    policy: COUNT + aboutCall('c is tool:f', 'count(max=2):', '    (m: Message)', '    "f" in m.content'),
    expected: ['POL069 5: count'],
    innocent:
      COUNT + aboutCall('c is tool:f', 'count(max=2):', '    (m: Message) -> c', '    "f" in m.content'),
  },
  {
    name: 'POL069: `forall`, which looks for what refutes it',
    policy: FORALL + aboutCall('c is tool:f', 'forall:', '    (m: Message)', '    "f" in m.content'),
    expected: ['POL069 5: forall'],
    innocent: FORALL + aboutCall('c is tool:f', 'forall:', '    (s: str) in c.arguments', '    "f" in s'),
  },
  {
    name: 'POL069: a block that relates two variables of its own',
    policy: COUNT + aboutCall('count(min=2):', '    (m: Message) -> (o: ToolOutput)', '    o -> c'),
    expected: ['POL069 4: count'],
    innocent: COUNT + aboutCall('count(min=2):', '    (m: Message) -> c', '    "f" in m.content'),
  },
  {
    name: 'POL069: a predicate that compares what it looks through with its parameter',
    policy: `said(c: ToolCall) :=\n    (m: Message) -> c\n    c.name in m.content\n${aboutCall('said(c)')}`,
    expected: ['POL069 6: said(c)'],
    innocent: `said(c: ToolCall) :=\n    (m: Message) -> c\n    c.name == m.content\n${aboutCall('said(c)')}`,
  },
  {
    name: 'POL070: lines of a constant that do not count',
    policy: `A :=\n    "a"\n    "b"\n${aboutMessage('m.content == A')}`,
    expected: ['POL070 3: "b"'],
    innocent: `A :=\n    "a"\n${aboutMessage('m.content == A')}`,
  },
]);

test('the cost of a rule is the number of variables that are tried one by one', () => {
  const loaded = loadPolicy(
    rule('(a: Message)', '(b: ToolCall)', '(d: ToolOutput)', 'a == a', 'b == b', 'd == d'),
  );
  assert.ok(loaded.ok);
  const messages = lint(loaded.value).map(({ message }) => message);
  assert.deepEqual(messages, [
    'each event costs this rule `O(n²)` in the length of the trace: no `->`, `before` or `==` leads to `b` from the other variables; so does line 4',
  ]);
});

test('a file of definitions alone is not told that nothing uses them', () => {
  assert.deepEqual(reports('A := 1\np(x: int) := x == A\n'), []);
});

test('what a `forall` block says may be impossible, to say that there is nothing', () => {
  assert.deepEqual(
    reports(
      FORALL +
        aboutCall('c is tool:f', 'forall:', '    (s: str) in c.arguments', '    s == "f"', '    False'),
    ),
    [],
  );
});

test('a hostile policy is looked through in time that does not explode', () => {
  const chain = Array.from({ length: 3000 }, (_, index) => `c${index} := c${index + 1}\n`).join('');
  const predicates = Array.from(
    { length: 3000 },
    (_, index) => `p${index}(x: int) := p${index + 1}(x)\n`,
  ).join('');
  const names = Array.from({ length: 1500 }, (_, index) => `x${index + 1} := x${index} + x${index}`);
  const flows = Array.from({ length: 1500 }, () => 'a -> b');
  const equal = Array.from({ length: 400 }, () =>
    rule('(a: ToolCall)', '(b: ToolCall)', '(d: ToolCall)', '(e: ToolCall)', 'a -> b', 'b -> d', 'd -> e'),
  ).join('');
  for (const policy of [
    `${chain}c3000 := 1\n${aboutMessage('m.metadata.n == c0')}`,
    `${predicates}p3000(x: int) := x == 1\n${aboutMessage('p0(1)')}`,
    rule('(a: ToolCall)', 'x0 := a.name', ...names, 'x1500 == "a"'),
    rule('(a: ToolCall)', '(b: ToolCall)', ...flows),
    equal,
  ]) {
    const loaded = loadPolicy(policy);
    if (loaded.ok) assert.ok(Array.isArray(lint(loaded.value)));
  }
});
