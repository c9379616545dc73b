/**
 * Sockets that a hub left when it was killed. A socket of a hub that lives is answered by the kernel, also while that
 * hub is stopped or busy; one that refuses has nobody behind it and never will.
 *
 * Ring 0.
 */
import type { Dirent } from 'node:fs';
import { lstat, readdir, unlink } from 'node:fs/promises';
import { connect } from 'node:net';

/** Of the hub's own making; what else is there is somebody else's. */
const SOCKET_NAME = /^[0-9a-f]{12}$/;
/** A socket that was made and is not listened on yet refuses too, for a moment. */
const YOUNG_MS = 60_000;
const MOST_AT_ONCE = 64;

/** Takes dead sockets out of `folder`. What cannot be examined stays, and nothing is reported: it is only untidy. */
export async function sweepSockets(folder: string, now: number = Date.now()): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((): readonly Dirent[] => []);
  const sockets = entries.filter((entry) => entry.isSocket() && SOCKET_NAME.test(entry.name));
  for (const { name } of sockets.slice(0, MOST_AT_ONCE)) {
    const path = `${folder}/${name}`;
    if ((await isOld(path, now)) && (await isDead(path))) await unlink(path).catch(() => undefined);
  }
}

async function isOld(path: string, now: number): Promise<boolean> {
  const about = await lstat(path).catch(() => null);
  return about !== null && now - about.mtimeMs > YOUNG_MS;
}

function isDead(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const dialled = connect(path);
    const settle = (dead: boolean) => {
      dialled.destroy();
      resolve(dead);
    };
    dialled.once('connect', () => settle(false));
    dialled.once('error', (error: NodeJS.ErrnoException) => settle(error.code === 'ECONNREFUSED'));
  });
}
