/**
 * Where a host name becomes an address, once, and nowhere else. A name with one answer that is not public is
 * refused as a whole: a second look could give the other answer (DNS rebinding).
 */
import { BlockList, isIP } from 'node:net';
import { failed, ok, type Result } from '@cordon/core';
import type { Lookup } from '@cordon/dialler';

const LOOKUP_DEADLINE_MS = 5_000;

/**
 * One look-up at a time, for one app. Attack: names whose servers never answer; each holds one of the few threads that
 * look-ups of all apps share.
 */
export function oneAtATime(find: Lookup): Lookup {
  let last: Promise<unknown> = Promise.resolve();
  return (host) => {
    const found = last.then(() => find(host));
    last = found.catch(() => undefined);
    return found;
  };
}

/** Where a name may lead. */
export interface NamePlaces {
  /** To every address of the public internet. */
  readonly isPublic: boolean;
  /** To these, too; each is private. */
  readonly listed: ReadonlySet<string>;
}

export interface NameFault {
  readonly reason: string;
  readonly leadsTo: readonly string[];
}

const PUBLIC: NamePlaces = { isPublic: true, listed: new Set() };

/** An address of the public internet to dial; the caller must not resolve again. Never rejects. */
export async function resolvePublic(host: string, find: Lookup): Promise<Result<string, string>> {
  const found = await resolveName(host, find, PUBLIC);
  return found.ok ? found : failed(found.fault.reason);
}

/**
 * An address to dial; the caller must not resolve again. Never rejects.
 *
 * Attack: a name of the user's own network is answered with an address of the internet, and what is meant for that network
 * goes there, perhaps in the clear. Attack: a name that the user granted leads to a machine of the user's network (rebinding).
 */
export async function resolveName(
  host: string,
  find: Lookup,
  { isPublic, listed }: NamePlaces,
): Promise<Result<string, NameFault>> {
  const deadline = Promise.withResolvers<readonly string[]>();
  const timer = setTimeout(deadline.resolve, LOOKUP_DEADLINE_MS, []);
  try {
    const addresses = await Promise.race([find(host), deadline.promise]);
    const [first] = addresses;
    if (first === undefined) return noAddress('the name has no address');
    if (isPublic && addresses.every(isPublicAddress)) return ok(first);
    if (addresses.every((address) => listed.has(address))) return ok(first);
    const reason = `the name leads to an address that is ${listed.size === 0 ? 'not public' : 'not listed for it'}`;
    return failed({ reason, leadsTo: addresses });
  } catch {
    return noAddress('the name cannot be resolved');
  } finally {
    clearTimeout(timer);
  }
}

function noAddress(reason: string): Result<never, NameFault> {
  return failed({ reason, leadsTo: [] });
}

/** Special-purpose ranges (RFC 6890 and IANA's registries), but for those at which nobody keeps a server. */
const PRIVATE_4: readonly (readonly [string, number])[] = [
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
];

/** Of nobody, of everybody, of the link, and of the metadata services of clouds: nobody keeps a server there for others. */
const NO_SERVER_4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['169.254.0.0', 16],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  ['168.63.129.16', 32],
];

/**
 * Inside 2000::/3. Everything outside it is refused anyway: v4-mapped and v4-compatible, NAT64, unique and site local,
 * link-local, multicast.
 */
const NOT_PUBLIC_6: readonly (readonly [string, number])[] = [
  ['2001::', 23], // IETF protocol assignments, Teredo and ORCHID among them
  ['2001:db8::', 32],
  ['2002::', 16], // 6to4 holds an IPv4 address
  ['2620:4f:8000::', 48], // AS112
  ['3fff::', 20],
];

/** Metadata services of clouds inside of private ranges. They hand out keys. */
const metadata4 = blockList(
  [
    ['192.0.0.192', 32], // Oracle
    ['100.100.100.200', 32], // Alibaba
  ],
  'ipv4',
);
const metadata6 = blockList(
  [
    ['fd00:ec2::', 32], // Amazon: metadata, keys of pods (Pod Identity)
    ['fd20:ce::', 32], // Google
    ['fd00:42::42', 128], // Scaleway
    ['fd00:c1::a9fe:a9fe', 128], // Oracle
  ],
  'ipv6',
);

/** Of organisations, and of documents. */
const private6 = blockList(
  [
    ['fc00::', 7],
    ['2001:db8::', 32],
  ],
  'ipv6',
);
const private4 = blockList(PRIVATE_4, 'ipv4');
const notPublic4 = blockList([...PRIVATE_4, ...NO_SERVER_4], 'ipv4');
const notPublic6 = blockList(NOT_PUBLIC_6, 'ipv6');
const global6 = blockList([['2000::', 3]], 'ipv6');

function blockList(ranges: readonly (readonly [string, number])[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const [address, bits] of ranges) list.addSubnet(address, bits, family);
  return list;
}

/** Whether an IP address in text is one that anybody on the internet could be reached at. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !notPublic4.check(address, 'ipv4');
    case 6:
      return isPublic6(address);
    default:
      return false;
  }
}

/**
 * Whether an address in its canonical spelling is not public, and one at which a server of the user's own network or of this machine
 * can be. Link-local addresses and metadata services of clouds are none.
 */
export function isPrivateAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return private4.check(address, 'ipv4') && !metadata4.check(address, 'ipv4');
    case 6:
      return (
        URL.parse(`http://[${address}]/`)?.hostname === `[${address}]` &&
        (address === '::1' || private6.check(address, 'ipv6')) &&
        !metadata6.check(address, 'ipv6')
      );
    default:
      return false;
  }
}

/** Whether a name may be listed as leading to a private address. No loopback address and no metadata service may. */
export function isListableAddress(address: string): boolean {
  const isLoopback = address === '::1' || address.startsWith('127.');
  return isPrivateAddress(address) && !isLoopback;
}

function isPublic6(address: string): boolean {
  if (address.includes('%') || !global6.check(address, 'ipv6') || notPublic6.check(address, 'ipv6'))
    return false;
  const [, , , , high, low] = groupsOf(address);
  // ISATAP (RFC 5214, 6.1): `[02]00:5efe`, then an IPv4 address, under any prefix.
  return !(low === 0x5efe && (high === 0 || high === 0x200));
}

/** The eight numbers of an IPv6 address. */
function groupsOf(address: string): readonly number[] {
  const canonical = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [before = '', after] = canonical.split('::');
  const [head, tail] = [before, after ?? ''].map((part) => (part === '' ? [] : part.split(':')));
  const zeros =
    after === undefined ? [] : Array<string>(8 - (head?.length ?? 0) - (tail?.length ?? 0)).fill('0');
  return [...(head ?? []), ...zeros, ...(tail ?? [])].map((group) => Number.parseInt(group, 16));
}
