/**
 * Lines out of byte ranges of files, without ever holding a file: a range is read at once, and a line that continues
 * behind it is read to its end, up to a limit. Ranges that follow each other give every line exactly once.
 */
import { isUtf8 } from 'node:buffer';
import { closeSync, openSync, readSync } from 'node:fs';
import type { Part } from './part.ts';

export type RangePart = Extract<Part, { kind: 'range' }>;

/** One line, without its line end. */
export interface Line {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  /** Of its first byte in the input. */
  readonly position: number;
  /** From 1, within the part. */
  readonly number: number;
  readonly isUtf8: boolean;
  /** It ends with the input, not with a line end. */
  readonly isOpen: boolean;
  /** Longer than the limit; the bytes are not there. */
  readonly isTooLong: boolean;
}

export type VisitLine = (line: Line) => void;

const NEWLINE = 0x0a;
const STEP = 1024 * 1024;
/** A buffer that one long line made larger is not kept. */
const MOST_KEPT = 8 * 1024 * 1024;

export interface LineOptions {
  /** Where the first line starts in the bytes. */
  readonly from: number;
  /** Where the bytes start in the input. */
  readonly position: number;
  /** Lines that were counted before. */
  readonly before: number;
  /** Whether the input ends with the bytes. */
  readonly isLast: boolean;
  readonly maxLine: number;
}

/** Lines of bytes that end with a line end, or with the input. Returns how many. */
export function eachLine(bytes: Buffer, options: LineOptions, visit: VisitLine): number {
  let number = options.before;
  let at = options.from;
  const areAllUtf8 = isUtf8(bytes.subarray(at));
  while (at < bytes.length) {
    const found = bytes.indexOf(NEWLINE, at);
    if (found < 0 && !options.isLast) break;
    const end = found < 0 ? bytes.length : found;
    const isTooLong = end - at > options.maxLine;
    visit({
      bytes,
      start: at,
      end,
      position: options.position + at,
      number: ++number,
      isUtf8: areAllUtf8 || isTooLong || isUtf8(bytes.subarray(at, end)),
      isOpen: found < 0,
      isTooLong,
    });
    at = end + 1;
  }
  return number - options.before;
}

/** Reads ranges of files; keeps the last file open. */
export class LineReader {
  readonly #maxLine: number;
  #buffer = Buffer.allocUnsafeSlow(0);
  #open: { readonly path: string; readonly descriptor: number } | null = null;

  constructor(maxLine: number) {
    this.#maxLine = maxLine;
  }

  /** The lines that start in the range; returns how many. Throws what reading throws. */
  lines(part: RangePart, visit: VisitLine): number {
    const isAtLineStart = part.startsLine || part.start === 0;
    const from = isAtLineStart ? part.start : part.start - 1;
    const bytes = this.#read(part.path, from, part.end);
    const firstEnd = isAtLineStart ? -1 : bytes.indexOf(NEWLINE);
    // The whole range lies inside of a line that belongs to the range where it starts.
    if (!isAtLineStart && firstEnd < 0) return 0;
    const isLast = part.end === part.size;
    const lastEnd = isLast ? bytes.length : bytes.lastIndexOf(NEWLINE) + 1;
    const start = firstEnd + 1;
    const options = { from: start, position: from, before: 0, isLast, maxLine: this.#maxLine };
    const whole = eachLine(lastEnd === bytes.length ? bytes : bytes.subarray(0, lastEnd), options, visit);
    const rest = Math.max(start, lastEnd);
    if (rest >= bytes.length) return whole;
    return whole + this.#longLine(part, from + rest, whole, visit);
  }

  /** A whole file. Throws what reading throws. */
  whole(path: string, size: number): Buffer {
    return this.#read(path, 0, size);
  }

  close(): void {
    if (this.#open !== null) closeSync(this.#open.descriptor);
    this.#open = null;
  }

  /** A line that starts in the range and ends behind it. */
  #longLine(part: RangePart, from: number, before: number, visit: VisitLine): number {
    let end = part.end;
    while (end < part.size) {
      const next = Math.min(part.size, end + STEP, from + this.#maxLine + 1);
      if (next <= end) break;
      const piece = this.#read(part.path, end, next);
      const found = piece.indexOf(NEWLINE);
      if (found >= 0) {
        end += found + 1;
        const options = { from: 0, position: from, before, isLast: false, maxLine: this.#maxLine };
        return eachLine(this.#read(part.path, from, end), options, visit);
      }
      end = next;
    }
    if (end - from <= this.#maxLine) {
      const options = { from: 0, position: from, before, isLast: true, maxLine: this.#maxLine };
      return eachLine(this.#read(part.path, from, end), options, visit);
    }
    const none = Buffer.alloc(0);
    const line = { bytes: none, start: 0, end: 0, position: from, number: before + 1, isUtf8: true };
    visit({ ...line, isOpen: false, isTooLong: true });
    return 1;
  }

  #read(path: string, from: number, to: number): Buffer {
    const length = to - from;
    if (this.#buffer.length < length || this.#buffer.length > Math.max(MOST_KEPT, length)) {
      this.#buffer = Buffer.allocUnsafeSlow(length);
    }
    const descriptor = this.#descriptor(path);
    let filled = 0;
    while (filled < length) {
      const count = readSync(descriptor, this.#buffer, filled, length - filled, from + filled);
      if (count === 0) throw new ShortenedFile();
      filled += count;
    }
    return this.#buffer.subarray(0, length);
  }

  #descriptor(path: string): number {
    if (this.#open?.path === path) return this.#open.descriptor;
    this.close();
    const descriptor = openSync(path, 'r');
    this.#open = { path, descriptor };
    return descriptor;
  }
}

/** Why an input cannot be read; `otherwise` says it where nothing better is known. */
export function readingFault(error: unknown, otherwise: (code: string) => string): string {
  if (error instanceof ShortenedFile) return 'it became shorter while it was read';
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ENOENT') return 'there is no such file any more';
  return code === 'EACCES' || code === 'EPERM' ? 'you may not read it' : otherwise(code);
}

/** Thrown when a file is shorter than it was when the scan began. */
export class ShortenedFile extends Error {
  override readonly name = 'ShortenedFile';
}
