/**
 * Files as an install step sends them, written into a new folder. The sender is hostile: names are checked before
 * anything is made, only plain files come to be, and their number and size have limits.
 *
 * What was written is digested afterwards, and only the digest is believed.
 */
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { failed, isJsonObject, ok, parseJson, type Result } from '@cordon/core';

export interface TreeLimits {
  readonly files: number;
  readonly bytes: number;
  readonly fileBytes: number;
  readonly depth: number;
}

/** What the step says about its result; at most one text. */
export interface ReceivedTree {
  readonly report: string | null;
}

/** `ended-early`: the sender stopped, and may have said why elsewhere. */
export interface TreeProblem {
  readonly kind: 'refused' | 'ended-early';
  readonly why: string;
}

const LONGEST_HEADER = 8192;
const LONGEST_REPORT = 32 * 1024 * 1024;

class Refusal extends Error {}

/** `folder` is there and empty, and only this process writes in it. What was received of a refused tree stays. */
export async function receiveTree(
  source: Readable,
  folder: string,
  limits: TreeLimits,
): Promise<Result<ReceivedTree, TreeProblem>> {
  const receiver = new Receiver(folder, limits);
  try {
    for await (const chunk of source) receiver.take(Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk));
    const report = receiver.end();
    return report.ok ? report : failed({ kind: 'ended-early', why: report.fault });
  } catch (error) {
    source.destroy();
    return failed({ kind: 'refused', why: error instanceof Refusal ? error.message : writeProblem(error) });
  } finally {
    receiver.close();
  }
}

function writeProblem(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return code === 'ENOSPC' || code === 'EDQUOT' ? 'the disk is full' : 'it could not be written to the disk';
}

interface Entry {
  readonly path: string;
  readonly size: number;
  readonly executable: boolean;
}

/** Where the content that comes in goes. */
interface OpenFile {
  readonly descriptor: number | null;
  left: number;
}

class Receiver {
  readonly #folder: string;
  readonly #limits: TreeLimits;
  readonly #report: Buffer[] = [];
  #hasReport = false;
  #pending: Buffer = Buffer.alloc(0);
  #open: OpenFile | null = null;
  #isEnded = false;
  #files = 0;
  #bytes = 0;

  constructor(folder: string, limits: TreeLimits) {
    this.#folder = folder;
    this.#limits = limits;
  }

  take(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) rest = this.#open === null ? this.#header(rest) : this.#content(this.#open, rest);
  }

  end(): Result<ReceivedTree, string> {
    if (!this.#isEnded) return failed('it ended in the middle');
    return ok({ report: this.#hasReport ? Buffer.concat(this.#report).toString('utf8') : null });
  }

  close(): void {
    if (this.#open !== null && this.#open.descriptor !== null) closeSync(this.#open.descriptor);
    this.#open = null;
  }

  /** Takes what belongs to a header and answers the rest. */
  #header(chunk: Buffer): Buffer {
    if (this.#isEnded) throw new Refusal('it goes on behind its end');
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    if (this.#pending.length < 4) return Buffer.alloc(0);
    const length = this.#pending.readUInt32BE(0);
    if (length > LONGEST_HEADER) throw new Refusal('a name is too long');
    if (length === 0) this.#isEnded = true;
    if (this.#pending.length < 4 + length) return Buffer.alloc(0);
    const rest = this.#pending.subarray(4 + length);
    if (length > 0) this.#begin(entryOf(this.#pending.subarray(4, 4 + length)));
    this.#pending = Buffer.alloc(0);
    return rest;
  }

  #begin({ path, size, executable }: Entry): void {
    if (path === 'report') {
      if (this.#hasReport || size > LONGEST_REPORT) throw new Refusal('its report is too long');
      this.#hasReport = true;
      this.#start({ descriptor: null, left: size });
      return;
    }
    this.#files += 1;
    this.#bytes += size;
    const { files, bytes, fileBytes } = this.#limits;
    if (this.#files > files) throw new Refusal(`it has more than ${files} files`);
    if (size > fileBytes || this.#bytes > bytes)
      throw new Refusal(`it is larger than ${Math.floor(bytes / 1024 / 1024)} MiB, or one file of it is`);
    const target = join(this.#folder, ...namesOf(path, this.#limits.depth));
    mkdirSync(dirname(target), { recursive: true, mode: 0o755 });
    // 'x': a name that comes twice is refused, and no link can be there: this process makes none.
    this.#start({ descriptor: openSync(target, 'wx', executable ? 0o755 : 0o644), left: size });
  }

  #start(file: OpenFile): void {
    this.#open = file;
    if (file.left === 0) this.close();
  }

  #content(file: OpenFile, chunk: Buffer): Buffer {
    const part = chunk.subarray(0, file.left);
    if (file.descriptor === null) this.#report.push(part);
    else for (let at = 0; at < part.length; ) at += writeSync(file.descriptor, part, at);
    file.left -= part.length;
    if (file.left === 0) this.close();
    return chunk.subarray(part.length);
  }
}

function entryOf(header: Buffer): Entry {
  const parsed = parseJson(header.toString('utf8'));
  if (parsed.ok && isJsonObject(parsed.value)) {
    const { path, size, executable } = parsed.value;
    if (typeof path === 'string' && typeof size === 'number' && Number.isSafeInteger(size) && size >= 0)
      return { path, size, executable: executable === true };
  }
  throw new Refusal('a header of it is none');
}

/** The names below `tree/`. Attack: `../`, absolute paths, invalid names, folders without end. */
function namesOf(path: string, depth: number): readonly string[] {
  const [first, ...names] = path.split('/');
  const bad = names.find((name) => ['', '.', '..'].includes(name) || /[\p{Cc}\ufffd\\]/u.test(name));
  if (first !== 'tree' || names.length === 0 || bad !== undefined)
    throw new Refusal('a path of it leads out, or is none');
  if (names.length > depth) throw new Refusal('its folders are nested too deep');
  if (names.some((name) => Buffer.byteLength(name) > 255)) throw new Refusal('a name is too long');
  return names;
}
