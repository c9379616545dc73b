/** Addresses of Bitcoin wallets, by their checksum. */
import { isBase58Check, isBech32 } from '../text/checksums.ts';
import { type Finding, findingOf } from '../text/finding.ts';
import { matchesIn } from '../text/match.ts';

const ADDRESS =
  /(?<![A-Za-z0-9])(?:[13][1-9A-HJ-NP-Za-km-z]{25,34}|(?:bc1|BC1)[02-9ac-hj-np-zAC-HJ-NP-Z]{11,71})(?![A-Za-z0-9])/g;
/** A version, a hash of 20 bytes, and the checksum. */
const BASE58_BYTES = 25;

export function findWallets(text: string): readonly Finding[] {
  return matchesIn(text, ADDRESS)
    .filter(({ text: address }) =>
      /^bc1/i.test(address) ? isBech32(address) : isBase58Check(address, BASE58_BYTES),
    )
    .map((match) => findingOf('CRYPTO', match, 1, 'the form of a wallet’s address, and its checksum'));
}
