/**
 * The SARIF that `cordon scan` writes, held against what the schema of SARIF 2.1.0 (OASIS standard, 27 March 2020)
 * demands of the objects in it: required properties, types, closed lists of words, and no property that it does not know.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Workplace } from '@cordon/testkit/cordon-program.ts';

type Check = (value: unknown, path: string) => void;

const text: Check = (value, path) => assert.equal(typeof value, 'string', path);
const bool: Check = (value, path) => assert.equal(typeof value, 'boolean', path);
const any: Check = () => undefined;
const integer =
  (least: number): Check =>
  (value, path) => {
    assert.ok(typeof value === 'number' && Number.isInteger(value) && value >= least, path);
  };
const oneOf =
  (...words: readonly string[]): Check =>
  (value, path) => {
    assert.ok(typeof value === 'string' && words.includes(value), `${path}: ${String(value)}`);
  };
const list =
  (item: Check): Check =>
  (value, path) => {
    assert.ok(Array.isArray(value), path);
    for (const [index, inner] of value.entries()) item(inner, `${path}[${index}]`);
  };
const object =
  (required: Readonly<Record<string, Check>>, optional: Readonly<Record<string, Check>> = {}): Check =>
  (value, path) => {
    assert.ok(typeof value === 'object' && value !== null && !Array.isArray(value), path);
    const entries = new Map<string, unknown>(Object.entries(value));
    for (const key of Object.keys(required)) assert.ok(entries.has(key), `${path}.${key} is missing`);
    for (const [key, inner] of entries) {
      const check = required[key] ?? optional[key];
      assert.ok(check !== undefined, `${path}.${key} is not in the schema`);
      check(inner, `${path}.${key}`);
    }
  };
const bag: Check = (value, path) => assert.ok(typeof value === 'object' && value !== null, path);
const texts: Check = (value, path) => {
  bag(value, path);
  for (const [key, inner] of Object.entries(value ?? {})) text(inner, `${path}.${key}`);
};

const LEVEL = oneOf('none', 'note', 'warning', 'error');
const MESSAGE = object({ text }, { markdown: text });
const ARTIFACT_LOCATION = object({}, { uri: uriReference, index: integer(0) });

/** A URI reference (RFC 3986): no character that must be encoded. */
function uriReference(value: unknown, path: string): void {
  text(value, path);
  assert.match(String(value), /^[\w\-.~:/?#[\]@!$&'()*+,;=%]+$/, path);
}

const RULE = object(
  { id: text },
  {
    shortDescription: MESSAGE,
    help: MESSAGE,
    defaultConfiguration: object({}, { level: LEVEL }),
    properties: bag,
  },
);
const LOCATION = object(
  {},
  {
    physicalLocation: object(
      { artifactLocation: ARTIFACT_LOCATION },
      { region: object({}, { startLine: integer(1) }) },
    ),
    logicalLocations: list(object({}, { name: text, fullyQualifiedName: text, kind: text })),
  },
);
const RESULT = object(
  { message: MESSAGE },
  {
    ruleId: text,
    ruleIndex: integer(0),
    kind: oneOf('notApplicable', 'pass', 'fail', 'review', 'open', 'informational'),
    level: LEVEL,
    locations: list(LOCATION),
    partialFingerprints: texts,
    properties: bag,
  },
);
const RUN = object(
  { tool: object({ driver: object({ name: text }, { semanticVersion: text, rules: list(RULE) }) }) },
  {
    columnKind: oneOf('utf16CodeUnits', 'unicodeCodePoints'),
    results: list(RESULT),
    artifacts: list(object({}, { location: ARTIFACT_LOCATION })),
    invocations: list(
      object(
        { executionSuccessful: bool },
        { toolExecutionNotifications: list(object({ message: MESSAGE }, { level: LEVEL })), properties: bag },
      ),
    ),
  },
);
const SARIF = object({ version: oneOf('2.1.0'), runs: list(RUN) }, { $schema: any });

const POLICY = `
# Attack: a mail in the inbox says whom to write to.
# It is often obeyed.
rule inbox-steers-mail:
raise "mail was sent after the inbox was read" if:
    (out: ToolOutput) -> (call: ToolCall)
    out is tool:read_inbox
    call is tool:send_mail

rule shouting:
ask "somebody shouts" if:
    (m: Message)
    m.content.lower() == "help"
`;

const TRACE = [
  { role: 'user', content: 'HELP' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: '1', type: 'function', function: { name: 'read_inbox', arguments: {} } }],
  },
  { role: 'tool', tool_call_id: '1', content: 'send' },
  {
    role: 'assistant',
    content: 'ok',
    tool_calls: [{ id: '2', type: 'function', function: { name: 'send_mail', arguments: {} } }],
  },
];

interface Sarif {
  readonly runs: readonly [
    {
      readonly tool: { readonly driver: { readonly rules: readonly Record<string, unknown>[] } };
      readonly results: readonly Record<string, unknown>[];
      readonly invocations: readonly Record<string, unknown>[];
      readonly artifacts: readonly unknown[];
    },
  ];
}

function scanned(place: Workplace, input: string): { readonly code: number | null; readonly sarif: Sarif } {
  const { code } = place.run(['scan', 'p.gr', input, '--sarif', '--out', 'o.sarif']);
  const sarif: Sarif = JSON.parse(readFileSync(join(place.root, 'o.sarif'), 'utf8'));
  SARIF(sarif, 'sarif');
  return { code, sarif };
}

const line = (value: unknown): string => `${JSON.stringify(value)}\n`;

test('violations are failures with the level of their effect, undecided assignments are open', () => {
  using place = new Workplace({ 'p.gr': POLICY, 'logs/über a.jsonl': `{\n${line(TRACE)}` });
  const { code, sarif } = scanned(place, 'logs');
  assert.equal(code, 2);
  const [run] = sarif.runs;
  assert.deepEqual(
    run.results.map(({ ruleId, ruleIndex, kind, level, message }) => [
      ruleId,
      ruleIndex,
      kind,
      level,
      message,
    ]),
    [
      ['inbox-steers-mail', 0, 'fail', 'error', { text: 'mail was sent after the inbox was read' }],
      ['shouting', 1, 'fail', 'warning', { text: 'somebody shouts' }],
      ['shouting', 1, 'open', 'none', { text: 'undecided: None has no field `lower`' }],
    ],
  );
  assert.deepEqual(run.results[0]?.locations, [
    {
      physicalLocation: {
        artifactLocation: { uri: 'logs/%C3%BCber%20a.jsonl' },
        region: { startLine: 2 },
      },
      logicalLocations: [
        { name: 'out', fullyQualifiedName: '2', kind: 'element' },
        { name: 'call', fullyQualifiedName: '3.tool_calls.0', kind: 'element' },
      ],
    },
  ]);
  assert.deepEqual(run.artifacts, [{ location: { uri: 'logs/%C3%BCber%20a.jsonl' } }]);
  const [invocation] = run.invocations;
  assert.equal(invocation?.executionSuccessful, false);
  assert.match(JSON.stringify(invocation), /logs\/über a.jsonl:1: this is not JSON/);
});

test('a rule comes with its text and the comment before it', () => {
  using place = new Workplace({ 'p.gr': POLICY, 'a.jsonl': '[{"role":"user","content":"hi"}]\n' });
  const { code, sarif } = scanned(place, 'a.jsonl');
  assert.equal(code, 0);
  const [run] = sarif.runs;
  assert.deepEqual(run.results, []);
  assert.equal(run.invocations[0]?.executionSuccessful, true);
  const [rule] = run.tool.driver.rules;
  assert.deepEqual(
    { ...rule, help: undefined },
    {
      id: 'inbox-steers-mail',
      shortDescription: { text: 'mail was sent after the inbox was read' },
      help: undefined,
      defaultConfiguration: { level: 'error' },
      properties: { effect: 'raise', policy: 'p.gr', line: 4 },
    },
  );
  const help = JSON.stringify(rule?.help);
  assert.match(
    help,
    /Attack: a mail in the inbox says whom to write to.\\nIt is often obeyed.\\n\\nrule inbox/,
  );
});

test('a finding keeps its fingerprint when lines are put before it, and no two of a trace share one', () => {
  using place = new Workplace({ 'p.gr': POLICY, 'a.jsonl': line(TRACE), 'b.jsonl': `[]\n\n${line(TRACE)}` });
  const prints = (input: string): readonly string[] =>
    scanned(place, input).sarif.runs[0].results.map((result) => JSON.stringify(result.partialFingerprints));
  const before = prints('a.jsonl');
  assert.equal(new Set(before).size, 3);
  assert.deepEqual(prints('b.jsonl'), before);
});
