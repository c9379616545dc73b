/** What an idle process costs: the proportional set size of its whole tree, bubblewrap with it. */
import { readdirSync, readFileSync } from 'node:fs';

/** MB of all processes below this one. */
export function descendantsPss(): number {
  return descendants().reduce((sum, pid) => sum + pssOf(pid), 0) / 1000;
}

/** Ids of all processes below this one, zombies among them. */
export function descendants(): readonly number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    const parent = Number.isInteger(pid) ? parentOf(pid) : null;
    if (parent !== null) children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const found: number[] = [];
  const open = [...(children.get(process.pid) ?? [])];
  for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
    found.push(pid);
    open.push(...(children.get(pid) ?? []));
  }
  return found;
}

/** proc(5): the fourth field, counted after the name, which may hold spaces and brackets. */
function parentOf(pid: number): number | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return null;
  }
}

/** Zero: it is gone, or may not be looked at. */
function pssOf(pid: number): number {
  try {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1');
    return Number(/^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** MB that new processes could take (proc(5), `MemAvailable`). */
export function availableMegabytes(): number {
  const info = readFileSync('/proc/meminfo', 'latin1');
  return (Number(/^MemAvailable:\s+(\d+) kB$/m.exec(info)?.[1] ?? Number.NaN) * 1024) / 1e6;
}
