/**
 * `packages` of the configuration: the registries that packages of apps come from and their credentials, in the words of npm's
 * settings, and the private addresses to which the names of registries may lead.
 *
 * What it accepts becomes what an installation may reach.
 */
import { addressProblem } from '../apps/app-config.ts';
import { isPrivateAddress } from '../apps/network-config.ts';
import { type Located, type Problem, quoted } from '../reading/config-reader.ts';
import { replacePlaceholders } from '../reading/placeholders.ts';

export interface PackageSettings {
  /** Addresses by npm's key: `registry`, `@scope:registry`. */
  readonly registries: ReadonlyMap<string, string>;
  /** By host: the addresses to which it may lead, and no others. None of these lists is empty. */
  readonly privateAddresses: ReadonlyMap<string, readonly string[]>;
  /** Secrets by npm's key: `//host/path/:_authToken`, `//host/path/:_auth`. Each is for the registries at this place. */
  readonly credentials: ReadonlyMap<string, NamedSecret>;
}

export interface NamedSecret {
  /** Under which the user typed it. */
  readonly name: string;
  readonly value: string;
}

export const NO_PACKAGE_SETTINGS: PackageSettings = {
  registries: new Map(),
  privateAddresses: new Map(),
  credentials: new Map(),
};

const PRIVATE = 'privateAddresses';
const REGISTRY_KEY = /^(?:@[a-z0-9~][a-z0-9._~-]{0,213}:)?registry$/;
const CREDENTIAL_KEY = /^(\/\/[^\s/?#@]{1,259}\/(?:[^\s?#:]{0,500}\/)?):(?:_authToken|_auth)$/;
const SECRET = /^\$\{secret:([^}]*)\}$/;
/** What a header can hold. */
const USABLE = /^[\x21-\x7e]{1,8192}$/;

/** Reads `packages`; what is wrong is reported and left out. `secret`: what is kept under a name, or null. */
export function readPackages(at: Located, secret: (name: string) => string | null): PackageSettings {
  const registries = new Map<string, string>();
  const credentials = new Map<string, NamedSecret>();
  let privateAddresses = NO_PACKAGE_SETTINGS.privateAddresses;
  for (const [key, inner] of at.entries()) {
    if (key === PRIVATE) privateAddresses = readPrivateAddresses(inner);
    else if (REGISTRY_KEY.test(key)) {
      const url = inner.checked(addressProblem);
      if (url !== null) registries.set(key, url);
    } else if (isCredentialKey(key)) {
      const credential = readCredential(inner, secret);
      if (credential !== null) credentials.set(key, credential);
    } else inner.reportKey(unknownKey(key));
  }
  return { registries, privateAddresses, credentials };
}

function isCredentialKey(key: string): boolean {
  const [, place] = CREDENTIAL_KEY.exec(key) ?? [];
  const url = place === undefined ? null : URL.parse(`https:${place}`);
  return url !== null && `//${url.host}${url.pathname}` === place;
}

/** A secret that the user typed, and nothing that stands in the file or in the environment. */
function readCredential(at: Located, secret: (name: string) => string | null): NamedSecret | null {
  const text = at.checked((value) => (SECRET.test(value) ? null : NO_PLAIN_CREDENTIAL));
  const value = text === null ? null : replacePlaceholders(at, text, { config: '', state: '', secret });
  if (text === null || value === null) return null;
  const [, name = ''] = SECRET.exec(text) ?? [];
  return USABLE.test(value) ? { name, value } : at.report(UNUSABLE_CREDENTIAL);
}

const NO_PLAIN_CREDENTIAL: Problem = {
  code: 'CFG011',
  message: 'the credentials of a registry do not stand in the file',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder as people write it
  help: 'write `${secret:NAME}`; `cordon init`, at a terminal, asks for it. Replace the credentials if this file was shared',
};

const UNUSABLE_CREDENTIAL: Problem = {
  code: 'CFG060',
  message: 'the credentials of the registry hold a blank or a character that no header may hold',
  help: 'type them again: `cordon init`',
};

function unknownKey(key: string): Problem {
  return {
    code: 'CFG006',
    message: `the key ${quoted(key)} is unknown`,
    help: `write \`registry\`, \`@scope:registry\`, \`//host/:_authToken\`, \`//host/:_auth\` or \`${PRIVATE}\``,
  };
}

function readPrivateAddresses(at: Located): ReadonlyMap<string, readonly string[]> {
  const addressOf = (item: Located) =>
    item.checked((text) => (isPrivateAddress(text) ? null : notPrivate(text)));
  const entries = at.mapped(hostProblem, (host, inner): [string, readonly string[]] | null => {
    if (inner.node.kind === 'array' && inner.node.items.length === 0) return inner.report(NO_ADDRESS);
    return [host, inner.list('an array of addresses', addressOf)];
  });
  return new Map(entries);
}

const NO_ADDRESS: Problem = {
  code: 'CFG060',
  message: 'the name leads nowhere, because its list is empty',
  help: 'list its addresses, or leave the name out',
};

function hostProblem(host: string): Problem | null {
  // With a dot at its end it would not be found under the name that is looked up.
  const isName = URL.parse(`http://${host}/`)?.hostname === host && /[a-z]/.test(host) && !/:|\.$/.test(host);
  return isName
    ? null
    : {
        code: 'CFG060',
        message: `${quoted(host)} is no name of a host`,
        help: 'write the name alone, in small letters, like `npm.example.com`',
      };
}

function notPrivate(text: string): Problem {
  return {
    code: 'CFG060',
    message: `${quoted(text)} is no address of a private network`,
    help: 'write it like `10.20.0.15` or `fd00::15`; addresses of the internet need no entry',
  };
}
