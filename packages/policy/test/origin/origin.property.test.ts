/**
 * Where values come from, by the index and by reading every text that was visible: the same sources with the same fields,
 * in traces of one and of several contexts, and the same verdict after each event.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findingsIn } from '@cordon/policy-tools';
import { evaluate, evaluatePending } from '@cordon/reference';
import { RUNS } from '@cordon/testkit/policy/generated-traces.ts';
import fc from 'fast-check';
import { checkUntil } from '../../../../tools/seed.ts';
import { loadPolicy, type Policy, type TraceEvent } from '../../src/index.ts';

function policyOf(text: string): Policy {
  const policy = loadPolicy(text);
  assert.ok(policy.ok, JSON.stringify(policy.ok ? null : policy.fault));
  return policy.value;
}

const SOURCES = policyOf('raise "x" if:\n    (c: ToolCall)\n    (s: Origin) in origin(c.arguments)\n');

const RULES = policyOf(`
named(x: str) := any([s.kind == "user" and s.match != "part" for s in origin(x)])
raise "a" if:
    (c: ToolCall)
    not from_user(c.arguments.x)
raise "b" if:
    (o: ToolOutput) -> (c: ToolCall)
    any([s.kind == "output" and "untrusted" in s.labels for s in origin(c.arguments.x)])
raise "c" if:
    (c: ToolCall)
    (s: Origin) in origin(c.arguments)
    "user" in s.asked or s.kind == "endorsed" or s.whole
raise "d" if:
    (c: ToolCall)
    (x: str) in c.arguments
    named(x)
raise "e" if:
    (m: Message) -> (c: ToolCall)
    y := c.arguments.x
    any([s.event == m.id for s in origin([m.content, y])])
raise "g" if:
    (c: ToolCall)
    any([s.led_by_text or len(s.others) > 0 for s in origin(c.arguments)])
raise "h" if:
    (c: ToolCall)
    any(["bob" in s.beside or "bob smith" in s.beside for s in origin(c.arguments)])
`);

/** Values that are near to each other, and what makes them differ. */
const WORDS = [
  ...[
    'bob',
    'x.org',
    'bob@x.org',
    'b@x.org',
    'bob smith',
    'Bob.Smith@x.org',
    'https://x.org/a/bob',
    'yes',
    '7',
  ],
  ...['1000', '1,000.00', 'one thousand', '2022-04-01', 'April 1st, 2022', '1/4/22', 'April 1st', 'x.org.uk'],
  ...['+44 20 7946 0958', '442079460958', 'DE89 3704 0044 0532 0130 00', 'de89370400440532013000'],
  ...[
    'bob%40x.org',
    'Ym9iQHgub3JnIGlzIGhlcmU=',
    '&lt;bob&gt;',
    'ｂｏｂ',
    'bo\u200bb',
    '漢字',
    '{"a": "bob@x.org", "b": 7}',
    "{'names': \"['bob', 'b@x.org']\", 'body': \"['bob@x.org']\"}",
    "[{'name': 'Bob Smith', 'mail': 'bob@x.org'}, {'sender': 'bob', 'mail': 'b@x.org'}]",
    '/a/bob',
    '/a',
    'www.x.org/b',
  ],
];

const composed = fc
  .array(fc.tuple(fc.constantFrom(...WORDS), fc.constantFrom(' ', ', ', '. ', '\n', '-', '.', '/', ' <')), {
    minLength: 1,
    maxLength: 4,
  })
  .map((parts) => parts.flatMap(([word, gap], index) => (index === 0 ? [word] : [gap, word])).join(''));

/** Values in a place that `NAMING` names. */
const PLACED = ['/a/bob', 'https://x.org/a/bob'];

const text = fc.oneof(
  { arbitrary: composed, weight: 4 },
  { arbitrary: fc.constantFrom(...PLACED), weight: 1 },
);

interface Shape {
  readonly kind:
    | 'user'
    | 'system'
    | 'assistant'
    | 'call'
    | 'output'
    | 'released'
    | 'endorsed'
    | 'answered'
    | 'described';
  readonly context: number;
  readonly cause: number | null;
  readonly text: string;
  readonly more: string;
  readonly callId: number;
  readonly isTrusted: boolean;
  /** An output is a record of two fields. */
  readonly isRecord: boolean;
}

const shape = (contexts: number): fc.Arbitrary<Shape> =>
  fc.record({
    kind: fc.constantFrom<Shape['kind'][]>(
      ...([
        'user',
        'system',
        'assistant',
        'call',
        'call',
        'call',
        'output',
        'output',
        'released',
        'endorsed',
      ] as const),
      ...(['answered', 'described'] as const),
    ),
    context: fc.nat(contexts - 1),
    cause: fc.option(fc.nat(10)),
    text,
    more: text,
    callId: fc.nat(2),
    isTrusted: fc.boolean(),
    isRecord: fc.boolean(),
  });

/** The user names a folder and a host. */
const NAMING: Shape = {
  ...{ kind: 'user', context: 0, cause: null, text: 'bob is in /a, or on www.x.org', more: '' },
  ...{ callId: 0, isTrusted: false, isRecord: false },
};

function eventOf(one: Shape, index: number, contexts: number): TraceEvent {
  const frame = {
    id: `e${index}`,
    context: `s${one.context}`,
    ...(one.cause === null || contexts === 1 ? {} : { causes: [`e${one.cause}`] }),
  };
  const trusted = { integrity: 'trusted', confidentiality: 'public' } as const;
  switch (one.kind) {
    case 'user':
    case 'system':
    case 'assistant':
      return { ...frame, type: 'Message', role: one.kind, content: one.text, toolCalls: [] };
    case 'call': {
      const call = {
        type: 'ToolCall',
        callId: `c${one.callId}`,
        kind: 'function',
        name: `t${one.callId}`,
      } as const;
      return { ...frame, ...call, arguments: { x: one.text, more: [one.more] } };
    }
    case 'output': {
      const output = {
        type: 'ToolOutput',
        role: 'tool',
        callId: `c${one.callId}`,
        content: one.isRecord ? JSON.stringify({ note: one.text, items: [one.more] }) : one.text,
      } as const;
      return { ...frame, ...output, ...(one.isTrusted ? { label: trusted } : {}) };
    }
    case 'released': {
      const origin = one.isTrusted ? null : 'mail';
      const labels = one.isTrusted ? ['trusted', 'private'] : ['untrusted', 'private'];
      return {
        ...frame,
        type: 'DataRelease',
        to: null,
        items: [{ name: 'n', value: one.text, origin, labels }],
      };
    }
    case 'endorsed':
      return { ...frame, type: 'Endorsement', values: [{ name: 'n', value: one.text }] };
    case 'answered': {
      const exchange = { from: 'mail', to: null, functionality: 'read', callId: null } as const;
      return { ...frame, type: 'AppResponse', ...exchange, message: { a: one.text } };
    }
    case 'described':
      return { ...frame, type: 'Tool', name: 't1', description: one.text, inputSchema: [], server: null };
  }
}

/** Evaluators that never find anything would agree as well. */
const NEEDED = ['user', 'output', 'model', 'exact', 'normalised', 'part', 'place'];

function compare(contexts: number, maxLength: number): void {
  const seen = new Set<string>();
  checkUntil(
    fc.property(fc.array(shape(contexts), { maxLength }), fc.boolean(), (generated, isNaming) => {
      const shapes = isNaming ? [NAMING, ...generated] : generated;
      const events = shapes.map((one, index) => eventOf(one, index, contexts));
      const found = findingsIn(SOURCES, events).map(({ bound }) => [
        bound[0]?.entry?.reference,
        JSON.stringify(bound[1]?.value),
      ]);
      const expected = evaluate(SOURCES, events).map(({ events: [call], key }) => [
        call,
        key.slice(key.indexOf('{')),
      ]);
      assert.deepEqual(found, expected);
      for (const [, source = ''] of found)
        for (const [word] of source.matchAll(/(?<="(?:kind|match)":")\w+|place(?=":true)/g)) seen.add(word);
      const monitor = RULES.monitor();
      for (const [index, event] of events.entries()) {
        const foreseen = monitor
          .evaluate([event])
          .findings.map(({ rule, open }) => `${rule.number} ${open === null}`);
        const outcomes = evaluatePending(RULES, events.slice(0, index), [event]);
        const rules = [...new Set(outcomes.map(({ rule }) => rule))];
        const isViolated = (number: number): boolean =>
          outcomes.some(({ rule, status }) => rule === number && status === 'violated');
        assert.deepEqual(
          foreseen,
          rules.map((rule) => `${rule} ${isViolated(rule)}`),
          `after ${index} events`,
        );
        monitor.append([event]);
      }
    }),
    RUNS,
    () => NEEDED.filter((kind) => !seen.has(kind)),
  );
}

test('in one context the index finds what reading every text finds', () => {
  compare(1, 8);
});

test('in several contexts with messages between them it does, too', () => {
  compare(3, 10);
});
