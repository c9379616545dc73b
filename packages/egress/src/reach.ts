/**
 * Where an app may go: the entries of its manifest's `network`, their notation and their meaning. Every entry that
 * can be read is enforced; what cannot is refused with what to write instead.
 */
import { failed, ok, type Result } from '@cordon/core';
import { getDomain } from 'tldts';
import { type Destination, destination, isAddress } from './destination.ts';

/** One entry. Ports: 443 takes TLS only, 80 plain HTTP only, every other either. */
export type NetworkEntry =
  /** `example.com`: the host and all below it. */
  | { readonly kind: 'site'; readonly host: string; readonly port: number }
  /** `api.example.com`, `=example.com`: this host alone. */
  | { readonly kind: 'host'; readonly host: string; readonly port: number }
  /** `127.0.0.1:8080`, `[::1]:8080`: this address alone; the one way to what is not on the public internet. */
  | { readonly kind: 'address'; readonly host: string; readonly port: number };

/** What an app may reach. Empty reaches nothing. */
export type Reach = readonly NetworkEntry[];

export interface EntryProblem {
  readonly message: string;
  readonly help: string;
}

export { isPrivateAddress, isPublicAddress } from './resolver.ts';

export const TLS_PORT = 443;
export const PLAIN_PORT = 80;

/** All entries of a manifest, or what is wrong with the first invalid one. */
export function parseReach(texts: readonly string[]): Result<Reach, EntryProblem> {
  const entries: NetworkEntry[] = [];
  for (const text of texts) {
    const entry = parseNetworkEntry(text);
    if (!entry.ok) return entry;
    entries.push(entry.value);
  }
  return ok(entries);
}

/** Never throws. The problem quotes nothing of `text` but what was recognised as a name in it. */
export function parseNetworkEntry(text: string): Result<NetworkEntry, EntryProblem> {
  const slip = slipIn(text);
  if (slip !== null) return failed(slip);
  const [, exactly = '', hostText = '', portText] = ENTRY.exec(text.toLowerCase()) ?? [];
  const port = portText === undefined ? TLS_PORT : Number(portText);
  const found = destination(hostText, port);
  if (!found.ok) return failed(unusable(hostText, found.fault));
  const { host, site } = found.value;
  if (isAddress(host)) return addressEntry(host, port, portText !== undefined, exactly !== '');
  return ok({ kind: host === site && exactly === '' ? 'site' : 'host', host, port });
}

/** The shortest text that `parseNetworkEntry` reads as this entry: equal entries are equal texts. */
export function printNetworkEntry({ kind, host, port }: NetworkEntry): string {
  if (kind === 'address') return `${host}:${port}`;
  const exactly = kind === 'host' && getDomain(host, { allowPrivateDomains: true }) === host ? '=' : '';
  return `${exactly}${host}${port === TLS_PORT ? '' : `:${port}`}`;
}

export function isWithinReach(to: Destination, reach: Reach): boolean {
  return reach.some((entry) => entry.port === to.port && isNamedBy(entry, to));
}

/** The narrowest entry that reaches a destination. */
export function entryOf({ host, port }: Destination): string {
  return printNetworkEntry({ kind: isAddress(host) ? 'address' : 'host', host, port });
}

/** Whether an entry reaches the host at some port. */
export function isNameWithinReach(to: Destination, reach: Reach): boolean {
  return reach.some((entry) => isNamedBy(entry, to));
}

function isNamedBy(entry: NetworkEntry, { host, site }: Destination): boolean {
  return entry.host === (entry.kind === 'site' ? site : host);
}

/** Whether everything that `narrow` reaches is within `wide`. */
export function coversEntry(wide: NetworkEntry, narrow: NetworkEntry): boolean {
  if (wide.port !== narrow.port || (narrow.kind === 'site' && wide.kind !== 'site')) return false;
  if (wide.kind !== 'site') return wide.host === narrow.host;
  const { host, port } = narrow;
  const within = destination(host, port);
  return within.ok && within.value.site === wide.host;
}

const ENTRY = /^(=?)(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/;

function addressEntry(
  host: string,
  port: number,
  hasPort: boolean,
  isMarked: boolean,
): Result<NetworkEntry, EntryProblem> {
  const shown = `\`${host}:${hasPort ? port : '8080'}\``;
  if (isMarked) return failed(problem('`=` has no meaning before an address', `write ${shown}`));
  if (host === '0.0.0.0' || host === '[::]')
    return failed(problem('this is the address of nobody', 'write the one that the server listens on'));
  if (!hasPort) return failed(problem('an address needs a port', `write it like ${shown}`));
  return ok({ kind: 'address', host, port });
}

/** What people write who think of another notation. */
function slipIn(text: string): EntryProblem | null {
  if (text === '*' || text === '*.*')
    return problem('there is no "everywhere"', 'name each domain that the app needs');
  if (text.length > 260 || /[^\x21-\x7e]/.test(text)) {
    const help = /[^\p{ASCII}]/u.test(text) ? 'write the name in its `xn--` form' : FORM;
    return problem('this is no host', help);
  }
  const bare = text
    .replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
    .replace(/[/?#\\].*$/s, '')
    .replace(/^[^@]*@/, '')
    .replace(/^\*?\./, '')
    .replace(/\.(?=:|$)/, '');
  const written = bare !== text ? parseNetworkEntry(bare) : null;
  if (bare === text) return ENTRY.test(text) ? null : problem('this is no host', FORM);
  const message = text.includes('*') ? 'there are no wildcards' : 'only a host and a port can be named';
  if (written?.ok !== true) return problem(message, FORM);
  const subdomains = written.value.kind === 'site' ? '; its subdomains are included' : '';
  return problem(message, `write \`${printNetworkEntry(written.value)}\`${subdomains}`);
}

const FORM = 'write a host like `example.com` or `api.example.com:8443`, without scheme and path';

function unusable(hostText: string, why: string): EntryProblem {
  if (hostText === 'localhost' || hostText.endsWith('.localhost')) {
    return problem('`localhost` is no domain', 'write the address with its port, like `127.0.0.1:8080`');
  }
  const address = URL.parse(`http://${hostText}/`)?.hostname ?? '';
  if (isAddress(address)) return problem('the address is spelled oddly', `write \`${address}:8080\``);
  if (/^[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(hostText) && why.includes('registrable')) {
    const help = 'name the site itself, like `example.co.uk` or `name.github.io`';
    return problem('everybody can have a name below this one', help);
  }
  return problem(why, FORM);
}

function problem(message: string, help: string): EntryProblem {
  return { message, help };
}
