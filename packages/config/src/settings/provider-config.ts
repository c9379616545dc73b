/**
 * Model names and the providers behind them. Keys come from the environment only; a key in a file would be in
 * backups, in version control and in front of anyone who looks over a shoulder.
 */
import {
  DEFAULT_RETRY_LIMITS,
  type HostedKind,
  isThisMachine,
  type ProviderConfig,
  type RetryLimits,
} from '@cordon/core';
import { providerAddressProblem } from '../apps/app-config.ts';
import {
  type Bounds,
  isVariableName,
  type Located,
  type ObjectReader,
  type Problem,
  quoted,
} from '../reading/config-reader.ts';
import { nearest } from '../reading/nearest.ts';
import type { Environment } from '../reading/paths.ts';

/** The built-in model that needs no provider. */
export const OBEDIENT_MODEL = 'obedient';

interface KnownProvider {
  readonly protocol: HostedKind;
  readonly keyVariables: readonly [string, ...string[]];
  readonly addressVariable: string | null;
  /** For a user who has a key and has named no model. */
  readonly usualModel: string;
}

const KNOWN_PROVIDERS: ReadonlyMap<string, KnownProvider> = new Map([
  [
    'openai',
    {
      protocol: 'openai',
      keyVariables: ['OPENAI_API_KEY'],
      addressVariable: 'OPENAI_BASE_URL',
      usualModel: 'gpt-5-mini',
    },
  ],
  [
    'anthropic',
    {
      protocol: 'anthropic',
      keyVariables: ['ANTHROPIC_API_KEY'],
      addressVariable: 'ANTHROPIC_BASE_URL',
      usualModel: 'claude-sonnet-4-5',
    },
  ],
  [
    'google',
    {
      protocol: 'google',
      keyVariables: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'],
      addressVariable: null,
      usualModel: 'gemini-3-pro',
    },
  ],
]);

/** What the file says of one provider. */
export interface ProviderEntry {
  readonly protocol: HostedKind | null;
  readonly baseURL: string | null;
  readonly keyVariable: string | null;
}

/** The usual model of a provider whose key is in the environment, and the variable that holds the key; null: there is no key. */
export function modelForKey(
  environment: Environment,
): { readonly model: string; readonly variable: string } | null {
  for (const [name, { keyVariables, usualModel }] of KNOWN_PROVIDERS) {
    const variable = keyVariables.find((one) => isSet(environment, one));
    if (variable !== undefined) return { model: `${name}/${usualModel}`, variable };
  }
  return null;
}

/** Of the known providers, for a user who names none. */
export function usualModels(): readonly string[] {
  return [...KNOWN_PROVIDERS].map(([name, { usualModel }]) => `${name}/${usualModel}`);
}

const SECRET_KEYS: ReadonlySet<string> = new Set([
  'apikey',
  'key',
  'token',
  'secret',
  'password',
  'apitoken',
]);

/** A key of the file under which people put secrets; the problem never repeats the value. */
export function secretKey(key: string): Problem | null {
  if (!SECRET_KEYS.has(key.toLowerCase().replace(/[^a-z]/g, ''))) return null;
  return {
    code: 'CFG011',
    message: `${quoted(key)} would hold a secret, and secrets are not read from files`,
    help: 'set it in the environment, e.g. `OPENAI_API_KEY`, name the variable in `apiKeyEnv`, and replace the key if this file was shared',
  };
}

export function readProviders(at: Located): Map<string, ProviderEntry> {
  const entries = at.mapped(providerNameProblem, (name, inner): [string, ProviderEntry] | null => {
    const entry = readProvider(inner, name);
    return entry === null ? null : [name, entry];
  });
  return new Map(entries);
}

function providerNameProblem(name: string): Problem | null {
  const isBuiltIn = name === OBEDIENT_MODEL;
  if (/^[a-z0-9][a-z0-9._-]{0,63}$/.test(name) && !isBuiltIn) return null;
  return {
    code: 'CFG008',
    message: `${quoted(name)} is no name for a provider`,
    help: isBuiltIn ? 'it is the name of the built-in model' : 'use small letters, digits, `.`, `_` and `-`',
  };
}

function readProvider(at: Located, name: string): ProviderEntry | null {
  const object = at.object();
  if (object === null) return null;
  const entry: ProviderEntry = {
    baseURL: readBaseURL(object),
    protocol: object.read('protocol', readProtocol),
    keyVariable: object.read('apiKeyEnv', readVariableName),
  };
  if (!KNOWN_PROVIDERS.has(name) && object.get('baseURL') === null && object.get('baseUrl') === null) {
    object.required('baseURL', 'write the address of the server, like `http://localhost:11434/v1`');
  }
  object.finish(secretKey);
  return entry;
}

/** `baseURL`, or `baseUrl` as others spell it; both is a contradiction waiting to happen. */
export function readBaseURL(object: ObjectReader): string | null {
  const usual = object.get('baseURL');
  const other = object.get('baseUrl');
  if (usual !== null) {
    other?.report({
      code: 'CFG010',
      message: 'the address appears twice, as `baseURL` and as `baseUrl`',
      help: 'keep `baseURL`',
    });
  }
  return (usual ?? other)?.checked(providerAddressProblem) ?? null;
}

function readProtocol(at: Located): HostedKind | null {
  return at.word<HostedKind>(['openai', 'anthropic', 'google'], (text) => ({
    code: 'CFG012',
    message: `the protocol ${quoted(text)} is unknown`,
    help: 'use `openai`, `anthropic` or `google`',
  }));
}

/** The name of a variable that holds a key; never the key itself. */
export function readVariableName(at: Located): string | null {
  return at.checked((text) => (isVariableName(text) ? null : NO_VARIABLE));
}

const NO_VARIABLE: Problem = {
  code: 'CFG011',
  message: '`apiKeyEnv` holds something that is no name of a variable, perhaps the key itself',
  help: 'write the name of the environment variable that holds the key, and replace the key if this file was shared',
};

const RETRY_BOUNDS: Readonly<Record<keyof RetryLimits, Bounds>> = {
  attempts: [1, 20],
  firstWaitMs: [1, 60_000],
  longestWaitMs: [1, 600_000],
  callSeconds: [1, 3600],
};

/** `retries`: how often and how long a model call is tried. */
export function readRetries(at: Located): RetryLimits {
  return at.wholes(RETRY_BOUNDS, DEFAULT_RETRY_LIMITS);
}

/**
 * What is wrong with the name of a model; null: nothing. `providers` are the names that the file adds. With an address
 * of its own (`--base-url`) a provider may have any name: `ollama/llama3`, `local/qwen`.
 */
export function modelProblem(
  model: string,
  providers: Iterable<string>,
  hasAddress: boolean,
): Problem | null {
  const known = [...KNOWN_PROVIDERS.keys(), OBEDIENT_MODEL, ...providers];
  if (model === OBEDIENT_MODEL) return null;
  const [, provider, name] = /^([^/\s]{1,64})\/([\x21-\x7e]{1,200})$/.exec(model) ?? [];
  if (provider === undefined || name === undefined) {
    return {
      code: 'CFG012',
      message: `${quoted(model)} is no name of a model`,
      help: 'write `provider/model`, like `openai/gpt-5-mini`, or `obedient`',
    };
  }
  if (known.includes(provider) || hasAddress) return null;
  const meant = nearest(provider, known);
  return {
    code: 'CFG012',
    message: `the provider ${quoted(provider)} is unknown`,
    help:
      meant === null
        ? `use one of ${known.join(', ')}, or give its address with \`--base-url\` or in \`providers\``
        : `did you mean \`${meant}/${name}\`?`,
  };
}

export function providerOf(model: string): string {
  return model.split('/', 1)[0] ?? '';
}

/** Where a problem outside the file stands: an option or a variable. */
export interface OutsideProblem extends Problem {
  readonly source: 'command line' | 'environment';
  readonly name: string;
}

export interface ProviderSources {
  readonly environment: Environment;
  /** `providers` of the file. */
  readonly entries: ReadonlyMap<string, ProviderEntry>;
  /** `baseURL` of the file, for the provider of the file's own model. */
  readonly fileAddress: { readonly provider: string; readonly baseURL: string } | null;
  /** `--base-url`, for the provider of the model in use. */
  readonly optionAddress: { readonly provider: string; readonly baseURL: string } | null;
}

/** The providers of the file and the known ones, with their keys; and what is wrong in the environment. */
export function assembleProviders(
  sources: ProviderSources,
  report: (problem: OutsideProblem) => void,
): Map<string, ProviderConfig> {
  const addressed = [sources.fileAddress, sources.optionAddress].flatMap(
    (address) => address?.provider ?? [],
  );
  const names = new Set([...KNOWN_PROVIDERS.keys(), ...sources.entries.keys(), ...addressed]);
  return new Map([...names].map((name) => [name, assembleProvider(name, sources, report)]));
}

function assembleProvider(
  name: string,
  sources: ProviderSources,
  report: (problem: OutsideProblem) => void,
): ProviderConfig {
  const known = KNOWN_PROVIDERS.get(name);
  const entry = sources.entries.get(name);
  const option = sources.optionAddress?.provider === name ? sources.optionAddress.baseURL : null;
  const variable = addressVariable(known, sources.environment, report);
  const file =
    entry?.baseURL ?? (sources.fileAddress?.provider === name ? sources.fileAddress.baseURL : null);
  const baseUrl = option ?? file ?? variable;
  const usual = known?.keyVariables.find((candidate) => isSet(sources.environment, candidate));
  const keyVariable = entry?.keyVariable ?? usual ?? known?.keyVariables[0];
  const key = keyVariable === undefined ? undefined : sources.environment[keyVariable];
  // Attack: a `cordon.json` in a cloned repository names an address, and the user's key is sent there. A key goes to
  // an address of the file only if the file names its variable too, which a reader and `cordon apps` see.
  const isNamed = (entry?.keyVariable ?? null) !== null;
  const isWithheld = option === null && file !== null && !isNamed && !isLocalAddress(file);
  if (isWithheld && (key ?? '') !== '' && keyVariable !== undefined) report(withheld(name, keyVariable));
  const sent = key === '' || isWithheld ? undefined : key;
  return providerConfig(entry?.protocol ?? known?.protocol ?? 'openai', { baseUrl, key: sent, keyVariable });
}

/** A server at its own address speaks chat completions, and may want no key. */
function providerConfig(
  kind: HostedKind,
  parts: { baseUrl: string | null; key: string | undefined; keyVariable: string | undefined },
): ProviderConfig {
  const { baseUrl, ...rest } = parts;
  if (kind === 'openai' && baseUrl !== null) return { kind: 'openai-compatible', baseUrl, ...rest };
  return { kind, ...(baseUrl === null ? {} : { baseUrl }), ...rest };
}

function withheld(provider: string, variable: string): OutsideProblem {
  return {
    code: 'CFG037',
    severity: 'warning',
    source: 'environment',
    name: variable,
    message: `\`${variable}\` is not sent to the address that the file names for \`${provider}\``,
    help: `if that address may have it, write \`"providers": {"${provider}": {"apiKeyEnv": "${variable}"}}\``,
  };
}

function isSet(environment: Environment, name: string): boolean {
  return (environment[name] ?? '') !== '';
}

function isLocalAddress(address: string): boolean {
  return isThisMachine(new URL(address).hostname);
}

function addressVariable(
  known: KnownProvider | undefined,
  environment: Environment,
  report: (problem: OutsideProblem) => void,
): string | null {
  const name = known?.addressVariable ?? null;
  const value = name === null ? '' : (environment[name] ?? '');
  if (name === null || value === '') return null;
  const problem = providerAddressProblem(value);
  if (problem !== null) report({ ...problem, source: 'environment', name });
  return problem === null || problem.severity === 'warning' ? value : null;
}

/** The variables in which the known providers keep their keys. */
export function keyVariables(entries: ReadonlyMap<string, ProviderEntry>): ReadonlySet<string> {
  const known = [...KNOWN_PROVIDERS.values()].flatMap((provider) => provider.keyVariables);
  const named = [...entries.values()].flatMap(({ keyVariable }) => keyVariable ?? []);
  return new Set([...known, ...named]);
}
