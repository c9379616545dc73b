/** Tools and arguments that rules name, held against the tools that there are. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadPolicy } from '@cordon/policy';
import { lint, parseTools, type ToolSchema } from '../../src/index.ts';
import { aboutCall, reports, rule, testPairs } from './reports.ts';

const TOOLS: readonly ToolSchema[] = [
  {
    name: 'send_mail',
    parameters: {
      type: 'object',
      properties: {
        to: { type: 'string' },
        copies: { type: 'integer' },
        urgent: { type: 'boolean' },
        format: { enum: ['plain', 'html'] },
        answer: { anyOf: [{ type: 'string' }, { type: 'null' }] },
        attachments: { type: 'array', items: { $ref: '#/$defs/file' } },
        options: { type: 'object', properties: { delay: { type: 'number' } } },
        headers: { type: 'object', additionalProperties: { type: 'string' } },
        cover: { $ref: '#/$defs/file' },
      },
      required: ['to'],
      $defs: { file: { type: 'object', properties: { path: { type: 'string' } } } },
    },
  },
  { name: 'mail.read', parameters: { type: 'object', properties: { id: { type: 'string' } } } },
  { name: 'mail.list', parameters: { type: 'object', properties: { limit: { type: 'integer' } } } },
  { name: 'anything', parameters: null },
];

testPairs(
  [
    {
      name: 'POL066: a tool that nobody has',
      policy: aboutCall('c is tool:send_mial'),
      expected: ['POL066 3: send_mial'],
      innocent: aboutCall('c is tool:send_mail'),
    },
    {
      name: 'POL066: a wildcard that stands for nothing',
      policy: aboutCall('c is tool:disk.*'),
      expected: ['POL066 3: disk.*'],
      innocent: aboutCall('c is tool:mail.*'),
    },
    {
      name: 'POL066: a name in a comparison, and in a list',
      policy: aboutCall('c.function.name == "sendmail" or c.name in ["mail.read", "mail.lst"]'),
      expected: ['POL066 3: "sendmail"', 'POL066 3: "mail.lst"'],
      innocent: aboutCall('c.function.name == "send_mail" or c.name in ["mail.read", "mail.list"]'),
    },
    {
      name: 'POL067: a key of a pattern',
      policy: aboutCall('c is tool:send_mail({recipient: "a"})'),
      expected: ['POL067 3: recipient'],
      innocent: aboutCall('c is tool:send_mail({to: "a"})'),
    },
    {
      name: 'POL067: a key inside of an argument',
      policy: aboutCall('c is tool:send_mail({cover: {"pth": "a"}, headers: {any_key: "a"}})'),
      expected: ['POL067 3: "pth"'],
      innocent: aboutCall('c is tool:send_mail({cover: {"path": "a"}, headers: {any_key: "a"}})'),
    },
    {
      name: 'POL067: a member of the arguments, where a line says which tool it is',
      policy: aboutCall(
        'c is tool:send_mail',
        'c.function.arguments.too == "a"',
        'c.arguments.options.delai > 1',
      ),
      expected: ['POL067 4: too', 'POL067 5: delai'],
      innocent: aboutCall('c.function.arguments.too == "a"', 'c.arguments.options.delai > 1'),
    },
    {
      name: 'POL067: an index, a key that is looked for, and one that is got',
      policy: aboutCall(
        'c is tool:send_mail',
        'c.arguments["toe"] == "a"',
        '"cc" in c.arguments',
        'c.arguments.get("bcc") == "a"',
      ),
      expected: ['POL067 4: "toe"', 'POL067 5: "cc"', 'POL067 6: "bcc"'],
      innocent: aboutCall(
        'c is tool:send_mail',
        'c.arguments["to"] == "a"',
        '"urgent" in c.arguments',
        'c.arguments.get("answer") == "a"',
      ),
    },
    {
      name: 'POL067: with a wildcard only what no tool has',
      policy: aboutCall('c is tool:mail.*({subject: "a"})'),
      expected: ['POL067 3: subject'],
      innocent: aboutCall('c is tool:mail.*({limit: 3})'),
    },
    {
      name: 'POL068: a literal of the wrong type',
      policy: aboutCall('c is tool:send_mail({to: 5, copies: "two", attachments: "a"})'),
      expected: ['POL068 3: 5', 'POL068 3: "two"', 'POL068 3: "a"'],
      innocent: aboutCall('c is tool:send_mail({to: "5", copies: 2, attachments: ["a"], answer: None})'),
    },
    {
      name: 'POL068: a value that is none of those that are possible',
      policy: aboutCall('c is tool:send_mail({format: "htm"})', 'c.arguments.format == "ht.*"'),
      expected: ['POL068 3: "htm"', 'POL068 4: "ht.*"'],
      innocent: aboutCall('c is tool:send_mail({format: "ht.*"})', 'c.arguments.format == "html"'),
    },
    {
      name: 'POL068: a comparison with another type, but not with None',
      policy: aboutCall('c is tool:send_mail', 'c.arguments.copies == "2"'),
      expected: ['POL068 4: "2"'],
      innocent: aboutCall('c is tool:send_mail', 'c.arguments.copies == None', 'c.arguments.urgent == True'),
    },
  ],
  { tools: TOOLS },
);

test('without tools nothing is said about them', () => {
  assert.deepEqual(reports(aboutCall('c is tool:send_mial({a: 1})')), []);
});

test('where there may be more tools, only what looks misspelt is reported', () => {
  const options = { tools: TOOLS, isComplete: false };
  assert.deepEqual(reports(aboutCall('c is tool:send_mial'), options), ['POL066 3: send_mial']);
  assert.deepEqual(reports(aboutCall('c is tool:format_disk'), options), []);
  assert.deepEqual(reports(aboutCall('c is tool:disk.*'), options), []);
});

test('the right name is suggested, also where it is only spelt in another way', () => {
  const helps = ['send_mial', 'SendMail', 'read', 'nonsense'].map((name) => {
    const loaded = loadPolicy(aboutCall(`c is tool:${name}`));
    assert.ok(loaded.ok);
    return lint(loaded.value, { tools: TOOLS })[0]?.help;
  });
  assert.deepEqual(helps, [
    'did you mean `send_mail`?',
    'did you mean `send_mail`?',
    'did you mean `mail.read`?',
    'there are `send_mail`, `mail.read`, `mail.list`, `anything`',
  ]);
});

const OF_TWO_APPS: readonly ToolSchema[] = [
  { name: 'search_mail', parameters: null, apps: ['mail'] },
  { name: 'send_mail', parameters: null, apps: ['mail'] },
  { name: 'book_flight', parameters: null, apps: ['travel'] },
  { name: 'pay', parameters: null, apps: ['mail', 'travel'] },
  { name: 'anything', parameters: null },
];

function inOrder(operator: string, to: string, from = 'ToolCall'): string {
  return rule(`(a: ${from}) ${operator} (b: ToolCall)`, 'a is tool:search_mail', `b is tool:${to}`);
}

testPairs(
  [
    {
      name: 'POL072: a flow between calls of two apps, and the order of the session',
      policy: inOrder('->', 'book_flight'),
      expected: ['POL072 2: (a: ToolCall) -> (b: ToolCall)'],
      innocent: inOrder('before', 'book_flight'),
    },
    {
      name: 'POL072: a call directly before one of another app, and of the same',
      policy: inOrder('~>', 'book_flight'),
      expected: ['POL072 2: (a: ToolCall) ~> (b: ToolCall)'],
      innocent: inOrder('~>', 'send_mail'),
    },
    {
      name: 'POL072: a flow from a call, and from the output that it gave, which a message carries on',
      policy: inOrder('->', 'book_*'),
      expected: ['POL072 2: (a: ToolCall) -> (b: ToolCall)'],
      innocent: inOrder('->', 'book_flight', 'ToolOutput'),
    },
    {
      name: 'POL072: nothing is said of a tool that both apps have',
      policy: inOrder('->', 'book_flight'),
      expected: ['POL072 2: (a: ToolCall) -> (b: ToolCall)'],
      innocent: inOrder('->', 'pay'),
    },
    {
      name: 'POL072: nothing is said of a tool of which it is not known whose it is',
      policy: inOrder('->', 'book_flight'),
      expected: ['POL072 2: (a: ToolCall) -> (b: ToolCall)'],
      innocent: inOrder('->', 'anything'),
    },
  ],
  { tools: OF_TWO_APPS },
);

test('POL072 says whose the tools are, and what to write', () => {
  const policy = loadPolicy(inOrder('->', 'book_flight'));
  assert.ok(policy.ok);
  const [found] = lint(policy.value, { tools: OF_TWO_APPS });
  assert.equal(
    found?.message,
    '`a` is a call of `mail` and `b` belongs to `travel`, so this holds only where a message told the one context of the other',
  );
  assert.equal(found?.help, 'write `a before b` where the order in the whole session is meant');
});

test('tools are read as OpenAI, Anthropic, Gemini and MCP describe them', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } };
  const expected = { ok: true, value: [{ name: 't', parameters: schema }] };
  for (const described of [
    [{ type: 'function', function: { name: 't', parameters: schema } }],
    [{ type: 'function', name: 't', parameters: schema }],
    [{ name: 't', input_schema: schema }],
    { tools: [{ name: 't', inputSchema: schema }] },
    { jsonrpc: '2.0', id: 1, result: { tools: [{ name: 't', inputSchema: schema }] } },
    [{ functionDeclarations: [{ name: 't', parameters: schema }] }],
  ]) {
    assert.deepEqual(parseTools(described), expected);
  }
});

test('what describes no tools is refused with the entry', () => {
  assert.deepEqual(parseTools('tools'), {
    ok: false,
    fault: 'this is no list of tools, and no object with one under `tools`',
  });
  assert.deepEqual(parseTools([{ name: 'a' }, { parameters: {} }]), {
    ok: false,
    fault: 'entry 1 of the list is no tool: it has no `name`',
  });
});

test('hostile schemas are looked at to a bounded depth', () => {
  const circular = { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } };
  const wide = { anyOf: Array.from({ length: 100_000 }, () => ({ type: 'object', properties: {} })) };
  for (const parameters of [circular, wide, { properties: [] }, { type: 5, properties: { to: 'x' } }]) {
    const tools = [{ name: 'send_mail', parameters }];
    assert.deepEqual(
      reports(aboutCall('c is tool:send_mail({to: "a", cc: {b: 1}})'), { tools }).length < 3,
      true,
    );
  }
});
