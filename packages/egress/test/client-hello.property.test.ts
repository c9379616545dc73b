import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readClientHello } from '../src/wire/client-hello.ts';
import '../../../tools/seed.ts';

test('no bytes make the reader throw, and none but a name or a refusal ends it', () => {
  const prefix = fc.constantFrom(
    [],
    [22, 3, 1, 0, 60, 1, 0, 0, 56, 3, 3],
    [22, 3, 3, 255, 255, 1, 0, 255, 0],
  );
  fc.assert(
    fc.property(prefix, fc.uint8Array({ maxLength: 300 }), (start, rest) => {
      const result = readClientHello(Buffer.from([...start, ...rest]));
      assert.ok(['name', 'nameless', 'more', 'refused'].includes(result.kind));
    }),
    { numRuns: 500, verbose: 1 },
  );
});
