/** Ranges lead to what they are about: a place of the input, and in it exactly the text that was found. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isJsonObject, type Json, parseJson } from '@cordon/core';
import { loadPolicy, type Policy } from '@cordon/policy';
import { RUNS } from '@cordon/testkit/policy/generated-traces.ts';
import fc from 'fast-check';
import { checkUntil, unseen } from '../../../../tools/seed.ts';
import { analyze, mask } from '../../src/index.ts';

// ── traces with texts everywhere ──────────────────────────────────────────────────────────────────────────────

const text = fc.string({
  unit: fc.constantFrom('a', 'b', 'ab', '😀', '.', '(', '\n', '\ud800'),
  maxLength: 6,
});

const argument = fc.oneof(
  text,
  fc.array(text, { maxLength: 2 }),
  fc.record({ x: text, y: fc.array(text, { maxLength: 2 }) }),
  fc.constant(null),
);

const call = fc
  .tuple(fc.constantFrom('1', '2'), fc.record({ to: argument, at: argument }), fc.boolean())
  .map(([id, args, isText]) => ({
    ...{ id, type: 'function' },
    function: { name: 'ab', arguments: isText ? JSON.stringify(args) : args },
  }));

const chunk = fc.oneof(
  text.map((one) => ({ type: 'text', text: one })),
  text.map((url) => ({ type: 'image_url', image_url: { url } })),
);

const content = fc.oneof(text, fc.constant(null), fc.array(chunk, { maxLength: 3 }));

const element = fc.oneof(
  fc.record({ role: fc.constantFrom('user', 'assistant'), content }),
  fc.record({
    role: fc.constant('assistant'),
    content,
    tool_calls: fc.array(call, { minLength: 1, maxLength: 2 }),
  }),
  fc.record({
    role: fc.constant('tool'),
    tool_call_id: fc.constantFrom('1', '2'),
    content: fc.oneof(content, fc.record({ x: text, y: fc.array(text, { maxLength: 2 }) })),
  }),
  call,
  fc.record({ tools: fc.array(fc.record({ name: text, description: text, inputSchema: fc.constant({}) })) }),
  fc.record({ role: fc.constant('user'), content, metadata: fc.record({ x: text }) }),
);

const traces = fc.array(element, { maxLength: 5 });

// ── rules that find texts ─────────────────────────────────────────────────────────────────────────────────────

/** What is looked for, and the expression that what is found has to match. */
const NEEDLES: readonly (readonly [needle: string, found: RegExp])[] = [
  ['a', /^a$/u],
  ['ab', /^ab$/u],
  ['a.', /^a.$/u],
  ['(', /^\($/u],
  ['😀', /^😀$/u],
];

const PLACES: readonly (readonly string[])[] = [
  ['(m: Message)', 'N in m.content'],
  ['(m: Message)', 'N in m.content or N in m.role'],
  ['(m: Message)', '(t: TextChunk) in m.content', 'N in t.text'],
  ['(m: Message)', 'N in m.metadata.x', 'N in m.content'],
  ['(s: str)', 'N in s'],
  ['(t: TextChunk)', 'N in t.text'],
  ['(i: Image)', 'N in i.image_url.url'],
  ['(c: ToolCall)', 'N in c.arguments.to'],
  ['(c: ToolCall)', 'any([N in x for x in c.function.arguments.values()])'],
  ['(c: ToolCall)', '(s: str) in c.arguments', 'N in s'],
  ['(c: ToolCall)', '(d: dict) in c.arguments.at', 'N in d.x'],
  ['(o: ToolOutput)', 'N in o.content.x'],
  ['(o: ToolOutput)', '(s: str) in o.content', 'N in s'],
  ['(c: ToolCall) -> (o: ToolOutput)', 'N in o.content', 'N in c.arguments.to'],
  ['(t: Tool)', 'N in t.description', 'N in t.name'],
  ['(m: Message)', 'x := m.content', 'N in x', 'N in x.lower()'],
];

function policyAbout(needle: string): Policy {
  const rules = PLACES.map(
    (lines) =>
      `raise "x" if:\n${lines.map((line) => `    ${line.replace(/\bN\b/g, `"${needle}"`)}\n`).join('')}`,
  );
  const policy = loadPolicy(rules.join(''));
  assert.ok(policy.ok, policy.ok ? '' : JSON.stringify(policy.fault));
  return policy.value;
}

const POLICIES = NEEDLES.map(([needle, found]) => ({ needle, found, policy: policyAbout(needle) }));

// ── where a range leads ───────────────────────────────────────────────────────────────────────────────────────

interface Place {
  readonly value: Json;
  /** Of each step, its place among its neighbours; nothing in the input stands at the same. */
  readonly steps: readonly string[];
}

/** Follows a path into the input; arguments that are JSON in a string are opened. Undefined: it leads nowhere. */
function placeOf(trace: Json, path: string): Place | undefined {
  let value: Json = trace;
  const steps = path.split('.');
  for (const step of steps) {
    const opened: Json = typeof value === 'string' ? opens(value) : value;
    if (Array.isArray(opened) && /^\d+$/.test(step) && Number(step) < opened.length) {
      value = opened[Number(step)] ?? null;
    } else if (isJsonObject(opened) && Object.hasOwn(opened, step)) value = opened[step] ?? null;
    else return undefined;
  }
  return { value, steps };
}

function opens(value: string): Json {
  const read = parseJson(value);
  return read.ok ? read.value : value;
}

function checkRange(trace: Json, range: string, found: RegExp): void {
  const parts = /^(.*?)(?::(\d+)-(\d+))?$/s.exec(range);
  const [, path = '', start, end] = parts ?? [];
  const place = placeOf(trace, path);
  assert.ok(place !== undefined, `${range} leads nowhere`);
  if (start === undefined || end === undefined) return;
  assert.ok(typeof place.value === 'string', `${range} leads into no text`);
  const points = [...place.value];
  assert.ok(Number(start) < Number(end) && Number(end) <= points.length, `${range} lies outside of its text`);
  assert.match(points.slice(Number(start), Number(end)).join(''), found, range);
}

test('every range leads to a place of the input, and to what was looked for', () => {
  const seen = { offsets: 0 };
  checkUntil(
    fc.property(traces, fc.nat(POLICIES.length - 1), (trace, pick) => {
      const chosen = POLICIES[pick];
      assert.ok(chosen !== undefined);
      const analysis = analyze(chosen.policy, trace);
      assert.ok(analysis.ok, analysis.ok ? '' : JSON.stringify(analysis.fault));
      const input: Json = JSON.parse(JSON.stringify(trace));
      for (const { ranges } of analysis.value.errors) {
        assert.deepEqual([...new Set(ranges)], ranges);
        for (const range of ranges) {
          if (range.includes(':')) seen.offsets++;
          checkRange(input, range, chosen.found);
        }
      }
    }),
    2 * RUNS,
    () => unseen(seen),
  );
});

test('every violation is about its events, and they stand before their parts', () => {
  fc.assert(
    fc.property(traces, fc.nat(POLICIES.length - 1), (trace, pick) => {
      const chosen = POLICIES[pick];
      assert.ok(chosen);
      const analysis = analyze(chosen.policy, trace);
      assert.ok(analysis.ok);
      for (const { ranges, events } of analysis.value.errors) {
        const wholes = ranges.filter((range) => !range.includes(':'));
        assert.ok(Object.values(events).every((event) => ranges.some((range) => range.startsWith(event))));
        for (const whole of wholes) {
          const inside = ranges.findIndex((range) => range.startsWith(`${whole}.`));
          assert.ok(inside < 0 || ranges.indexOf(whole) < inside, `${whole} in ${ranges.join(' ')}`);
        }
        const elements = ranges.map((range) => Number.parseInt(range, 10));
        assert.deepEqual(
          elements,
          elements.toSorted((a, b) => a - b),
        );
      }
    }),
    { numRuns: RUNS },
  );
});

test('what is masked is no longer found', () => {
  fc.assert(
    fc.property(traces, fc.nat(POLICIES.length - 1), (trace, pick) => {
      const chosen = POLICIES[pick];
      assert.ok(chosen !== undefined);
      const before = analyze(chosen.policy, trace);
      assert.ok(before.ok);
      const input: Json = JSON.parse(JSON.stringify(trace));
      // A log with the role `****` is no log.
      const isMasked = (range: string) => range.includes(':') && !range.includes('.role:');
      const ranges = before.value.errors.flatMap((error) => error.ranges.filter(isMasked));
      const after = analyze(chosen.policy, mask(input, ranges));
      assert.ok(after.ok);
      const marked = after.value.errors.filter((error) => error.ranges.some(isMasked));
      assert.deepEqual(marked, []);
    }),
    { numRuns: RUNS },
  );
});
