import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readQueryLine } from '../../src/questions/query-line.ts';

test('a query is a text, of several lines too, and may be private', () => {
  assert.deepEqual(readQueryLine('{"query":"one\\n{\\"prompt\\":\\"all\\",\\"decision\\":\\"once\\"}"}'), {
    ok: true,
    value: { text: 'one\n{"prompt":"all","decision":"once"}', isPrivate: false },
  });
  assert.deepEqual(readQueryLine('{"query":"two","private":true}'), {
    ok: true,
    value: { text: 'two', isPrivate: true },
  });
});

for (const [line, reason] of [
  ['read my mail', 'a line is an object: {"query": TEXT}'],
  ['"read my mail"', 'a line is an object: {"query": TEXT}'],
  ['{"prompt":"e1","decision":"once"}', 'no question of that id is open'],
  ['{"query":"one","prompt":"e1"}', 'no question of that id is open'],
  ['{"query":"one","private":"yes"}', '`private` is true or false'],
  ['{"query":" "}', '`query` is a text that is not empty'],
  ['{"query":["one"]}', '`query` is a text that is not empty'],
  ['{"query":"one","model":"x"}', 'a query has `query` and `private`, and no other key'],
] as const) {
  test(`no query: ${line}`, () => {
    assert.deepEqual(readQueryLine(line), { ok: false, fault: reason });
  });
}
