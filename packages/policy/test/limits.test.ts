import assert from 'node:assert/strict';
import { test } from 'node:test';
import { analyze, ExplainingMonitor } from '@cordon/policy-tools';
import { isLeftOut } from '../../../tools/cases.ts';
import { growsTooFast } from '../../../tools/growth/growth.ts';
import { joinPolicies, loadPolicy, type TraceEvent } from '../src/index.ts';

function codes(text: string): readonly string[] {
  const policy = loadPolicy(text);
  return policy.ok ? [] : policy.fault.filter(({ severity }) => severity === 'error').map(({ code }) => code);
}

const rule = (line: string) => `raise "x" if:\n    (m: Message)\n    ${line}\n`;

function chain(length: number, define: (index: number) => string, last: string): string {
  return `${Array.from({ length: length - 1 }, (_, index) => define(index)).join('\n')}\n${last}\n`;
}

const constants = (length: number) =>
  chain(length, (index) => `A${index} := A${index + 1}`, `A${length - 1} := 1`) + rule('A0 == 1');
const predicates = (length: number) =>
  chain(length, (index) => `p${index}(x) := p${index + 1}(x)`, `p${length - 1}(x) := x == 1`) +
  rule('p0(m.role)');
const circle = (length: number) =>
  chain(length, (index) => `p${index}(x) := p${index + 1}(x)`, `p${length - 1}(x) := p0(x)`) +
  rule('p0(m.role)');

test('definitions that build on each other beyond the limit are refused, not walked', () => {
  for (const made of [constants, predicates, circle]) {
    assert.deepEqual(codes(made(64)), []);
    assert.deepEqual(codes(made(65)), ['POL005']);
    assert.deepEqual(codes(made(4000)), ['POL005']);
  }
});

test('many definitions that do not build on each other are fine', () => {
  const many = Array.from({ length: 2000 }, (_, index) => `p${index}(x) := x == ${index}`).join('\n');
  assert.deepEqual(codes(`${many}\n${rule('p7(m.role)')}`), []);
});

test('a body with more variables than anybody binds is refused', () => {
  const body = (variables: number) =>
    `raise "x" if:\n${Array.from({ length: variables }, (_, index) => `    (m${index}: Message)\n`).join('')}`;
  assert.deepEqual(codes(body(128)), []);
  assert.deepEqual(codes(body(129)), ['POL005']);
});

test('parameters that are nested too deeply decide nothing', () => {
  const policy = loadPolicy(rule('input.x == input.y'));
  assert.ok(policy.ok);
  const deep = (levels: number) => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
  const analysed = (levels: number) => {
    const analysis = analyze(policy.value, [{ role: 'user', content: '' }], {
      x: deep(levels),
      y: deep(levels),
    });
    assert.ok(analysis.ok);
    return [analysis.value.errors.length, analysis.value.undecided.map(({ reason }) => reason)];
  };
  assert.deepEqual(analysed(100), [1, []]);
  assert.deepEqual(analysed(10_000), [0, ['the policy parameters are nested more than 200 deep']]);
});

test('texts and lists that a rule builds have an end', (t) => {
  if (isLeftOut(t)) return;
  const open = (line: string) => {
    const policy = loadPolicy(rule(line));
    assert.ok(policy.ok, JSON.stringify(policy.ok ? null : policy.fault));
    const analysis = analyze(policy.value, [{ role: 'user', content: '' }]);
    assert.ok(analysis.ok);
    return analysis.value.undecided.map(({ reason }) => reason);
  };
  const long = ['the text becomes too long'];
  assert.deepEqual(open('len("a".join(["b" * 10000000] * 1000)) > 0'), long);
  assert.deepEqual(open('len(("%s" * 1000) % tuple(["a" * 10000000] * 1000)) > 0'), long);
  assert.deepEqual(open('len(("{0}" * 1000).format("a" * 10000000)) > 0'), long);
  assert.deepEqual(open('len(f"{[["a" * 10000000] * 1000]}") > 0'.replaceAll('["a"', "['a'")), long);
  assert.deepEqual(open('len(([1] * 10000000) + ([1] * 10000000)) > 0'), ['the list becomes too long']);
  assert.deepEqual(open('len("a".join(["b" * 1000] * 10)) > 0'), []);
});

test('contexts and unknown causes cost what their number is, not its square', () => {
  const policy = loadPolicy('raise "x" if:\n    (a: ToolOutput) -> (b: ToolCall)\n    b is tool:send\n');
  assert.ok(policy.ok);
  const trace = (count: number, cause: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => ({
      role: 'user',
      content: 'x',
      id: `e${index}`,
      context: `c${index}`,
      causes: [cause(index)],
    }));
  for (const cause of [(index: number) => `unknown${index}`, (index: number) => `e${index - 1}`]) {
    const work = (events: ReturnType<typeof trace>) => assert.ok(analyze(policy.value, events).ok);
    assert.equal(
      growsTooFast(work, (count) => trace(count, cause), 4_000, 10),
      null,
      cause(1),
    );
  }
});

test('what is no event is denied, and a cycle ends', () => {
  const policy = loadPolicy('raise "x" if:\n    (c: ToolCall)\n    (s: str) in c.arguments\n    s == "a"\n');
  assert.ok(policy.ok);
  const monitor = new ExplainingMonitor(policy.value);
  const cyclic: Record<string, unknown> = { s: 'b' };
  cyclic.self = cyclic;
  cyclic.again = cyclic;
  const call = (args: unknown) =>
    ({
      type: 'ToolCall',
      callId: null,
      kind: 'function',
      name: 'f',
      arguments: args,
    }) as unknown as TraceEvent;
  assert.equal(monitor.decide([call({ s: 'b' })]).verdict, 'allow');
  for (const event of [call(cyclic), { type: 'Nonsense' }, { type: 'Message', role: 'user', content: '' }]) {
    const decision = monitor.admit([event as TraceEvent], 'given');
    assert.deepEqual([decision.verdict, decision.reasons[0]?.rule], ['deny', 'monitor/event']);
  }
});

test('rules of policies that are joined keep ids of their own', () => {
  const policies = [1, 2, 3].map(() => {
    const policy = loadPolicy('rule a:\nraise "x" if:\n    (c: ToolCall)\n', { file: 'f' });
    assert.ok(policy.ok);
    return policy.value;
  });
  assert.deepEqual(
    joinPolicies(policies).rules.map(({ id }) => id),
    ['a', 'f#a', 'f#a#2'],
  );
});
