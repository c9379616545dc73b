/**
 * How many events of each live session were acknowledged, and what the newest was: one small file a session, beside the
 * store. SQLite takes a damaged or shorter log for one that ends there; by this file the missing events are found
 * (docs/decisions/0031-changes-of-the-store-are-found.md).
 *
 * INVARIANT (never ahead): a record is written behind its commit, so it may be behind the journal and is never ahead of it.
 * It holds two heads. `appended` counts on the machine run in which it was written: the kernel has what was committed, whatever
 * became of the process. `synced` counts always: it had reached the disk.
 *
 * A file has two slots, which are written in turns: a write that a failure of the machine tears leaves the other one.
 *
 * Uses the file system.
 */
import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fdatasync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

import { id, type SessionId } from '@cordon/core';

import { isSameDigest } from '../database/chain-key.ts';
import { StoreFailure, storeFault } from '../database/fault.ts';
import type { KeyedDigest } from '../database/keyed-digest.ts';
import type { Seal } from '../database/seal.ts';

/** A head as the file keeps it: its digest confirms a head and tells none. */
export interface AcknowledgedHead {
  readonly events: number;
  readonly is: (hash: Uint8Array) => boolean;
}

/** `none`: there is no file. `unreadable`: it is not what was written. */
export type Acknowledged = AcknowledgedHead | 'none' | 'unreadable';

export interface AcknowledgementsOptions {
  /** Of the files. */
  readonly folder: string;
  readonly digest: Pick<KeyedDigest, 'isKeyed' | 'isKeyedBy' | 'of'>;
  /** Another one after each start of the machine; null: nobody knows, and only what was synced counts. */
  readonly machineRun: string | null;
  readonly now: () => number;
}

interface Head {
  readonly events: number;
  readonly digest: Buffer;
}

interface Slot {
  readonly number: number;
  readonly isKeyed: boolean;
  readonly machineRun: Buffer;
  readonly appended: Head;
  readonly synced: Head;
}

interface Held {
  readonly file: number;
  slot: Slot;
  syncedAt: number;
}

const MAGIC = Buffer.from('CrdnAck1');
const SLOT_BYTES = 512;
const FILE_BYTES = 2 * SLOT_BYTES;
const BODY_BYTES = 128;
const DIGEST_BYTES = 32;
const RUN_BYTES = 16;
/** So often a file is synced, beside everything else: what comes between is as old as that after a failure of the machine. */
const SYNC_MS = 5000;
/** Also what keeps a name of a session inside the folder. */
const NAME = /^[0-9A-Za-z_-]{1,80}$/;
const NOTHING = new Uint8Array(32);

export class Acknowledgements {
  readonly #options: AcknowledgementsOptions;
  readonly #machineRun: Buffer;
  readonly #held = new Map<SessionId, Held>();

  constructor(options: AcknowledgementsOptions) {
    this.#options = options;
    const run = options.machineRun ?? '';
    this.#machineRun = run === '' ? Buffer.alloc(RUN_BYTES) : sha256(run).subarray(0, RUN_BYTES);
  }

  /**
   * Inside the transaction that makes the session, or makes it one with such a file: so there is no such session without.
   * What the session has already is appended and not yet synced.
   */
  create(session: SessionId, events: number, head: Uint8Array): void {
    if (!NAME.test(session)) throw new Error('the name of a session must be a plain file name');
    const slot = this.#slot(1, this.#head(session, events, head), this.#head(session, 0, NOTHING));
    const { folder } = this.#options;
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const file = openSync(
        this.#path(session),
        constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW,
        0o600,
      );
      const bytes = Buffer.alloc(FILE_BYTES);
      this.#encode(session, slot).copy(bytes, (slot.number % 2) * SLOT_BYTES);
      writeSync(file, bytes, 0, FILE_BYTES, 0);
      fsyncSync(file);
      this.#forget(session);
      this.#held.set(session, { file, slot, syncedAt: this.#options.now() });
    } catch (error) {
      throw new StoreFailure(storeFault('folder-unavailable', folder, String(error)));
    }
  }

  /**
   * Behind the commit of an event. A record that cannot be written leaves the older one, which asks for less; the events
   * are in the journal all the same, and whoever appended them must not believe that they are not.
   */
  note(session: SessionId, events: number, head: Uint8Array, isSynced: boolean): void {
    try {
      const held = this.#held.get(session) ?? this.#open(session);
      if (held === null) return this.create(session, events, head);
      const { slot } = held;
      const appended = this.#head(session, events, head);
      const next = this.#slot(slot.number + 1, appended, isSynced ? appended : slot.synced);
      this.#write(held.file, session, next);
      held.slot = next;
      if (isSynced) this.#syncNowAndThen(held);
    } catch {
      this.#forget(session);
    }
  }

  /** What the journal must have. `acceptsPlain`: also what a process without the key has written. */
  read(session: SessionId, acceptsPlain: boolean): Acknowledged {
    const slot = this.#read(session, acceptsPlain);
    if (slot === 'none' || slot === 'unreadable') return slot;
    return this.#headOf(session, slot);
  }

  /** The sessions that have a file, and how many events it asks for. */
  all(acceptsPlain: boolean): readonly { readonly session: SessionId; readonly events: number | null }[] {
    return this.#names().flatMap((session) => {
      const known = this.read(session, acceptsPlain);
      if (known === 'none') return [];
      return [{ session, events: known === 'unreadable' ? null : known.events }];
    });
  }

  /** Before the session is deleted: where only this was done, nothing is missing of a session that is still there. */
  erasing(session: SessionId): void {
    if (this.#read(session, true) === 'none') return;
    this.create(session, 0, NOTHING);
    this.#forget(session);
  }

  /** The session has ended, or is deleted. */
  remove(session: SessionId): void {
    this.#forget(session);
    if (NAME.test(session)) rmSync(this.#path(session), { force: true });
  }

  /** This process lets go of the session, which can be gone on with. */
  release(session: SessionId): void {
    const held = this.#held.get(session);
    if (held !== undefined)
      try {
        fsyncSync(held.file);
      } catch {
        // It is written, and reaches the disk when the kernel likes.
      }
    this.#forget(session);
  }

  close(): void {
    for (const session of [...this.#held.keys()]) this.release(session);
  }

  /**
   * For a store that gets another key, before its commit: the free slot gets the same with the other key. Whichever key is in
   * force then, one slot is read by it. `hashOf`: of the event that is the newest of so many.
   */
  rekey(seal: Seal, hashOf: (session: SessionId, events: number) => Uint8Array | null): void {
    for (const session of this.#names()) {
      const slot = this.#read(session, false);
      if (slot === 'none' || slot === 'unreadable') continue;
      const appended = hashOf(session, slot.appended.events);
      const synced = hashOf(session, slot.synced.events);
      // A journal that lacks what was acknowledged stays one: with the new key the file cannot be read.
      if (appended === null || synced === null) continue;
      const next: Slot = {
        ...slot,
        number: slot.number + 1,
        appended: this.#head(session, slot.appended.events, appended, seal),
        synced: this.#head(session, slot.synced.events, synced, seal),
      };
      const file = openSync(this.#path(session), constants.O_RDWR | constants.O_NOFOLLOW);
      try {
        this.#write(file, session, next, seal);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      this.#forget(session);
    }
  }

  #headOf(session: SessionId, slot: Slot): AcknowledgedHead {
    const isThisRun = this.#options.machineRun !== null && slot.machineRun.equals(this.#machineRun);
    const { events, digest } = isThisRun ? slot.appended : slot.synced;
    // Without the key the digest tells nothing.
    if (slot.isKeyed && !this.#options.digest.isKeyed) return { events, is: () => true };
    return { events, is: (hash) => isSameDigest(digest, this.#head(session, events, hash).digest) };
  }

  #slot(number: number, appended: Head, synced: Head): Slot {
    const { isKeyed } = this.#options.digest;
    return { number, isKeyed, machineRun: this.#machineRun, appended, synced };
  }

  #open(session: SessionId): Held | null {
    const slot = this.#read(session, false);
    if (slot === 'none' || slot === 'unreadable') return null;
    const file = openSync(this.#path(session), constants.O_RDWR | constants.O_NOFOLLOW);
    const held = { file, slot, syncedAt: 0 };
    this.#held.set(session, held);
    return held;
  }

  #read(session: SessionId, acceptsPlain: boolean): Slot | 'none' | 'unreadable' {
    if (!NAME.test(session)) return 'none';
    let bytes: Buffer;
    try {
      bytes = readFileSync(this.#path(session));
    } catch (error) {
      return error instanceof Error && 'code' in error && error.code === 'ENOENT' ? 'none' : 'unreadable';
    }
    const slots = [0, SLOT_BYTES].flatMap((at) => {
      const slot = this.#decode(session, bytes.subarray(at, at + SLOT_BYTES), acceptsPlain);
      return slot === null ? [] : [slot];
    });
    // A hub that was killed while it made a session leaves an empty file, and no session.
    if (bytes.length === 0) return 'none';
    const [first, second] = slots;
    if (first === undefined) return 'unreadable';
    return second === undefined || first.number > second.number ? first : second;
  }

  #names(): readonly SessionId[] {
    try {
      return readdirSync(this.#options.folder).flatMap((name) => (NAME.test(name) ? [id(name)] : []));
    } catch {
      return [];
    }
  }

  #write(file: number, session: SessionId, slot: Slot, seal?: Seal): void {
    const bytes = this.#encode(session, slot, seal);
    writeSync(file, bytes, 0, bytes.length, (slot.number % 2) * SLOT_BYTES);
  }

  #encode(session: SessionId, slot: Slot, seal?: Seal): Buffer {
    const bytes = Buffer.alloc(BODY_BYTES + DIGEST_BYTES);
    MAGIC.copy(bytes);
    const isKeyed = seal === undefined ? this.#options.digest.isKeyed : this.#options.digest.isKeyedBy(seal);
    bytes[8] = isKeyed ? 1 : 0;
    bytes.writeDoubleLE(slot.number, 16);
    bytes.writeDoubleLE(slot.appended.events, 24);
    bytes.writeDoubleLE(slot.synced.events, 32);
    slot.machineRun.copy(bytes, 40);
    slot.appended.digest.copy(bytes, 56);
    slot.synced.digest.copy(bytes, 88);
    this.#proofOf(session, bytes.subarray(0, BODY_BYTES), seal).copy(bytes, BODY_BYTES);
    return bytes;
  }

  /** Null: as far as can be told, nobody wrote it. */
  #decode(session: SessionId, bytes: Buffer, acceptsPlain: boolean): Slot | null {
    if (bytes.length < BODY_BYTES + DIGEST_BYTES || !bytes.subarray(0, 8).equals(MAGIC)) return null;
    const body = bytes.subarray(0, BODY_BYTES);
    const proof = bytes.subarray(BODY_BYTES, BODY_BYTES + DIGEST_BYTES);
    const { digest } = this.#options;
    const isKeyed = bytes[8] === 1;
    const isPlain = sha256(`${session}\n`, body).equals(proof);
    // Without the key nobody can tell what is written with it; the counts are taken as they stand.
    const isProven = isKeyed
      ? !digest.isKeyed || this.#proofOf(session, body).equals(proof)
      : isPlain && (!digest.isKeyed || acceptsPlain);
    const slot: Slot = {
      number: bytes.readDoubleLE(16),
      isKeyed,
      machineRun: Buffer.from(bytes.subarray(40, 56)),
      appended: { events: bytes.readDoubleLE(24), digest: Buffer.from(bytes.subarray(56, 88)) },
      synced: { events: bytes.readDoubleLE(32), digest: Buffer.from(bytes.subarray(88, 120)) },
    };
    const counts = [slot.number, slot.appended.events, slot.synced.events];
    const isCount = (value: number) => Number.isSafeInteger(value) && value >= 0;
    return isProven && counts.every(isCount) ? slot : null;
  }

  #proofOf(session: SessionId, body: Buffer, seal?: Seal): Buffer {
    const keyed = this.#options.digest.of(`cordon-acknowledged-1 ${session} ${body.toString('hex')}`, seal);
    return keyed === null ? sha256(`${session}\n`, body) : Buffer.from(keyed);
  }

  #head(session: SessionId, events: number, hash: Uint8Array, seal?: Seal): Head {
    const text = `cordon-head-1 ${session} ${events} ${Buffer.from(hash).toString('hex')}`;
    return { events, digest: Buffer.from(this.#options.digest.of(text, seal) ?? sha256(text)) };
  }

  /** In the background and not at each commit: nobody waits for it. */
  #syncNowAndThen(held: Held): void {
    const now = this.#options.now();
    if (Math.abs(now - held.syncedAt) < SYNC_MS) return;
    held.syncedAt = now;
    fdatasync(held.file, () => undefined);
  }

  #forget(session: SessionId): void {
    const held = this.#held.get(session);
    this.#held.delete(session);
    if (held !== undefined) closeSync(held.file);
  }

  #path(session: SessionId): string {
    return join(this.#options.folder, session);
  }
}

/** Another text after each start of the machine; null: this system does not tell. */
export function currentMachineRun(): string | null {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return null;
  }
}

function sha256(...parts: readonly (string | Uint8Array)[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}
