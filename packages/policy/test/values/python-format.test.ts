import assert from 'node:assert/strict';
import { test } from 'node:test';
import { analyze } from '@cordon/policy-tools';
import { loadPolicy } from '../../src/index.ts';

/** What the expression is as a text, about a message with this content; undecided: the reason. */
function written(expression: string, content = 'a\nb'): string {
  const policy = loadPolicy(`raise Violation("%s" % tuple([${expression}])) if:\n    (m: Message)\n`);
  assert.ok(policy.ok, expression);
  const analysis = analyze(policy.value, [{ role: 'user', content }]);
  assert.ok(analysis.ok);
  return analysis.value.errors[0]?.message ?? `undecided: ${analysis.value.undecided[0]?.reason}`;
}

const NOT_FITTING = 'undecided: the values do not fit the format';

/** As Python 3.11 writes them. */
const WRITTEN: readonly (readonly [string, string])[] = [
  ['"%5.2f|%x|%X|%#x|%o" % tuple([3.14159, 255, 255, 255, 8])', ' 3.14|ff|FF|0xff|10'],
  ['"%03d|%+d|% d|%-4d|%05d" % tuple([7, 5, 5, 5, -42])', '007|+5| 5|5   |-0042'],
  ['"%i|%d|%c|%c" % tuple([3.9, True, "x", 65])', '3|1|x|A'],
  [
    '"%.3d|%05.2d|%.2g|%.0e|%.1e|%.0e" % tuple([7, -4, 125, 2.5, 1.25, 3.5])',
    '007|-0004|1.2e+02|2e+00|1.2e+00|4e+00',
  ],
  ['"%c" % -1', NOT_FITTING],
  ['"%e|%g|%g|%g" % tuple([12345.678, 0.0001, 1234567.5, 0.00001])', '1.234568e+04|0.0001|1.23457e+06|1e-05'],
  ['"%.0f %.0f %.0f %.1f %.2f" % tuple([0.5, 1.5, 2.5, 0.25, 1.005])', '0 2 2 0.2 1.00'],
  ['"%-5s|%5s|%.2s|%r" % tuple(["a", "b", "cde", "it\'s"])', 'a    |    b|cd|"it\'s"'],
  ['"%(a)s and %(b)d%%" % {a: "k", b: 5}', 'k and 5%'],
  ['"%s" % [1, "a"]', "[1, 'a']"],
  ['"%s %s" % tuple([tuple([1]), tuple([1, 2])])', '(1,) (1, 2)'],
  ['["%s=%s" % pair for pair in {x: 1, y: 2}.items()]', "['x=1', 'y=2']"],
  ['"a" % {b: 1}', 'a'],
  ['"%s %s" % ["a", "b"]', NOT_FITTING],
  ['"a" % 5', NOT_FITTING],
  ['"%d" % "a"', NOT_FITTING],
  ['"%x" % 1.5', NOT_FITTING],
  ['"100%" % tuple([])', NOT_FITTING],
  ['"%z" % 5', NOT_FITTING],
  ['"{:>5}|{:<3}|{:^7}|{:*^6}".format("a", 1, "b", "cd")', '    a|1  |   b   |**cd**'],
  [
    '"{:.2f} {:05d} {:,} {:,} {:+}".format(3.14159, 42, 1234567, 1234.5, 5)',
    '3.14 00042 1,234,567 1,234.5 +5',
  ],
  [
    '"{:x} {:#x} {:b} {:o} {:.1%} {:e} {:g}".format(255, 255, 5, 8, 0.256, 0.000123, 1000000.5)',
    'ff 0xff 101 10 25.6% 1.230000e-04 1e+06',
  ],
  ['"{0!r:>5} {k:>3}".format("a", k=1)', "  'a'   1"],
  ['"{:5}|{:5}|{:5}|{:=5}|{:08.3f}".format("a", 7, True, -7, -3.14159)', 'a    |    7|    1|-   7|-003.142'],
  ['"{:.3} {:.3}".format("abcdef", 3.14159)', 'abc 3.14'],
  ['"{:_x} {:_}".format(1000000, 1000000)', 'f_4240 1_000_000'],
  ['"{:,x}".format(255)', NOT_FITTING],
  ['"{:+}".format("a")', NOT_FITTING],
  ['"{:#}".format("a")', NOT_FITTING],
  ['"{1}{0}{k}{0}".format("a", "b", k="c")', 'baca'],
  ['"{:5}".format(None)', NOT_FITTING],
  ['"{:d}".format("a")', NOT_FITTING],
  ['"{:s}".format(5)', NOT_FITTING],
  ['"{} {}".format("a")', NOT_FITTING],
  ['"{".format("a")', NOT_FITTING],
  ['"{} }".format("a")', NOT_FITTING],
  ['"{{{}}}".format("a")', '{a}'],
  ['[m.content, "it\'s", "\\"", 0.00001, 0.00000015, 1.5]', "['a\\nb', \"it's\", '\"', 1e-05, 1.5e-07, 1.5]"],
];

for (const [expression, expected] of WRITTEN)
  test(`${expression} is ${expected}`, () => assert.equal(written(expression), expected));

test('what cannot be seen is escaped where a text is written in quotes, and not where it stands alone', () => {
  assert.equal(written('[m.content]', '\u200b\0é\\'), "['\\u200b\\x00é\\\\']");
  assert.equal(written('m.content', '\u200b\0é\\'), '\u200b\0é\\');
});

/** As Python 3.11 answers. */
const METHODS: readonly (readonly [string, string, string])[] = [
  ['m.content.split(None, 1)', ' a  b  c ', "['a', 'b  c ']"],
  ['m.content.split(maxsplit=0)', ' a  b ', "['a  b ']"],
  ['m.content.split(sep=",")', 'a,b c', "['a', 'b c']"],
  ['m.content.split(",", maxsplit=1)', 'a,b,c', "['a', 'b,c']"],
  ['m.content.split()', 'a\u0085b\ufeff c', "['a', 'b\\ufeff', 'c']"],
  ['[m.content.strip()]', '\u001c a\ufeff \n', "['a\\ufeff']"],
  ['[m.content.strip(), m.content.strip("😀a")]', 'a😀b😀a', "['a😀b😀a', 'b']"],
  ['[m.content.strip("ab"), m.content.strip("")]', 'abab', "['', 'abab']"],
  ['[m.content.strip("😀")]', '😀', "['']"],
  ['m.content.splitlines(True)', 'a\r\n\nb', "['a\\r\\n', '\\n', 'b']"],
  ['m.content.splitlines(keepends=False)', 'a\r\n\nb\n', "['a', '', 'b']"],
  ['m.content.splitlines()', '', '[]'],
  ['"-".join(m.content)', 'abc', 'a-b-c'],
  ['"-".join({x: 1, y: 2})', '', 'x-y'],
  ['{x: 1}.get("y", 5)', '', '5'],
  ['m.content.lower(5)', 'A', 'undecided: `lower` takes other arguments'],
  ['m.content.strip(chars="A")', 'A', 'undecided: `strip` takes other arguments'],
  ['m.content.split(",", sep=",")', 'A', 'undecided: `split` takes other arguments'],
  ['{x: 1}.get("y", default=5)', '', 'undecided: `get` takes other arguments'],
  ['{x: 1}.keys(1)', '', 'undecided: `keys` takes other arguments'],
  ['"a".join()', '', 'undecided: `join` takes other arguments'],
];

for (const [expression, content, expected] of METHODS)
  test(`${expression} of ${JSON.stringify(content)} is ${expected}`, () =>
    assert.equal(written(expression, content), expected));

test('a template that would become gigabytes is undecided at once, however it comes in', () => {
  const hostile = '%(a)99999s'.repeat(20_000);
  assert.equal(written('m.content % {a: "b"}', hostile), 'undecided: the text becomes too long');
  assert.equal(
    written('m.content.format(1)', '{0:99999}'.repeat(20_000)),
    'undecided: the text becomes too long',
  );
  assert.equal(written('"%999999999s" % "a"'), NOT_FITTING);
});

test('a long text of white space is split and stripped in linear time', () => {
  const spaces = ' '.repeat(1_000_000);
  assert.equal(
    written('[len(m.content.split()), len(m.content.strip())]', `${spaces}x${spaces}y`),
    '[2, 1000002]',
  );
});
