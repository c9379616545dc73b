/**
 * What can go wrong with the store, and how SQLite's codes become it.
 *
 * Opening answers with a `Result`. Once open, a store that cannot read or write throws `StoreFailure`: an ignored
 * `Result` would let an effect happen without its record, an exception cannot be ignored, and the session's
 * boundary turns it into a denial.
 */
import { SEAL_CHANGED } from './sealed-column.ts';

export type StoreFaultKind = keyof typeof WORDS;

/** Why a store does not do what it was asked. */
export interface Refusal<Kind extends string> {
  readonly kind: Kind;
  /** One sentence, lower-case start, no full stop. */
  readonly message: string;
  /** What the reader can do about it. */
  readonly help: string;
}

export interface StoreFault extends Refusal<StoreFaultKind> {
  /** The folder or file that it is about. */
  readonly path: string;
}

/** Thrown by every operation of an open store that could not be carried out; nothing of it was written. */
export class StoreFailure extends Error {
  override readonly name = 'StoreFailure';
  readonly fault: StoreFault;

  constructor(fault: StoreFault, options?: ErrorOptions) {
    super(fault.message, options);
    this.fault = fault;
  }
}

/** `path` and SQLite's words are all that goes into the message: never a value that was being stored. */
export function storeFault(kind: StoreFaultKind, path: string, detail?: string): StoreFault {
  const { says, help } = WORDS[kind];
  const message = says.replace('%', () => `\`${path}\``);
  return { kind, path, help, message: detail === undefined ? message : `${message} (${detail})` };
}

const WORDS = {
  'folder-unavailable': {
    says: 'the data folder % cannot be used',
    help: 'create it, or give the user who runs Cordon the right to read and write it',
  },
  /** The folder is there. */
  unopened: {
    says: 'the store % cannot be opened',
    help: 'it must be a file that the user who runs Cordon may read and write, and not too many files may be open',
  },
  /** They could plant grants. */
  'folder-exposed': {
    says: 'other users may write into the data folder %',
    help: 'take the right away (`chmod go-w` on the folder, which must belong to you), or use another folder',
  },
  'newer-schema': {
    says: 'the store % was written by a newer version of Cordon',
    help: 'upgrade Cordon, or use another data folder',
  },
  /** Its tables are not those of the version that it names. */
  'other-schema': {
    says: 'the store % has other tables than this version of Cordon',
    help: 'it was written by another version, or changed by another program: use that version, or move it away (keep its `-wal` file with it) and start with a new one',
  },
  'foreign-file': {
    says: 'the file % is a database of another program',
    help: 'use another data folder, or move the file away',
  },
  corrupt: {
    says: 'the store % is damaged or is not a database',
    help: 'restore it from a backup, or move it away (keep its `-wal` file with it) and start with a new one',
  },
  'read-only': {
    says: 'the store % cannot be written',
    help: 'give the user who runs Cordon the right to write the file and its folder',
  },
  /** Of the disk, or of the limit of the store's size. */
  full: {
    says: 'there is no room left for the store %',
    help: 'free disk space; everything recorded so far is kept',
  },
  /** For longer than the limit of time. */
  busy: {
    says: 'the store % is locked by another process',
    help: 'end the program that keeps it locked (a backup, a database browser), then try again',
  },
  'key-missing': {
    says: 'the store % is encrypted, and no key was given',
    help: 'put the key into `CORDON_KEY`, or name its file or command in the configuration (`memory.key`)',
  },
  'key-wrong': {
    says: 'the store % is encrypted with another key',
    help: 'give the key that it was encrypted with; without it nothing in it can be read',
  },
  'key-unused': {
    says: 'a key was given, and the texts of the store % are not encrypted',
    help: '`cordon memory rekey` encrypts them; or give no key',
  },
  'key-changed': {
    says: 'the store % was encrypted or given another key while this process used it',
    help: 'start again with the key that it has now',
  },
  'claim-lost': {
    says: 'this process does not hold the session it tried to write to in %',
    help: 'the session has ended or another process has resumed it; resume it here or start a new one',
  },
  /** Any other failure of the file system or of SQLite. */
  broken: {
    says: 'the store % failed',
    help: 'check the disk and the file system, then try again',
  },
} as const satisfies Record<string, { readonly says: string; readonly help: string }>;

/** Null: a bug, in SQLite's words or not. */
export function faultOfSqlite(error: unknown, path: string): StoreFault | null {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return null;
  if (error.message === SEAL_CHANGED) return storeFault('key-changed', path);
  const kind = KINDS_OF_CODES[error.errcode & 0xff];
  return kind === null ? null : storeFault(kind ?? 'broken', path, error.message);
}

/** By SQLite's primary result codes. Null: a bug of ours. */
const KINDS_OF_CODES: Readonly<Record<number, StoreFaultKind | null>> = {
  1: 'other-schema', // ERROR: our statements are fixed texts, so what they name is not there
  3: 'read-only', // PERM
  5: 'busy', // BUSY
  6: 'busy', // LOCKED
  8: 'read-only', // READONLY
  11: 'corrupt', // CORRUPT
  13: 'full', // FULL
  14: 'unopened', // CANTOPEN
  15: 'busy', // PROTOCOL
  19: null, // CONSTRAINT: an id that exists already, a word that the schema does not know
  20: null, // MISMATCH
  21: null, // MISUSE
  25: null, // RANGE
  26: 'corrupt', // NOTADB
};
