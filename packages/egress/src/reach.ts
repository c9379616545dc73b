/**
 * Where an app may go: the entries of its manifest's `network`, their notation and their meaning. Every entry that
 * can be read is enforced; what cannot is refused with what to write instead.
 */
import { bareAddress, failed, ok, type Result } from '@cordon/core';
import { getDomain } from 'tldts';
import { type Destination, destination, isAddress } from './destination.ts';
import { isListableAddress, type NamePlaces } from './resolver.ts';

/** One entry. Ports: 443 takes TLS only, 80 plain HTTP only, every other either. */
export type NetworkEntry =
  /** `example.com`: the host and all below it. */
  | ({ readonly kind: 'site' } & NamedEntry)
  /** `api.example.com`, `=example.com`: this host alone. */
  | ({ readonly kind: 'host' } & NamedEntry)
  /** `127.0.0.1:8080`, `[::1]:8080`: this address alone; the one way to what is not on the public internet. */
  | { readonly kind: 'address'; readonly host: string; readonly port: number };

interface NamedEntry {
  readonly host: string;
  readonly port: number;
  /**
   * `mail.corp.example@10.1.2.3`: the name may lead to these private addresses, and to no others. Sorted, not empty. Absent: to public
   * ones alone.
   */
  readonly at?: readonly string[];
}

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
  const [written, places] = parted(text);
  const slip = slipIn(written);
  if (slip !== null) return failed(slip);
  const [, exactly = '', hostText = '', portText] = ENTRY.exec(written.toLowerCase()) ?? [];
  const port = portText === undefined ? TLS_PORT : Number(portText);
  const found = destination(hostText, port, places === null ? undefined : { has: isOwnName });
  if (!found.ok) return failed(unusable(hostText, found.fault));
  const { host, site } = found.value;
  if (isAddress(host))
    return places === null
      ? addressEntry(host, port, portText !== undefined, exactly !== '')
      : failed(problem('only a name leads to addresses', PLACES_FORM));
  const kind = host === site && exactly === '' && host.includes('.') ? 'site' : 'host';
  if (places === null) return ok({ kind, host, port });
  if (!host.includes('.') && portText === undefined)
    return failed(problem('a name of one word before `@` needs a port', WORD_FORM));
  const at = readPlaces(places);
  return at.ok ? ok({ kind, host, port, at: at.value }) : at;
}

/** `NAME:PORT@ADDRESSES`. Other texts with `@`, as in addresses of the web, are no such entry. */
function parted(text: string): readonly [entry: string, places: string | null] {
  const [, entry, places] = /^([^@/]*)@([\d[].*)$/s.exec(text) ?? [];
  return entry === undefined || places === undefined ? [text, null] : [entry, places];
}

function isOwnName(host: string): boolean {
  return host !== 'localhost';
}

/** Of one name. */
const MOST_PLACES = 8;

function readPlaces(text: string): Result<readonly string[], EntryProblem> {
  const places = text.toLowerCase().split(',');
  if (places.length > MOST_PLACES)
    return failed(problem(`more than ${MOST_PLACES} addresses for one name`, 'list fewer'));
  const at = places.map((place) => (place.includes(':') === place.startsWith('[') ? bareAddress(place) : ''));
  if (at.every(isListableAddress)) return ok([...new Set(at)].sort());
  const isLocal = at.some((address) => address === '::1' || address.startsWith('127.'));
  return failed(
    isLocal
      ? problem('a name cannot lead to a loopback address', 'name the address itself, like `127.0.0.1:8080`')
      : problem('a name can lead only to single addresses of private networks', PLACES_FORM),
  );
}

/** Many write `user@address`, as for SSH. */
const WORD_FORM =
  'write it like `nexus:443@10.1.2.3`; an address is written with its port and without a user, like `10.1.2.3:22`';

const PLACES_FORM =
  'write it like `mail.example.com:993@10.1.2.3` or `db.example.com:5432@[fd00::15]`, with a comma between addresses';

/** The shortest text that `parseNetworkEntry` reads as this entry: equal entries are equal texts. */
export function printNetworkEntry(entry: NetworkEntry): string {
  const { kind, host, port } = entry;
  if (kind === 'address') return `${host}:${port}`;
  const exactly = kind === 'host' && getDomain(host, { allowPrivateDomains: true }) === host ? '=' : '';
  const places = entry.at?.map((address) => (address.includes(':') ? `[${address}]` : address)) ?? [];
  const at = places.length === 0 ? '' : `@${places.join(',')}`;
  const isShort = port === TLS_PORT && (host.includes('.') || at === '');
  return `${exactly}${host}${isShort ? '' : `:${port}`}${at}`;
}

export function isWithinReach(to: Destination, reach: Reach): boolean {
  return entriesOf(to, reach).length > 0;
}

/** Where a name within reach may lead: wherever one of its entries says. */
export function placesOf(to: Destination, reach: Reach): NamePlaces {
  const entries = entriesOf(to, reach);
  return {
    isPublic: entries.some((entry) => !isListing(entry)),
    listed: new Set(entries.flatMap(listedAt)),
  };
}

/** Names of one label that are within reach, each with listed addresses. */
export function ownNames(reach: Reach): ReadonlySet<string> {
  return new Set(reach.filter(isListing).map(({ host }) => host));
}

function isListing(entry: NetworkEntry): boolean {
  return entry.kind !== 'address' && entry.at !== undefined;
}

function listedAt(entry: NetworkEntry): readonly string[] {
  return entry.kind === 'address' ? [] : (entry.at ?? []);
}

function entriesOf(to: Destination, reach: Reach): Reach {
  return reach.filter((entry) => entry.port === to.port && isNamedBy(entry, to));
}

/** The narrowest entry that reaches a destination. `at`: the private addresses to which it leads. */
export function entryOf({ host, port }: Destination, at: readonly string[] = []): string {
  if (isAddress(host)) return printNetworkEntry({ kind: 'address', host, port });
  return printNetworkEntry({ kind: 'host', host, port, ...(at.length === 0 ? {} : { at: [...at].sort() }) });
}

/**
 * The narrowest entry that the manifest lacks for what is not within reach; null: none can be written. A name of one label is read
 * with addresses only: those that the manifest lists for it at other ports.
 */
export function entryLacking(to: Destination, reach: Reach): string | null {
  if (isAddress(to.host) || to.host.includes('.')) return entryOf(to);
  const at = [...new Set(reach.filter((entry) => isNamedBy(entry, to)).flatMap(listedAt))];
  return at.length > 0 && at.length <= MOST_PLACES ? entryOf(to, at) : null;
}

/** The entry that the manifest lacks for a name that leads to these addresses; null: none can be written. */
export function entryLeadingTo(to: Destination, addresses: readonly string[], reach: Reach): string | null {
  const at = [...new Set([...placesOf(to, reach).listed, ...addresses])];
  const canBeListed = addresses.length > 0 && addresses.every(isListableAddress) && at.length <= MOST_PLACES;
  return canBeListed ? entryOf(to, at) : null;
}

/** Whether an entry reaches the host at some port. */
export function isNameWithinReach(to: Destination, reach: Reach): boolean {
  return reach.some((entry) => isNamedBy(entry, to));
}

function isNamedBy(entry: NetworkEntry, { host, site }: Destination): boolean {
  return entry.host === (entry.kind === 'site' ? site : host);
}

/** Whether everything that `narrow` reaches is within `wide`: what lists addresses reaches no public ones. */
export function coversEntry(wide: NetworkEntry, narrow: NetworkEntry): boolean {
  return isListing(wide) === isListing(narrow) && coversName(wide, narrow);
}

/** The same of a credential, whose hosts are names alone: it goes wherever the name leads. */
export function coversName(wide: NetworkEntry, narrow: NetworkEntry): boolean {
  if (wide.port !== narrow.port || (narrow.kind === 'site' && wide.kind !== 'site')) return false;
  const listed = listedAt(wide);
  if (!listedAt(narrow).every((address) => listed.includes(address))) return false;
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
