/** What is true of any text and any trace that commands about traces read, cut up and show. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Screen } from '@cordon/console/text';
import { type Json, textColumns } from '@cordon/core';
import { decodeChat } from '@cordon/policy-tools';
import { Drawing } from '@cordon/print';
import fc from 'fast-check';
import '../../../tools/seed.ts';
import { MessageStream } from '../src/traces/message-stream.ts';
import { streamLines } from '../src/traces/stream-lines.ts';
import { tracesOf } from '../src/traces/trace-input.ts';
import { parseRange, valueAt } from '../src/traces/trace-path.ts';

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const TEXT = fc.string({ unit: fc.constantFrom('a', 'é', '😀', '\n', '\r', '"'), maxLength: 40 });

test('lines are the same however the bytes come, and only what is too long is lost', async () => {
  await fc.assert(
    fc.asyncProperty(TEXT, fc.integer({ min: 1, max: 9 }), async (text, size) => {
      const bytes = new TextEncoder().encode(text);
      const read: (string | null)[] = [];
      for await (const line of streamLines(pieces(bytes, size), 12)) {
        assert.equal(line.number, read.length + 1);
        read.push(line.text.ok ? line.text.value : null);
      }
      const lines = text.split('\n');
      if (lines.at(-1) === '') lines.pop();
      const expected = lines.map((line) =>
        new TextEncoder().encode(line).length > 12 ? null : line.replace(/\r$/, ''),
      );
      assert.deepEqual(read, expected);
    }),
  );
});

const CALL = fc.record({
  id: fc.constantFrom('1', '2', null),
  type: fc.constant('function'),
  function: fc.record({ name: fc.constantFrom('f', 'g'), arguments: fc.constantFrom('{}', '{"a":1}') }),
});

const MESSAGE: fc.Arbitrary<Json> = fc.oneof(
  fc.record({ role: fc.constantFrom('user', 'assistant'), content: fc.constantFrom('x', null) }),
  fc.record({
    role: fc.constant('assistant'),
    content: fc.constant(null),
    tool_calls: fc.array(CALL, { maxLength: 3 }),
  }),
  fc.record({
    role: fc.constant('tool'),
    content: fc.constant('y'),
    tool_call_id: fc.constantFrom('1', '2'),
  }),
  fc.record({ role: fc.constant('tool'), content: fc.constant([{ type: 'text', text: 'y' }]) }),
  CALL,
  fc.constant({ tools: [{ name: 'f' }, { name: 'g' }] }),
);

test('messages that come one by one are the events that they would be in one list', () => {
  fc.assert(
    fc.property(fc.array(MESSAGE, { maxLength: 8 }), (messages) => {
      const stream = new MessageStream('cordon');
      const events = messages.flatMap((message) => {
        const pending = stream.read(JSON.stringify(message));
        assert.ok(pending.ok);
        pending.value.happened();
        return pending.value.events;
      });
      assert.deepEqual({ ok: true, value: events }, decodeChat(messages));
    }),
  );
});

test('messages that come several at once are the events that they would be in one list', () => {
  fc.assert(
    fc.property(fc.array(fc.array(MESSAGE, { minLength: 1, maxLength: 4 }), { maxLength: 4 }), (groups) => {
      const stream = new MessageStream('cordon');
      const events = groups.flatMap((messages) => {
        const next = stream.next(messages);
        assert.ok(next.ok);
        next.value.happened();
        return next.value.events;
      });
      assert.deepEqual({ ok: true, value: events }, decodeChat(groups.flat()));
    }),
  );
});

test('an output without an id answers the call before it in its own line, not the last one that happened', () => {
  const calls = (id: string) => ({
    role: 'assistant',
    content: '',
    tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: {} } }],
  });
  const stream = new MessageStream('cordon');
  const first = stream.next([calls('1')]);
  if (first.ok) first.value.happened();
  const next = stream.next([calls('2'), { role: 'tool', content: 'y' }]);
  const output = next.ok ? next.value.events.at(-1) : undefined;
  assert.equal(output?.type === 'ToolOutput' ? output.callId : output?.type, '2');
});

test('a line that did not happen changes nothing about those behind it', () => {
  fc.assert(
    fc.property(fc.array(MESSAGE, { maxLength: 5 }), MESSAGE, MESSAGE, (before, denied, next) => {
      const streams = [new MessageStream('cordon'), new MessageStream('cordon')].map((stream, index) => {
        for (const message of before) {
          const pending = stream.next([message]);
          if (pending.ok) pending.value.happened();
        }
        if (index === 1) stream.next([denied]);
        return stream.next([next]);
      });
      const [one, other] = streams.map((read) => (read?.ok ? read.value.events : read));
      assert.deepEqual(one, other);
    }),
  );
});

const LINE = fc.oneof(
  fc.json({ maxDepth: 2 }),
  TEXT,
  fc.constant('{"messages":[]}'),
  fc.constant('{"role":"user"}'),
);

test('any text gives traces and diagnostics, and throws nothing', () => {
  fc.assert(
    fc.property(
      fc.array(LINE, { maxLength: 6 }),
      fc.constantFrom('a.json', 'a.jsonl', '-'),
      (lines, file) => {
        for (const trace of tracesOf(file, lines.join('\n'), { dialect: 'cordon' })) {
          if (!trace.ok) assert.match(trace.fault.code, /^TRC00[124]$/);
          else assert.ok(trace.value.name.startsWith(file));
        }
      },
    ),
  );
});

function paths(value: Json, path: readonly string[]): readonly (readonly [string, Json])[] {
  const inner = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return [[path.join('.'), value] as const, ...inner.flatMap(([key, item]) => paths(item, [...path, key]))];
}

const KEY = fc.string({ unit: fc.constantFrom('a', 'b', '_', ' '), minLength: 1, maxLength: 3 });
const TREE = fc.letrec<{ tree: Json }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Json>(null, false, 0, 'text'),
    fc.array(tie('tree'), { maxLength: 3 }),
    fc.dictionary(KEY, tie('tree'), { maxKeys: 3, noNullPrototype: true }),
  ),
})).tree;

test('every value of a trace is found by its path, and nothing by a path that leads nowhere', () => {
  fc.assert(
    fc.property(fc.array(TREE, { maxLength: 3 }), (list) => {
      for (const [path, value] of paths(list, [])) {
        if (path === '') continue;
        assert.deepEqual(valueAt(list, path), value);
        assert.deepEqual(valueAt({ messages: list }, path), value);
      }
      assert.equal(valueAt(list, '7'), undefined);
      assert.equal(valueAt(list, '__proto__.constructor'), undefined);
    }),
  );
});

test('a text on the way is read as JSON, because calls hold their arguments so', () => {
  const call = { function: { name: 'f', arguments: '{"to":["a","b"],"a.b":{"c.d":1}}' } };
  const trace = [{ role: 'assistant', tool_calls: [call] }];
  const at = (path: string) => valueAt(trace, `0.tool_calls.0.function.arguments.${path}`);
  assert.equal(at('to.1'), 'b');
  assert.equal(at('a.b.c.d'), 1);
  assert.equal(at('to.2'), undefined);
  assert.equal(at('constructor'), undefined);
});

test('a range is its path and its characters', () => {
  assert.deepEqual(parseRange('2.tool_calls.0'), { path: '2.tool_calls.0', characters: null });
  assert.deepEqual(parseRange('0.content:7-8'), { path: '0.content', characters: { start: 7, end: 8 } });
  assert.deepEqual(parseRange('0.a:b:7-8'), { path: '0.a:b', characters: { start: 7, end: 8 } });
});

const HOSTILE = fc.string({
  unit: fc.constantFrom('a', ' ', '\n', '\r', '\t', '\u001b', '\u202e', '\ud800', '😀', '語', '\u0301', 'é'),
  maxLength: 60,
});

test('whatever a text holds, its excerpt obeys the width and shows no character that a terminal obeys', () => {
  fc.assert(
    fc.property(
      HOSTILE,
      fc.nat(70),
      fc.nat(70),
      fc.integer({ min: 20, max: 90 }),
      fc.boolean(),
      (text, start, length, columns, isUnicode) => {
        let out = '';
        const output = { write: (piece: string) => (out += piece) };
        const screen = new Screen({ output, columns: () => columns, hasColor: false });
        new Drawing(screen, isUnicode).excerpt(6, text, start, start + length);
        const lines = out.split('\n').slice(0, -1);
        assert.equal(lines.length, 2);
        for (const line of lines) {
          assert.ok(
            textColumns(line) <= screen.width,
            `${textColumns(line)} columns: ${JSON.stringify(line)}`,
          );
          assert.match(line, isUnicode ? /^ {6}│[^\p{C}]*$/u : /^ {6}\|[ -~]*$/);
        }
      },
    ),
  );
});
