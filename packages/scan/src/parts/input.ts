/** The inputs of a scan: which files the arguments stand for, and how each is read. */
import { type Dirent, readdirSync, type Stats, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Diagnostic } from '@cordon/core';

export type InputKind =
  /** JSON lines, read by byte ranges. */
  | 'lines'
  /** One JSON text, or JSON lines under that name. */
  | 'json'
  | 'gzip'
  | 'brotli'
  | 'standard-input';

export interface Input {
  /** As reports call it. */
  readonly name: string;
  readonly kind: InputKind;
  /** Bytes on the disk when the scan began; 0: not known. */
  readonly size: number;
  /** Milliseconds since the epoch. */
  readonly modified: number;
  readonly device: number;
  readonly inode: number;
}

export const STANDARD_INPUT = '-';

export interface Arguments {
  readonly policies: readonly string[];
  readonly inputs: readonly string[];
}

/** Policies end in `.gr`; everything else is an input. */
export function sortedArguments(files: readonly string[]): Arguments {
  const isPolicy = (file: string): boolean => file.toLowerCase().endsWith('.gr');
  return { policies: files.filter(isPolicy), inputs: files.filter((file) => !isPolicy(file)) };
}

/** What a folder is searched for. */
const TRACE_FILE = /\.(?:jsonl|ndjson|json|jsonl\.gz|jsonl\.br|ndjson\.gz|ndjson\.br)$/i;

export interface Inputs {
  readonly inputs: readonly Input[];
  readonly problems: readonly Diagnostic[];
}

/**
 * Files in the order of the arguments, those of a folder by name; each once. `own` are files that the scan itself
 * writes: they are no logs, and one that is named as such would be destroyed.
 */
export function findInputs(paths: readonly string[], own: readonly string[] = []): Inputs {
  const identities = new Set(own.map(identityOf).filter((identity) => identity !== null));
  const isOwn = ({ device, inode }: Input): boolean => identities.has(`${device}:${inode}`);
  const found = new Map<string, Input>();
  const problems: Diagnostic[] = [];
  for (const path of paths) {
    if (path === STANDARD_INPUT) {
      found.set(path, { name: path, kind: 'standard-input', size: 0, modified: 0, device: 0, inode: 0 });
      continue;
    }
    const all = inputsAt(path);
    const inputs = typeof all === 'string' ? all : all.filter((input) => !isOwn(input));
    if (typeof inputs === 'string') problems.push(unusable(path, inputs));
    else if (all.length === 1 && inputs.length === 0) problems.push(unusable(path, 'the scan writes to it'));
    else if (inputs.length === 0) problems.push(unusable(path, 'the folder has no traces'));
    else
      for (const input of inputs) if (!found.has(resolve(input.name))) found.set(resolve(input.name), input);
  }
  return { inputs: [...found.values()], problems };
}

/** Null: there is no such file. */
function identityOf(path: string): string | null {
  try {
    const { dev, ino } = statSync(path);
    return `${dev}:${ino}`;
  } catch {
    return null;
  }
}

/** A text is what is wrong. */
function inputsAt(path: string): readonly Input[] | string {
  try {
    const status = statSync(path);
    if (status.isDirectory()) return inputsBelow(path);
    return status.isFile() ? [inputOf(path, status)] : 'it is neither a file nor a folder';
  } catch (error) {
    return reasonOf(error);
  }
}

/**
 * Links to folders are not followed: they can lead in circles. What cannot be looked at, as a link to a log that was
 * moved or a folder of someone else, is an input that cannot be read: it is reported, and hides no other. Throws if `root`
 * cannot be read.
 */
function inputsBelow(root: string): readonly Input[] {
  const inputs: Input[] = [];
  const open = [root];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    const inner: string[] = [];
    const entries = folder === root ? entriesOf(root) : tried(entriesOf, folder);
    if (entries === null) inputs.push(unreadable(folder));
    for (const entry of entries ?? []) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) inner.push(path);
      else if (TRACE_FILE.test(entry.name)) {
        const status = tried((one) => statSync(one), path);
        if (status === null) inputs.push(unreadable(path));
        else if (status.isFile()) inputs.push(inputOf(path, status));
      }
    }
    open.push(...inner.reverse());
  }
  return inputs;
}

function entriesOf(folder: string): readonly Dirent[] {
  return readdirSync(folder, { withFileTypes: true }).sort(byName);
}

/** Null: it cannot be looked at. */
function tried<T>(look: (path: string) => T, path: string): T | null {
  try {
    return look(path);
  } catch {
    return null;
  }
}

/** Not empty, so that it is opened, and what is wrong is found there. */
function unreadable(name: string): Input {
  return { name, kind: 'lines', size: 1, modified: 0, device: 0, inode: 0 };
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

function inputOf(name: string, { size, mtimeMs, dev, ino }: Stats): Input {
  return { name, kind: kindOf(name), size, modified: mtimeMs, device: dev, inode: ino };
}

function kindOf(name: string): InputKind {
  if (/\.gz$/i.test(name)) return 'gzip';
  if (/\.br$/i.test(name)) return 'brotli';
  return /\.json$/i.test(name) ? 'json' : 'lines';
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : '';
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'there is no such file';
  return code === 'EACCES' || code === 'EPERM' ? 'you may not read it' : 'it cannot be read';
}

function unusable(file: string, reason: string): Diagnostic {
  const help = 'name a file with JSON lines, a folder with such files, or `-` for standard input';
  return { code: 'SCN001', severity: 'error', file, message: `this cannot be scanned: ${reason}`, help };
}
