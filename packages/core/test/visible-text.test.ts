import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  firstLines,
  harmlessText,
  textColumns,
  VisibleCharacters,
  visibleLine,
  visibleLines,
} from '../src/values/visible-text.ts';
import '../../../tools/seed.ts';

test('ordinary text of any language stays as it is', () => {
  const text = 'Grüße, 東京 → שלום नमस्ते 👍🏽 ❤️ {"a": 1}';
  assert.equal(visibleLine(text), text);
});

test('what a terminal obeys, reorders or hides is written out', () => {
  assert.equal(visibleLine('\u001b[2J'), '<U+001B>[2J');
  assert.equal(visibleLine('a\r\n\tb\u0008\u007f'), 'a<U+000D><U+000A><tab>b<U+0008><U+007F>');
  assert.equal(visibleLine('\u009b31m'), '<U+009B>31m');
  assert.equal(visibleLine('pay\u202eevil\u2066\u200f'), 'pay<U+202E>evil<U+2066><U+200F>');
  assert.equal(visibleLine('a\u200b\u200d\u2060\ufeff\u00adb'), 'a<U+200B><U+200D><U+2060><U+FEFF><U+00AD>b');
  assert.equal(visibleLine('a\u2028b\u2029\u0085'), 'a<U+2028>b<U+2029><U+0085>');
  assert.equal(visibleLine('\u{e0041}\u{e0042}'), '<U+E0041><U+E0042>');
  assert.equal(visibleLine('\u3164\uffa0\u2800\u00a0\u3000'), '<U+3164><U+FFA0><U+2800><U+00A0><U+3000>');
  assert.equal(visibleLine('\ud800'), '<U+D800>');
  assert.equal(visibleLine('x\ufe0f\u{e0101}'), 'x<U+FE0F><U+E0101>');
});

test('marks that would paint over other lines are written out after the fourth', () => {
  assert.equal(visibleLine(`a${'\u0301'.repeat(6)}`), `a${'\u0301'.repeat(4)}<U+0301><U+0301>`);
});

test('a line is cut at its limit and says so', () => {
  assert.equal(visibleLine('abcdef', 4), 'abcd…');
  assert.equal(visibleLine('abcd', 4), 'abcd');
});

test('lines are wrapped at a space where one is near, else anywhere', () => {
  assert.deepEqual([...visibleLines('the quick brown fox', 12)], ['the quick ', 'brown fox']);
  assert.deepEqual([...visibleLines('abcdefghijklmnop', 12)], ['abcdefghijkl', 'mnop']);
  assert.deepEqual([...visibleLines('a\n\nb\r\nc', 12)], ['a', '', 'b', 'c']);
  assert.deepEqual([...visibleLines('', 12)], ['']);
});

test('no line is wider than asked, and nothing is lost, whatever the text', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.integer({ min: 12, max: 100 }),
      (text, width) => {
        const lines = [...visibleLines(text, width)];
        const characters = new VisibleCharacters();
        const all = [...text.replaceAll('\r\n', '\n').replaceAll('\n', '')].map((one) =>
          characters.next(one),
        );
        for (const line of lines) {
          assert.ok(textColumns(line) <= width, line);
          assert.doesNotMatch(line, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
        }
        assert.equal(lines.join('').length, all.join('').length);
      },
    ),
    { numRuns: 500 },
  );
});

test('a megabyte costs only the lines that are looked at', () => {
  const lines = visibleLines('x'.repeat(1024 * 1024), 70);
  assert.equal(lines.next().value, 'x'.repeat(70));
});

test('for a pipe only what a terminal obeys or reorders by is written out', () => {
  assert.equal(
    harmlessText('a\u001b[2J\u009b31m\u0007\rb\u202ec\u2066d\u2028e'),
    'a<U+001B>[2J<U+009B>31m<U+0007><U+000D>b<U+202E>c<U+2066>d<U+2028>e',
  );
  const plain = 'one\r\ntwo\n\tthree\u00a0four é 日本 👨\u200d👩 ``` <b>';
  assert.equal(harmlessText(plain), plain);
});

test('of a text the first lines are shown, and lines behind them are counted up to a limit', () => {
  const shown = (text: string) => {
    const lines: string[] = [];
    const left = firstLines(text, 20, 2, (line) => lines.push(line));
    return [lines, left];
  };
  assert.deepEqual(shown('a\nb'), [['a', 'b'], null]);
  assert.deepEqual(shown('a\nb\nc\nd'), [['a', 'b'], '2']);
  assert.deepEqual(shown('a\n'.repeat(100_000)), [['a', 'a'], 'more than 2000']);
});
