/**
 * Where a host name becomes an address, once, and nowhere else. A name with one answer that is not public is
 * refused as a whole: a second look could give the other answer (DNS rebinding).
 *
 * Ring 0.
 */
import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { failed, ok, type Result } from '@cordon/core';

/** All addresses of a name; rejects when there is none. */
export type Lookup = (host: string) => Promise<readonly string[]>;

export const systemLookup: Lookup = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address);

const LOOKUP_DEADLINE_MS = 5_000;

/** An address to dial; the caller must not resolve again. Never rejects. */
export async function resolvePublic(host: string, find: Lookup): Promise<Result<string, string>> {
  const deadline = Promise.withResolvers<readonly string[]>();
  const timer = setTimeout(deadline.resolve, LOOKUP_DEADLINE_MS, []);
  try {
    const addresses = await Promise.race([find(host), deadline.promise]);
    const [first] = addresses;
    if (first === undefined) return failed('the name has no address');
    if (!addresses.every(isPublicAddress)) return failed('the name leads to an address that is not public');
    return ok(first);
  } catch {
    return failed('the name cannot be resolved');
  } finally {
    clearTimeout(timer);
  }
}

/** Special-purpose ranges (RFC 6890 and IANA's registries), and 168.63.129.16, a cloud's metadata service. */
const NOT_PUBLIC_4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
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
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  ['168.63.129.16', 32],
];

/** Inside 2000::/3; everything outside it is refused anyway (so are v4-mapped, NAT64, unique local, link-local). */
const NOT_PUBLIC_6: readonly (readonly [string, number])[] = [
  ['2001::', 23], // IETF protocol assignments, Teredo among them
  ['2001:db8::', 32],
  ['2002::', 16], // 6to4 holds an IPv4 address
  ['3fff::', 20],
];

const notPublic4 = blockList(NOT_PUBLIC_4, 'ipv4');
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
      return !address.includes('%') && global6.check(address, 'ipv6') && !notPublic6.check(address, 'ipv6');
    default:
      return false;
  }
}
