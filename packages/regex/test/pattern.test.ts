import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compilePattern } from '../src/index.ts';

function found(pattern: string, text: string): readonly string[] | string {
  const compiled = compilePattern(pattern);
  if (!compiled.ok) return compiled.fault;
  const matches = compiled.value.findAll(text);
  return matches === 'exhausted' ? matches : matches.map((match) => text.slice(match.start, match.end));
}

test('Python forms mean here what they mean in Python', () => {
  assert.deepEqual(found('(?P<year>\\d{4})', 'in 1999 and 2024'), ['1999', '2024']);
  assert.deepEqual(found('\\w+', 'naïve Größe_1'), ['naïve', 'Größe_1']);
  assert.deepEqual(found('\\d+', '١٢ 34'), ['١٢', '34']);
  assert.deepEqual(found('[\\w.]+@', 'a.ü@b'), ['a.ü@']);
  assert.deepEqual(found('a{,2}b', 'aab ab b'), ['aab', 'ab', 'b']);
  assert.deepEqual(found('[]a]+', 'a]b'), ['a]']);
  assert.deepEqual(found('[[:a]+', '[:a'), ['[:a']);
  assert.deepEqual(found('(?i)ABC(?#comment)', 'xabc'), ['abc']);
  assert.deepEqual(found('\\u0041\\x42', 'AB'), ['AB']);
  assert.deepEqual(found('b\\Z', 'ab'), ['b']);
  assert.deepEqual(found('[\\U0001F600]', 'x😀'), ['😀']);
  assert.deepEqual(found('a$', 'a\n'), ['a']);
  assert.deepEqual(found('\\bé\\w+', 'né été'), ['été']);
});

test('look-around and references run, on the engine that counts its steps', () => {
  assert.deepEqual(found('(?<!un)safe(?= mode)', 'unsafe mode, safe mode'), ['safe']);
  assert.deepEqual(found('(?P<q>[\'"]).*?(?P=q)', `say "it's" now`), ['"it\'s"']);
  assert.deepEqual(found('(?>a+)ab', 'aaab'), []);
  assert.deepEqual(found('a++b', 'aaab'), ['aaab']);
  const engine = (pattern: string) => {
    const compiled = compilePattern(pattern);
    return compiled.ok ? compiled.value.engine : compiled.fault;
  };
  assert.equal(engine('(a)\\1'), 'budgeted');
  assert.equal(engine('(?=a)'), 'budgeted');
  assert.equal(engine('(a)+'), 'linear');
});

test('what Python refuses is refused with a reason that does not repeat the pattern', () => {
  assert.equal(found('(', ''), 'a group of the pattern has no `)`');
  assert.equal(found('secret)', ''), 'a `)` of the pattern closes nothing');
  assert.equal(found('*a', ''), 'a repetition in the pattern repeats nothing');
  assert.equal(found('a**', ''), 'a repetition in the pattern is repeated');
  assert.equal(found('a(?i)b', ''), 'flags for the whole pattern are not at its start');
  assert.equal(found('(?<=a+)b', ''), 'a look-behind needs a fixed width');
  assert.equal(found('[z-a]', ''), 'a range of characters in the pattern is reversed or has no ends');
  assert.equal(found('(a\\1)', ''), 'the pattern refers to a group that is still open');
  assert.equal(found('\\Qa.b\\E', ''), 'the pattern has an unknown escape');
  assert.equal(found('\\pL', ''), 'the pattern has an unknown escape');
});

test('names of characters are the only thing of Python that is refused for what it is', () => {
  assert.equal(found('\\N{EM DASH}', '—'), 'names of characters (`\\N{…}`) are not supported');
  assert.deepEqual(found('\\u2014', '—'), ['—']);
});

test('patterns beyond a size are refused', () => {
  assert.equal(found('a'.repeat(10_001), ''), 'the pattern is longer than 10000 characters');
  assert.deepEqual(found('a'.repeat(10_000), 'aaa'), []);
  const tooLarge = 'the pattern stands for more than 20000 steps when its repetitions are written out';
  assert.equal(found('((a{100}){100}){100}', ''), tooLarge);
  assert.equal(found(`${'('.repeat(60)}a${'){2}'.repeat(60)}`, ''), tooLarge);
  assert.equal(found('a{1000}'.repeat(1_000), ''), tooLarge);
  assert.deepEqual(found('a{3000}', 'a'.repeat(3_000)), ['a'.repeat(3_000)]);
  assert.equal(
    found(`${'('.repeat(5_000)}${')'.repeat(5_000)}`, ''),
    'the pattern is nested more than 200 deep',
  );
  assert.deepEqual(found(`${'('.repeat(200)}a${')'.repeat(200)}`, 'a'), ['a']);
});

test('nothing of another syntax is read as what it means there', () => {
  assert.deepEqual(found('[[:alpha:]]+', 'a:]b'), [':]']);
  assert.deepEqual(found('(?i)k', 'kK\u212a'), ['k', 'K', '\u212a']);
  assert.deepEqual(found('[a&&b]+', 'a&b'), ['a&b']);
});

test('half a character is no character', () => {
  assert.deepEqual(found('\\ud83d', '😀'), []);
  assert.deepEqual(found('\\ud83d', '\ud83d!'), ['\ud83d']);
  assert.deepEqual(found('.', '😀\ud83d'), ['😀', '\ud83d']);
});
