/**
 * What a hub leaves that is killed by SIGKILL while it makes a sandbox: the half of bubblewrap that waits to be told to go
 * on, and never will be. Nothing of an app runs in it. The next hub ends it; what has a living other half is left alone.
 */
import { readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { processIds, statusOf } from '../kernel/proc.ts';
import { INIT_INSIDE } from './bubblewrap.ts';

export interface OrphanSearch {
  /** Absolute path of bubblewrap. */
  readonly bwrap: string;
  /** The user that bubblewrap makes sandboxes as. */
  readonly user: number;
}

const SLICE_MS = 2;

/** What was under way when its hub was killed has come to its end by then, or will not any more. */
const SETTLED_MS = 15_000;

/** Ends what dead hubs of this user have left behind, now and a little later. */
export function sweepAtStart(search: OrphanSearch): void {
  void sweepOrphans(search);
  setTimeout(() => void sweepOrphans(search), SETTLED_MS).unref();
}

/** The same, once. Never throws; resolves when all have been sent their end. */
export async function sweepOrphans(search: OrphanSearch): Promise<void> {
  let sliceEnds = 0;
  for (const pid of processIds()) {
    if (performance.now() > sliceEnds) {
      await setImmediate();
      sliceEnds = performance.now() + SLICE_MS;
    }
    if (isOrphan(pid, search)) kill(pid);
  }
}

/**
 * bubblewrap divides in two, which have the same arguments; the half that makes the sandbox is the other's child for as
 * long as both are there. What cannot be read is no orphan: it may be somebody's.
 */
function isOrphan(pid: number, { bwrap, user }: OrphanSearch): boolean {
  try {
    if (read(pid, 'comm').trim() !== basename(bwrap).slice(0, LONGEST_NAME)) return false;
    const command = read(pid, 'cmdline');
    const half = halfOf(command.split('\0'));
    const status = statusOf(pid);
    if (half === null || status === null) return false;
    const { parent, users, numbers } = status;
    if (parent === 0 || read(parent, 'cmdline') === command) return false;
    switch (half) {
      case 'sandbox':
        return users.every((id) => id === user) && numbers.length > 1 && numbers.at(-1) === 1;
      case 'stage':
        // A stage that is whole begins among the mounts of its hub; only its inner half has its own mounts.
        return (
          users.every((id) => id === 0) && !isAmongMountsOf(parent, pid) && !isAmongMountsOf('self', pid)
        );
    }
  } catch {
    return false;
  }
}

/** Of the kernel, for the name of a process. */
const LONGEST_NAME = 15;

/** Which sandbox of ours the arguments are for: the app's, or the stage on which root makes closed folders reachable. */
function halfOf([, option, descriptor = '', dashes, ...command]: readonly string[]):
  | 'sandbox'
  | 'stage'
  | null {
  if (option !== '--args' || !/^\d+$/.test(descriptor) || dashes !== '--') return null;
  if (command[0] === INIT_INSIDE) return 'sandbox';
  return command.includes('--args') && command.includes(INIT_INSIDE) ? 'stage' : null;
}

function read(pid: number, file: 'comm' | 'cmdline'): string {
  return readFileSync(`/proc/${pid}/${file}`, 'latin1');
}

function isAmongMountsOf(hub: number | 'self', pid: number): boolean {
  return mountsOf(hub) === mountsOf(pid);
}

/** Null for the first process of some machines, which nobody may look at; it is no hub of ours. */
function mountsOf(pid: number | 'self'): string | null {
  try {
    return readlinkSync(`/proc/${pid}/ns/mnt`);
  } catch (error) {
    if (pid === 1) return null;
    throw error;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Somebody else has ended it.
  }
}
