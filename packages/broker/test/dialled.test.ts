/** A provider that is reached through a dialling process: text comes as it is sent, and a process that dies costs one call. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { type Dialling, openDialling } from '@cordon/testkit/dialling-process.ts';
import { inOrder, says } from '@cordon/testkit/fake-openai/server.ts';
import { isLeftOut } from '../../../tools/cases.ts';
import { ask, never, until, withProvider } from './fixture.ts';

function dialling(context: TestContext): Dialling {
  const opened = openDialling();
  context.after(opened.leave);
  return opened;
}

test('text comes as the provider sends it', async (context) => {
  const script = inOrder(says('streamed text', { chunkDelayMs: 50 }));
  const { dialler } = dialling(context);
  const body: Parameters<typeof withProvider>[1] = async ({ complete }) => {
    const pieces: string[] = [];
    const answer = await complete(ask('go'), { signal: never(), onText: (text) => pieces.push(text) });
    assert.equal(answer.ok && answer.value.text, 'streamed text');
    assert.equal(pieces.join(''), 'streamed text');
    assert.ok(pieces.length > 1, 'it came in one piece');
  };
  await withProvider(script, body, {}, dialler.dial);
});

test('where the dialling process dies in the middle of a stream, the call fails, and the next one works', async (context) => {
  if (isLeftOut(context)) return;
  const long = says('a long answer that comes in many pieces', { chunkDelayMs: 200 });
  const { dialler, pid } = dialling(context);
  const body: Parameters<typeof withProvider>[1] = async ({ complete, fake, started }) => {
    let hasBegun = false;
    const onText = () => {
      hasBegun = true;
    };
    const broken = complete(ask('go'), { signal: never(), onText });
    await until(() => hasBegun);
    process.kill(Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')), 'SIGKILL');
    const answer = await broken;
    assert.equal(answer.ok, false);
    assert.equal(fake.requests.length, 1);
    const next = await complete(ask('2 + 2?'), { signal: never() });
    assert.equal(next.ok && next.value.text, 'four');
    assert.equal(started.length, 1);
  };
  await withProvider(inOrder(long, says('four')), body, {}, dialler.dial);
});
