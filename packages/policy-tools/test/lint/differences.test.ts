/** The traps of the language, and what other implementations of it read otherwise. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aboutCall, aboutMessage, reports, rule, testPairs } from './reports.ts';

const COUNT = 'from invariant import count\n';

testPairs([
  {
    name: 'POL054: a call behind `else`',
    policy: aboutMessage('(1 if m.content is None else len(m.content)) == 1'),
    expected: ['POL054 3: (1 if m.content is None else len(m.content))'],
    innocent: aboutMessage('(1 if m.content is None else (len(m.content))) == 1'),
  },
  {
    name: 'POL080: an f-string with a value in it',
    policy: 'raise f"said {m.content}" if:\n    (m: Message)\n    m.role == "user"\n',
    expected: ['POL080 1: f"said {m.content}"'],
    innocent: 'raise f"said" if:\n    (m: Message)\n    m.role == "user"\n',
  },
  {
    name: 'POL080: a doubled brace in an f-string',
    policy: 'raise f"said {{x}}" if:\n    (m: Message)\n    m.role == "user"\n',
    expected: ['POL080 1: f"said {{x}}"'],
    innocent: 'raise "said {{x}}" if:\n    (m: Message)\n    m.role == "user"\n',
  },
  {
    name: 'POL081: three conditions in a line',
    policy: aboutMessage('m.role == "user" and m.content == "x" and len(m.content) == 1'),
    expected: ['POL081 3: m.role == "user" and m.content == "x" and len(m.content) == 1'],
    innocent: aboutMessage('(m.role == "user") and (m.content == "x") and (len(m.content) == 1)'),
  },
  {
    name: 'POL081: three operators in a line, and three calls',
    policy: aboutMessage('len(m.content) * 2 - 1 > 5'),
    expected: ['POL081 3: len(m.content) * 2 - 1 > 5'],
    innocent: aboutMessage('any(m.content) or any(m.role) or any(m.tool_calls)'),
  },
  {
    name: 'POL081: not two conditions of one comparison each',
    policy: aboutMessage('not any(m.content) and not any(m.role) and not any(m.tool_calls)'),
    expected: ['POL081 3: not any(m.content) and not any(m.role) and not any(m.tool_calls)'],
    innocent: aboutMessage('m.role == "user" and "x" in m.content'),
  },
  {
    name: 'POL082: `is not` before a pattern',
    policy: aboutCall('c is not tool:f'),
    expected: ['POL082 3: c is not tool:f'],
    innocent: aboutCall('not (c is tool:f)', 'c.id is not None'),
  },
  {
    name: 'POL083: a variable that no line needs',
    policy: rule('(c: ToolCall)'),
    expected: ['POL083 2: (c: ToolCall)'],
    innocent: aboutCall('c is tool:f'),
  },
  {
    name: 'POL083: a counted variable that no line needs',
    policy: COUNT + aboutMessage('m.role == "user"', 'count(min=2):', '    (c: ToolCall)'),
    expected: ['POL069 5: count', 'POL083 6: (c: ToolCall)'],
    innocent:
      COUNT + aboutMessage('m.role == "user"', 'count(min=2):', '    (c: ToolCall) -> m', '    c is tool:f'),
  },
  {
    name: 'POL083: a variable in a branch',
    policy: rule('(m: Message)', 'm.role == "user" or (c: ToolCall)', 'c is tool:f', 'm -> c'),
    expected: ['POL069 3: m.role == "user" or (c: ToolCall)', 'POL083 3: (c: ToolCall)'],
    innocent: rule('(m: Message)', 'm.role == "user"', '(c: ToolCall)', 'c is tool:f', 'm -> c'),
  },
  {
    name: 'POL084: `match` where an address is looked for in a text',
    policy: aboutMessage('match("https?://", m.content)'),
    expected: ['POL084 3: match("https?://", m.content)'],
    innocent: aboutMessage('match(".*https?://", m.content)'),
  },
  {
    name: 'POL084: not of an argument, which is matched as a whole',
    policy: rule('(o: ToolOutput)', 'match("\\S+@example\\.org", o.content.lower())'),
    expected: ['POL084 3: match("\\S+@example\\.org", o.content.lower())'],
    innocent: aboutCall('match("https?://", c.arguments.url)'),
  },
  {
    name: 'POL084: a word that is looked for in a text',
    policy: aboutMessage('match("password", m.content)', 'match("(?i)a|b", m.content.lower())'),
    expected: ['POL084 3: match("password", m.content)', 'POL084 4: match("(?i)a|b", m.content.lower())'],
    innocent: aboutMessage(
      'match("^password", m.content)',
      'match("Dear .*", m.content)',
      'match("(yes|no)$", m.content)',
      'match("[^a]*b", m.content)',
      'any(find("password", m.content))',
    ),
  },
  {
    name: 'POL084: a word that is looked for in an argument, which other patterns may match from its beginning',
    policy: rule(
      '(c: ToolCall)',
      '(v: str) in c.arguments',
      'match("a b", v)',
      'match("a", c.arguments["x"])',
    ),
    expected: ['POL084 4: match("a b", v)', 'POL084 5: match("a", c.arguments["x"])'],
    innocent: rule(
      '(c: ToolCall)',
      '(v: str) in c.arguments',
      'match("/etc/", v)',
      'match("read|write", c.arguments.mode)',
      'match("send", c.name)',
    ),
  },
  {
    name: 'POL085: a backslash and an n where lines are meant',
    policy: aboutMessage('len(m.content.split("\\n")) > 3'),
    expected: ['POL085 3: "\\n"'],
    innocent: aboutMessage('len(m.content.splitlines()) > 3', 'any(find("a\\nb", m.content))'),
  },
  {
    name: 'POL086: secrets of a call and of its arguments',
    policy: `from invariant.detectors import secrets\n${aboutCall('any(secrets(c))', 'any(secrets(c.function.arguments))')}`,
    expected: ['POL086 4: c', 'POL086 5: c.function.arguments'],
    innocent: `from invariant.detectors import secrets\n${aboutCall('any(secrets(c.function.arguments.body))')}`,
  },
  {
    name: 'POL086: of a rule that only Cordon reads, where secrets of a call are found',
    policy: `${aboutCall('len(text(c)) > 0', 'c.outward')}`,
    expected: ['POL086 3: c'],
    innocent: `from invariant.detectors import secrets\n${aboutCall('any(secrets(c))', 'c.outward')}`,
  },
  {
    name: 'POL086: the call of a message',
    policy: aboutMessage('tool_call(m) is tool:f'),
    expected: ['POL086 3: m'],
    innocent: rule('(o: ToolOutput)', 'tool_call(o) is tool:f'),
  },
  {
    name: 'POL086: what `ocr` gives is a list',
    policy: `from invariant.detectors import prompt_injection\nfrom invariant.parsers import ocr\n${aboutMessage('prompt_injection(ocr(image(m)))')}`,
    expected: ['POL086 5: ocr(image(m))'],
    innocent: `from invariant.detectors import prompt_injection\nfrom invariant.parsers import ocr\n${aboutMessage('any([prompt_injection(page) for page in ocr(image(m))])')}`,
  },
  {
    name: 'POL087: branches that need not reach the end',
    policy: aboutCall('c is tool:f({to: "a|b"})'),
    expected: ['POL087 3: "a|b"'],
    innocent: aboutCall('c is tool:f({to: "(a|b)", cc: "a$|b", bcc: "[a|b]"})'),
  },
  {
    name: 'POL088: a regular expression before `in`',
    policy: aboutMessage('"pass.*word" in m.content'),
    expected: ['POL088 3: "pass.*word"'],
    innocent: aboutMessage('"mail.example.org (draft)" in m.content'),
  },
  {
    name: 'POL089: a rule that only counts',
    policy: COUNT + rule('count(min=3):', '    (c: ToolCall)', '    c is tool:f'),
    expected: ['POL089 2: raise "x"'],
    innocent:
      COUNT +
      rule('(d: ToolCall)', 'd is tool:f', 'count(min=3):', '    (c: ToolCall) -> d', '    c is tool:f'),
  },
  {
    name: 'POL090: a whole number with a point',
    policy: aboutCall('c is tool:f({n: 1.0})'),
    expected: ['POL090 3: 1.0'],
    innocent: aboutCall('c is tool:f({n: 1.5, k: 1})'),
  },
  {
    name: 'POL091: a predicate that calls itself through another',
    policy: `p(n: int) := q(n)\nq(n: int) := p(n)\nr(n: int) := p(n)\n${aboutMessage('r(len(m.content))')}`,
    expected: ['POL091 1: p', 'POL091 2: q'],
    innocent: `p(n: int) := n == 1\nq(n: int) := p(n)\nr(n: int) := p(n) or q(n)\n${aboutMessage('r(len(m.content))')}`,
  },
  {
    name: 'POL092: an empty line in a text',
    policy: `A := """a\n\nb"""\n${aboutMessage('m.content == A')}`,
    expected: ['POL092 1: A := """a … line 3'.replace('A := ', '')],
    innocent: `A := """a\nb"""\n${aboutMessage('m.content == A')}`,
  },
  {
    name: 'POL093: the trace as a parameter',
    policy: aboutMessage('m.content == input.data'),
    expected: ['POL093 3: input.data'],
    innocent: aboutMessage('m.content == input.date'),
  },
  {
    name: 'POL094: a name behind a list comprehension that the message needs',
    policy:
      'raise Violation("x", n=n) if:\n    (m: Message)\n    any([a == "b" for a in text(m)])\n    n := len(m.content)\n    n > 1\n',
    expected: ['POL094 4: n'],
    innocent:
      'raise Violation("x", n=n) if:\n    (m: Message)\n    n := len(m.content)\n    any([a == "b" for a in text(m)])\n    n > 1\n',
  },
]);

test('of a rule that only this language has, nothing is said about other implementations', () => {
  assert.deepEqual(reports('rule named:\nraise "x" if:\n    (c: ToolCall)\n'), []);
  assert.deepEqual(reports('ask f"{c.name}" if:\n    (c: ToolCall)\n    c is not tool:f\n'), []);
  assert.deepEqual(reports(rule('(e: Egress)', 'e.port == 1 and e.port + 1 == 2 and e.host == "a"')), []);
});

test('a predicate that uses an addition carries it to the rules that use it', () => {
  const policy = `own(c: ToolCall) := "private" in c.labels\n${aboutCall('own(c)', 'c is not tool:f')}`;
  assert.deepEqual(reports(policy), []);
  assert.deepEqual(reports(policy.replace('"private" in c.labels', 'c.id == "private"')), [
    'POL082 5: c is not tool:f',
  ]);
});
