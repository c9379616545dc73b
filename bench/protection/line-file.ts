/**
 * The lines of a file of JSON lines, compressed or not, one after the other and never all at once. Files may be anybody's:
 * a line that is too long is told and passed over, and a compression that breaks off or never ends ends the file.
 */
import { createReadStream } from 'node:fs';
import { createBrotliDecompress } from 'node:zlib';

export interface Line {
  /** From 1, empty lines counted. */
  readonly number: number;
  /** Null: it cannot be read; `why` says so. */
  readonly text: string | null;
  readonly why: string;
}

export const IS_LINE_FILE = /\.jsonl(?:\.br)?$/;

const MOST_LINE = 64 * 1024 * 1024;
/** Of a whole file, unpacked: a small file can unpack to more than there will ever be time for. */
const MOST_FILE = 16 * 1024 ** 3;
const NEWLINE = 0x0a;

export async function* linesOf(file: string): AsyncGenerator<Line> {
  const lines = new Lines();
  let total = 0;
  try {
    for await (const bytes of bytesOf(file)) {
      total += bytes.length;
      if (total > MOST_FILE) return yield lines.broken('the file unpacks to more than 16 GiB');
      yield* lines.take(bytes);
    }
  } catch (error) {
    return yield lines.broken(error instanceof Error ? error.message : String(error));
  }
  yield* lines.end();
}

async function* bytesOf(file: string): AsyncGenerator<Buffer> {
  const stored = createReadStream(file, { highWaterMark: 1024 * 1024 });
  if (!file.endsWith('.br')) return yield* stored;
  const unpacked = createBrotliDecompress();
  stored.on('error', (error) => unpacked.destroy(error));
  try {
    yield* stored.pipe(unpacked);
  } finally {
    stored.destroy();
  }
}

class Lines {
  #pieces: Buffer[] = [];
  #length = 0;
  #number = 0;

  *take(bytes: Buffer): Generator<Line> {
    let from = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, from)) {
      this.#keep(bytes.subarray(from, end));
      from = end + 1;
      yield* this.#line();
    }
    this.#keep(bytes.subarray(from));
  }

  *end(): Generator<Line> {
    if (this.#length > 0) yield* this.#line();
  }

  /** What ends the file in the middle of the line that comes next. */
  broken(why: string): Line {
    return { number: this.#number + 1, text: null, why };
  }

  #keep(piece: Buffer): void {
    this.#length += piece.length;
    if (this.#length > MOST_LINE) this.#pieces = [];
    else if (piece.length > 0) this.#pieces.push(piece);
  }

  *#line(): Generator<Line> {
    const [pieces, length] = [this.#pieces, this.#length];
    this.#pieces = [];
    this.#length = 0;
    this.#number += 1;
    if (length > MOST_LINE) yield { number: this.#number, text: null, why: 'it is longer than 64 MiB' };
    else {
      const text = Buffer.concat(pieces)
        .toString('utf8')
        .replace(/^\ufeff/, '');
      if (text.trim() !== '') yield { number: this.#number, text, why: '' };
    }
  }
}
