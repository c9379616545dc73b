/** Reading and formatting take time in proportion to the text, however hostile it is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { format, print } from '@cordon/policy-tools';
import { isLeftOut } from '../../../../tools/cases.ts';
import { growsTooFast } from '../../../../tools/growth/growth.ts';
import { parseText } from '../../src/syntax/parser.ts';

/** Characters. */
const SIZE = 24_000;

const HOSTILE: Readonly<Record<string, (size: number) => string>> = {
  'opening parentheses': (size) => '('.repeat(size),
  'opening parentheses, one a line': (size) => `x := f(\n${'  (\n'.repeat(size)}`,
  'closing brackets': (size) => `x := ${'])}'.repeat(size / 3)}`,
  quotes: (size) => '"'.repeat(size),
  'quotes, one a line': (size) => '"\n'.repeat(size),
  'triple quotes of both kinds': (size) => `'''"""`.repeat(size / 6),
  backslashes: (size) => `x := "${'\\'.repeat(size)}`,
  'holes that never end, one a line': (size) => 'f"{\n'.repeat(size),
  'statements with holes that never end': (size) => 'x := f"{a"\n'.repeat(size / 5),
  'holes that end in comments': (size) => `x := [${'f"{a#}", '.repeat(size / 5)}1]\n`,
  'holes with strings that never end': (size) => `x := [${`f"{'}", `.repeat(size / 5)}1]\n`,
  'one string of holes that end in comments': (size) => `x := f"${'{a#}'.repeat(size / 2)}"\n`,
  'number signs': (size) => '#'.repeat(size),
  'number signs, one a line': (size) => '#\n'.repeat(size),
  'not not not': (size) => `x := ${'not '.repeat(size)}1`,
  'minus signs': (size) => `x := ${'-'.repeat(size)}1`,
  members: (size) => `x := a${'.a'.repeat(size)}`,
  'words on one line': (size) => 'a b '.repeat(size),
  'opening objects in a pattern': (size) => `x := tool:f(${'{a: '.repeat(size)}`,
  'a pattern of many items': (size) => `x := tool:f([${'*, '.repeat(size)}*])\n`,
  'blocks in blocks': (size) => `raise "x" if:\n${blocks(size)}`,
  'blocks that go in and out': (size) => `raise "x" if:\n${'  forall:\n      a\n  b\n'.repeat(size / 6)}`,
  'rules without a colon': (size) => 'raise "x" if\n    a\n'.repeat(size / 6),
  'rules whose message never ends': (size) => 'raise "x if:\n    a\n'.repeat(size / 6),
  'names of rules without rules': (size) => 'rule a:\n'.repeat(size / 2),
  'blank lines': (size) => '\n'.repeat(size),
  'carriage returns': (size) => '\r'.repeat(size),
  'byte-order marks': (size) => '\ufeff'.repeat(size),
  'characters of no token': (size) => '\u0001\u0002'.repeat(size / 2),
  'a long list': (size) => `x := [${'1,'.repeat(size)}1]\n`,
  'a long list of calls': (size) => `x := [${'f(a),'.repeat(size / 3)}1]\n`,
  'a long list inside of an index': (size) => `x := a[[${'f(a),'.repeat(size / 3)}1]]\n`,
  'a long list with comments': (size) => `x := [\n${'  1  # one\n  ,\n'.repeat(size / 6)}1]\n`,
  'many definitions': (size) => 'x := "a"\n'.repeat(size / 5),
  'many rules with comments': (size) => '# why\nraise "x" if:\n    a\n   # behind\n'.repeat(size / 10),
  'a string of many lines': (size) => `x := """${'  a\n'.repeat(size)}"""\n`,
  'an f-string of many lines': (size) => `x := f"""${'  a {b}\n'.repeat(size / 4)}"""\n`,
  'mixed words, as many as a line may have': (size) => {
    return `x := a${' and b or c'.repeat(200)}\n`.repeat(Math.ceil(size / 2_000));
  },
  'many f-strings with quotes': (size) => `x := f"{a['b']} \\"c'"\n`.repeat(size / 20),
  'a comment of one line': (size) => `# ${'a'.repeat(size * 4)}\nx := 1\n`,
};

/** Each line one column deeper than the one before, as often as fits into a text of that size. */
function blocks(size: number): string {
  const depth = Math.floor(Math.sqrt(size * 2));
  return Array.from({ length: depth }, (_, index) => `${' '.repeat(index + 1)}forall:\n`).join('');
}

for (const [index, [name, make]] of Object.entries(HOSTILE).entries()) {
  test(`time grows with the text: ${name}`, (t) => {
    if (isLeftOut(t, index % 4 === 0)) return;
    assert.equal(
      growsTooFast((text) => parseText(text).diagnostics.all(), make, SIZE, 10),
      null,
      'reading',
    );
    assert.equal(
      growsTooFast((text) => print(parseText(text).tree), make, SIZE, 10),
      null,
      'printing',
    );
    assert.equal(growsTooFast(format, make, SIZE, 10), null, 'formatting');
  });
}
