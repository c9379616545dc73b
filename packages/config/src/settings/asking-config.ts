/**
 * The section `detectors` of the configuration: who answers what detectors of rules cannot say by themselves. Nobody does
 * where it is silent.
 *
 * See docs/cli.md and docs/detectors.md.
 */
import type { Endpoint, EndpointKind } from '@cordon/core';
import { addressProblem } from '../apps/app-config.ts';
import { readNetworkEntry } from '../apps/network-config.ts';
import type { Located } from '../reading/config-reader.ts';
import type { Environment } from '../reading/paths.ts';
import { type ModulePlaces, type ModuleSettings, moduleAt } from './module-settings.ts';
import { readVariableName, secretKey } from './provider-config.ts';

export interface AskingSettings {
  /** `provider/model` that answers `llm`, `llm_confirm` and `topic`; null: none does. */
  readonly model: string | null;
  readonly endpoints: ReadonlyMap<EndpointKind, Endpoint>;
  /** The user's own predicates. */
  readonly modules: readonly ModuleSettings[];
  /** How long one decision waits for its answers. */
  readonly seconds: number;
}

const USUAL_SECONDS = 30;
export const ASKS_NOBODY: AskingSettings = {
  model: null,
  endpoints: new Map(),
  modules: [],
  seconds: USUAL_SECONDS,
};

const KINDS: readonly EndpointKind[] = ['embedding', 'moderation', 'ocr'];

export function readAsking(
  at: Located,
  environment: Environment,
  readModel: (at: Located) => string | null,
  places: ModulePlaces,
): AskingSettings {
  const object = at.object();
  if (object === null) return ASKS_NOBODY;
  const endpoints = KINDS.flatMap((kind): [EndpointKind, Endpoint][] => {
    const endpoint = object.read(kind, (inner) => readEndpoint(inner, environment));
    return endpoint === null ? [] : [[kind, endpoint]];
  });
  const settings: AskingSettings = {
    model: object.read('model', readModel),
    endpoints: new Map(endpoints),
    modules: object.read('modules', (all) => readModules(all, places)) ?? [],
    seconds: object.whole('seconds', [1, 600], USUAL_SECONDS),
  };
  object.finish(secretKey);
  return settings;
}

/** Files of modules, or `{"file": "…", "network": ["…"]}`. */
function readModules(at: Located, places: ModulePlaces): readonly ModuleSettings[] {
  return at.list('a list of modules', (item) => {
    const object = item.node.kind === 'string' ? null : item.object();
    if (item.node.kind !== 'string' && object === null) return null;
    const fileAt = object === null ? item : object.required('file', 'name the file of the module');
    const hosts = object?.read('network', (all) => all.list('an array of hosts', readNetworkEntry)) ?? [];
    object?.finish();
    const path = fileAt?.string() ?? null;
    if (fileAt === null || path === null) return null;
    const module = moduleAt(path, hosts, places);
    return module.ok ? module.value : fileAt.report({ code: 'CFG050', ...module.fault });
  });
}

/** `{"url": "…", "model": "…", "apiKeyEnv": "NAME"}` */
function readEndpoint(at: Located, environment: Environment): Endpoint | null {
  const object = at.object();
  if (object === null) return null;
  const address = object.required(
    'url',
    'write the whole address, like `http://localhost:8080/v1/embeddings`',
  );
  const url = address?.checked(addressProblem) ?? null;
  const variable = object.read('apiKeyEnv', readVariableName);
  const model = object.string('model');
  object.finish(secretKey);
  return url === null
    ? null
    : { url, model, key: variable === null ? null : (environment[variable] ?? null) };
}
