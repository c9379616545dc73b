/**
 * Policies and traces to try the language with: rules of every construct, some of them undecided for some events, and
 * traces of one or several contexts.
 */

import assert from 'node:assert/strict';
import { loadPolicy, type OrderOperator, type Policy, type TraceEvent } from '@cordon/policy';
import fc from 'fast-check';
import { runs } from '../../tools/cases.ts';
/** How often a property is tried. */
export const RUNS = runs(40, 100, 200);

// ── generated rules ───────────────────────────────────────────────────────────────────────────────────────────

const PRELUDE = `
from invariant import count, forall
from invariant import forall as every
LIMIT := 2
is_send(c: ToolCall) := c is tool:send
seen_before(c: ToolCall) :=
    (o: ToolOutput) -> c
    "bad" in o.content
big(x) := x.arguments.size > LIMIT
same_to(a: ToolCall, b: ToolCall) :=
    a.arguments.to == b.arguments.to
told(c: ToolCall, text: str) :=
    (m: Message) -> c
    text in m.content
said_by_user(x: str) := any([s.kind == "user" and s.match != "part" for s in origin(x)])
later(c: ToolCall) :=
    (d: ToolCall)
    c -> d
any_before(c: ToolCall) :=
    (o: ToolOutput) -> c
    (d: ToolCall) before o
    d.arguments.to == c.arguments.to
again(c: ToolCall) :=
    (d: ToolCall) -> c
    d.arguments == c.arguments
led_to(c: ToolCall) :=
    (m: Message) -> (d: ToolCall)
    d -> c
    "hi" in m.content or d.arguments.to == c.arguments.to
heard(w: str) :=
    (m: Message)
    w in m.content
any_answer(text: str) :=
    (o: ToolOutput)
    o is tool:read
    text in o.content
loops(c: ToolCall, n: int) := n < 2 and loops(c, n + 1) or c is tool:read
`;

/** Conditions over one variable; some are undecided for some events, some are no booleans. */
const ONE: Readonly<Record<string, readonly string[]>> = {
  ToolCall: [
    'X is tool:send',
    'X is tool:*({to: "a|b"})',
    'X.arguments.to == "a"',
    'is_send(X)',
    'not is_send(X)',
    'seen_before(X)',
    'not seen_before(X)',
    'big(X)',
    'X.name == "read" or X.arguments.size == 1',
    'X.name',
    '(ofX := X.arguments.size) and ofX == 1',
    'X is tool:send or (namedX := X.name) == "read" and (toX := X.arguments.to)',
    '"untrusted" in X.labels',
    'told(X, "hi")',
    'later(X) or X.arguments.size == 0',
    'loops(X, 0)',
    'X is not tool:read',
    'from_user(X.arguments.to)',
    'any([s.kind == "output" and "untrusted" in s.labels for s in origin(X.arguments)])',
    'said_by_user(X.arguments.to)',
    '(X.arguments.size if X is tool:send else 2) > 1',
    'any([value == "a" for value in X.arguments.values() if value is not None])',
    'X.arguments in [{"to": "a"}, {"to": "b", "size": 1}]',
    'f"{X.name}!" == "send!"',
    'X is tool:send({to: input.who, size: *})',
    'count(min=1):\n        (q: ToolOutput) -> X\n        "bad" in q.content',
    'not count(min=1, max=2):\n        (q: ToolCall) -> X',
    'count(min=2):\n        (q: ToolCall) before X\n        q.name == X.name',
    'count(min=1):\n        (q: ToolOutput) before X\n        "bad" in q.content',
    'any_before(X)',
    'count(min=2):\n        (q: ToolCall)\n        q.name == X.name\n        q.arguments == X.arguments',
    'count(min=2):\n        (q: ToolCall) -> X\n        X.arguments.to == q.arguments.to',
    'not count(max=1):\n        (q: ToolCall)\n        [q.arguments.size, q.name] == [X.arguments.size, X.name]',
    'again(X)',
    'any([told(X, word) for word in X.arguments.values()])',
    'not [word for word in ["a"] if word in X.arguments.to]',
    '[[X.arguments.to], X.name] == [["a"], "send"]',
    'X is tool:send and X.arguments.to.lower() == "a"',
    'any([ask(X.arguments.to) for ask in [heard, any_answer]])',
    'not every:\n        (q: Message) -> X\n        "hi" in q.content',
    'count(min=1):\n        (q: ToolOutput) -> X\n        not count(max=1):\n            (r: ToolCall) -> q',
    'count(min=1):\n        (q: ToolCall)\n        to := X.arguments.to\n        q -> to\n        to -> X',
    'led_to(X)',
    'not count(max=1):\n        (q: Message) -> (r: ToolCall)\n        r -> X\n        q.content.lower() == "bad"',
    'count(min=1, max=2):\n        (q: ToolCall) -> X\n        "a" in q.arguments.to',
  ],
  ToolOutput: [
    '"bad" in X.content',
    'X is tool:read',
    'X.content.lower() == "bad"',
    'match("b", X.content)',
    'X.error',
    'X is tool:read and X.content.lower() == "bad"',
    '(X is tool:send and X.content.lower() == "bad") or X.error',
    'is_send(tool_call(X))',
  ],
  Message: [
    'any([is_send(call) for call in X.tool_calls])',
    'X.role == "user"',
    '"hi" in X.content',
    'X.content is not None',
    'len(X.content) > 2',
  ],
  str: ['X == "bad"', 'X == "user" or X == "a"'],
};

/** Conditions that relate two variables, by their types. */
const TWO: Readonly<Record<string, readonly string[]>> = {
  'ToolCall ToolCall': [
    'X.arguments.to == Y.arguments.to',
    'X.arguments.size == Y.arguments.size',
    'X.arguments.size < Y.arguments.size',
    'same_to(X, Y)',
    'X.arguments == Y.arguments',
  ],
  'ToolCall ToolOutput': ['tool_call(Y) is X', 'X.arguments.to in Y.content', 'X.id == Y.tool_call_id'],
  'ToolOutput Message': ['X.content == Y.content', 'X.content != Y.content', 'Y.content in X.content'],
  'str ToolCall': ['X == Y.arguments.to', 'X == Y.name or X == "hi"'],
  'Message Message': ['X.content == Y.content'],
};

const MESSAGES = ['"found"', 'Violation("found", what=V)', 'f"found {V.labels}"', 'V'];

const TYPES = ['ToolCall', 'ToolOutput', 'Message', 'str'] as const;

const QUANTIFIED = [
  'count(min=2):\n        (q: ToolCall)\n        q is tool:send',
  'not count(min=2, max=3):\n        (q: ToolOutput)\n        "bad" in q.content',
  'forall:\n        (q: ToolCall)\n        not (q is tool:send)',
  'count(max=1):\n        (q: ToolCall)\n        q.arguments.size > 0',
  'not forall:\n        (q: ToolOutput)\n        q is tool:read',
  'not every:\n        (q: ToolOutput)\n        "bad" in q.content or q is tool:send',
  'count(min=1):\n        (q: ToolOutput)\n        count(min=1):\n            (r: ToolCall)\n            r -> q',
  'any_answer("bad")',
];

/** Conditions on what `(w: str) in …` ranges over. */
const WITHIN = ['w == "a"', 'heard(w)', 'w in [LIMIT, "ab"]\n    heard(w) or any_answer(w)'];

export interface Choice {
  readonly types: readonly (typeof TYPES)[number][];
  readonly picks: readonly number[];
  readonly flows: readonly (readonly [number, number, OrderOperator])[];
  readonly joins: readonly (readonly [number, number, number])[];
  readonly message: number;
  readonly quantified: number;
  readonly within: number;
  readonly assigned: boolean;
}

/** Mostly `->`, as in most rules. */
const order: fc.Arbitrary<OrderOperator> = fc.constantFrom('->', '->', '->', '~>', 'before', 'before');

export const choice: fc.Arbitrary<Choice> = fc.record({
  types: fc.array(fc.constantFrom(...TYPES), { minLength: 1, maxLength: 3 }),
  picks: fc.array(fc.nat(47), { maxLength: 4 }),
  flows: fc.array(fc.tuple(fc.nat(2), fc.nat(2), order), { maxLength: 2 }),
  joins: fc.array(fc.tuple(fc.nat(2), fc.nat(2), fc.nat(5)), { maxLength: 2 }),
  message: fc.nat(MESSAGES.length - 1),
  quantified: fc.nat(16),
  within: fc.nat(5),
  assigned: fc.boolean(),
});

function ruleText(rule: Choice): string {
  const lines = rule.types.map((type, index) => `(v${index}: ${type})`);
  for (const [index, pick] of rule.picks.entries()) {
    const variable = index % rule.types.length;
    const conditions = ONE[rule.types[variable] ?? ''] ?? [];
    const condition = conditions[pick % conditions.length];
    if (condition !== undefined) lines.push(condition.replaceAll('X', `v${variable}`));
  }
  for (const [a, b, operator] of rule.flows) {
    const isEvent = (index: number) => rule.types[index] !== undefined && rule.types[index] !== 'str';
    if (isEvent(a) && isEvent(b)) lines.push(`v${a} ${operator} v${b}`);
  }
  for (const [a, b, pick] of rule.joins) {
    const conditions = TWO[`${rule.types[a]} ${rule.types[b]}`] ?? [];
    const condition = conditions[pick % conditions.length];
    if (condition !== undefined && a !== b)
      lines.push(condition.replaceAll('X', `v${a}`).replaceAll('Y', `v${b}`));
  }
  const quantified = QUANTIFIED[rule.quantified];
  if (quantified !== undefined) lines.push(quantified);
  const call = rule.types.indexOf('ToolCall');
  const onElement = WITHIN[rule.within];
  if (onElement !== undefined && call >= 0) lines.push(`(w: str) in v${call}.arguments`, onElement);
  if (rule.assigned && call >= 0) lines.push(`size := v${call}.arguments.size`, 'size >= LIMIT');
  const message = (MESSAGES[rule.types[0] === 'str' ? 0 : rule.message] ?? '').replace(/\bV\b/g, 'v0');
  // A condition that was picked twice would assign its name twice.
  const unlike = [...new Set(lines)];
  return `raise ${message} if:\n${unlike.map((line) => `    ${line}`).join('\n')}\n`;
}

export function policyOf(rules: readonly Choice[]): Policy {
  return policyFrom(rules.map(ruleText));
}

// ── generated chains of flow ──────────────────────────────────────────────────────────────────────────────────

/** A rule over three to five events that flow into each other, with other lines between them. */
export interface Chain {
  readonly types: readonly ('ToolCall' | 'ToolOutput')[];
  readonly conditions: readonly (readonly [number, number])[];
  readonly joins: readonly (readonly [number, number, number])[];
  /** Other flows than from each to the next; and of those one that is left out. */
  readonly flows: readonly (readonly [number, number, OrderOperator])[];
  readonly missing: number;
  /** How each comes before the next. */
  readonly links: readonly OrderOperator[];
  readonly message: number;
  readonly within: number;
}

/** Long ones are rare: the short evaluator tries each event for each of them. */
function links(minLength: number, maxLength: number): fc.Arbitrary<Chain['types']> {
  return fc.array(fc.constantFrom('ToolCall', 'ToolCall', 'ToolCall', 'ToolOutput'), {
    minLength,
    maxLength,
  });
}

export const chain: fc.Arbitrary<Chain> = fc.record({
  types: fc.oneof({ weight: 5, arbitrary: links(3, 4) }, { weight: 1, arbitrary: links(5, 5) }),
  conditions: fc.array(fc.tuple(fc.nat(4), fc.nat(47)), { maxLength: 2 }),
  joins: fc.array(fc.tuple(fc.nat(4), fc.nat(4), fc.nat(5)), { maxLength: 2 }),
  flows: fc.array(fc.tuple(fc.nat(4), fc.nat(4), order), { maxLength: 1 }),
  links: fc.array(order, { minLength: 4, maxLength: 4 }),
  missing: fc.nat(12),
  message: fc.nat(6),
  within: fc.nat(12),
});

/** Some cannot be said of some events. */
const CHAIN_MESSAGES = [
  '"found"',
  'f"found {V.metadata.x}"',
  'Violation("found", of=V, what=W.id)',
  'f"{V.id} {W.id}"',
];

function chainText(rule: Chain): string {
  const lines = rule.types.map((type, index) => `(v${index}: ${type})`);
  const at = (index: number): number => index % rule.types.length;
  for (let index = 1; index < rule.types.length; index++) {
    if (index !== rule.missing) lines.push(`v${index - 1} ${rule.links[index - 1] ?? '->'} v${index}`);
  }
  for (const [from, to, operator] of rule.flows)
    if (at(from) !== at(to)) lines.push(`v${at(from)} ${operator} v${at(to)}`);
  for (const [variable, pick] of rule.conditions) {
    const conditions = ONE[rule.types[at(variable)] ?? ''] ?? [];
    lines.push((conditions[pick % conditions.length] ?? 'True').replaceAll('X', `v${at(variable)}`));
  }
  for (const [a, b, pick] of rule.joins) {
    const conditions = TWO[`${rule.types[at(a)]} ${rule.types[at(b)]}`] ?? [];
    const condition = conditions[pick % conditions.length];
    if (condition !== undefined && at(a) !== at(b))
      lines.push(condition.replaceAll('X', `v${at(a)}`).replaceAll('Y', `v${at(b)}`));
  }
  const call = rule.types.indexOf('ToolCall');
  const onElement = WITHIN[rule.within];
  if (onElement !== undefined && call >= 0) lines.push(`(w: str) in v${call}.arguments`, onElement);
  const message = (CHAIN_MESSAGES[rule.message] ?? '"found"').replace(/\bV\b/g, 'v0').replace(/\bW\b/g, 'v1');
  // A line that gives a value its name may stand once.
  return `raise ${message} if:\n${[...new Set(lines)].map((line) => `    ${line}`).join('\n')}\n`;
}

export function chainPolicyOf(rules: readonly Chain[]): Policy {
  return policyFrom(rules.map(chainText));
}

// ── generated orders ──────────────────────────────────────────────────────────────────────────────────────────

const tools = fc.constantFrom('send', 'read');

/** Three calls of which only the tools and the order matter: what is kept of them is one for all that are alike. */
export const ordersPolicy: fc.Arbitrary<Policy> = fc
  .tuple(order, order, tools, tools, tools, fc.boolean())
  .map(([first, second, a, b, c, isCompared]) => {
    const lines = [
      `(a: ToolCall) ${first} (b: ToolCall)`,
      `b ${second} (c: ToolCall)`,
      ...[`a is tool:${a}`, `b is tool:${b}`, `c is tool:${c}`],
      ...(isCompared ? ['b.arguments.to == c.arguments.to'] : []),
    ];
    return policyFrom([`raise "found" if:\n${lines.map((line) => `    ${line}`).join('\n')}\n`]);
  });

function policyFrom(rules: readonly string[]): Policy {
  const text = PRELUDE + rules.join('');
  const policy = loadPolicy(text);
  assert.ok(policy.ok, `${text}\n${JSON.stringify(policy.ok ? null : policy.fault)}`);
  return policy.value;
}

// ── generated traces ──────────────────────────────────────────────────────────────────────────────────────────

export interface Shape {
  readonly kind: 'user' | 'assistant' | 'call' | 'output' | 'pair' | 'carrier';
  readonly context: number;
  readonly causes: readonly number[];
  readonly app: boolean;
  readonly tool: 'send' | 'read' | 'list';
  /** A number: an argument of another kind than rules expect. */
  readonly to: string | number | null;
  readonly size: number | null;
  readonly content: string | null;
  readonly callId: number;
}

export const shape = (contexts: number): fc.Arbitrary<Shape> =>
  fc.record({
    kind: fc.constantFrom('user', 'assistant', 'call', 'output', 'pair', 'carrier'),
    context: fc.nat(contexts - 1),
    causes: fc.array(fc.nat(12), { maxLength: 1 }),
    app: fc.boolean(),
    tool: fc.constantFrom('send', 'read', 'list'),
    to: fc.constantFrom('a', 'b', 'ab', 5, null),
    size: fc.constantFrom(0, 1, 2, 3, null),
    content: fc.constantFrom('bad', 'hi', 'BAD', '{"lower": 1}', '', null),
    callId: fc.nat(3),
  });

/** Of calls and outputs, with a message in between, in which long chains are found. */
export const workingShape = (contexts: number): fc.Arbitrary<Shape> =>
  shape(contexts).map((one) =>
    one.kind === 'user' || one.kind === 'assistant' ? { ...one, kind: 'call' } : one,
  );

export function eventsOf(shapes: readonly Shape[], contexts: number): readonly TraceEvent[] {
  return shapes.map((one, index) => eventOf(one, index, contexts));
}

function eventOf(one: Shape, index: number, contexts: number): TraceEvent {
  const frame = {
    id: `e${index}`,
    context: `s${one.context}`,
    // Beyond the trace: an id that nobody has given.
    causes: contexts === 1 ? [] : one.causes.map((cause) => `e${cause}`),
  };
  const call = {
    type: 'ToolCall',
    callId: `c${one.callId}`,
    kind: 'function',
    name: one.tool,
    arguments: {
      ...(one.to === null ? {} : { to: one.to }),
      ...(one.size === null ? {} : { size: one.size }),
    },
  } as const;
  switch (one.kind) {
    case 'user':
    case 'assistant':
      return { ...frame, type: 'Message', role: one.kind, content: one.content, toolCalls: [] };
    case 'pair': {
      const calls = [0, 1].map((part) => ({ ...call, context: frame.context, id: `e${index}-${part}` }));
      return { ...frame, type: 'Message', role: 'assistant', content: one.content, toolCalls: calls };
    }
    case 'call':
      return { ...frame, ...call, ...(one.app ? { deliveredTo: 'app:x' } : {}) };
    case 'output': {
      const output = {
        type: 'ToolOutput',
        role: 'tool',
        callId: `c${one.callId}`,
        content: one.content,
      } as const;
      return { ...frame, ...output, ...(one.app ? { bornFrom: 'app:x' } : {}) };
    }
    case 'carrier':
      return { ...frame, type: 'Carrier' };
  }
}
