/** Starts the real `cordon` in a folder of its own, with real files and pipes, and reads what it prints. */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const MAIN = join(import.meta.dirname, '../packages/cli/src/main.ts');
/** For the environment of a `cordon`: compiled code may be shared, because it is keyed by its source. Without it a start takes three times as long. */
export const COMPILED = {
  NODE_COMPILE_CACHE: join(import.meta.dirname, '../node_modules/.cache/cordon-cli'),
};
const FLAGS = ['--disable-warning=ExperimentalWarning'];
/** No test needs so long, also on a busy machine; a program that does is ended, and its test fails. */
const DEADLINE_MS = 300_000;

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  /** The lines of standard output, each parsed, but for `result`. */
  readonly lines: readonly unknown[];
  /** The last line of `analyze` and `explain`, which says what was read; null: there is none. */
  readonly result: unknown;
}

export interface RunOptions {
  readonly input?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
}

/** A folder in which `cordon` runs; disposing removes it. Names in reports are relative to it. */
export class Workplace {
  readonly root = mkdtempSync(join(tmpdir(), 'cordon-cli-'));
  readonly #started: ChildProcessWithoutNullStreams[] = [];

  readonly #folder: string;

  /** `folder` is where commands run; by default the place itself. */
  constructor(files: Readonly<Record<string, unknown>> = {}, folder?: string) {
    this.#folder = folder ?? this.root;
    for (const [name, content] of Object.entries(files)) this.write(name, content);
  }

  /** A text as it is, anything else as JSON. */
  write(name: string, content: unknown): string {
    const file = join(this.root, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    return file;
  }

  run(args: readonly string[], { input = '', env = {} }: RunOptions = {}): Ended {
    const done = spawnSync(process.execPath, [...FLAGS, MAIN, ...args], {
      cwd: this.#folder,
      env: { ...this.#environment(), ...env },
      input,
      encoding: 'utf8',
      timeout: DEADLINE_MS,
      maxBuffer: 256 * 1024 * 1024,
    });
    const all = parsedLines(done.stdout);
    const hasResult = /^\{"kind":"(analyze|explain)\.result"/m.test(done.stdout);
    const lines = hasResult ? all.slice(0, -1) : all;
    const result = hasResult ? all.at(-1) : null;
    return { code: done.status, out: done.stdout, err: done.stderr, lines, result };
  }

  /** For commands that are spoken to while they run; killed at the end of the test, if they still run. */
  start(args: readonly string[]): ChildProcessWithoutNullStreams {
    const child = spawn(process.execPath, [...FLAGS, MAIN, ...args], {
      cwd: this.#folder,
      env: this.#environment(),
      timeout: DEADLINE_MS,
    });
    child.stdin.on('error', () => undefined);
    this.#started.push(child);
    return child;
  }

  #environment(): Record<string, string> {
    return {
      PATH: '/usr/bin:/bin',
      HOME: this.root,
      LANG: 'C.UTF-8',
      NO_COLOR: '1',
      ...COMPILED,
    };
  }

  [Symbol.dispose](): void {
    for (const child of this.#started) child.kill('SIGKILL');
    rmSync(this.root, { recursive: true, force: true, maxRetries: 10 });
  }
}

function parsedLines(text: string): readonly unknown[] {
  return text.split('\n').flatMap((line): unknown[] => (line.startsWith('{') ? [JSON.parse(line)] : []));
}
