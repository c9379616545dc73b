/**
 * Cuts inputs into parts: byte ranges of files, and batches of whole lines of what comes as a stream. Nothing of an
 * input is in memory but the batch that is being filled.
 */
import { createReadStream } from 'node:fs';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import type { Input } from './input.ts';
import type { Part } from './part.ts';

/** Small enough to share the work evenly, large enough that passing it on costs nothing. */
export const PART_BYTES = 2 * 1024 * 1024;
const NEWLINE = 0x0a;

/** Where an earlier scan stopped. */
export interface Position {
  /** Bytes of the input, after decompression. */
  readonly bytes: number;
  /** Whether a line starts there, even without a line end before it. */
  readonly startsLine: boolean;
}

export interface PlacedPart {
  readonly part: Part;
  /** Where the next part starts, in bytes after decompression. */
  readonly next: number;
  /** How much of the file on the disk has been taken, for showing progress. */
  readonly taken: number;
}

export interface PartOptions {
  /** About so much is one part. */
  readonly partBytes: number;
  readonly maxLine: number;
  readonly standardInput: AsyncIterable<Uint8Array>;
}

/** The parts of an input from a position on. Throws when a stream cannot be read or decompressed. */
export function partsOf(
  input: Input,
  from: Position,
  options: PartOptions,
): AsyncIterable<PlacedPart> | Iterable<PlacedPart> {
  switch (input.kind) {
    case 'lines':
      return ranges(input, from, options);
    case 'json':
      return input.size > options.maxLine || from.bytes > 0 ? ranges(input, from, options) : whole(input);
    case 'gzip':
    case 'brotli':
      return decompressed(input, from, options);
    case 'standard-input':
      return batches(options.standardInput, 0, { ...options, isLive: true }, () => 0);
  }
}

function* ranges(
  { name: path, size }: Input,
  from: Position,
  { partBytes }: PartOptions,
): Generator<PlacedPart> {
  for (let start = from.bytes; start < size; start += partBytes) {
    const end = Math.min(size, start + partBytes);
    const startsLine = start === from.bytes && from.startsLine;
    yield { part: { kind: 'range', path, start, end, size, startsLine }, next: end, taken: end };
  }
}

function* whole({ name: path, size }: Input): Generator<PlacedPart> {
  yield { part: { kind: 'whole', path, size }, next: size, taken: size };
}

async function* decompressed(input: Input, from: Position, options: PartOptions): AsyncGenerator<PlacedPart> {
  // Only what was there when the scan began, as with other files.
  const file = createReadStream(input.name, { highWaterMark: 256 * 1024, end: Math.max(0, input.size - 1) });
  const decompress = input.kind === 'gzip' ? createGunzip() : createBrotliDecompress();
  const bytes = new PassThrough({ highWaterMark: options.partBytes });
  const ended = pipeline(file, decompress, bytes);
  // What is wrong is thrown by reading `bytes`, too.
  ended.catch(() => undefined);
  try {
    yield* batches(bytes, from.bytes, { ...options, isLive: false }, () => file.bytesRead);
  } finally {
    file.destroy();
  }
}

interface BatchOptions extends Pick<PartOptions, 'maxLine' | 'partBytes'> {
  /** Whether lines are passed on as they come; else when there are enough of them. */
  readonly isLive: boolean;
}

/** `skipped` bytes are left out; a line starts behind them. */
async function* batches(
  bytes: AsyncIterable<Uint8Array>,
  skipped: number,
  options: BatchOptions,
  taken: () => number,
): AsyncGenerator<PlacedPart> {
  const batch = new Batch(skipped, options);
  let left = skipped;
  try {
    for await (const piece of bytes) {
      const rest = left === 0 ? piece : piece.subarray(Math.min(left, piece.length));
      left -= piece.length - rest.length;
      if (rest.length === 0) continue;
      for (const part of batch.add(rest)) yield { part, next: batch.position, taken: taken() };
    }
  } catch (error) {
    // The lines before the fault are there all the same.
    const lines = batch.wholeLines();
    if (lines !== null) yield { part: lines, next: batch.position, taken: taken() };
    throw error;
  }
  const last = batch.last();
  if (last !== null) yield { part: last, next: batch.position, taken: taken() };
}

/** Lines that are being gathered. */
class Batch {
  readonly #options: BatchOptions;
  #pieces: Uint8Array[] = [];
  #length = 0;
  /** Gathering is looked at when it has this size; doubled while one line has no end. */
  #enough: number;
  /** Bytes of a line that is too long and is not kept; -1 if there is none. */
  #dropped = -1;
  /** Of what has been passed on. */
  position: number;

  constructor(position: number, options: BatchOptions) {
    this.position = position;
    this.#options = options;
    this.#enough = options.partBytes;
  }

  *add(piece: Uint8Array): Generator<Part> {
    let rest = piece;
    if (this.#dropped >= 0) {
      const end = rest.indexOf(NEWLINE);
      if (end < 0) {
        this.#dropped += rest.length;
        return;
      }
      yield this.#tooLong(this.#dropped + end + 1);
      rest = rest.subarray(end + 1);
    }
    if (rest.length === 0) return;
    // A stream may use the memory of a piece again.
    this.#pieces.push(rest.slice());
    this.#length += rest.length;
    const isDue = this.#options.isLive && rest.includes(NEWLINE);
    if (this.#length < this.#enough && !isDue) return;
    const gathered = this.#take();
    const end = gathered.lastIndexOf(NEWLINE) + 1;
    this.#enough = this.#options.partBytes;
    if (end > 0) yield this.#lines(gathered, end, false);
    if (end < gathered.length) this.#keep(gathered.subarray(end));
  }

  /** What is left when the stream ends. */
  last(): Part | null {
    if (this.#dropped >= 0) return this.#tooLong(this.#dropped);
    if (this.#length === 0) return null;
    const gathered = this.#take();
    return this.#lines(gathered, gathered.length, true);
  }

  /** What is left of whole lines when the stream breaks. */
  wholeLines(): Part | null {
    const gathered = this.#take();
    const end = gathered.lastIndexOf(NEWLINE) + 1;
    return end === 0 ? null : this.#lines(gathered, end, false);
  }

  #keep(line: Uint8Array<ArrayBuffer>): void {
    if (line.length > this.#options.maxLine) {
      this.#dropped = line.length;
      return;
    }
    this.#pieces = [line];
    this.#length = line.length;
    this.#enough = Math.max(this.#options.partBytes, 2 * line.length);
  }

  #take(): Uint8Array<ArrayBuffer> {
    const gathered = new Uint8Array(this.#length);
    let at = 0;
    for (const piece of this.#pieces) {
      gathered.set(piece, at);
      at += piece.length;
    }
    this.#pieces = [];
    this.#length = 0;
    return gathered;
  }

  /** A copy where it is not all of it: the memory is passed on. */
  #lines(gathered: Uint8Array<ArrayBuffer>, end: number, isLast: boolean): Part {
    const { position } = this;
    this.position += end;
    const bytes = end === gathered.length ? gathered : gathered.slice(0, end);
    return { kind: 'lines', bytes, isLast, position };
  }

  #tooLong(bytes: number): Part {
    this.position += bytes;
    this.#dropped = -1;
    return { kind: 'too-long', bytes };
  }
}
