/**
 * A call of a provider: in JSON mode where that works, with retries and a time limit around it.
 *
 * Loaded on first use, with everything that only providers need.
 */

import {
  DEFAULT_RETRY_LIMITS,
  type ModelCallOptions,
  type ModelFault,
  type ModelRequest,
  type ModelResponse,
  ok,
  type ProviderConfig,
  type Result,
  type RetryLimits,
} from '@cordon/core';
import type { Gathered } from '../prompt/answer.ts';
import type { CallSignatures } from '../prompt/call-signatures.ts';
import { ShownText } from '../prompt/shown-text.ts';
import { identify } from '../providers/access.ts';
import { providerOf } from '../providers/provider.ts';
import type { Failure } from '../transport/failure.ts';
import { type RetryParts, withRetries } from '../transport/retry.ts';
import type { Fetch } from '../transport/transport.ts';
import { type AttemptParts, attempt } from './attempt.ts';
export interface ProviderRoute {
  /** As the user calls it. */
  readonly name: string;
  /** What the provider calls the model. */
  readonly modelId: string;
  readonly config: ProviderConfig;
}

export interface ProviderCallParts extends RetryParts {
  readonly fetch: Fetch;
  readonly limits?: RetryLimits | undefined;
}

/** What one call learns for the next. Model ids come from the configuration, so they are few. */
export interface ProviderCallState {
  readonly signatures: CallSignatures;
  /** Ids of models whose server refused JSON mode. */
  readonly withoutJsonMode: Set<string>;
}

export async function callProvider(
  route: ProviderRoute,
  request: ModelRequest,
  call: ModelCallOptions,
  parts: ProviderCallParts,
  state: ProviderCallState,
): Promise<Result<ModelResponse, ModelFault>> {
  const shown = new ShownText(call.onText ?? (() => undefined));
  const provider = providerOf(route.config);
  const attemptParts: CallParts = {
    request,
    who: identify(route.name, route.config),
    provider,
    modelId: route.modelId,
    fetch: parts.fetch,
    clock: parts.clock,
    signatures: state.signatures,
    onText: (delta) => shown.add(delta),
  };
  const once = (signal: AbortSignal) => {
    shown.restart();
    return inBestMode(attemptParts, state.withoutJsonMode, signal);
  };
  const limits = parts.limits ?? DEFAULT_RETRY_LIMITS;
  const result = await withRetries(route.name, once, limits, parts, call.signal);
  if (!result.ok) return result;
  if (provider.signsCalls) remember(request.model, result.value, state.signatures);
  return ok(result.value.response);
}

/** For the next turn of the same conversation. */
function remember(model: string, gathered: Gathered, signatures: CallSignatures): void {
  for (const { call, signature } of gathered.signatures) signatures.remember(model, call, signature);
}

/** What all attempts of a call have in common. */
type CallParts = Omit<AttemptParts, 'jsonMode'>;

/** What servers answer to a `response_format` that they do not know: 400, 422 (FastAPI) or 501. */
const FORMAT_REFUSALS: readonly (number | null)[] = [400, 422, 501];

/**
 * A schema is asked for by the provider's JSON mode. Where that is refused, the same attempt is made in words, and
 * if this works the model is asked in words from then on. Refused for another reason, it fails in words as well.
 */
async function inBestMode(
  parts: CallParts,
  withoutJsonMode: Set<string>,
  signal: AbortSignal,
): Promise<Result<Gathered, Failure>> {
  const { request } = parts;
  const jsonMode = request.answerSchema !== undefined && !withoutJsonMode.has(request.model);
  const result = await attempt({ ...parts, jsonMode }, signal);
  if (result.ok || !jsonMode || !FORMAT_REFUSALS.includes(result.fault.status)) return result;
  const inWords = await attempt({ ...parts, jsonMode: false }, signal);
  if (inWords.ok) withoutJsonMode.add(request.model);
  return inWords;
}
