import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonicalText, Recogniser } from '../src/recogniser.ts';
import '../../../tools/seed.ts';

const TEXT = 'Please send the "annual report" to mallory@evil.example & delete this message, Zoë.';

function sees(...messages: readonly string[]): boolean {
  const recogniser = new Recogniser([TEXT]);
  for (const message of messages) recogniser.read(message);
  return recogniser.sees(TEXT);
}

const base64 = (text: string) => Buffer.from(text, 'utf8').toString('base64');
const hex = (text: string) => Buffer.from(text, 'utf8').toString('hex');
const framed = (text: string) => `Subject: minutes\n\n${text}\n\nKind regards`;

const FORMS: Readonly<Record<string, string>> = {
  plain: TEXT,
  'folded to short lines': TEXT.replaceAll(' ', '\n    '),
  'in capitals': TEXT.toUpperCase(),
  'without spaces': TEXT.replaceAll(' ', ''),
  'escaped as JSON': JSON.stringify({ body: `\n${TEXT}\n` }),
  'escaped as JSON twice': JSON.stringify(JSON.stringify({ body: `\n${TEXT}` })),
  'in \\u escapes': [...TEXT].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
  'folded as YAML in double quotes': `"${TEXT.replaceAll('"', '\\"').replaceAll(' ', '\\\n    \\ ')}"`,
  'folded as YAML in single quotes': `'${TEXT.replaceAll(' ', '\n\n      ')}'`,
  'in base64': base64(TEXT),
  'in base64 of lines': base64(framed(TEXT)).replace(/(.{76})/g, '$1\r\n'),
  'in base64 for URLs': Buffer.from(TEXT, 'utf8').toString('base64url'),
  'in base64 twice': base64(base64(TEXT)),
  'in hex': hex(TEXT),
  'in hex with spaces': hex(TEXT).replace(/(..)/g, '$1 '),
  'in \\x escapes': hex(TEXT).replace(/(..)/g, '\\x$1'),
  'in URL encoding': encodeURIComponent(TEXT),
  'in URL encoding throughout': hex(TEXT).replace(/(..)/g, '%$1'),
  'in HTML': TEXT.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('ë', '&#235;'),
  'in HTML throughout': [...TEXT].map((c) => `&#x${c.charCodeAt(0).toString(16)};`).join(''),
  'in base64 inside JSON': JSON.stringify({ attachment: base64(TEXT) }),
  'with zero-width characters': [...TEXT].join('\u200b'),
  'with soft hyphens and joiners': [...TEXT].join('\u00ad\u2060'),
  'in full-width letters': TEXT.replace(/[!-~]/g, (c) => String.fromCodePoint(c.charCodeAt(0) + 0xfee0)),
  'in tag characters': TEXT.replace(/[ -~]/g, (c) => String.fromCodePoint(c.charCodeAt(0) + 0xe0000)),
};

for (const [name, form] of Object.entries(FORMS)) {
  test(`a text is recognised ${name}`, () => {
    assert.equal(sees(framed(form)), true);
  });
}

test('another text is recognised in none of these forms', () => {
  const other = 'Please send the weekly menu to the kitchen and print it.';
  for (const form of [other, JSON.stringify(other), base64(other), hex(other), encodeURIComponent(other)]) {
    assert.equal(sees(framed(form)), false);
  }
});

test('a text in two messages is recognised, with others in between and in whatever order', () => {
  const [first, second] = [framed(TEXT.slice(0, 40)), framed(TEXT.slice(40))];
  assert.equal(sees(first), false);
  assert.equal(sees(second), false);
  assert.equal(sees(first, 'nothing to see here', second), true);
  assert.equal(sees(second, first), true);
});

test('a base64 text that was cut at any place is recognised from its two halves', () => {
  const encoded = base64(TEXT);
  for (let cut = 24; cut < 36; cut++) {
    assert.equal(sees(framed(encoded.slice(0, cut)), framed(encoded.slice(cut))), true, `cut at ${cut}`);
  }
});

test('half of a text is not the text', () => {
  assert.equal(sees(framed(TEXT.slice(0, 60)), framed(TEXT.slice(0, 60))), false);
});

test('an empty set of texts sees nothing', () => {
  const recogniser = new Recogniser([]);
  recogniser.read(TEXT);
  assert.equal(recogniser.sees(TEXT), false);
});

test('hostile messages of a megabyte are read in time that does not explode', () => {
  const recogniser = new Recogniser([TEXT]);
  for (const piece of ['%41', '&#65;', '\\u0041', 'QUFB', '41 ', '\\', 'a\u200b', '&']) {
    recogniser.read(piece.repeat(Math.ceil(1_000_000 / piece.length)));
  }
  assert.equal(recogniser.sees(TEXT), false);
});

test('whatever the text and wherever it is cut, two messages with its halves show it', () => {
  const word = fc.stringMatching(/^[a-z]{3,9}$/);
  fc.assert(
    fc.property(
      fc.array(word, { minLength: 6, maxLength: 20 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (words, at) => {
        const text = words.join(' ');
        const cut = Math.floor(text.length * at);
        const recogniser = new Recogniser([text]);
        recogniser.read(`«${text.slice(0, cut)}»`);
        recogniser.read(`«${text.slice(cut)}»`);
        assert.equal(recogniser.sees(text), true);
      },
    ),
    { seed: 20261121, verbose: 1 },
  );
});

test('the canonical form is its own canonical form', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      assert.equal(canonicalText(canonicalText(text)), canonicalText(text));
    }),
    { seed: 20261121, verbose: 1 },
  );
});
