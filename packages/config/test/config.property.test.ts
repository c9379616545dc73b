// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders as people write them
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJson } from '@cordon/core';
import { ConfigurationFolder } from '@cordon/testkit/configuration-folder.ts';
import fc from 'fast-check';
import { parseAnswers } from '../src/answers.ts';
import { plainJson } from '../src/reading/config-reader.ts';
import { parseJsonText } from '../src/reading/json-text.ts';
import '../../../tools/seed.ts';

const KEYS = [
  'apps',
  'mcpServers',
  'model',
  'baseURL',
  'providers',
  'policy',
  'scenario',
  'data',
  'mail',
  'command',
  'args',
  'env',
  'url',
  'headers',
  'instructions',
  'type',
  'disabled',
  'manifest',
  'description',
  'functionalities',
  'request',
  'response',
  'network',
  'files',
  'read',
  'write',
  'limits',
  'memoryMiB',
  'irreversible',
  'apiKeyEnv',
  '__proto__',
  'constructor',
];
const TEXTS = [
  '${state}',
  '${env:HOME}',
  '${',
  'openai/x',
  'https://x.example',
  '~',
  '/',
  '\0',
  '../..',
  'stdio',
  'mail',
];

/** Configurations that are nearly right: known keys with any values under each other. */
const nearly = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    fc.constantFrom<unknown>(...TEXTS, null, true, 0, -1, 1e99),
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(fc.constantFrom(...KEYS), fc.string({ maxLength: 5 })), tie('value'), {
      maxKeys: 6,
    }),
  ),
})).value;

/** The seed is part of fast-check's report of a failure. */
function check<T extends [unknown, ...unknown[]]>(property: fc.IProperty<T>, runs: number): void {
  fc.assert(property, { numRuns: runs, verbose: 1 });
}

test('the loader never throws on any JSON, and fails only with errors', () => {
  using folder = new ConfigurationFolder();
  check(
    fc.property(nearly, (value) => {
      folder.write('cordon.json', JSON.stringify(value));
      const result = folder.load({ HOME: '/home/me', OPENAI_API_KEY: 'sk-secret' });
      if (result.ok) return result.value.warnings.every(({ severity }) => severity === 'warning');
      const text = JSON.stringify(result.fault);
      return result.fault.some(({ severity }) => severity === 'error') && !text.includes('sk-secret');
    }),
    1500,
  );
});

test('the loader never throws on any text', () => {
  using folder = new ConfigurationFolder();
  const pieces = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    '//',
    '/*',
    '*/',
    '\n',
    ' ',
    '"a"',
    '0',
    'true',
    '\ufeff',
    '-',
    'e',
  );
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(pieces, { maxLength: 30 }).map((all) => all.join('')),
  );
  check(
    fc.property(text, (content) => {
      folder.write('cordon.json', content);
      folder.load();
    }),
    1500,
  );
});

test('a text that JSON accepts reads as the same value, and comments change nothing', () => {
  check(
    fc.property(fc.json({ maxDepth: 5 }), (text) => {
      const plain = parseJson(text);
      const located = parseJsonText(`// c "\n${text}/* , ] */`);
      if (!plain.ok) return;
      assert.ok(located.ok);
      assert.deepEqual(JSON.parse(JSON.stringify(plainJson(located.value))), JSON.parse(text));
    }),
    500,
  );
});

test('a text that is not JSON but for comments and trailing commas is refused', () => {
  const pieces = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"a"',
    '0',
    '-',
    'tru',
    'null',
    ' ',
    '\n',
    '\v',
    '"\\x"',
    '"\t"',
  );
  check(
    fc.property(
      fc.array(pieces, { maxLength: 12 }).map((all) => all.join('')),
      (text) => {
        const located = parseJsonText(text);
        const withoutTrailing = text.replace(/(?<=[^[{,:\s]\s*),(?=\s*[\]}])/g, ' ');
        assert.equal(located.ok, parseJson(withoutTrailing).ok, JSON.stringify(text));
      },
    ),
    3000,
  );
});

test('the answers file never throws on any JSON', () => {
  const answers = fc.array(
    fc.dictionary(
      fc.constantFrom('match', 'decision', 'choose', 'x'),
      fc.oneof(fc.constantFrom('once', 'mail', 'permanent'), nearly),
    ),
  );
  check(
    fc.property(fc.oneof(answers, nearly), (value) => {
      parseAnswers('answers.json', JSON.stringify(value));
    }),
    500,
  );
});
