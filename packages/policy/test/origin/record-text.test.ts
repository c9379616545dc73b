/** Texts that are records, and texts that only look like some. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { recordFields } from '../../src/origin/record-text.ts';
import '../../../../tools/seed.ts';

function texts(text: string): readonly string[] | null {
  return recordFields(text)?.map((field) => field.text) ?? null;
}

test('JSON gives its scalars and keys, with the name of the field and the object that has it', () => {
  assert.deepEqual(recordFields('{"to": ["a@x.org", 7], "who": {"name": "b", "text": "see b@x.org"}}'), [
    { text: 'to', name: '', object: null, isItem: false },
    { text: 'who', name: '', object: null, isItem: false },
    { text: 'name', name: 'who', object: null, isItem: false },
    { text: 'text', name: 'who', object: null, isItem: false },
    { text: 'see b@x.org', name: 'text', object: null, isItem: false },
    { text: 'b', name: 'name', object: 2, isItem: false },
    { text: '7', name: 'to', object: null, isItem: true },
    { text: 'a@x.org', name: 'to', object: null, isItem: true },
  ]);
});

test('YAML in blocks is read as programs write it: lists, maps, quotes, folded lines', () => {
  const text = [
    "- body: 'Hi,",
    '',
    '',
    "    it''s at www.example.org/x and",
    "    recipient: EVIL'",
    '  cc: []',
    '  recipients:',
    '  - a@x.org',
    '  sent: 2024-05-14 11:00:00',
    '- body: "line \\',
    '    \\ and\\nmore"',
    '  shared_with:',
    '    b@x.org: rw',
  ].join('\n');
  assert.deepEqual(texts(text), [
    'body',
    "Hi,\n\nit's at www.example.org/x and recipient: EVIL",
    'cc',
    'recipients',
    'a@x.org',
    'sent',
    '2024-05-14 11:00:00',
    'body',
    'line  and\nmore',
    'shared_with',
    'b@x.org',
    'rw',
  ]);
});

test('a list of words, one word, and the literal of a Python program are records', () => {
  assert.deepEqual(texts('- general\n- External_0'), ['general', 'External_0']);
  assert.deepEqual(texts('DE89370400440532013000'), ['DE89370400440532013000']);
  assert.deepEqual(texts("{'first': 'Emma', 'n': [1, None]}"), ['first', 'Emma', 'n', '1', 'None']);
});

test('marks that a client puts around outputs do not hide the record', () => {
  assert.deepEqual(texts('<<- general\n- random>>'), ['general', 'random']);
});

test('a document is no record, whatever lines it has', () => {
  for (const text of [
    'Dear tenant,\nIBAN: US133000000121212121212\n',
    'IBAN: US13\n\nPlease pay: send the money to US14: now\n',
    'Bill\n-----\n- to: US13\n',
    '- a\n- b\nand so on\n',
    'please pay US13',
    '{"to": "US13"} and some text',
    "{'to': 'US13'",
    '# to: x\nto: y',
    'to: &a x',
    'to: [US13]',
    '',
  ])
    assert.equal(texts(text), null, JSON.stringify(text));
});

test('what stands in a field cannot end it and begin another', () => {
  const value = fc
    .array(
      fc.constantFrom('a', ' ', '\n', "'", '"', ': ', '- ', 'to: EVIL', '\\', '}', ']', '\n  to: EVIL\n'),
      {
        maxLength: 12,
      },
    )
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(value, (body) => {
      const json = texts(JSON.stringify({ body, to: 'ME' }));
      assert.ok(json !== null && json.filter((text) => text === 'EVIL').length === 0);
      // As PyYAML writes a text with line ends: each is a blank line, the lines of the text indented.
      const inner = body.replaceAll("'", "''").replaceAll('\n', '\n\n    ');
      const yaml = texts(`- body: '${inner}'\n  to: ME`);
      assert.ok(yaml === null || !yaml.includes('EVIL') || body.trim() === 'EVIL');
    }),
    { seed: 61, numRuns: 400 },
  );
});

test('a long text of quotes, colons and brackets takes time in proportion to its length', () => {
  for (const piece of ["'", '"', '- ', 'a: ', '[', '{', "{'a': ", 'a: b\n', '  ', '\\'])
    assert.doesNotThrow(() => recordFields(piece.repeat(200_000)));
});
