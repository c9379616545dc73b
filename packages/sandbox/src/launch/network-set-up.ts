/**
 * Starts the program that sets up the network of one sandbox from outside, and reads what it tells afterwards.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { READY } from '../kernel/network-program.ts';
import { statFields } from '../kernel/proc.ts';
import { RECORD_BYTES, type RefusedPlace, refusedPlace } from '../kernel/refused-packets.ts';

/** A network in which every address leads to the sandbox's listeners. */
export interface WholeNetwork {
  /** Calls `tell` for each connection or datagram that found no listener, until `end`. Once. */
  watch(tell: (place: RefusedPlace) => void): void;
  /** Resolves once everything that it saw has been reported. */
  end(): Promise<void>;
}

const DEADLINE_MS = 5_000;
/** Attack: an app connects to closed ports without end, and the hub does nothing but read of it. */
const PAUSE_MS = 20;

/** How networks are set up on this machine. */
export interface NetworkSetUp {
  readonly program: Buffer;
  /**
   * Where the program is written: a folder that no app may write. Attack: an app with the hub's user puts its own program at the path
   * before it is executed, and so runs outside of every sandbox. Null: there is none, and no network is set up.
   */
  readonly folder: string | null;
}

/** Of one sandbox. */
export class OuterNetwork {
  readonly #how: NetworkSetUp;
  readonly #root = Promise.withResolvers<number | null>();
  #network: Promise<WholeNetwork | null> | null = null;

  constructor(how: NetworkSetUp) {
    this.#how = how;
  }

  /** `root`: a process inside. */
  found(root: number): void {
    this.#root.resolve(root);
  }

  /**
   * To be called when bubblewrap has done its part: before that, loopback may be down. Null: this machine does not let us set the network
   * up; then only loopback addresses lead to the listeners, and what nobody hears is refused without a report.
   */
  setUp(): Promise<WholeNetwork | null> {
    this.#network ??= this.#root.promise.then((root) =>
      root === null ? null : setUpNetwork(this.#how, root),
    );
    return this.#network;
  }

  /** When the sandbox has ended. */
  async end(): Promise<void> {
    this.#root.resolve(null);
    await (await this.#network)?.end();
  }
}

async function setUpNetwork(how: NetworkSetUp, root: number): Promise<WholeNetwork | null> {
  const child = started(how, `/proc/${root}/ns/net`);
  if (child?.stdout == null) return null;
  const { stdout } = child;
  if (!(await isReady(child, stdout))) {
    child.kill('SIGKILL');
    return null;
  }
  const reader = new PlaceReader(stdout);
  return {
    watch: (tell) => reader.watch(tell),
    end: async () => {
      await asleep(child.pid);
      child.kill('SIGKILL');
      await reader.readToEnd();
    },
  };
}

const [ROUNDS, ROUND_MS] = [50, 5];

/** A program that sleeps has read all packets; or else nobody has read what it wrote, and there are very many. */
async function asleep(pid = 0): Promise<void> {
  for (let round = 0; round < ROUNDS && statFields(`/proc/${pid}`)?.[0] === 'R'; round++)
    await wait(ROUND_MS);
}

/** The file is gone again when the program runs; where it cannot be executed, there is none. */
function started({ program, folder }: NetworkSetUp, network: string): ChildProcess | null {
  if (folder === null) return null;
  let own: string | null = null;
  try {
    own = mkdtempSync(join(folder, 'network-'));
    const path = join(own, 'set-up');
    writeFileSync(path, program, { mode: 0o500 });
    const child = spawn(path, [network], { env: {}, cwd: '/', stdio: ['ignore', 'pipe', 'ignore'] });
    child.on('error', () => undefined);
    return child;
  } catch {
    return null;
  } finally {
    if (own !== null) rmSync(own, { recursive: true, force: true });
  }
}

function isReady(child: ChildProcess, stdout: Readable): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, DEADLINE_MS, false);
    const settle = (isSo: boolean) => {
      clearTimeout(timer);
      resolve(isSo);
    };
    child.once('error', () => settle(false)).once('exit', () => settle(false));
    stdout.on('error', () => settle(false));
    stdout.once('readable', () => settle(String(stdout.read(1)) === READY));
  });
}

class PlaceReader {
  readonly #stdout: Readable;
  #isEnding = false;

  constructor(stdout: Readable) {
    this.#stdout = stdout;
  }

  watch(tell: (place: RefusedPlace) => void): void {
    let bytes = Buffer.alloc(0);
    this.#stdout.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      for (; bytes.length >= RECORD_BYTES; bytes = bytes.subarray(RECORD_BYTES)) {
        const place = refusedPlace(bytes.subarray(0, RECORD_BYTES));
        if (place !== null) tell(place);
      }
      if (this.#isEnding) return;
      this.#stdout.pause();
      setTimeout(() => this.#stdout.resume(), PAUSE_MS).unref();
    });
  }

  /** Without pauses: its writer has ended. */
  readToEnd(): Promise<void> {
    this.#isEnding = true;
    const ended = new Promise<void>((resolve) => this.#stdout.once('close', resolve));
    if (this.#stdout.destroyed) return Promise.resolve();
    this.#stdout.resume();
    return ended;
  }
}
