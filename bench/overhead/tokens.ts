/**
 * How many tokens a request is, by a real tokenizer (`o200k_base`, as of OpenAI's models since 2024). What a provider
 * puts around messages and tools is not published by all of them; here it is four tokens a message, and tools and schemas
 * count as the JSON that was sent.
 */

import type { ModelRequest } from '@cordon/core';
import type { FakeChatRequest } from '@cordon/testkit/fake-openai/server.ts';
import { Tiktoken } from 'js-tiktoken/lite';
import o200k from 'js-tiktoken/ranks/o200k_base';

const ENCODING = new Tiktoken(o200k);
const A_MESSAGE = 4;
/** Texts come again in every call of a conversation. */
const known = new Map<string, number>();
const MOST_KNOWN = 20_000;

export function tokensIn(text: string): number {
  const before = known.get(text);
  if (before !== undefined) return before;
  const count = ENCODING.encode(text, [], []).length;
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(text, count);
  return count;
}

export function promptTokens({ messages, body }: FakeChatRequest): number {
  const said = messages.reduce((sum, { content, calls }) => {
    const made = calls.reduce((all, call) => all + tokensIn(call.name) + tokensIn(call.arguments), 0);
    return sum + A_MESSAGE + tokensIn(content) + made;
  }, 0);
  const attached = [...(Array.isArray(body.tools) ? body.tools : []), body.response_format];
  return attached.reduce<number>(
    (sum, one) => sum + (one === undefined ? 0 : tokensIn(JSON.stringify(one))),
    said,
  );
}

/** Of a request that nobody counted, because it was given up: the same, from before it was put on the wire. */
export function requestTokens({ messages, tools }: ModelRequest): number {
  const said = messages.reduce((sum, { text }) => sum + A_MESSAGE + tokensIn(text), 0);
  return tools.reduce(
    (sum, tool) => sum + tokensIn(JSON.stringify({ type: 'function', function: tool })),
    said,
  );
}
