/**
 * What stands for what inside a sandbox: each name that an app asks for gets a loopback address there, so that a connection to
 * the address is one to the name. Real addresses are looked up outside, for each connection, and never shown.
 */
import { failed, type Result } from '@cordon/core';
import { type Destination, destination, isAddress } from './destination.ts';
import { isNameWithinReach, ownNames, type Reach } from './reach.ts';

/** Attack: an app asks for names below its site without end. */
const MOST_NAMES = 1_000;
/** The addresses from 127.64.0.1 on. */
const POOL = '127.64.';

export class NamesInside {
  readonly #reach: Reach;
  readonly #own: ReadonlySet<string>;
  readonly #addresses = new Map<string, string>();
  readonly #names = new Map<string, string>();

  constructor(reach: Reach) {
    this.#reach = reach;
    this.#own = ownNames(reach);
  }

  /** Whether an entry of the manifest has the name, with any port. */
  has(name: string): boolean {
    const found = nameIn(name, this.#own);
    return found !== null && isNameWithinReach(found, this.#reach);
  }

  /** Of a name that it has; null: there are no more addresses. */
  addressOf(name: string): string | null {
    const known = this.#addresses.get(name);
    if (known !== undefined) return known;
    const number = this.#addresses.size + 1;
    if (number > MOST_NAMES) return null;
    const address = `${POOL}${number >> 8}.${number & 0xff}`;
    this.#addresses.set(name, address);
    this.#names.set(address, name);
    return address;
  }

  /**
   * What a connection to an address inside is meant for: the name, or the address itself.
   * @param spelled as sockets report it: without brackets, and that of IPv4 perhaps as one of IPv6
   */
  destinationAt(spelled: string, port: number): Result<Destination, string> {
    const bare = spelled.replace(/^::ffff:(?=[\d.]+$)/, '');
    const address = bare.includes(':') ? `[${bare}]` : bare;
    const name = this.#names.get(address);
    if (name !== undefined) return destination(name, port, this.#own);
    return address.startsWith(POOL) ? failed('the address stands for no name') : destination(address, port);
  }
}

/** Null: no name in its canonical form that a manifest could have. */
export function nameIn(text: string, own?: ReadonlySet<string>): Destination | null {
  const found = destination(text, 1, own);
  return found.ok && found.value.host === text && !isAddress(text) ? found.value : null;
}
