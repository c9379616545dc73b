/**
 * All that Cordon has of the network: connections to other machines, and the addresses of names. Whoever dials has decided before
 * where to.
 */
import type { Socket } from 'node:net';
import type { Result } from '@cordon/core';

export interface Dialler {
  readonly lookup: Lookup;
  readonly dial: Dial;
  /**
   * A listener on the loopback of this machine, which ends every connection: whoever cannot connect to it has not the
   * network of this machine.
   */
  readonly bait: () => Promise<Result<Bait, DialFault>>;
}

/** All addresses of a name; rejects when there is none. */
export type Lookup = (host: string) => Promise<readonly string[]>;

/** An open connection to a name or an address, or why there is none. Never rejects. */
export type Dial = (host: string, port: number, signal?: AbortSignal) => Promise<Result<Socket, DialFault>>;

export interface DialFault {
  /** As Node has it, for example `ECONNREFUSED`; null: the reason has none. */
  readonly code: string | null;
  readonly message: string;
}

export interface Bait {
  readonly port: number;
  readonly close: () => void;
}
