/**
 * What a script of the fake server can answer, and short ways to write it. Test code.
 */
export type FakeAnswer = FakeCompletion | FakeCut | FakeFailure | FakeGarbage | FakeHang;

/** A chat completion, streamed if the request asks for it. */
export interface FakeCompletion {
  readonly kind: 'completion';
  readonly text?: string | undefined;
  readonly calls?: readonly FakeCall[] | undefined;
  /** Default: `tool_calls` if there are calls, else `stop`. */
  readonly finish?: string | undefined;
  /** Characters of text or arguments a chunk. Default 4. */
  readonly chunkSize?: number | undefined;
  /** Chunks of several calls take turns instead of one call after the other. */
  readonly interleaved?: boolean | undefined;
  /** Plain JSON though a stream was asked for, with this content type. */
  readonly plain?: string | undefined;
  /** `null`: no usage, as some servers do. Default: 10 and 5. */
  readonly usage?: { readonly prompt: number; readonly completion: number } | null | undefined;
  /** Milliseconds between chunks. Default 0. */
  readonly chunkDelayMs?: number | undefined;
  /** Awaited before each chunk of a stream. */
  readonly beforeChunk?: ((chunk: string) => Promise<unknown>) | undefined;
}

/** `arguments` as text is sent as it is, so that it can be broken. `id` defaults to `call_<n>`. */
export interface FakeCall {
  readonly name: string;
  readonly arguments: unknown;
  readonly id?: string | undefined;
}

/** A stream that stops after so many chunks: closed in order, or the connection destroyed. */
export interface FakeCut {
  readonly kind: 'cut';
  readonly completion: FakeCompletion;
  readonly afterChunks: number;
  readonly how: 'closed' | 'reset';
}

export interface FakeFailure {
  readonly kind: 'failure';
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Status 200 with a body that is no completion. */
export interface FakeGarbage {
  readonly kind: 'garbage';
  readonly body: string;
  readonly contentType: string;
}

/** Never ends: before the headers, after them, or after the first chunk. */
export interface FakeHang {
  readonly kind: 'hang';
  readonly after: 'request' | 'headers' | 'first-chunk';
}

type Style = Omit<FakeCompletion, 'kind' | 'text' | 'calls'>;

export function says(text: string, style: Style = {}): FakeCompletion {
  return { kind: 'completion', text, ...style };
}

/** One call or several in one turn. */
export function calls(
  list: readonly FakeCall[],
  style: Style & { readonly text?: string } = {},
): FakeCompletion {
  return { kind: 'completion', calls: list, ...style };
}

/** An error as OpenAI words it. */
export function fails(
  status: number,
  message = `status ${status}`,
  headers: Record<string, string> = {},
): FakeFailure {
  return { kind: 'failure', status, body: JSON.stringify({ error: { message, type: 'fake' } }), headers };
}

export function rateLimits(retryAfter: string | null = null): FakeFailure {
  return fails(429, 'too many requests', retryAfter === null ? {} : { 'retry-after': retryAfter });
}

export function cuts(completion: FakeCompletion, afterChunks = 2, how: FakeCut['how'] = 'closed'): FakeCut {
  return { kind: 'cut', completion, afterChunks, how };
}

export function garbage(body: string, contentType = 'text/html'): FakeGarbage {
  return { kind: 'garbage', body, contentType };
}

export function hangs(after: FakeHang['after'] = 'request'): FakeHang {
  return { kind: 'hang', after };
}
