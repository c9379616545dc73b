/**
 * A completion as the bodies of OpenAI's wire format: one object, or the objects of a stream. Test code.
 */
import type { FakeCall, FakeCompletion } from './answer.ts';

export function toBody(completion: FakeCompletion, model: string): object {
  const made = callsOf(completion).map(({ id, name, text }) => ({
    id,
    type: 'function',
    function: { name, arguments: text },
  }));
  const message = {
    role: 'assistant',
    content: completion.text ?? null,
    ...(made.length > 0 && { tool_calls: made }),
  };
  return {
    id: 'chatcmpl-fake',
    object: 'chat.completion',
    created: 1_700_000_000,
    model,
    choices: [{ index: 0, message, finish_reason: finishOf(completion) }],
    ...usageOf(completion),
  };
}

export function toChunks(completion: FakeCompletion, model: string): object[] {
  const size = Math.max(1, completion.chunkSize ?? 4);
  const texts = pieces(completion.text ?? '', size).map((content) => ({ content }));
  const perCall = callsOf(completion).map((call, index) => callDeltas(call, index, size));
  const callChunks = completion.interleaved === true ? inTurns(perCall) : perCall.flat();
  const chunk = (delta: object, finish: string | null = null, more: object = {}) => ({
    id: 'chatcmpl-fake',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model,
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...more,
  });
  const deltas = [{ role: 'assistant', content: '' }, ...texts, ...callChunks];
  const last = { ...chunk({}), choices: [], ...usageOf(completion) };
  return [
    ...deltas.map((delta) => chunk(delta)),
    chunk({}, finishOf(completion)),
    ...(completion.usage === null ? [] : [last]),
  ];
}

function callDeltas(call: WireCall, index: number, size: number): object[] {
  const start = { index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } };
  const rest = pieces(call.text, size).map((text) => ({ index, function: { arguments: text } }));
  return [start, ...rest].map((delta) => ({ tool_calls: [delta] }));
}

function inTurns(lists: readonly object[][]): object[] {
  const longest = Math.max(0, ...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat();
}

interface WireCall {
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

function callsOf(completion: FakeCompletion): WireCall[] {
  return (completion.calls ?? []).map((call: FakeCall, index) => ({
    id: call.id ?? `call_${index}`,
    name: call.name,
    text: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments),
  }));
}

function finishOf(completion: FakeCompletion): string {
  return completion.finish ?? ((completion.calls ?? []).length > 0 ? 'tool_calls' : 'stop');
}

function usageOf(completion: FakeCompletion): object {
  if (completion.usage === null) return {};
  const { prompt, completion: said } = completion.usage ?? { prompt: 10, completion: 5 };
  return { usage: { prompt_tokens: prompt, completion_tokens: said, total_tokens: prompt + said } };
}

function pieces(text: string, size: number): string[] {
  return Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
    text.slice(at * size, (at + 1) * size),
  );
}
