/**
 * `packages` of the configuration: the registries that packages of apps come from, in the words of npm's settings, and the private
 * addresses to which the names of registries may lead.
 *
 * What it accepts becomes what an installation may reach.
 */
import { addressProblem } from '../apps/app-config.ts';
import { isPrivateAddress } from '../apps/network-config.ts';
import { type Located, type Problem, quoted } from '../reading/config-reader.ts';

export interface PackageSettings {
  /** Addresses by npm's key: `registry`, `@scope:registry`. */
  readonly registries: ReadonlyMap<string, string>;
  /** By host: the addresses to which it may lead although they are not public. */
  readonly privateAddresses: ReadonlyMap<string, readonly string[]>;
}

export const NO_PACKAGE_SETTINGS: PackageSettings = { registries: new Map(), privateAddresses: new Map() };

const PRIVATE = 'privateAddresses';
const REGISTRY_KEY = /^(?:@[a-z0-9~][a-z0-9._~-]{0,213}:)?registry$/;

/** Reads `packages`; what is wrong is reported and left out. */
export function readPackages(at: Located): PackageSettings {
  const registries = new Map<string, string>();
  let privateAddresses = NO_PACKAGE_SETTINGS.privateAddresses;
  for (const [key, inner] of at.entries()) {
    if (key === PRIVATE) privateAddresses = readPrivateAddresses(inner);
    else if (REGISTRY_KEY.test(key)) {
      const url = inner.checked(addressProblem);
      if (url !== null) registries.set(key, url);
    } else inner.reportKey(unknownKey(key));
  }
  return { registries, privateAddresses };
}

function unknownKey(key: string): Problem {
  return {
    code: 'CFG006',
    message: `the key ${quoted(key)} is unknown`,
    help: `write \`registry\`, \`@scope:registry\` or \`${PRIVATE}\``,
  };
}

function readPrivateAddresses(at: Located): ReadonlyMap<string, readonly string[]> {
  const addressOf = (item: Located) =>
    item.checked((text) => (isPrivateAddress(text) ? null : notPrivate(text)));
  const entries = at.mapped(hostProblem, (host, inner): [string, readonly string[]] => [
    host,
    inner.list('an array of addresses', addressOf),
  ]);
  return new Map(entries);
}

function hostProblem(host: string): Problem | null {
  const isName = URL.parse(`http://${host}/`)?.hostname === host && /[a-z]/.test(host) && !host.includes(':');
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
