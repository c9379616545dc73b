/**
 * Starts `cordon` as a user's shell does, in its own home, and reads what it prints. Nothing of Cordon is
 * imported here: these tests see processes, streams, exit codes and files, as a user does.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { keepResults, lendResults } from '@cordon/testkit/lent-results.ts';

export const REPOSITORY = resolve(import.meta.dirname, '../..');
export const CORDON = join(REPOSITORY, 'node_modules/.bin/cordon');
export const EXAMPLES = join(REPOSITORY, 'examples/cordon.json');

/** A JSON object of the trace; its fields are looked at by the tests. */
export type Printed = Readonly<Record<string, unknown>>;

export interface Run {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The lines of standard output that are JSON objects, in order. */
  readonly events: readonly Printed[];
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** What standard input holds; without it, it is empty. */
  readonly input?: string;
  /** A program and its arguments that start `cordon` in their turn. */
  readonly through?: readonly string[];
  /** Whether it runs at a terminal, as with a person; then everything it shows comes on standard output. */
  readonly terminal?: boolean;
  /** Whether files and apps have to be agreed to; without it, this user takes them at their word. */
  readonly reviews?: boolean;
  readonly timeoutMs?: number;
}

/** The commands that serve queries, and all that start apps. */
const QUERYING: ReadonlySet<string> = new Set(['ask', 'chat', 'resume', 'start']);
const SANDBOXED: ReadonlySet<string> = new Set([...QUERYING, 'demo', 'init', 'run']);
/** No test needs so long, also on a busy machine; a process that does is ended, and its test fails. */
const DEADLINE_MS = 300_000;
/** A look at other processes, which tell nobody what they do. */
const LOOK_MS = 20;

/** A user with a home, a data folder and nothing else; disposing removes all of it. */
export class Home {
  readonly root = mkdtempSync(join(tmpdir(), 'cordon-e2e-'));
  readonly data = join(this.root, 'data/cordon');
  readonly #started = new Set<Conversation>();

  constructor() {
    for (const folder of ['home', 'data', 'cache', 'config', 'work']) mkdirSync(join(this.root, folder));
  }

  /** Writes a file below `work`, which is also where commands run, and returns its path. */
  write(name: string, content: unknown): string {
    const path = join(this.root, 'work', name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
    return path;
  }

  /** A file of an app's state. */
  state(app: string, file: string): Printed {
    return object(JSON.parse(readFileSync(join(this.data, 'apps', app, file), 'utf8')));
  }

  /** Runs a command to its end. */
  async run(args: readonly string[], options: RunOptions = {}): Promise<Run> {
    const running = this.start(args, options);
    running.child.stdin?.end(options.input ?? '');
    return running.end();
  }

  /** Starts a command that is spoken to while it runs. */
  start(args: readonly string[], options: RunOptions = {}): Conversation {
    const given = options.reviews === true ? args : this.#trusting(args);
    if (SANDBOXED.has(args[0] ?? '') && options.through === undefined) lendResults(this.data);
    const command = [...(options.through ?? []), CORDON, ...given];
    const [program = '', ...rest] = options.terminal === true ? atTerminal(command) : command;
    const child = spawn(program, rest, {
      cwd: options.cwd ?? join(this.root, 'work'),
      env: { ...this.environment(), ...options.env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const conversation = new Conversation(child, options.timeoutMs ?? DEADLINE_MS);
    this.#started.add(conversation);
    return conversation;
  }

  /** What is agreed to, and what is stopped, has tests of its own: agreement.test.ts. */
  #trusting(args: readonly string[]): readonly string[] {
    if (!QUERYING.has(args[0] ?? '')) return args;
    const file = join(this.root, 'work/cordon.json');
    const isNamed = args.includes('--config') || !existsSync(file);
    return [...args, '--pin-unseen', ...(isNamed ? [] : ['--config', file])];
  }

  /** The whole environment of a command: nothing of the tester's own can be taken for the user's. */
  environment(): Record<string, string> {
    const folder = (name: string) => join(this.root, name);
    return {
      PATH: process.env.PATH ?? '/usr/bin:/bin',
      HOME: folder('home'),
      XDG_DATA_HOME: folder('data'),
      XDG_CACHE_HOME: folder('cache'),
      XDG_CONFIG_HOME: folder('config'),
      // Compiled code may be shared: it speeds the tests up and is keyed by its source.
      NODE_COMPILE_CACHE: join(REPOSITORY, 'node_modules/.cache/cordon-e2e'),
      LANG: 'C.UTF-8',
    };
  }

  [Symbol.dispose](): void {
    for (const conversation of this.#started) conversation.signal('SIGKILL');
    keepResults(this.data);
    rmSync(this.root, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** script(1) makes a terminal and passes on what is typed and shown. */
function atTerminal(command: readonly string[]): readonly string[] {
  const quoted = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  return ['script', '--quiet', '--return', '--flush', '--command', quoted, '/dev/null'];
}

/** A running command: lines go in, texts and events come out. */
export class Conversation {
  readonly child: ChildProcess;
  readonly #ended: Promise<number | null>;
  readonly #deadline: NodeJS.Timeout;
  #stdout = '';
  #stderr = '';
  #isOver = false;
  #look: () => void = () => undefined;
  /** What a person types again when told that it came too early. */
  #answer: string | null = null;
  #refusals = 0;

  constructor(child: ChildProcess, timeoutMs: number) {
    this.child = child;
    this.#deadline = setTimeout(() => this.signal('SIGKILL'), timeoutMs);
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
      this.#answerAgain();
      this.#look();
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
      this.#look();
    });
    child.stdin?.on('error', () => undefined);
    this.#ended = new Promise((settle) => {
      child.once('close', (code) => {
        clearTimeout(this.#deadline);
        this.#isOver = true;
        settle(code);
        this.#look();
      });
      child.once('error', () => settle(null));
    });
  }

  get pid(): number {
    return this.child.pid ?? assert.fail('the command did not start');
  }

  get stderr(): string {
    return this.#stderr;
  }

  get stdout(): string {
    return this.#stdout;
  }

  get events(): readonly Printed[] {
    return eventsIn(this.#stdout);
  }

  say(line: string): void {
    this.child.stdin?.write(`${line}\n`);
  }

  /** Bytes as a terminal sends them, e.g. Ctrl-C. */
  type(bytes: string): void {
    this.child.stdin?.write(bytes);
  }

  /** Answers as a person at a terminal does: reads the question first, and answers again when told that it was too early. */
  async answer(line: string): Promise<void> {
    this.#answer = line;
    await reading();
    this.type(`${line}\r`);
  }

  #answerAgain(): void {
    const refusals = this.#stdout.split('Ignored: this input').length;
    if (refusals > this.#refusals && this.#refusals > 0 && this.#answer !== null)
      void this.answer(this.#answer);
    this.#refusals = refusals;
  }

  signal(name: NodeJS.Signals): void {
    if (!this.#isOver) this.child.kill(name);
  }

  /** Waits until the trace has so many events for which `isMeant` holds; returns the last of these. */
  async event(kind: string, isMeant: (event: Printed) => boolean = () => true, count = 1): Promise<Printed> {
    const found = () => this.events.filter((event) => event.kind === kind && isMeant(event));
    await this.#until(() => found().length >= count, `event ${kind}`);
    return found()[count - 1] ?? assert.fail();
  }

  /** Waits until what a terminal shows holds the text so often. */
  async shown(text: string, count = 1): Promise<void> {
    await this.#until(() => this.#stdout.split(text).length > count, JSON.stringify(text));
  }

  /** Waits for what no stream tells; fails the test if the command ends before. */
  async until(isSo: () => boolean, what: string): Promise<void> {
    while (!isSo()) {
      if (this.#isOver) throw this.#endedBefore(what);
      await new Promise((settle) => setTimeout(settle, LOOK_MS));
    }
  }

  async end(): Promise<Run> {
    const code = await this.#ended;
    return { code, stdout: this.#stdout, stderr: this.#stderr, events: this.events };
  }

  #until(isThere: () => boolean, what: string): Promise<void> {
    return new Promise((settle, reject) => {
      this.#look = () => {
        if (isThere()) settle();
        else if (this.#isOver) reject(this.#endedBefore(what));
      };
      this.#look();
    });
  }

  #endedBefore(what: string): Error {
    return new Error(
      `the command ended before ${what}\n--- stdout\n${this.#stdout}\n--- stderr\n${this.#stderr}`,
    );
  }
}

/** Longer than the pause after which Cordon takes keys for an answer. */
export function reading(): Promise<void> {
  return new Promise((settle) => {
    setTimeout(settle, 700);
  });
}

function eventsIn(stdout: string): readonly Printed[] {
  return stdout
    .slice(0, stdout.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => object(JSON.parse(line)));
}

/** The value as an object; fails the test where it is none. */
export function object(value: unknown): Printed {
  assert.ok(typeof value === 'object' && value !== null && !Array.isArray(value), 'an object was expected');
  return Object.fromEntries(Object.entries(value));
}

/** The value as an array of objects. */
export function objects(value: unknown): readonly Printed[] {
  assert.ok(Array.isArray(value), 'an array was expected');
  return value.map(object);
}

export function ofKind(events: readonly Printed[], kind: string): readonly Printed[] {
  return events.filter((event) => event.kind === kind);
}

/** Texts that reached the user: an answer that was proposed counts when it was executed. */
export function answersIn(events: readonly Printed[]): readonly string[] {
  const delivered = new Set(ofKind(events, 'answer.executed').flatMap(({ causes }) => causes));
  return ofKind(events, 'answer.proposed')
    .filter(({ id }) => delivered.has(id))
    .map(({ text }) => String(text));
}

/** How each query ended, with the reason. */
export function outcomesIn(events: readonly Printed[]): readonly { outcome: string; reason: string }[] {
  return ofKind(events, 'query.ended').map(({ outcome, reason }) => ({
    outcome: String(outcome),
    reason: String(reason),
  }));
}

/** A process below another one, as /proc shows it. */
export interface Descendant {
  readonly pid: number;
  readonly commandLine: string;
}

/** All processes below `root` that live now; those that have ended and wait to be collected are left out. */
export function descendantsOf(root: number): readonly Descendant[] {
  const children = new Map<number, Descendant[]>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    const parent = Number.isInteger(pid) ? parentOf(pid) : null;
    if (parent === null) continue;
    children.set(parent, [...(children.get(parent) ?? []), { pid, commandLine: commandLineOf(pid) }]);
  }
  const found: Descendant[] = [];
  const open = [root];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const own = children.get(at) ?? [];
    found.push(...own);
    open.push(...own.map(({ pid }) => pid));
  }
  return found;
}

/** proc(5): the parent of a living process; null for one that has ended. */
function parentOf(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' || state === 'X' ? null : Number(parent);
  } catch {
    return null;
  }
}

function commandLineOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

/** Kills every process below `root` whose command line holds the text; fails the test where there is none. */
export function killBelow(root: number, text: string): void {
  const meant = descendantsOf(root).filter(({ commandLine }) => commandLine.includes(text));
  assert.ok(meant.length > 0, `no process below ${root} has ${JSON.stringify(text)} in its command line`);
  for (const { pid } of meant) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // Its parent's death was its own.
    }
  }
}

/** Waits until none of these processes lives; fails the test after a minute. */
export async function untilGone(pids: readonly number[]): Promise<void> {
  for (let wait = 0; wait < 1200; wait++) {
    if (pids.every((pid) => parentOf(pid) === null)) return;
    await new Promise((settle) => setTimeout(settle, 50));
  }
  assert.fail(
    `still alive: ${pids
      .filter((pid) => parentOf(pid) !== null)
      .map(commandLineOf)
      .join('; ')}`,
  );
}
