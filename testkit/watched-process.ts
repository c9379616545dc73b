/** A process whose output is waited for: when did a text appear? Every wait has a deadline. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

const DEADLINE_MS = 30_000;

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
}

export class WatchedProcess {
  /** On the clock of `performance.now`, taken just before the start. */
  readonly began: number;
  readonly output: Heard;
  readonly errors: Heard;
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;

  constructor({ command, args, environment }: Program) {
    this.began = performance.now();
    const child = spawn(command, args, {
      env: environment,
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: DEADLINE_MS,
    });
    this.#child = child;
    this.output = new Heard(child.stdout);
    this.errors = new Heard(child.stderr);
    child.stdin.on('error', () => undefined);
    this.#ended = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
  }

  say(line: string): void {
    this.#child.stdin?.write(`${line}\n`);
  }

  /** Waits for the end. Throws unless the process says that all is done: a failure is no measurement. */
  async done(): Promise<void> {
    this.#child.stdin?.end();
    const code = await this.#ended;
    if (code !== 0) throw new Error(`a process ended with ${code}: ${this.errors.text.slice(-500)}`);
  }
}

/** What a stream has said so far. */
export class Heard {
  text = '';
  readonly #decoder = new StringDecoder('utf8');
  #isEnded = false;
  #onMore: () => void = () => undefined;

  constructor(stream: Readable | null) {
    stream?.on('data', (chunk: Buffer) => {
      this.text += this.#decoder.write(chunk);
      this.#onMore();
    });
    stream?.once('close', () => {
      this.#isEnded = true;
      this.#onMore();
    });
  }

  /** Waits until the text has been heard `times` times; the moment, on the clock of `performance.now`. */
  async until(wanted: string, times = 1): Promise<number> {
    while (this.text.split(wanted).length <= times) {
      if (this.#isEnded) throw new Error(`\`${wanted}\` was not heard, but: ${this.text.slice(-500)}`);
      await new Promise<void>((resolve) => {
        this.#onMore = resolve;
      });
    }
    return performance.now();
  }
}
