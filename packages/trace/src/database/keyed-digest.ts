/**
 * Digests that nobody makes without the key: with the key of the store where it has one, else with that of the journal.
 */
import type { ChainKey } from './chain-key.ts';
import type { Database } from './database.ts';
import type { Seal } from './seal.ts';

export class KeyedDigest {
  readonly #database: Database;
  readonly #chainKey: ChainKey | null;

  constructor(database: Database, chainKey: ChainKey | null) {
    this.#database = database;
    this.#chainKey = chainKey;
  }

  get isKeyed(): boolean {
    return this.isKeyedBy(this.#database.seal);
  }

  isKeyedBy(seal: Seal): boolean {
    return seal.mark !== '' || this.#chainKey !== null;
  }

  /** Null: there is no key. `text` begins with its own word for what it is. */
  of(text: string, seal: Seal = this.#database.seal): Uint8Array | null {
    return seal.tag(text) ?? this.#chainKey?.tag(text) ?? null;
  }
}
