/**
 * Routes `provider/model` to a provider or to a model that was passed in, and wraps each call in retries and a time
 * limit. The only holder of provider keys (architecture, Processes).
 */

import { failed, type Model, type ModelFault, ok, type ProviderConfig, type Result } from '@cordon/core';
import { CallSignatures } from '../prompt/call-signatures.ts';
import { checkProvider, HOSTED_KEY_VARIABLES, isHostedKind } from '../providers/access.ts';
import { type Failure, failure, quote, toFault } from '../transport/failure.ts';
import { cancelled } from '../transport/retry.ts';
import type { ProviderCallParts, ProviderRoute } from './provider-call.ts';
export interface ModelRoutes {
  /** By the name before the slash. `openai`, `anthropic` and `google` are known without; they lack a key then. */
  readonly providers: ReadonlyMap<string, ProviderConfig>;
  /** Other models by name, reached as `name` and `name/<anything>`; they win over providers of the same name. */
  readonly models?: ReadonlyMap<string, Model> | undefined;
}

/** With `RetryParts`, `fetch` and, if the defaults of core do not fit, `limits`. */
export interface ModelBrokerOptions extends ModelRoutes, ProviderCallParts {}

export interface ModelBroker extends Model {
  /** What would be wrong with calls of this model as far as is known without calling it; `null` if nothing is. */
  readonly check: (model: string) => ModelFault | null;
}

/** Calls providers in this process. Nothing is looked up or sent before the first call, and no provider's library is loaded. */
export function createModelBroker(options: ModelBrokerOptions): ModelBroker {
  return routeModels(options, callsHere(options));
}

/** Models of providers that are called in this process. */
export function callsHere(parts: ProviderCallParts): (provider: ProviderRoute) => Model {
  const state = { signatures: new CallSignatures(), withoutJsonMode: new Set<string>() };
  return (provider) => ({
    async complete(request, call) {
      // Not needed for a model that was passed in, nor before the first question.
      const { callProvider } = await import('./provider-call.ts');
      return callProvider(provider, request, call, parts, state);
    },
  });
}

/** Routes model ids. `modelOf` is asked at each call of a provider. */
export function routeModels(routes: ModelRoutes, modelOf: (provider: ProviderRoute) => Model): ModelBroker {
  return {
    check(model) {
      const route = findRoute(model, routes);
      return route.ok ? null : toFault(route.fault, 0);
    },
    async complete(request, call) {
      if (call.signal.aborted) return failed(cancelled(0));
      const route = findRoute(request.model, routes);
      if (!route.ok) return failed(toFault(route.fault, 0));
      const model = route.value.kind === 'model' ? route.value.model : modelOf(route.value.provider);
      return model.complete(request, call);
    },
  };
}

type Route =
  | { readonly kind: 'model'; readonly model: Model }
  | { readonly kind: 'provider'; readonly provider: ProviderRoute };

function findRoute(id: string, options: ModelRoutes): Result<Route, Failure> {
  const slash = id.indexOf('/');
  const name = slash === -1 ? id : id.slice(0, slash);
  const model = options.models?.get(name);
  if (model !== undefined) return ok({ kind: 'model', model });
  const modelId = slash === -1 ? '' : id.slice(slash + 1);
  // A bare id is never guessed at: it would go to whatever a library takes for the default.
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
  return wrong === null ? ok({ kind: 'provider', provider: { name, modelId, config } }) : failed(wrong);
}

function unknownProvider(name: string, options: ModelRoutes): Failure {
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
