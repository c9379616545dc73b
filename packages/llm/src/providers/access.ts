/**
 * Provider configurations as values, and the checks that need no network. Anyone who reads the environment and the
 * files (the command line) fills these in; nothing in this package looks anything up.
 */

import type { HostedKind, ProviderConfig } from '@cordon/core';
import { type Failure, failure, type ProviderIdentity } from '../transport/failure.ts';

export const HOSTED_KEY_VARIABLES: Readonly<Record<HostedKind, string>> = {
  openai: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  google: 'GOOGLE_GENERATIVE_AI_API_KEY',
};

const PUBLIC_ADDRESSES: Readonly<Record<HostedKind, string>> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
};

/** Where calls go. */
export function addressOf(config: ProviderConfig): string {
  return config.kind === 'openai-compatible'
    ? config.baseUrl
    : (config.baseUrl ?? PUBLIC_ADDRESSES[config.kind]);
}

export function isHostedKind(name: string): name is HostedKind {
  return Object.hasOwn(HOSTED_KEY_VARIABLES, name);
}

export function identify(name: string, config: ProviderConfig): ProviderIdentity {
  const headers = config.kind === 'openai-compatible' ? Object.values(config.headers ?? {}) : [];
  const key = keyOf(config);
  return {
    name,
    keyVariable: keyVariableOf(name, config),
    secrets: key === undefined ? headers : [key, ...headers],
  };
}

/** A key copied from a file or a web page often brings its line break along. */
export function keyOf(config: ProviderConfig): string | undefined {
  const key = config.key?.trim();
  return key === '' ? undefined : key;
}

function keyVariableOf(name: string, config: ProviderConfig): string {
  if (config.keyVariable !== undefined) return config.keyVariable;
  if (config.kind !== 'openai-compatible') return HOSTED_KEY_VARIABLES[config.kind];
  return `the key of \`${name}\``;
}

/** What is wrong with a configuration, before the first call; `null` if nothing is known to be. */
export function checkProvider(name: string, config: ProviderConfig): Failure | null {
  const { keyVariable } = identify(name, config);
  const key = keyOf(config);
  if (key === undefined && needsKey(config)) {
    return failure('unauthorised', `provider \`${name}\` has no key`, {
      help: `set ${keyVariable} in the environment of cordon`,
    });
  }
  const values = config.kind === 'openai-compatible' ? Object.values(config.headers ?? {}) : [];
  if ([key ?? '', ...values].some((value) => !HEADER_VALUE.test(value))) {
    // Let through, such a value comes back inside the message of the error that `fetch` throws.
    return failure('unauthorised', `the key of provider \`${name}\` holds a character no header may hold`, {
      help: `set ${keyVariable} in the environment of cordon again, without line breaks and quotes`,
    });
  }
  return config.baseUrl === undefined ? null : checkBaseUrl(name, config.baseUrl);
}

/** A server under the user's own address may do without; one that does not will say so. */
function needsKey(config: ProviderConfig): boolean {
  if (config.kind === 'openai') return config.baseUrl === undefined;
  return config.kind !== 'openai-compatible';
}

const HEADER_VALUE = /^[\x20-\x7e]*$/;

function checkBaseUrl(name: string, baseUrl: string): Failure | null {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  const wrong = (what: string, help: string) =>
    failure('unknown-model', `the base URL of provider \`${name}\` ${what}`, { help });
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    return wrong('is not an http or https address', 'write it like `http://127.0.0.1:11434/v1`');
  }
  if (url.username !== '' || url.password !== '') {
    return wrong('holds a user name or password', 'configure a key or a header instead');
  }
  if (url.search !== '' || url.hash !== '') return wrong('has a query or fragment', 'end it after the path');
  return null;
}
