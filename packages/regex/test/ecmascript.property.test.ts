/** Patterns of JSON Schemas mean what V8 says of them; what is not supported is refused, and matches nothing. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../tools/cases.ts';
import '../../../tools/seed.ts';
import { compileSchemaPattern } from '../src/index.ts';

function matches(pattern: string, text: string): boolean {
  const compiled = compileSchemaPattern(pattern);
  assert.ok(compiled.ok, compiled.ok ? '' : `${pattern}: ${compiled.fault}`);
  assert.equal(compiled.value.engine, 'linear');
  return compiled.value.findAll(text).length > 0;
}

/** Null: V8 refuses the pattern, such as a `0` that follows `\0`. */
function theirsOf(source: string): RegExp | null {
  try {
    return new RegExp(source, 'u');
  } catch {
    return null;
  }
}

/** Characters on which dialects differ. */
const TRICKY = [
  ...'abAB019_- .^$]}\\/',
  ...['\n', '\r', '\t', '\v', '\u00a0', '\u0085', '\u2028', '\ufeff', '\u180e', '\b', '\0'],
  ...['é', 'ß', 'İ', 'ſ', 'K', '٣', 'Ω', '漢', '😀', '𝒜', '\ud83d', '\ude00', '\u0301'],
];
const text = fc.array(fc.constantFrom(...TRICKY), { maxLength: 8 }).map((parts) => parts.join(''));

const ESCAPES = [
  ...['\\d', '\\D', '\\w', '\\W', '\\s', '\\S', '\\t', '\\n', '\\v', '\\f', '\\r', '\\0', '\\cA', '\\x41'],
  ...['\\u0041', '\\u{1F600}', '\\ud83d\\ude00', '\\ud83d', '\\.', '\\^', '\\$', '\\]', '\\/', '\\\\'],
  ...['\\p{L}', '\\P{Lu}', '\\p{Script=Greek}', '\\p{Cs}', '\\p{Nd}', '\\p{ASCII}', '\\P{C}', '\\p{Any}'],
];
const LITERALS = [...'abAB019_ -', 'é', '漢', '😀', '\n', '\u2028'];
const member = fc.oneof(
  fc.constantFrom(...LITERALS.filter((one) => one !== '-'), ...ESCAPES, '\\b', '\\-', '.', '$', '(', '*'),
  fc.constantFrom('a-z', '0-9', '\\u0041-\\u005a', 'é-漢', '\\x00-\\x1f', '😀-😎'),
);
const characterClass = fc
  .tuple(fc.boolean(), fc.array(member, { minLength: 1, maxLength: 4 }), fc.boolean())
  // A hyphen at the end is one.
  .map(
    ([isNegated, members, hasHyphen]) =>
      `[${isNegated ? '^' : ''}${members.join('')}${hasHyphen ? '-' : ''}]`,
  );
const { pattern } = fc.letrec<{ pattern: string; term: string }>((tie) => ({
  pattern: fc
    .array(fc.array(tie('term'), { maxLength: 4 }), { minLength: 1, maxLength: 3 })
    .map((branches) => branches.map((terms) => terms.join('')).join('|')),
  term: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('^', '$', '\\b', '\\B'),
    fc
      .tuple(
        fc.oneof(
          { depthSize: 'small' },
          fc.constantFrom(...LITERALS, ...ESCAPES, '.', '-'),
          characterClass,
          tie('pattern').map((inner) => `(?:${inner})`),
          tie('pattern').map((inner) => `(${inner})`),
        ),
        fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{1,}', '{0,3}', '*?', '+?', '??', '{1,2}?'),
      )
      .map(([atom, count]) => atom + count),
  ),
}));

test('a supported pattern means what V8 says of it', () => {
  fc.assert(
    fc.property(pattern, fc.array(text, { minLength: 1, maxLength: 8 }), (source, texts) => {
      const theirs = theirsOf(source);
      if (theirs === null)
        return assert.equal(compileSchemaPattern(source).ok, false, JSON.stringify(source));
      // V8 looks for `\B` between the two halves of a character too; ECMA-262 does not.
      const hasInside = /(?<!\\)(?:\\\\)*\\B/.test(source);
      for (const one of texts.filter(
        (text) => !hasInside || !/\p{Surrogate}|[\u{10000}-\u{10ffff}]/u.test(text),
      ))
        assert.equal(matches(source, one), theirs.test(one), JSON.stringify([source, one]));
    }),
    { numRuns: runs(400, 1500, 3000) },
  );
});

test('each category and property has the characters that V8 says', () => {
  const points = Array.from({ length: 0x3100 }, (_, point) => point);
  const far = [0xd7ff, 0xd800, 0xdbff, 0xdc00, 0xdfff, 0xe000, 0xfeff, 0xffff, 0x10000, 0x1d49c, 0x10ffff];
  for (const written of [
    '\\d',
    '\\w',
    '\\s',
    '\\p{L}',
    '\\p{Lowercase_Letter}',
    '\\p{Script=Latin}',
    '\\p{Cs}',
    '.',
  ]) {
    const theirs = new RegExp(`^${written}$`, 'u');
    const compiled = compileSchemaPattern(`^${written}$`);
    assert.ok(compiled.ok);
    for (const point of [...points, ...far]) {
      const character = String.fromCodePoint(point);
      assert.equal(
        compiled.value.findAll(character).length > 0,
        theirs.test(character),
        `${written} ${point}`,
      );
    }
  }
});

for (const [what, source, fits, misfits] of [
  ['letters of any script', "^[\\p{L}\\p{M}' -]{1,80}$", 'Zoé d’Arc'.replace('’', "'"), 'Zoé1'],
  ['an escaped hyphen and dot', '^[\\w\\-\\.]+@[\\w\\-]+\\.[a-z]{2,}$', 'a-b.c@d-e.org', 'a b@d.org'],
  ['a needless written', '^\\@\\-\\_\\#$', '@-_#', '@-_'],
  ['a brace that begins no repetition', '^{a}$', '{a}', 'a'],
  ['a named group', '^(?<year>\\d{4})-(?<month>\\d{2})$', '2026-11', '2026-1'],
  ['the end, and not a newline before it', '^a$', 'a', 'a\n'],
] as const) {
  test(`${what} is understood`, () => {
    assert.deepEqual([matches(source, fits), matches(source, misfits)], [true, false]);
  });
}

for (const source of [
  ...[
    '(?=a)',
    '(?!a)',
    '(?<=a)b',
    '(?<!a)b',
    '(a)\\1',
    '(?<x>a)\\k<x>',
    '(?i)a',
    '(?i:a)',
    '(?P<x>a)',
    '(?>a)',
  ],
  ...['a**', 'a++', 'a{2}{3}', '*a', '+', '?', '^*', '\\b+', 'a{3,2}', 'a{,3}', '{2}', 'a{1,2'],
  ...[
    '(',
    ')',
    '(a',
    'a)',
    '[',
    '[a',
    '[]',
    '[^]',
    '[]a]',
    '[b-a]',
    '[\\d-z]',
    '[a-\\w]',
    '[[:alpha:]]',
    '\\',
  ],
  ...['\\A', '\\Z', '\\z', '\\Qa\\E', '\\e', '\\8', '\\01', '\\x4', '\\u12', '\\u{110000}', '\\u{}', '\\c1'],
  ...['\\p', '\\p{', '\\p{}', '\\p{Nonsense}', '\\p{L', '\\p{L}|(?=a)', '\\pL'],
]) {
  test(`${JSON.stringify(source)} is refused, with a sentence that does not repeat it`, () => {
    const compiled = compileSchemaPattern(source);
    assert.equal(compiled.ok, false);
    assert.match(compiled.ok ? '' : compiled.fault, /pattern|supported/);
  });
}

test('a pattern that would keep a backtracking engine busy takes no time', () => {
  assert.equal(matches('^(a+)+$', `${'a'.repeat(100_000)}!`), false);
  assert.equal(matches('^(a|aa)+$', 'a'.repeat(100_000)), true);
});
