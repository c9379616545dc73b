/**
 * Host paths that were looked at once: symbolic links resolved, kind and inode remembered. Mounts take only
 * these, and are made from a descriptor that still names the same inode, so that a path cannot be swapped
 * between the look and the mount.
 */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  type Stats,
} from 'node:fs';
import { isAbsolute } from 'node:path';
import { type Fault, failed, fault, ok, type Result } from '@cordon/core';
import { errorCode } from '../kernel/error-code.ts';

export type PathKind = 'file' | 'folder' | 'socket';

/** Not in Node's constants: names a file without opening it, so that no read permission is needed. */
const O_PATH = 0o10_000_000;

/** Made only by `checkPath`. */
export class CheckedPath {
  /** The real path: absolute, no symbolic link in it when it was checked. */
  readonly host: string;
  readonly kind: PathKind;
  readonly #device: number;
  readonly #inode: number;

  private constructor(host: string, kind: PathKind, stats: Stats) {
    this.host = host;
    this.kind = kind;
    this.#device = stats.dev;
    this.#inode = stats.ino;
    Object.freeze(this);
  }

  /** Refuses what is missing, not absolute, or neither file, folder nor socket. */
  static check(path: string): Result<CheckedPath, Fault> {
    if (!isAbsolute(path) || path.includes('\0')) return refused(path, 'is not an absolute path');
    try {
      const host = realpathSync(path);
      const stats = lstatSync(host);
      const kind = kindOf(stats);
      return kind === null
        ? refused(path, 'is neither a file, a folder nor a socket')
        : ok(new CheckedPath(host, kind, stats));
    } catch (error) {
      return refused(
        path,
        errorCode(error) === 'ENOENT' ? 'does not exist' : `cannot be read (${errorCode(error)})`,
      );
    }
  }

  /**
   * An O_PATH descriptor of the very inode that was checked; the caller closes it. Refused when the path leads
   * elsewhere by now: an app that can write to a folder above could have put a link there.
   */
  open(): Result<number, Fault> {
    let descriptor: number;
    try {
      descriptor = openSync(this.host, O_PATH | constants.O_NOFOLLOW);
    } catch (error) {
      return refused(this.host, `cannot be opened any more (${errorCode(error)})`);
    }
    const stats = fstatSync(descriptor);
    const same = stats.dev === this.#device && stats.ino === this.#inode;
    if (same && readlinkSync(`/proc/self/fd/${descriptor}`) === this.host) return ok(descriptor);
    closeSync(descriptor);
    return refused(this.host, 'is not the file that was checked: it was replaced');
  }
}

/** Resolves a host path once; see `CheckedPath.check`. */
export function checkPath(path: string): Result<CheckedPath, Fault> {
  return CheckedPath.check(path);
}

function kindOf(stats: Stats): PathKind | null {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'folder';
  return stats.isSocket() ? 'socket' : null;
}

function refused(path: string, why: string) {
  return failed(fault('sandbox-unavailable', `the path \`${path}\` ${why}`));
}
