import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Workplace } from '@cordon/testkit/cordon-program.ts';
import { isLeftOut } from '../../../../tools/cases.ts';

const POLICY = `
raise "said" if:
    (m: Message)
    m.role == "function"
    "leak" in m.content
`;
const OUTPUTS = `
raise "put out" if:
    (o: ToolOutput)
    "leak" in o.content
`;
const ANSWER = { role: 'function', name: 'read', content: 'leak' };
const TRACE = [{ role: 'user', content: 'go' }, ANSWER];

const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  analyze: ['analyze', 'said.gr', 'trace.json'],
  'analyze, lines': ['analyze', 'said.gr', 'trace.jsonl'],
  explain: ['explain', 'said.gr', 'trace.json'],
  scan: ['scan', 'said.gr', 'traces.jsonl'],
};

for (const [name, args] of Object.entries(COMMANDS)) {
  test(`${name}: the role \`function\` is a message in the other dialect, and a tool output in ours`, (t) => {
    if (isLeftOut(t)) return;
    using place = new Workplace({ 'said.gr': POLICY, 'put-out.gr': OUTPUTS, 'trace.json': TRACE });
    place.write('trace.jsonl', TRACE.map((message) => `${JSON.stringify(message)}\n`).join(''));
    place.write('traces.jsonl', `${JSON.stringify(TRACE)}\n`);
    const codeOf = (policy: string, ...options: readonly string[]) =>
      place.run([...args.map((arg) => (arg === 'said.gr' ? policy : arg)), ...options]).code;
    assert.equal(codeOf('said.gr', '--dialect', 'invariant'), 1);
    assert.equal(codeOf('put-out.gr', '--dialect', 'invariant'), 0);
    assert.equal(codeOf('said.gr'), 0);
    assert.equal(codeOf('put-out.gr'), 1);
  });
}

test('test: steps and files of traces are read in the dialect of the tests', (t) => {
  if (isLeftOut(t)) return;
  using place = new Workplace({ 'said.gr': POLICY, 'trace.json': TRACE });
  const codeOf = (dialect: string, trace: unknown) => {
    const cases = { one: { trace, expect: 'clean' } };
    place.write('said.test.json', JSON.stringify({ dialect, cases }));
    return place.run(['test', 'said.test.json']).code;
  };
  assert.equal(codeOf('invariant', TRACE), 1);
  assert.equal(codeOf('invariant', 'trace.json'), 1);
  assert.equal(codeOf('cordon', 'trace.json'), 0);
});

test('monitor: a message in the other dialect, refused in ours', () => {
  using place = new Workplace({ 'said.gr': POLICY });
  const input = `${JSON.stringify(ANSWER)}\n`;
  const other = place.run(['monitor', 'said.gr', '--dialect', 'invariant'], { input });
  assert.match(other.out, /"deny"/);
  const own = place.run(['monitor', 'said.gr'], { input });
  assert.match(own.out + own.err, /0\.role: the role `function` is a tool output of an older form/);
});
