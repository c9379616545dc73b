/**
 * One attempt at a model call: open the provider, stream, gather. The only place where exceptions of the providers'
 * libraries are caught; they become failures here and go no further.
 */
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { type Clock, failed, type ModelRequest, ok, type Result } from '@cordon/core';
import { AnswerReader, type Gathered, streamFailure, unaskedFailure } from '../prompt/answer.ts';
import type { CallSignatures } from '../prompt/call-signatures.ts';
import { namesIn, toCallOptions } from '../prompt/prompt.ts';
import type { Provider } from '../providers/provider.ts';
import { type Failure, failure, type ProviderIdentity } from '../transport/failure.ts';
import { type Fetch, Transport } from '../transport/transport.ts';

export interface AttemptParts {
  readonly request: ModelRequest;
  /** Ask for the answer's schema by the provider's JSON mode. */
  readonly jsonMode: boolean;
  readonly who: ProviderIdentity;
  readonly provider: Provider;
  /** The part of the model id behind the provider's name. */
  readonly modelId: string;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly signatures: CallSignatures;
  readonly onText: (delta: string) => void;
}

/**
 * Ends at once when `signal` aborts, even if the library or the server does not notice. However it ends, the
 * connection ends with it: a server that has said enough to fail must not be listened to any longer.
 */
export async function attempt(parts: AttemptParts, signal: AbortSignal): Promise<Result<Gathered, Failure>> {
  const stopped = failed(failure('cancelled', 'the model call was cancelled'));
  if (signal.aborted) return stopped;
  const { promise: aborted, resolve } = Promise.withResolvers<Result<Gathered, Failure>>();
  const over = new AbortController();
  const stop = () => {
    over.abort();
    resolve(stopped);
  };
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([stream(parts, over.signal), aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
    over.abort();
  }
}

async function stream(parts: AttemptParts, signal: AbortSignal): Promise<Result<Gathered, Failure>> {
  const { request } = parts;
  const transport = new Transport(parts.fetch, parts.who, parts.clock);
  const names = namesIn(request);
  const answer = new AnswerReader(parts.who, names, (delta) => {
    if (!signal.aborted) parts.onText(delta);
  });
  const opened = await open(parts, names, transport, signal);
  if (!opened.ok) return opened;
  const reader = opened.value.getReader();
  for (;;) {
    const next = await read(reader, parts.who);
    // The wire knows better than the library what went wrong, and a library may end a broken stream normally.
    if (transport.failure !== null) return failed(transport.failure);
    if (!next.ok) return next;
    if (next.value === null) return answer.end(request);
    answer.take(next.value);
    if (answer.failure !== null) return failed(answer.failure);
  }
}

async function open(
  parts: AttemptParts,
  names: ReturnType<typeof namesIn>,
  transport: Transport,
  signal: AbortSignal,
): Promise<Result<ReadableStream<LanguageModelV4StreamPart>, Failure>> {
  const { provider, request, jsonMode } = parts;
  const options = toCallOptions(request, {
    names,
    providerOptions: provider.options,
    signatureOf: (call) => parts.signatures.recall(request.model, call),
    jsonMode,
    signal,
  });
  try {
    const model = await provider.open(parts.modelId, transport.fetch);
    const { stream } = await model.doStream(options);
    return ok(stream);
  } catch (error) {
    if (transport.failure !== null) return failed(transport.failure);
    return failed(transport.asked ? streamFailure(parts.who, error) : unaskedFailure(parts.who, error));
  }
}

/** The next part, `null` at the end. */
async function read(
  reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart>,
  who: ProviderIdentity,
): Promise<Result<LanguageModelV4StreamPart | null, Failure>> {
  try {
    const { done, value } = await reader.read();
    return ok(done ? null : value);
  } catch (error) {
    return failed(streamFailure(who, error));
  }
}
