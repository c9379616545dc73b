/**
 * The kernel bounds memory per process, not per tree, unless a control group is delegated. So every 250 ms one
 * look at /proc sums the resident memory of each watched tree. Shared pages count once per process: the sum is
 * an upper bound.
 *
 * Ring 0.
 */
import { readdirSync, readFileSync } from 'node:fs';

const PERIOD_MS = 250;

export interface Watch {
  /** Host pid of the tree's root. */
  readonly root: number;
  readonly memoryMiB: number;
  /** Called at most once, with the sum in MiB. */
  readonly onExcess: (memoryMiB: number) => void;
}

/** One for the whole process: the cost of a look does not grow with the number of trees. */
export class Watchdog {
  readonly #watches = new Set<Watch>();
  readonly #pageSize: number;
  #timer: NodeJS.Timeout | null = null;

  constructor() {
    this.#pageSize = pageSize();
  }

  /** Watches until the returned function is called. Keeps no process alive. */
  add(watch: Watch): () => void {
    this.#watches.add(watch);
    this.#timer ??= setInterval(() => this.#look(), PERIOD_MS).unref();
    return () => this.#remove(watch);
  }

  #remove(watch: Watch): void {
    this.#watches.delete(watch);
    if (this.#watches.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  #look(): void {
    const table = processTable();
    for (const watch of [...this.#watches]) {
      const memoryMiB = (pagesOf(watch.root, table) * this.#pageSize) / (1024 * 1024);
      if (memoryMiB <= watch.memoryMiB) continue;
      this.#remove(watch);
      watch.onExcess(Math.ceil(memoryMiB));
    }
  }
}

interface ProcessEntry {
  readonly pages: number;
  readonly children: number[];
}

/** All processes of the host by pid: a thread may have forked, so lists of children by thread would not do. */
function processTable(): Map<number, ProcessEntry> {
  const table = new Map<number, ProcessEntry>();
  const entry = (pid: number, pages: number) => {
    const known = table.get(pid);
    const made = { pages: pages || (known?.pages ?? 0), children: known?.children ?? [] };
    table.set(pid, made);
    return made;
  };
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const stat = readStat(pid);
    if (stat === null) continue;
    entry(pid, stat.pages);
    entry(stat.parent, 0).children.push(pid);
  }
  return table;
}

/** proc(5), `/proc/PID/stat`: fields 4 and 24, counted after the name, which may hold spaces and brackets. */
function readStat(pid: number): { readonly parent: number; readonly pages: number } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { parent: Number(fields[1]), pages: Number(fields[21]) };
  } catch {
    return null; // ended since the listing
  }
}

function pagesOf(root: number, table: ReadonlyMap<number, ProcessEntry>): number {
  let pages = 0;
  const open = [root];
  for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
    const entry = table.get(pid);
    pages += entry?.pages ?? 0;
    open.push(...(entry?.children ?? []));
  }
  return pages;
}

/** AT_PAGESZ of the auxiliary vector: 4 KiB nearly everywhere, 16 or 64 KiB on some arm64 kernels. */
function pageSize(): number {
  const vector = readFileSync('/proc/self/auxv');
  for (let at = 0; at + 16 <= vector.length; at += 16) {
    if (vector.readBigUInt64LE(at) === 6n) return Number(vector.readBigUInt64LE(at + 8));
  }
  throw new Error('/proc/self/auxv names no page size');
}
