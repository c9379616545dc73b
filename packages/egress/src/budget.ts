/**
 * How much of the network an app may use in a session: requests a minute, connections at once, bytes of one
 * request and of all. The budget belongs to the session, so an app that ends and is started anew has used what it
 * used.
 */
import { type Clock, failed, ok, type Result } from '@cordon/core';

export interface EgressLimits {
  /** At once. */
  readonly connections: number;
  readonly requestsPerMinute: number;
  /** To the proxy, whatever comes of them: what is refused costs the hub time, too. */
  readonly connectionsPerMinute: number;
  /** Bytes of one request or tunnel, heads included. */
  readonly bytesUp: number;
  readonly bytesDown: number;
  /** Bytes of everything in a session. */
  readonly sessionBytesUp: number;
  readonly sessionBytesDown: number;
  /** Nothing is sent or received. */
  readonly idleMs: number;
  /** The same for a connection that the app makes directly, to a port other than 80 and 443: mail programs wait for new mail. */
  readonly quietMs: number;
  /** A client that connects directly and says nothing for so long waits for the server to begin, as in SMTP and IMAP. */
  readonly patienceMs: number;
  /** From the first byte of a request to the last of its head; of a tunnel to the end of its ClientHello. */
  readonly headersMs: number;
  /** From the decision to the last byte of a request's body. */
  readonly bodyMs: number;
  /** Chunks of a few bytes of all bodies, both ways, at full speed; twice as many may come at once. */
  readonly smallPiecesPerSecond: number;
}

const MIB = 1024 * 1024;

export const DEFAULT_EGRESS_LIMITS: EgressLimits = {
  connections: 32,
  requestsPerMinute: 600,
  connectionsPerMinute: 6_000,
  bytesUp: 16 * MIB,
  bytesDown: 256 * MIB,
  sessionBytesUp: 64 * MIB,
  sessionBytesDown: 1024 * MIB,
  idleMs: 30_000,
  quietMs: 600_000,
  patienceMs: 250,
  headersMs: 5_000,
  bodyMs: 120_000,
  smallPiecesPerSecond: 500,
};

/** Bytes below which a chunk of a body costs more for being one than for what it holds. */
const SMALL_PIECE = 128;
/** Of a refused request, so many bytes count as one more connection; so many connections at most. */
const IN_VAIN_BYTES = 256;
const MOST_IN_VAIN = 256;
/** A body that is slowed down counts as so many requests: what waits of it was taken apart already. */
const SLOWED_COST = 20;

export class Budget {
  readonly limits: EgressLimits;
  readonly #requests: Bucket;
  readonly #connections: Bucket;
  readonly #smallPieces: Bucket;
  readonly #open = new Set<Contact>();
  #leftUp: number;
  #leftDown: number;

  constructor(limits: EgressLimits, now: Clock) {
    this.limits = limits;
    this.#requests = new Bucket(limits.requestsPerMinute, now);
    this.#connections = new Bucket(limits.connectionsPerMinute, now);
    this.#smallPieces = new Bucket(2 * limits.smallPiecesPerSecond, now, 2_000);
    this.#leftUp = limits.sessionBytesUp;
    this.#leftDown = limits.sessionBytesDown;
  }

  /** Counts one request. `bytes`: of its body, as declared; null where that is unknown. */
  begin(bytes: number | null): Result<Contact, string> {
    if (!this.#requests.take()) return failed('the app makes too many requests a minute');
    if (this.#open.size >= this.limits.connections) return failed('the app has too many connections at once');
    if ((bytes ?? 0) > this.limits.bytesUp) return failed('the request holds more bytes than one may');
    if ((bytes ?? 0) > this.#leftUp || this.#leftUp <= 0)
      return failed('the app has sent all the bytes that it may in a session');
    if (this.#leftDown <= 0) return failed('the app has received all the bytes that it may in a session');
    const contact = new Contact(this.limits, this.#account);
    this.#open.add(contact);
    return ok(contact);
  }

  /** Ends every connection that is open. */
  cutAll(why: string): void {
    for (const contact of this.#open) contact.cut(why);
  }

  /** Counts one connection to the proxy. False: the app floods it. */
  takeConnection(): boolean {
    return this.#connections.take();
  }

  /** Counts what was received of a request that was refused: it was taken apart all the same. */
  takeInVain(bytes: number): void {
    this.#connections.take(Math.min(Math.floor(bytes / IN_VAIN_BYTES), MOST_IN_VAIN));
  }

  readonly #account: Account = {
    piece: (bytes) => bytes >= SMALL_PIECE || this.#smallPieces.take(),
    slowed: () => void this.#requests.take(SLOWED_COST),
    up: (bytes) => {
      this.#leftUp -= bytes;
      return this.#leftUp >= 0;
    },
    down: (bytes) => {
      this.#leftDown -= bytes;
      return this.#leftDown >= 0;
    },
    end: (contact) => void this.#open.delete(contact),
  };
}

/** Filled in `fillMs`. A clock that goes back fills nothing. */
class Bucket {
  readonly #size: number;
  readonly #now: Clock;
  readonly #fillMs: number;
  #left: number;
  #at: number;

  constructor(size: number, now: Clock, fillMs = 60_000) {
    this.#size = size;
    this.#now = now;
    this.#fillMs = fillMs;
    this.#left = size;
    this.#at = now();
  }

  take(count = 1): boolean {
    const now = this.#now();
    const filled = (Math.max(0, now - this.#at) * this.#size) / this.#fillMs;
    this.#left = Math.min(this.#size, this.#left + filled);
    this.#at = now;
    if (this.#left < 1) return false;
    this.#left -= count;
    return true;
  }
}

interface Account {
  readonly piece: (bytes: number) => boolean;
  readonly slowed: () => void;
  readonly up: (bytes: number) => boolean;
  readonly down: (bytes: number) => boolean;
  readonly end: (contact: Contact) => void;
}

/** One request or tunnel, and the bytes that it has used. */
export class Contact {
  readonly #limits: EgressLimits;
  readonly #account: Account;
  #up = 0;
  #down = 0;
  #isSlowed = false;
  #isOver = false;
  #cut: ((why: string) => void) | null = null;
  #cutBecause: string | null = null;

  constructor(limits: EgressLimits, account: Account) {
    this.#limits = limits;
    this.#account = account;
  }

  get bytesUp(): number {
    return this.#up;
  }

  get bytesDown(): number {
    return this.#down;
  }

  /**
   * One chunk of a body, however it was framed. Attack: a megabyte in chunks of one byte is a million events, and holds
   * hundreds of megabytes of the hub. False: it may pass a while later.
   */
  takePiece(bytes: number): boolean {
    if (this.#account.piece(bytes)) return true;
    if (!this.#isSlowed) this.#account.slowed();
    this.#isSlowed = true;
    return false;
  }

  /** False: these bytes may not leave, and nothing after them. */
  takeUp(bytes: number): boolean {
    if (!this.#account.up(bytes) || this.#up + bytes > this.#limits.bytesUp) return false;
    this.#up += bytes;
    return true;
  }

  /** False: these bytes may not be handed on. */
  takeDown(bytes: number): boolean {
    if (!this.#account.down(bytes) || this.#down + bytes > this.#limits.bytesDown) return false;
    this.#down += bytes;
    return true;
  }

  /** `cut` ends the connection that carries this: at once, if it was cut before there was one. */
  whenCut(cut: (why: string) => void): void {
    this.#cut = cut;
    if (this.#cutBecause !== null) cut(this.#cutBecause);
  }

  cut(why: string): void {
    this.#cutBecause ??= why;
    this.#cut?.(why);
  }

  /** Once; false if it was over already. */
  end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#account.end(this);
    return true;
  }
}
