/** Reading `/proc` (proc(5)). Processes end at any moment, and some may not be looked at. */
import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';

/** Empty where there is no such folder any more. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Of all processes that this one can see. */
export function processIds(): readonly number[] {
  return namesIn('/proc').map(Number).filter(Number.isInteger);
}

export interface ProcessStatus {
  readonly parent: number;
  /** Real, effective, saved, and of the file system. */
  readonly users: readonly number[];
  /** Its numbers, from the reader's namespace to its own. */
  readonly numbers: readonly number[];
}

/** `/proc/PID/status`. Null: it has ended, or a line is missing. */
export function statusOf(pid: number): ProcessStatus | null {
  try {
    const lines = readFileSync(`/proc/${pid}/status`, 'latin1').split('\n');
    const line = (name: string) => lines.find((text) => text.startsWith(`${name}:`))?.split('\t') ?? [];
    const [[, parent], [, ...users], [, ...numbers]] = [line('PPid'), line('Uid'), line('NSpid')];
    if (parent === undefined || users.length === 0 || numbers.length === 0) return null;
    return { parent: Number(parent), users: users.map(Number), numbers: numbers.map(Number) };
  } catch {
    return null;
  }
}

/** `/proc/PID/stat` from its third field on: the name before that may hold spaces and brackets. Null: it has ended. */
export function statFields(folder: string): readonly string[] | null {
  try {
    const text = readFileSync(`${folder}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}

const CHUNK = 64 * 1024;

/** A character for each byte. Null: there is more than `most`. Throws what reading throws. */
export function readUpTo(path: string, most: number): string | null {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(CHUNK);
    let text = '';
    const next = () => readSync(file, bytes, 0, CHUNK, null);
    for (let read = next(); read > 0; read = next()) {
      text += bytes.toString('latin1', 0, read);
      if (text.length > most) return null;
    }
    return text;
  } finally {
    closeSync(file);
  }
}
