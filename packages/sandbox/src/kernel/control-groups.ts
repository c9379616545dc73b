/**
 * Control groups, version 2, where the hub has its own: the kernel itself then bounds memory and processes
 * of a whole tree, counts its CPU time exactly, and ends it at once. Where there is none the watchdog does what it
 * can from outside. (Linux, Documentation/admin-guide/cgroup-v2.rst)
 */
import {
  accessSync,
  constants,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { type AppLimits, failed, ok, type Result } from '@cordon/core';
import { ControlGroup } from './control-group.ts';
import { errorCode } from './error-code.ts';

const MIB = 1024 * 1024;
const OURS = 'cordon-';
/** bubblewrap's two processes and our hand-over are not the app's. */
const OWN_PROCESSES = 3;

/** A group in which one group for each sandbox can be made. */
export class ControlGroups {
  readonly #folder: string;
  /** Controllers that groups in it have; without `memory` and `pids` they still count CPU time and end trees. */
  readonly controllers: readonly string[];
  #made = 0;

  private constructor(folder: string, controllers: readonly string[]) {
    this.#folder = folder;
    this.controllers = controllers;
  }

  /** The group that this process was given alone. The failure says why there is none, for `cordon doctor`. */
  static delegated(): Result<ControlGroups, string> {
    try {
      const folder = ownFolder();
      if (folder === null) return failed('control groups of version 2 are not mounted');
      accessSync(`${folder}/cgroup.procs`, constants.W_OK);
      if (pidsOf(folder).some((pid) => pid !== process.pid))
        return failed('other programs share the control group of Cordon');
      return ok(ControlGroups.in(folder, true));
    } catch (error) {
      return failed(`the control group of Cordon is not its own to change (${errorCode(error)})`);
    }
  }

  /** @param isExclusive whether this process may leave `folder` for a new group in it. Throws what writing throws. */
  static in(folder: string, isExclusive: boolean): ControlGroups {
    removeLeftovers(folder);
    const available = wordsOf(`${folder}/cgroup.controllers`).filter((name) => /^(memory|pids)$/.test(name));
    if (isExclusive && available.length > 0) {
      // A group that holds processes cannot delegate controllers, so the hub moves into one beside its apps.
      const hub = `${folder}/${OURS}hub-${process.pid}`;
      mkdirSync(hub);
      writeFileSync(`${hub}/cgroup.procs`, String(process.pid));
      writeFileSync(`${folder}/cgroup.subtree_control`, available.map((name) => `+${name}`).join(' '));
    }
    return new ControlGroups(folder, wordsOf(`${folder}/cgroup.subtree_control`));
  }

  /** A new group with these limits, memory of its private /tmp included; throws when it cannot be made: a promised limit is not left out. */
  make(limits: AppLimits, tmpMiB: number): ControlGroup {
    const folder = `${this.#folder}/${OURS}${process.pid}-${++this.#made}`;
    mkdirSync(folder);
    const group = new ControlGroup(folder);
    try {
      if (this.controllers.includes('memory')) {
        writeFileSync(`${folder}/memory.max`, String((limits.memoryMiB + tmpMiB) * MIB));
        writeFileSync(`${folder}/memory.swap.max`, '0');
        writeFileSync(`${folder}/memory.oom.group`, '1');
      }
      if (this.controllers.includes('pids'))
        writeFileSync(`${folder}/pids.max`, String(limits.processes + OWN_PROCESSES));
    } catch (error) {
      group.remove();
      throw error;
    }
    return group;
  }
}

/** Where `/proc/self/cgroup` and the mount of version 2 say that this process is; null without either. */
function ownFolder(): string | null {
  const own = /^0::(\/.*)$/m.exec(readFileSync('/proc/self/cgroup', 'latin1'))?.[1];
  const mounted = /^(?:\S+ ){4}(\S+) .* - cgroup2 /m.exec(
    readFileSync('/proc/self/mountinfo', 'latin1'),
  )?.[1];
  return own === undefined || mounted === undefined ? null : `${mounted}${own}`.replace(/\/$/, '');
}

/** Groups of a Cordon that was killed; those in use cannot be removed. */
function removeLeftovers(folder: string): void {
  for (const name of readdirSync(folder).filter((entry) => entry.startsWith(OURS)))
    try {
      rmdirSync(`${folder}/${name}`);
    } catch {
      // In use.
    }
}

function pidsOf(folder: string): readonly number[] {
  return wordsOf(`${folder}/cgroup.procs`).map(Number);
}

function wordsOf(file: string): readonly string[] {
  return readFileSync(file, 'latin1').split(/\s+/).filter(Boolean);
}
