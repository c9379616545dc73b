/**
 * Room in the log that SQLite writes ahead. A log that grows makes the disk write down its new size, too, whenever
 * somebody waits for it, which takes as long again as the pages themselves; one that has its size already is written over.
 *
 * Uses the file system.
 */
import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';

/** Where SQLite starts over: a head, and a thousand pages with a head each (https://sqlite.org/fileformat.html#walformat). */
const FULL = 32 + 1000 * (24 + 4096);
/** What is written while all other writers wait. */
const SLICE = 256 * 1024;

/** Never a link: whoever could put one there would have another file written to. */
const EXISTING = constants.O_WRONLY | constants.O_NOFOLLOW;

/**
 * Writes zeros behind the end of the log, up to where it starts over; true: there is more to write. They are no frame
 * (its salt is never zero), so nobody takes them for one, as with what an earlier round has left there.
 *
 * Call it inside a write transaction that has written nothing: nobody appends to the log meanwhile, or starts it over.
 */
export function extendLog(file: string): boolean {
  const log = openSync(`${file}-wal`, EXISTING);
  try {
    const { size } = fstatSync(log);
    const length = Math.min(SLICE, FULL - size);
    // Without a head nobody has written to it yet, and whoever does first begins at its start.
    if (size === 0 || length <= 0) return false;
    writeSync(log, new Uint8Array(length), 0, length, size);
    return length < FULL - size;
  } finally {
    closeSync(log);
  }
}

/** Waits until the disk has the log, beside everything else. */
export async function syncLog(file: string): Promise<void> {
  const log = await open(`${file}-wal`, EXISTING);
  try {
    await log.datasync();
  } finally {
    await log.close();
  }
}
