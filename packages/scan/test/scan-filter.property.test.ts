import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadPolicy, type Policy } from '@cordon/policy';
import { analyzeEvents, prefilterOf, readTrace } from '@cordon/policy-tools';
import fc from 'fast-check';
import { Examiner } from '../src/examine/examiner.ts';
import { NeedTable } from '../src/examine/rule-needs.ts';
import { FeatureTable, plainMessagesOf, Survey } from '../src/examine/trace-features.ts';
import { addEvents, countEvents, hasEvents } from '../src/traces/event-counts.ts';
import '../../../tools/seed.ts';

/** Every form that adds a need, and forms that look alike and add none. */
const POLICY = `
from invariant import count, forall
from invariant import count as some

TARGET := "send"

sends(c: ToolCall) := c is tool:send or c is tool:mail.*

reads(o: ToolOutput) := o is tool:read

sends_bad(c: ToolCall) :=
    sends(c)
    c.arguments.to == "eve"

raise "flow" if:
    (a: ToolOutput) -> (b: ToolCall)
    a is tool:read
    b is tool:send

raise "flow of outputs" if:
    (a: ToolOutput) -> (b: ToolOutput)
    a is tool:read
    b is tool:send

raise "flow of calls" if:
    (a: ToolCall)
    (b: ToolCall)
    a -> b
    a is tool:send
    b is tool:read

raise "next" if:
    (a: ToolCall) ~> (b: ToolOutput)
    a is tool:read or a is tool:send

raise "predicates" if:
    (a: ToolOutput) -> (b: ToolCall)
    reads(a)
    sends_bad(b)

raise "part undecided" if:
    (o: ToolOutput)
    o is tool:read and o.content.x == "1"

raise "other side" if:
    (o: ToolOutput)
    o is tool:read or o.content.x == "1"

raise "name" if:
    (c: ToolCall)
    c.function.name == "send"
    "eve" == c.arguments.to

raise "names" if:
    (c: ToolCall)
    c.name in ["send", "mail.all"]

raise "constant name" if:
    (c: ToolCall)
    c.name == TARGET

raise "not" if:
    (c: ToolCall)
    not (c is tool:send)

raise "is not" if:
    (m: Message)
    (c: ToolCall)
    c is not tool:read

raise "counted" if:
    count(min=2):
        (c: ToolCall)
        c is tool:send

raise "also counted" if:
    (o: ToolOutput)
    some(min=1):
        (c: ToolCall)
        c -> o
        c is tool:mail.*

raise "at most" if:
    (m: Message)
    count(max=0):
        (c: ToolCall)
        c is tool:send

raise "for all" if:
    (m: Message)
    forall:
        (c: ToolCall)
        c is tool:send

raise "nothing said" if:
    (x: str) in ["a"]

raise "other events" if:
    (e: Egress)

raise "pattern" if:
    (c: ToolCall)
    c is tool:send({to: "e.*"})

raise "wild" if:
    (c: ToolCall)
    c is tool:m*l

raise "text of outputs" if:
    (o: ToolOutput)
    any(find("k[e]y-?", o.content))

raise "text of messages" if:
    (m: Message)
    m.role == "assistant"
    m.content is not None
    any(find("k[e]y|<x>", m.content))

raise "text in parts" if:
    (o: ToolOutput)
    any([any(find('"k', part)) or "k/e" in part for part in text(o)])

raise "text in arguments" if:
    (c: ToolCall)
    (part: str) in c.arguments
    any(find("key", part))

raise "text in content" if:
    (m: Message)
    "key" in m.content

raise "text with a tab" if:
    (o: ToolOutput)
    "\tk" in o.content

raise "text with a backslash" if:
    (o: ToolOutput)
    "\\nk" in o.content

raise "no text" if:
    (o: ToolOutput)
    not ("key" in o.content)

raise "any text" if:
    (o: ToolOutput)
    any(find("(?:key)?", o.content))
`;

function loaded(text = POLICY): Policy {
  const policy = loadPolicy(text);
  assert.ok(policy.ok, JSON.stringify(policy));
  return policy.value;
}

const name = fc.constantFrom('send', 'read', 'mail.all', 'mail.', 'mxl', 'send\n', 'other');
const args = fc.constantFrom<unknown>(
  {},
  { to: 'eve' },
  '{"to":"eve"}',
  '{"to":"\\u0065ve"}',
  '{"to":"\\u006bey"}',
  { to: ['a key'] },
  { key: 'x' },
  'no',
  '{"__proto__":1}',
  5,
);
const call = fc.record({
  id: fc.constantFrom('1', '2', null),
  type: fc.constant('function'),
  function: fc.record({ name, arguments: args }),
});
const content = fc.constantFrom<unknown>(
  'hi',
  'a key-1',
  'the "key"',
  'k/e\tkey\\nk',
  null,
  '{"x":"1"}',
  [{ type: 'text', text: 'key' }],
  [{ type: 'text', text: 'a' }],
  { x: '1' },
  5,
);
const message = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      role: fc.constant('assistant'),
      content,
      tool_calls: fc.array(call, { maxLength: 3 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      role: fc.constant('tool'),
      error: fc.constantFrom(null, 'no', { x: 1 }, 5),
      timestamp: fc.constantFrom(1, 'now', []),
      tool_call_id: fc.constantFrom('1', '2', '3', null),
      content,
    }),
  },
  { weight: 1, arbitrary: fc.record({ role: fc.constant('user'), content }) },
  { weight: 1, arbitrary: fc.record({ role: fc.constant('tool'), content }) },
  {
    weight: 1,
    arbitrary: fc.record({
      role: fc.constant('user'),
      content: fc.constant('x'),
      id: fc.constantFrom('e1', 'e2'),
      context: fc.constantFrom('a', 'b'),
      causes: fc.constantFrom([], ['e1']),
    }),
  },
  { weight: 1, arbitrary: call },
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>(
      { role: 'user', parts: [{ text: 'x' }] },
      { role: 'function', name: 'read', content: '' },
      { role: 'assistant', content: [{ type: 'tool_use', id: '1', name: 'send', input: {} }] },
      { role: 'assistant', function_call: { name: 'send', arguments: '{}' } },
      null,
      5,
      {},
      { role: 5 },
      { tools: [{ name: 'send' }] },
    ),
  },
);
/** What stands beside the messages; null: nothing does. */
const wrapping = fc.constantFrom<object | null>(
  null,
  { id: 'x', model: 'y' },
  { system: 'obey' },
  { tools: [{ type: 'function', function: { name: 'send', parameters: {} } }] },
  { choices: [{ message: { role: 'assistant', content: 'end' } }] },
);

const trace = fc.array(message, { maxLength: 7 });

/** How JSON may write characters, too. */
const writing = fc.constantFrom(['', ''], ['', ''], ['k', '\\u006b'], ['/', '\\/'], ['y', '\\u0079']);

/** Only rules about texts: then texts decide whether a trace is looked at, and else events do. */
const ABOUT_TEXTS = `
raise "text of outputs" if:
    (o: ToolOutput)
    any(find("k[e]y-?", o.content))

raise "text in parts" if:
    (o: ToolOutput)
    any([any(find('"k', part)) or "k/e" in part for part in text(o)])

raise "text in arguments" if:
    (c: ToolCall)
    (part: str) in c.arguments
    any(find("key", part))

raise "text in content" if:
    (m: Message)
    "the key" in m.content
`;

for (const [about, text] of [
  ['rules of all kinds', POLICY],
  ['rules about texts', ABOUT_TEXTS],
] as const) {
  test(`what is left out by the needs of rules is never a finding: the examiner says what the policy says (${about})`, () => {
    examinerSaysWhatPolicySays(loaded(text));
  });
}

const NONE_OF_CHAT = { Message: 0, ToolCall: 0, ToolOutput: 0 };

function examinerSaysWhatPolicySays(policy: Policy): void {
  const examiner = new Examiner(policy, {
    parameters: {},
    maxLength: 1e6,
    labels: null,
    dialect: 'cordon',
  });
  const seen = { found: 0, clean: 0, refused: 0 };
  fc.assert(
    fc.property(trace, wrapping, writing, (messages, wrap, [plain, written]) => {
      const text = JSON.stringify(wrap === null ? messages : { ...wrap, messages }).replaceAll(
        plain,
        written,
      );
      const read = readTrace(JSON.parse(text));
      const examined = examiner.examine(text);
      if (!read.ok) {
        seen.refused++;
        assert.equal(examined.ok, false);
        return;
      }
      const counts = countEvents(read.value.events);
      if (!hasEvents(counts)) {
        assert.equal(examined.ok, false);
        return;
      }
      const expected = analyzeEvents(policy, read.value.events);
      assert.ok(examined.ok, JSON.stringify(examined));
      assert.deepEqual(addEvents(NONE_OF_CHAT, examined.value.read), addEvents(NONE_OF_CHAT, counts));
      const isEmpty = expected.errors.length + expected.undecided.length === 0;
      if (isEmpty) seen.clean++;
      else seen.found++;
      assert.deepEqual(examined.value.analysis, isEmpty ? null : expected);
    }),
    { seed: 20_261_121, numRuns: 3000 },
  );
  assert.ok(Math.min(seen.found, seen.refused) > 300, JSON.stringify(seen));
}

test('most rules are left out where their tools or the order of events are missing', () => {
  const policy = loaded();
  const features = new FeatureTable();
  const needs = new NeedTable(prefilterOf(policy), features);
  const survey = new Survey(features);
  const calling = (...names: readonly string[]) =>
    names.flatMap((tool, at) => [
      { role: 'assistant', tool_calls: [{ id: `${at}`, function: { name: tool, arguments: {} } }] },
      { role: 'tool', tool_call_id: `${at}`, content: '' },
    ]);
  const left = (messages: readonly unknown[]): readonly string[] => {
    assert.ok(survey.isPlainChat(messages));
    needs.look(JSON.stringify(messages), survey);
    return policy.rules.filter((_, index) => needs.areMet(index)).map(({ staticMessage }) => staticMessage);
  };
  const always = ['at most', 'for all', 'nothing said'];
  const ofOutputs = ['any text', 'no text'];
  const withCalls = [
    'part undecided',
    'other side',
    'constant name',
    'not',
    'is not',
    ...ofOutputs,
    ...always,
  ];
  assert.deepEqual(left([{ role: 'user', content: 'send' }]), always);
  assert.deepEqual(new Set(left(calling('other'))), new Set(withCalls));
  const reading = ['next'];
  assert.deepEqual(new Set(left(calling('read'))), new Set([...withCalls, ...reading]));
  const sending = ['name', 'names', 'counted', 'pattern', 'next'];
  assert.deepEqual(new Set(left(calling('send'))), new Set([...withCalls, ...sending]));
  // An output of `send` may come at any time behind its call.
  const both = [...withCalls, ...reading, ...sending, 'flow of outputs'];
  assert.deepEqual(new Set(left(calling('send', 'read'))), new Set([...both, 'flow of calls']));
  const flows = ['flow', 'predicates'];
  assert.deepEqual(new Set(left(calling('read', 'send'))), new Set([...both, ...flows]));
});

test('rules are left out where no text has what they look for, unless it may be written with escapes', () => {
  const policy = loaded();
  const features = new FeatureTable();
  const needs = new NeedTable(prefilterOf(policy), features);
  const survey = new Survey(features);
  const left = (content: unknown, written: (text: string) => string = (text) => text): readonly string[] => {
    const messages = [
      { role: 'assistant', content, tool_calls: [{ id: '1', function: { name: 'other', arguments: {} } }] },
      { role: 'tool', tool_call_id: '1', content },
    ];
    assert.ok(survey.isPlainChat(messages));
    needs.look(written(JSON.stringify(messages)), survey);
    const about = policy.rules.filter(({ staticMessage }) => /\btext\b/.test(staticMessage));
    return about
      .filter(({ number }) => needs.areMet(number))
      .map(({ staticMessage }) => staticMessage)
      .sort();
  };
  const always = ['any text', 'no text'];
  assert.deepEqual(left('hi'), always);
  const ofKey = ['text in arguments', 'text in content', 'text of messages', 'text of outputs'];
  const ofLetter = ['text in parts', 'text with a tab'];
  assert.deepEqual(left('a key'), [...always, ...ofKey, ...ofLetter].sort());
  // The letter alone says that what is written with escapes in JSON may be there.
  assert.deepEqual(left('k'), [...always, ...ofLetter].sort());
  assert.deepEqual(left('a <x>'), [...always, 'text of messages'].sort());
  assert.deepEqual(
    left('a key', (text) => text.replaceAll('k', '\\u006b')),
    [...always, ...ofKey, ...ofLetter, 'text with a backslash'].sort(),
  );
  // Content that is no text leaves `find` undecided; none at all leaves out who asks for some.
  assert.deepEqual(left(null), [...always, 'text of outputs'].sort());
  assert.deepEqual(
    left([{ type: 'text', text: 'hi' }]),
    [...always, 'text of messages', 'text of outputs'].sort(),
  );
});

for (const [what, document] of [
  ['a request of another provider', { system: 'x', messages: [] }],
  ['a request with tools', { tools: [], messages: [] }],
  ['a log with spans', { spans: [], messages: [] }],
  ['no list', { messages: {} }],
] as const) {
  test(`${what} takes a closer look`, () => {
    assert.equal(plainMessagesOf(document), null);
  });
}

test('a list and an object around one with words of its own are plain chats', () => {
  assert.deepEqual(plainMessagesOf([]), []);
  assert.deepEqual(plainMessagesOf({ id: 'x', model: 'y', messages: [] }), []);
});
