/**
 * What bubblewrap says when it cannot set up a sandbox, told apart from what the program inside writes later.
 */
import { PassThrough, type Readable, Writable } from 'node:stream';

/**
 * Standard error belongs to bubblewrap until the app runs. The first bytes are kept for the report of a failed
 * set-up; all of them reach the reader, if there is one.
 */
export class SetupErrors {
  readonly stream: Readable | null;
  #kept = '';
  readonly #ended: Promise<void>;

  constructor(source: Readable | null, wanted: boolean) {
    const passed = new PassThrough();
    this.stream = wanted ? passed : null;
    this.#ended =
      source === null ? Promise.resolve() : new Promise((resolve) => source.once('close', resolve));
    source?.on('data', (chunk: Buffer) => {
      if (this.#kept.length < 4096) this.#kept += chunk.toString('utf8').slice(0, 4096);
    });
    source?.pipe(wanted ? passed : new Writable({ write: (_chunk, _encoding, done) => done() }));
  }

  /** One line, without control characters; waits briefly, since the last words come after the exit. */
  async text(): Promise<string> {
    await Promise.race([this.#ended, new Promise((resolve) => setTimeout(resolve, 200).unref())]);
    return this.#kept
      .replace(/[^\x20-\x7e]+/g, ' ')
      .trim()
      .slice(0, 500);
  }
}
