/** Addresses of Bitcoin wallets, by their checksum. Ring 1. */
import { isBase58Check, isBech32 } from '../text/checksums.ts';
import type { Finding } from '../text/finding.ts';

const ADDRESS =
  /(?<![A-Za-z0-9])(?:[13][1-9A-HJ-NP-Za-km-z]{25,34}|(?:bc1|BC1)[02-9ac-hj-np-zAC-HJ-NP-Z]{11,71})(?![A-Za-z0-9])/g;
/** A version, a hash of 20 bytes, and the checksum. */
const BASE58_BYTES = 25;

export function findWallets(text: string): readonly Finding[] {
  return [...text.matchAll(ADDRESS)]
    .filter(([address]) => (/^bc1/i.test(address) ? isBech32(address) : isBase58Check(address, BASE58_BYTES)))
    .map(({ 0: address, index }) => ({
      kind: 'CRYPTO',
      start: index,
      end: index + address.length,
      confidence: 1,
      reason: 'the form of a wallet’s address, and its checksum',
    }));
}
