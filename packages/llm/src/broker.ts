/**
 * Routes `provider/model` to a provider or to a model that was handed in, and wraps each call in retries and a time
 * limit. The only holder of provider keys (architecture, Processes).
 *
 * Ring 1.
 */
import {
  DEFAULT_RETRY_LIMITS,
  failed,
  type Model,
  type ModelFault,
  type ModelRequest,
  type ModelResponse,
  ok,
  type Result,
  type RetryLimits,
} from '@cordon/core';
import type { Gathered } from './answer.ts';
import { type AttemptParts, attempt } from './attempt.ts';
import { CallSignatures } from './call-signatures.ts';
import { type Failure, failure, quote, toFault } from './failure.ts';
import {
  checkProvider,
  HOSTED_KEY_VARIABLES,
  identify,
  isHostedKind,
  type ProviderConfig,
} from './provider.ts';
import { anthropic } from './providers/anthropic.ts';
import { google } from './providers/google.ts';
import { openai } from './providers/openai.ts';
import { openaiCompatible } from './providers/openai-compatible.ts';
import type { Provider } from './providers/provider.ts';
import { cancelled, type RetryParts, withRetries } from './retry.ts';
import { ShownText } from './shown-text.ts';
import type { Fetch } from './transport.ts';

export interface ModelBrokerOptions extends RetryParts {
  /** By the name before the slash. `openai`, `anthropic` and `google` are known without; they lack a key then. */
  readonly providers: ReadonlyMap<string, ProviderConfig>;
  /** Other models by name, reached as `name` and `name/<anything>`; they win over providers of the same name. */
  readonly models?: ReadonlyMap<string, Model> | undefined;
  readonly limits?: RetryLimits | undefined;
  readonly fetch: Fetch;
}

export interface ModelBroker extends Model {
  /** What would be wrong with calls of this model as far as is known without calling it; `null` if nothing is. */
  readonly check: (model: string) => ModelFault | null;
}

export function createModelBroker(options: ModelBrokerOptions): ModelBroker {
  const signatures = new CallSignatures();
  // Model ids come from the configuration, so these are few.
  const withoutJsonMode = new Set<string>();
  const limits = options.limits ?? DEFAULT_RETRY_LIMITS;

  return {
    check(model) {
      const route = findRoute(model, options);
      return route.ok ? null : toFault(route.fault, 0);
    },

    async complete(request, call) {
      if (call.signal.aborted) return failed(cancelled(0));
      const route = findRoute(request.model, options);
      if (!route.ok) return failed(toFault(route.fault, 0));
      if (route.value.kind === 'model') return route.value.model.complete(request, call);
      const { name, modelId, config } = route.value;
      const shown = new ShownText(call.onText ?? (() => undefined));
      const parts: AttemptParts = {
        who: identify(name, config),
        provider: providerOf(config),
        modelId,
        fetch: options.fetch,
        clock: options.clock,
        signatures,
        onText: (delta) => shown.add(delta),
      };
      const once = (signal: AbortSignal) => {
        shown.restart();
        return inBestMode(request, parts, withoutJsonMode, signal);
      };
      const result = await withRetries(name, once, limits, options, call.signal);
      return result.ok ? ok(remembering(request, result.value, parts)) : result;
    },
  };
}

type Route =
  | { readonly kind: 'model'; readonly model: Model }
  | {
      readonly kind: 'provider';
      readonly name: string;
      readonly modelId: string;
      readonly config: ProviderConfig;
    };

function findRoute(id: string, options: ModelBrokerOptions): Result<Route, Failure> {
  const slash = id.indexOf('/');
  const name = slash === -1 ? id : id.slice(0, slash);
  const model = options.models?.get(name);
  if (model !== undefined) return ok({ kind: 'model', model });
  const modelId = slash === -1 ? '' : id.slice(slash + 1);
  // A bare id is never guessed at: it would go to whoever a library takes for the default.
  if (name === '' || modelId === '') {
    return failed(
      failure('unknown-model', `${quote(id, []) || 'an empty model id'} does not say which provider to ask`, {
        help: 'write `provider/model`, like `openai/gpt-5`, `anthropic/claude-sonnet-4-5` or `ollama/llama3`',
      }),
    );
  }
  const config = options.providers.get(name) ?? (isHostedKind(name) ? { kind: name } : null);
  if (config === null) return failed(unknownProvider(name, options));
  const wrong = checkProvider(name, config);
  return wrong === null ? ok({ kind: 'provider', name, modelId, config }) : failed(wrong);
}

function unknownProvider(name: string, options: ModelBrokerOptions): Failure {
  const known = new Set([
    ...Object.keys(HOSTED_KEY_VARIABLES),
    ...options.providers.keys(),
    ...(options.models?.keys() ?? []),
  ]);
  const shown = quote(name, []) || 'that';
  return failure('unknown-model', `there is no provider ${shown}`, {
    help: `known are ${[...known].map((each) => `\`${each}\``).join(', ')}; give the base URL of an OpenAI-compatible server to add one`,
  });
}

function providerOf(config: ProviderConfig): Provider {
  switch (config.kind) {
    case 'openai':
      return openai({ ...config, kind: config.kind });
    case 'anthropic':
      return anthropic({ ...config, kind: config.kind });
    case 'google':
      return google({ ...config, kind: config.kind });
    case 'openai-compatible':
      return openaiCompatible(config);
    default:
      return config satisfies never;
  }
}

/** What servers answer to a `response_format` that they do not know: 400, 422 (FastAPI) or 501. */
const FORMAT_REFUSALS: readonly (number | null)[] = [400, 422, 501];

/**
 * A schema is asked for by the provider's JSON mode. Where that is refused, the same attempt is made in words, and
 * if this works the model is asked in words from then on. Refused for another reason, it fails in words as well.
 */
async function inBestMode(
  request: ModelRequest,
  parts: AttemptParts,
  withoutJsonMode: Set<string>,
  signal: AbortSignal,
): Promise<Result<Gathered, Failure>> {
  const jsonMode = request.answerSchema !== undefined && !withoutJsonMode.has(request.model);
  const result = await attempt(request, jsonMode, parts, signal);
  if (result.ok || !jsonMode || !FORMAT_REFUSALS.includes(result.fault.status)) return result;
  const inWords = await attempt(request, false, parts, signal);
  if (inWords.ok) withoutJsonMode.add(request.model);
  return inWords;
}

function remembering(request: ModelRequest, gathered: Gathered, parts: AttemptParts): ModelResponse {
  if (parts.provider.signsCalls) {
    for (const { call, signature } of gathered.signatures) {
      parts.signatures.remember(request.model, call, signature);
    }
  }
  return gathered.response;
}
