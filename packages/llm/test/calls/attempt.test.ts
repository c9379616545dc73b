import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AttemptParts, attempt } from '../../src/calls/attempt.ts';
import { CallSignatures } from '../../src/prompt/call-signatures.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { ask, never } from '../fixture.ts';

function partsOf(open: Provider['open']): AttemptParts {
  return {
    request: ask('hello'),
    jsonMode: false,
    who: { name: 'local', keyVariable: 'LOCAL_KEY', secrets: ['sk-secret'] },
    provider: { open, options: {}, signsCalls: false },
    modelId: 'x',
    fetch: globalThis.fetch,
    clock: () => 0,
    signatures: new CallSignatures(),
    onText: () => undefined,
  };
}

test('a library that cannot be loaded, or refuses the request, fails the call for good', async () => {
  const parts = partsOf(() => Promise.reject(new Error('cannot find package, key sk-secret')));
  assert.deepEqual(await attempt(parts, never()), {
    ok: false,
    fault: {
      kind: 'bad-request',
      message: 'no request to provider `local` could be made: `cannot find package, key [key]`',
      help: 'a tool’s schema may be at fault, or the installation: run `npm ci` again',
      passing: false,
      waitMs: null,
      status: null,
    },
  });
});

test('a library that hangs while it is loaded ends with the signal', async () => {
  const stop = new AbortController();
  const parts = partsOf(() => {
    queueMicrotask(() => stop.abort());
    return new Promise(() => undefined);
  });
  const result = await attempt(parts, stop.signal);
  assert.equal(!result.ok && result.fault.kind, 'cancelled');
});
