import assert from 'node:assert/strict';
import { test } from 'node:test';
import { analyze, ExplainingMonitor } from '@cordon/policy-tools';
import {
  type Detector,
  defineDetector,
  loadPolicy,
  noAnswer,
  type Policy,
  type TraceEvent,
} from '../../src/index.ts';

const SECRETS = defineDetector({
  name: 'secrets',
  run: ({ texts, mark }) =>
    texts.flatMap((text, index) => {
      const at = text.indexOf('KEY');
      if (at >= 0) mark(index, at, at + 3);
      return at >= 0 ? ['KEY'] : [];
    }),
});

function policyOf(line: string, detectors: readonly Detector[], imported = 'secrets'): Policy {
  const text = `from invariant.detectors import ${imported}\nraise "x" if:\n    (m: Message)\n    ${line}\n`;
  const policy = loadPolicy(text, { detectors });
  assert.ok(policy.ok, JSON.stringify(policy.ok ? null : policy.fault));
  return policy.value;
}

function analysed(
  policy: Policy,
  content: unknown,
): { ranges: readonly string[][]; open: readonly string[] } {
  const analysis = analyze(policy, [{ role: 'user', content }]);
  assert.ok(analysis.ok);
  const { errors, undecided } = analysis.value;
  return { ranges: errors.map(({ ranges }) => [...ranges]), open: undecided.map(({ reason }) => reason) };
}

test('a detector says which characters of which text its answer is about', () => {
  const policy = policyOf('any(secrets(m))', [SECRETS]);
  assert.deepEqual(analysed(policy, '🔑 a KEY here'), { ranges: [['0', '0.content:4-7']], open: [] });
  assert.deepEqual(analysed(policy, 'nothing'), { ranges: [], open: [] });
  const chunks = [
    { type: 'text', text: 'none' },
    { type: 'text', text: 'KEY' },
  ];
  assert.deepEqual(analysed(policy, chunks), { ranges: [['0', '0.content.1.text:0-3']], open: [] });
});

test('a detector that is not there, fails, or answers no data leaves the rule undecided', () => {
  assert.deepEqual(analysed(policyOf('any(secrets(m))', []), 'KEY'), {
    ranges: [],
    open: ['the detector `secrets` is not available'],
  });
  const failing = defineDetector({
    name: 'secrets',
    run: () => {
      throw new Error('no model');
    },
  });
  assert.deepEqual(analysed(policyOf('any(secrets(m))', [failing]), 'KEY').open, [
    'the detector `secrets` failed',
  ]);
  const strange = defineDetector({
    name: 'secrets',
    run: () => Number.NaN,
  });
  assert.deepEqual(analysed(policyOf('secrets(m) == 1', [strange]), 'KEY').open, [
    'the detector `secrets` gave float',
  ]);
});

test('a value reference asks the detector of its kind', () => {
  const pii = defineDetector({
    name: 'pii',
    run: ({ texts }) => (texts.some((text) => text.includes('@')) ? ['EMAIL_ADDRESS'] : []),
  });
  const text = 'raise "x" if:\n    (c: ToolCall)\n    c is tool:send({to: <EMAIL_ADDRESS>})\n';
  const verdict = (detectors: readonly Detector[], to: string): string => {
    const policy = loadPolicy(text, { detectors });
    assert.ok(policy.ok);
    const call = {
      type: 'ToolCall',
      callId: null,
      kind: 'function',
      name: 'send',
      arguments: { to },
    } as const;
    const { verdict: said, reasons } = new ExplainingMonitor(policy.value).decide([call]);
    return `${said} ${reasons.map(({ because }) => because).join()}`;
  };
  assert.equal(verdict([pii], 'bob@example.org'), 'deny rule');
  assert.equal(verdict([pii], 'bob'), 'allow ');
  assert.equal(verdict([], 'bob'), 'deny undecided');
});

test('an answer that is no plain data leaves the rule undecided: a promise is no empty list', () => {
  for (const answer of [
    Promise.resolve(['k']),
    new Map([['k', 1]]),
    new Set(['k']),
    new Date(0),
    () => 'k',
  ]) {
    const strange = defineDetector({
      name: 'secrets',
      run: () => answer as unknown as string[],
    });
    const policy = policyOf('any(secrets(m))', [strange]);
    const message = { type: 'Message', role: 'user', content: 'KEY', toolCalls: [] } as const;
    assert.equal(new ExplainingMonitor(policy).decide([message]).verdict, 'deny');
  }
});

test('a range never leaves the text, whatever a detector says', () => {
  const wide = defineDetector({
    name: 'secrets',
    run: ({ mark }) => {
      mark(0, -5, 999);
      mark(0, 2, 1);
      mark(7, 0, 1);
      return ['K'];
    },
  });
  assert.deepEqual(analysed(policyOf('any(secrets(m))', [wide]), 'xyz').ranges, [['0', '0.content:0-3']]);
});

test('what the standard library does not have is imported from a module of its own', () => {
  const ibans = defineDetector({
    name: 'ibans',
    run: ({ texts }) => texts.filter((text) => text.startsWith('DE')),
  });
  const text = 'from cordon.detectors import ibans\nraise "x" if:\n    (m: Message)\n    any(ibans(m))\n';
  const codes = (detectors: readonly Detector[], dialect: 'cordon' | 'invariant') => {
    const policy = loadPolicy(text, { detectors, dialect });
    return (policy.ok ? policy.value.warnings : policy.fault).map(({ code }) => code);
  };
  assert.deepEqual(codes([ibans], 'cordon'), []);
  assert.deepEqual(codes([], 'cordon'), ['POL055']);
  assert.deepEqual(codes([ibans], 'invariant'), ['POL022']);
  const policy = loadPolicy(text, { detectors: [ibans] });
  assert.ok(policy.ok);
  assert.deepEqual(analysed(policy.value, 'DE12').ranges, [['0']]);
  assert.deepEqual(analysed(policy.value, 'FR12').ranges, []);
  assert.throws(() => defineDetector({ ...ibans, name: 'not a name', run: () => null }), TypeError);
});

test('arguments are bound by the names that a detector gives them, the texts of the first too', () => {
  const words = defineDetector({
    name: 'secrets',
    parameters: ['data', 'word', 'least'],
    run: ({ texts, given }) =>
      texts.filter((text) => text.split(String(given.word ?? 'KEY')).length > Number(given.least ?? 1)),
  });
  const found = (line: string) => {
    const { ranges, open } = analysed(policyOf(line, [words]), 'a KEY, a KEY and a LOCK');
    return open[0] ?? ranges.length;
  };
  assert.equal(found('any(secrets(m))'), 1);
  assert.equal(found('any(secrets(data=m))'), 1);
  assert.equal(found('any(secrets(m, "LOCK"))'), 1);
  assert.equal(found('any(secrets(m, "LOCK", 2))'), 0);
  assert.equal(found('any(secrets(m, least=2))'), 1);
  assert.equal(found('any(secrets(least=3, data=m))'), 0);
  assert.equal(found('any(secrets(m, "KEY", word="LOCK"))'), '`secrets` takes (data, word, least)');
  for (const line of ['any(secrets(m, lest=2))', 'any(secrets(m, "KEY", 1, 2))']) {
    const text = `from invariant.detectors import secrets\nraise "x" if:\n    (m: Message)\n    ${line}\n`;
    const policy = loadPolicy(text, { detectors: [words] });
    assert.deepEqual(policy.ok ? [] : policy.fault.map(({ code }) => code), ['POL014'], line);
  }
});

test('a text that an argument can never be is refused where the policy writes it', () => {
  const spoken = defineDetector({
    name: 'secrets',
    parameters: ['data', 'language'],
    choices: { language: new Set(['de', 'en']) },
    run: () => [],
  });
  const codes = (argument: string, before = '') => {
    const text = `from invariant.detectors import secrets\n${before}raise "x" if:\n    (m: Message)\n    any(secrets(m, ${argument}))\n`;
    const policy = loadPolicy(text, { detectors: [spoken] });
    return policy.ok ? [] : policy.fault.map(({ code }) => code);
  };
  for (const refused of ['"fr"', 'language="fr"', '["de", "fr"]', 'LANGUAGE'])
    assert.deepEqual(codes(refused, 'LANGUAGE := "fr"\n'), ['POL025'], refused);
  for (const allowed of ['"de"', 'language="en"', '["de", "en"]', 'm.content', 'LANGUAGE', '3'])
    assert.deepEqual(codes(allowed, 'LANGUAGE := "en"\n'), [], allowed);
});

test('a detector that has no answer says why, and the rule is undecided', () => {
  const unsure = defineDetector({
    name: 'secrets',
    run: ({ texts }) => (texts.join('').length > 5 ? noAnswer('the text is too long') : []),
  });
  assert.deepEqual(analysed(policyOf('any(secrets(m))', [unsure]), 'a longer text').open, [
    'the text is too long',
  ]);
  assert.deepEqual(analysed(policyOf('any(secrets(m))', [unsure]), 'short').open, []);
});

test('what is within a call, its arguments or an object is looked at, and marked where it stands', () => {
  const text = (data: string) =>
    `from invariant.detectors import secrets\nraise "x" if:\n    (c: ToolCall)\n    any(secrets(${data}))\n`;
  const ranges = (data: string, given: object): unknown => {
    const policy = loadPolicy(text(data), { detectors: [SECRETS] });
    assert.ok(policy.ok, JSON.stringify(policy));
    const call = { id: '1', type: 'function', function: { name: 'send', arguments: given } };
    const analysis = analyze(policy.value, [{ role: 'assistant', content: null, tool_calls: [call] }]);
    assert.ok(analysis.ok);
    return analysis.value.errors.map((error) => error.ranges);
  };
  const given = { to: 'bob', parts: [{ body: 'a KEY' }] };
  const expected = [['0.tool_calls.0', '0.tool_calls.0.function.arguments.parts.0.body:2-5']];
  assert.deepEqual(ranges('c', given), expected);
  assert.deepEqual(ranges('c.function', given), expected);
  assert.deepEqual(ranges('c.function.arguments', given), expected);
  assert.deepEqual(ranges('c', { to: 'bob', parts: [{ body: 'a thing' }] }), []);
});

test('a detector looks at every text of what apps say of themselves and send each other', () => {
  const found = (event: TraceEvent, type: string) => {
    const text = `from invariant.detectors import secrets\nraise "x" if:\n    (e: ${type})\n    any(secrets(e))\n`;
    const policy = loadPolicy(text, { detectors: [SECRETS] });
    assert.ok(policy.ok);
    return new ExplainingMonitor(policy.value).decide([event]).verdict;
  };
  const tool = (description: string, hint: string) =>
    found(
      {
        type: 'Tool',
        name: 'read',
        description,
        inputSchema: [
          { name: 'path', type: 'string', description: hint, required: true, schema: { enum: ['a'] } },
        ],
        server: null,
      },
      'Tool',
    );
  assert.equal(tool('first a KEY', ''), 'deny');
  assert.equal(tool('', 'give the KEY'), 'deny');
  assert.equal(tool('reads', 'a path'), 'allow');
  const request = (message: string) =>
    found(
      { type: 'AppRequest', callId: 'c', from: 'a', to: 'b', functionality: 'f', message: { note: message } },
      'AppRequest',
    );
  assert.equal(request('a KEY'), 'deny');
  assert.equal(request('a word'), 'allow');
  const chunk = (text: string) =>
    found({ type: 'ToolOutput', role: 'tool', callId: null, content: [{ type: 'text', text }] }, 'TextChunk');
  assert.equal(chunk('a KEY'), 'deny');
  assert.equal(chunk('a word'), 'allow');
});
