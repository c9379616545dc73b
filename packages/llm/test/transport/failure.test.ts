import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { quote, redact, statusFailure } from '../../src/transport/failure.ts';
import '../../../../tools/seed.ts';

const WHO = { name: 'local', keyVariable: 'LOCAL_KEY', secrets: [] };

for (const [body, said] of [
  ['{"error":{"message":"no such model"}}', '`no such model`'],
  ['{"error":"no such model"}', '`no such model`'],
  ['{"message":"no such model"}', '`no such model`'],
  ['{"detail":[{"msg":"field required"}]}', '`field required`'],
  ['[{"error":{"message":"quota"}}]', '`quota`'],
  ['<html>Bad Gateway</html>', '`<html>Bad Gateway</html>`'],
  ['{"error":{"message":"line\\nbreak \\u001b[31mred"}}', '`line break [31mred`'],
  ['{"error":{"message":"a `tick`"}}', "`a 'tick'`"],
] as const) {
  test(`the message in ${body}`, () => {
    assert.equal(statusFailure(WHO, 400, body, null).message, `provider \`local\` answered 400: ${said}`);
  });
}

test('an empty body leaves the status alone', () => {
  assert.equal(statusFailure(WHO, 502, '', null).message, 'provider `local` answered 502');
});

test('quoted text is one short line without control or invisible characters, whatever it was', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 600 }), (text) => {
      const shown = quote(text, []);
      assert.ok([...shown].length <= 203);
      assert.doesNotMatch(shown, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      assert.ok(shown === '' || /^`[^`]*`$/.test(shown));
    }),
  );
});

test('no key survives in quoted text, wherever it stands', () => {
  const key = fc.stringMatching(/^[A-Za-z0-9_-]{4,40}$/).filter((text) => !'[key]'.includes(text));
  fc.assert(
    fc.property(key, fc.string(), fc.string({ maxLength: 400 }), (secret, before, after) => {
      const text = `${before}${secret}${after}${secret}`;
      assert.ok(!redact(text, [secret]).includes(secret));
    }),
  );
});

test('text without a key stays as it is', () => {
  assert.equal(redact('model `x` is unknown', ['sk-123456']), 'model `x` is unknown');
});
