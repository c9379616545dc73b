/** A chat at a terminal, with a provider. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FakeScript, says, startFakeOpenAi } from '@cordon/testkit/fake-openai/server.ts';
import { Home } from '../harness/cordon.ts';
import { planning, step } from '../harness/provider-script.ts';

const PROMPT = 'cordon> ';

/** A user whose model follows the script, without apps. */
async function userWith(agent: FakeScript) {
  const home = new Home();
  const fake = await startFakeOpenAi({ script: planning([step(null)], agent) });
  const model = ['--model', 'fake/model', '--base-url', fake.baseUrl];
  const dispose = async () => {
    home[Symbol.dispose]();
    await fake.close();
  };
  return { home, fake, model, [Symbol.asyncDispose]: dispose };
}

/** How often a text stands on the screen. */
const times = (screen: string, text: string) => screen.split(text).length - 1;

test('a paragraph is on the screen while the model still writes the next one, and stands there once', async () => {
  const written = Promise.withResolvers<void>();
  await using user = await userWith(() =>
    says('The first.\n\nThe second.', {
      beforeChunk: async (chunk) => {
        if (chunk.includes('ond')) await written.promise;
      },
    }),
  );
  const chat = user.home.start(['chat', ...user.model], { terminal: true });
  await chat.shown(PROMPT);
  chat.type('go\r');
  await chat.shown('The first.');
  assert.equal(times(chat.stdout, 'The second'), 0);
  written.resolve();
  await chat.shown('The second.');
  await chat.shown(PROMPT, 2);
  chat.type('/exit\r');
  const { code, stdout } = await chat.end();
  assert.equal(code, 0);
  assert.equal(times(stdout, 'The first.'), 1);
});

test('a warning about the answer stands before what it is about', async () => {
  await using user = await userWith(() => says('The first.\n\nThe second.'));
  const { home, model } = user;
  home.write(
    'mine.gr',
    'warn "mind this" if:\n    (a: Message)\n    a.role == "assistant"\n    "second" in a.content\n',
  );
  const { stdout } = await home.run(['ask', 'go', ...model, '--policy', 'mine.gr'], { terminal: true });
  assert.match(stdout, /The first\.[\s\S]*mind this[\s\S]*The second\./);
  assert.equal(times(stdout, 'mind this'), 1);
});
