/**
 * Where a scan writes to: a stream, or a file that a later scan continues from the length that is known to be whole.
 */
import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { failed, ok, type Result } from '@cordon/core';
import { written } from '@cordon/print';

export interface ScanOutput {
  write(text: string): Promise<void>;
  /** What was written is kept even if the program is killed now. */
  settle(): void;
  /** Bytes so far; null: a stream. */
  readonly length: number | null;
  close(): void;
}

export class StreamOutput implements ScanOutput {
  readonly length = null;
  readonly #stream: NodeJS.WritableStream;

  constructor(stream: NodeJS.WritableStream) {
    this.#stream = stream;
  }

  write(text: string): Promise<void> {
    return text === '' ? Promise.resolve() : written(this.#stream, text);
  }

  settle(): void {}

  close(): void {}
}

export class FileOutput implements ScanOutput {
  readonly #descriptor: number;
  #length: number;

  constructor(descriptor: number, length: number) {
    this.#descriptor = descriptor;
    this.#length = length;
  }

  /** Keeps the first `length` bytes of what is there. Fails with a sentence. */
  static open(path: string, length: number): Result<FileOutput, string> {
    let descriptor: number | null = null;
    try {
      descriptor = openSync(path, length === 0 ? 'w' : 'r+', 0o600);
      if (fstatSync(descriptor).size < length) {
        closeSync(descriptor);
        return failed('it is shorter than what was written to it');
      }
      if (fstatSync(descriptor).isFile()) ftruncateSync(descriptor, length);
      return ok(new FileOutput(descriptor, length));
    } catch {
      if (descriptor !== null) closeSync(descriptor);
      return failed('it cannot be written');
    }
  }

  get length(): number {
    return this.#length;
  }

  async write(text: string): Promise<void> {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; ) {
      at += writeSync(this.#descriptor, bytes, at, bytes.length - at, this.#length + at);
    }
    this.#length += bytes.length;
  }

  settle(): void {
    fdatasyncSync(this.#descriptor);
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}
