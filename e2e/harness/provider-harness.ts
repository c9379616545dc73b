/**
 * A place of its own for one test of the command line, and the fake provider beside it: `cordon` runs as a process
 * with its own home, data and cache, and what it prints comes back as text and as events. Test code.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { keepResults, lendResults } from '@cordon/testkit/lent-results.ts';

export const ROOT = resolve(import.meta.dirname, '../..');

/** Longer than any run that does not hang. */
const RUN_MS = 300_000;

export interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Lines of standard output that are JSON objects, with `--json`. */
  readonly events: readonly TraceEvent[];
}

/** An event as it was printed; the tests read it like any other program would. */
export interface TraceEvent {
  readonly kind: string;
  readonly [key: string]: unknown;
}

export interface RunOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** Standard input; by default it is empty. */
  readonly input?: string;
  /** Told of what comes on standard output; may write more input, and ends it. */
  readonly onOutput?: (text: string, child: ChildProcess) => void;
}

/** A folder with a configuration, the user's files, and Cordon's own folders. */
export class Place {
  readonly folder: string;
  readonly files: string;
  readonly data: string;

  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'cordon-provider-'));
    this.files = join(this.folder, 'files');
    this.data = join(this.folder, 'share', 'cordon');
    for (const folder of [this.files, join(this.folder, 'home')]) mkdirSync(folder);
    // Where `npx` finds packages: as if they had been installed beside the configuration.
    symlinkSync(join(ROOT, 'node_modules'), join(this.folder, 'node_modules'));
  }

  /** A configuration asks no model for facts unless it says so: the scripts count what a query itself asks. */
  write(name: string, content: string | object): string {
    const path = join(this.folder, name);
    const whole =
      name === 'cordon.json' ? Object.assign({ memory: { facts: 'patterns' } }, content) : content;
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(whole, null, 2));
    return path;
  }

  read(...path: readonly string[]): string {
    return readFileSync(join(this.folder, ...path), 'utf8');
  }

  /** The private folder of an app. */
  state(app: string): string {
    return join(this.data, 'apps', app);
  }

  async cordon(args: readonly string[], options: RunOptions = {}): Promise<Run> {
    lendResults(this.data);
    return runCordon(this.folder, args, options);
  }

  [Symbol.dispose](): void {
    keepResults(this.data);
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

function runCordon(folder: string, args: readonly string[], options: RunOptions): Promise<Run> {
  const child = spawn(join(ROOT, 'node_modules', '.bin', 'cordon'), trusting(folder, args), {
    cwd: folder,
    env: {
      PATH: process.env.PATH ?? '/usr/bin:/bin',
      HOME: join(folder, 'home'),
      XDG_DATA_HOME: join(folder, 'share'),
      XDG_CACHE_HOME: join(folder, 'cache'),
      XDG_CONFIG_HOME: join(folder, 'config'),
      // Compiled code may be shared: it speeds the tests up and is keyed by its source.
      NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/cordon-e2e'),
      LANG: 'C.UTF-8',
      ...options.environment,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: RUN_MS,
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    options.onOutput?.(text, child);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdin.on('error', () => undefined);
  if (options.onOutput === undefined) child.stdin.end(options.input ?? '');
  else child.stdin.write(options.input ?? '');
  return new Promise((settle, reject) => {
    child.on('error', reject);
    child.on('close', (code) => settle({ code, stdout, stderr, events: eventsIn(stdout) }));
  });
}

/** A user who has agreed to the file in the folder and takes apps at their word; agreement.test.ts has another. */
function trusting(folder: string, args: readonly string[]): readonly string[] {
  if (!['ask', 'chat'].includes(args[0] ?? '')) return args;
  const isNamed = args.includes('--config') || !existsSync(join(folder, 'cordon.json'));
  return [...args, '--pin-unseen', ...(isNamed ? [] : ['--config', 'cordon.json'])];
}

function eventsIn(stdout: string): TraceEvent[] {
  return stdout.split('\n').flatMap((line): TraceEvent[] => {
    if (!line.startsWith('{')) return [];
    const parsed: unknown = JSON.parse(line);
    return isEvent(parsed) ? [parsed] : [];
  });
}

function isEvent(value: unknown): value is TraceEvent {
  return typeof value === 'object' && value !== null && 'kind' in value && typeof value.kind === 'string';
}
