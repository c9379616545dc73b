/**
 * The section `detectors` of the configuration: who answers what detectors of rules cannot say by themselves. Nobody does
 * where it is silent.
 *
 * Ring 0; see docs/cli.md and docs/detectors.md.
 */
import type { Endpoint, EndpointKind } from '@cordon/core';
import { readAddress } from '../apps/app-config.ts';
import { readNetworkEntry } from '../apps/network-config.ts';
import { type ConfigReader, type Located, readBounded } from '../reading/config-reader.ts';
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
  reader: ConfigReader,
  at: Located,
  environment: Environment,
  readModel: (at: Located) => string | null,
  places: ModulePlaces,
): AskingSettings {
  const object = reader.object(at);
  if (object === null) return ASKS_NOBODY;
  const model = object.get('model');
  const modules = object.get('modules');
  const endpoints = KINDS.flatMap((kind): [EndpointKind, Endpoint][] => {
    const inner = object.get(kind);
    const endpoint = inner === null ? null : readEndpoint(reader, inner, environment);
    return endpoint === null ? [] : [[kind, endpoint]];
  });
  const settings: AskingSettings = {
    model: model === null ? null : readModel(model),
    endpoints: new Map(endpoints),
    modules: modules === null ? [] : readModules(reader, modules, places),
    seconds: readBounded(reader, object, 'seconds', [1, 600], USUAL_SECONDS),
  };
  object.finish(secretKey);
  return settings;
}

/** Files of modules, or `{"file": "…", "network": ["…"]}`. */
function readModules(reader: ConfigReader, at: Located, places: ModulePlaces): readonly ModuleSettings[] {
  return reader.items(at, 'a list of modules').flatMap((item) => {
    const object = item.node.kind === 'string' ? null : reader.object(item);
    if (item.node.kind !== 'string' && object === null) return [];
    const fileAt = object === null ? item : object.required('file', 'name the file of the module');
    const networkAt = object?.get('network') ?? null;
    const network = networkAt === null ? [] : reader.items(networkAt, 'an array of hosts');
    const hosts = network.flatMap((host) => readNetworkEntry(reader, host) ?? []);
    object?.finish();
    const path = fileAt === null ? null : reader.string(fileAt);
    if (fileAt === null || path === null) return [];
    const module = moduleAt(path, hosts, places);
    if (module.ok) return [module.value];
    reader.reportAt(fileAt, { code: 'CFG050', ...module.fault });
    return [];
  });
}

/** `{"url": "…", "model": "…", "apiKeyEnv": "NAME"}` */
function readEndpoint(reader: ConfigReader, at: Located, environment: Environment): Endpoint | null {
  const object = reader.object(at);
  if (object === null) return null;
  const address = object.required(
    'url',
    'write the whole address, like `http://localhost:8080/v1/embeddings`',
  );
  const model = object.get('model');
  const variable = object.get('apiKeyEnv');
  const url = address === null ? null : readAddress(reader, address);
  const name = variable === null ? null : readVariableName(reader, variable);
  const endpoint = {
    model: model === null ? null : reader.string(model),
    key: name === null ? null : (environment[name] ?? null),
  };
  object.finish(secretKey);
  return url === null ? null : { url, ...endpoint };
}
