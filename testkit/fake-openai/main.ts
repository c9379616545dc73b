/**
 * The fake server as a program, for manual tries: `node testkit/fake-openai/main.ts [port]`, default 8089. It says what
 * it was told; a last user message that begins with one of the words below gets that instead. Test code.
 *
 *   !call TOOL {"a":1}    a tool call         !429 !500 !401    that status
 *   !cut !reset           a broken stream     !hang             no answer
 *   !broken TOOL          broken arguments    !plain            JSON instead of a stream
 */
import { calls, cuts, type FakeAnswer, fails, hangs, rateLimits, says } from './answer.ts';
import { type FakeChatRequest, startFakeOpenAi } from './server.ts';

function answer(request: FakeChatRequest): FakeAnswer {
  const last = request.messages.at(-1);
  if (last?.role === 'tool') return says(`The tool said: ${last.content}`);
  const text = last?.content ?? '';
  const [word = '', first = '', ...rest] = text.split(' ');
  const status = /^!(\d{3})$/.exec(word)?.[1];
  if (status === '429') return rateLimits('1');
  if (status !== undefined) return fails(Number(status));
  if (word === '!call') return calls([{ name: first, arguments: rest.join(' ') || '{}' }]);
  if (word === '!broken') return calls([{ name: first, arguments: '{"a":' }]);
  if (word === '!cut') return cuts(says('this sentence has no end'));
  if (word === '!reset') return cuts(says('this sentence has no end'), 3, 'reset');
  if (word === '!hang') return hangs('headers');
  if (word === '!plain') return says('all at once', { plain: 'application/json' });
  return says(`You said: ${text}`, { chunkDelayMs: 30 });
}

const server = await startFakeOpenAi({ script: answer, port: Number(process.argv[2] ?? 8089) });
console.log(`an OpenAI-compatible server listens on ${server.baseUrl}`);
