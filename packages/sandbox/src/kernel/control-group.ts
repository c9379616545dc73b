/**
 * The control group of one sandbox: what the kernel has counted there, and an end for all that is in it. By its folder
 * alone, so that the hub and its watching thread can each have one.
 */
import { readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { errorCode } from './error-code.ts';

const MIB = 1024 * 1024;

export class ControlGroup {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Moves a process, before it has children: they are born where it is. */
  add(pid: number): void {
    writeFileSync(`${this.folder}/cgroup.procs`, String(pid));
  }

  /** CPU seconds of everything that ever ran in it, ended or not; null when it is gone. */
  cpuSeconds(): number | null {
    return this.#number('cpu.stat', /^usage_usec (\d+)$/m, 1_000_000);
  }

  /** Memory in MiB, shared pages once; null without the controller. */
  memoryMiB(): number | null {
    return this.#number('memory.current', /^(\d+)$/m, MIB);
  }

  #number(file: string, pattern: RegExp, unit: number): number | null {
    try {
      const found = pattern.exec(readFileSync(`${this.folder}/${file}`, 'latin1'))?.[1];
      return found === undefined ? null : Number(found) / unit;
    } catch {
      return null;
    }
  }

  /** Whether the kernel ended it for its memory. */
  ranOutOfMemory(): boolean {
    try {
      return /^oom_kill [1-9]/m.test(readFileSync(`${this.folder}/memory.events`, 'latin1'));
    } catch {
      return false; // without the controller
    }
  }

  /** Ends every process in it; none can fork its way out. */
  kill(): void {
    try {
      writeFileSync(`${this.folder}/cgroup.kill`, '1');
    } catch {
      // Linux before 5.14: the end of bubblewrap is the end of its tree.
    }
  }

  /** The kernel keeps a group while a process in it is not reaped: tried again for a second. */
  remove(triesLeft = 20): void {
    try {
      rmdirSync(this.folder);
    } catch (error) {
      if (errorCode(error) === 'EBUSY' && triesLeft > 0)
        setTimeout(() => this.remove(triesLeft - 1), 50).unref();
    }
  }
}
