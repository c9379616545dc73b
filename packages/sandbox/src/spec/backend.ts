/**
 * The interface of every back end: a specification becomes a confined process, or a fault that says which layer
 * is missing. There is no weaker mode behind it.
 */
import type { Socket as DatagramSocket } from 'node:dgram';
import type { Server } from 'node:net';
import type { Duplex, Readable, Writable } from 'node:stream';
import type { AppLimits, Fault, Result } from '@cordon/core';
import type { RefusedPlace } from '../kernel/refused-packets.ts';
import type { LayerName } from './layers.ts';
import type { SandboxSpec } from './spec.ts';

/** One layer of isolation, as `cordon doctor` shows it. */
export interface LayerReport {
  /** A `LayerName`, or what had to be there before any layer could be tried. */
  readonly layer: string;
  readonly ok: boolean;
  /** What was seen; one sentence. */
  readonly why: string;
  /** What to do about it; null when nothing is to be done. */
  readonly remedy: string | null;
  /** The kernel does not have it, and apps start without; set only for a layer that not every kernel has. */
  readonly isAbsent?: true;
}

export interface ProbeReport {
  /** True only if every layer holds. */
  readonly ready: boolean;
  readonly layers: readonly LayerReport[];
  /** Layers that the kernel does not have; among `layers`, too, where it says what they would stop. */
  readonly absent: readonly LayerName[];
  /** Whether this is the kept result of an earlier run with the same kernel and the same programs. */
  readonly cached: boolean;
}

/**
 * The limit that a program exceeded: one of its manifest's `limits`, or one that no manifest raises. `nesting`: folders
 * within folders. `locks`: locks on files that it may only read. `unreadable`: its own folder cannot be measured.
 * `unwatched`: what it uses cannot be seen any more.
 */
export type ExceededLimit =
  | keyof Pick<
      AppLimits,
      'memoryMiB' | 'cpuSeconds' | 'processes' | 'openFiles' | 'fileMiB' | 'storageMiB' | 'files'
    >
  | 'nesting'
  | 'locks'
  | 'unreadable'
  | 'unwatched';

/** Why a watcher ends a program. */
export interface Excess {
  readonly limit: ExceededLimit;
  /** One sentence. */
  readonly message: string;
}

/**
 * `exit`: it ended by itself. `killed`: by `kill()`, the abort signal, or a signal that it sent itself. `limit`: it exceeded a
 * limit. `violation`: it made a forbidden system call. `sandbox-failed`: it never ran.
 */
export type Exit = ExitDetails &
  (
    | { readonly cause: 'exit' | 'killed' | 'violation' | 'sandbox-failed' }
    | { readonly cause: 'limit'; readonly limit: ExceededLimit }
  );

interface ExitDetails {
  /** The exit code; null when it ended by a signal or never ran. */
  readonly code: number | null;
  /** e.g. `SIGKILL` */
  readonly signal: string | null;
  /** One sentence in our words, except that a set-up failure quotes what bubblewrap said. */
  readonly message: string;
}

/** What a process with a `direct` network hands over besides its proxy's listener. */
export interface DirectListeners {
  /** By port; each at every address. */
  readonly ports: ReadonlyMap<number, Server>;
  /** At `NAME_SERVER`, port 53. */
  readonly names: Server;
  /** For datagrams, at the same places: port 53 is the name server's. Empty where the process may have none. */
  readonly datagrams: ReadonlyMap<number, DatagramSocket>;
  /**
   * Calls `tell` for each connection and datagram that finds no listener. Null: this machine does not let us set up the network, and only
   * loopback addresses lead to the listeners.
   */
  readonly watch: ((tell: (place: RefusedPlace) => void) => void) | null;
}

export interface ConfinedProcess {
  /** On the host: the process whose death takes the whole tree with it. */
  readonly pid: number;
  /** On the host: the first process inside, from which the others descend. */
  readonly root: number;
  /** Null where the specification says `none`. */
  readonly stdin: Writable | null;
  readonly stdout: Readable | null;
  readonly stderr: Readable | null;
  /** The hub's end of descriptor 3; null when the specification wants none. */
  readonly link: Duplex | null;
  /**
   * With `handover` and `direct`: the port inside that HTTP(S)_PROXY names, for the hub's proxy to listen on; null if the
   * process ended before. Null itself without a network.
   */
  readonly listener: Promise<Server | null> | null;
  /** With `direct`: the other listeners, or null if the process ended before. Null itself with every other network. */
  readonly direct: Promise<DirectListeners | null> | null;
  /** The layers in force. */
  readonly layers: readonly LayerName[];
  /** Layers that this process goes without because somebody asked for it by name. */
  readonly weakened: readonly LayerName[];
  /** Resolves once, never rejects. */
  readonly exited: Promise<Exit>;
  /**
   * Sends a signal to the program itself, which may catch or ignore it. False: it is not there yet or no more, or
   * cannot be told apart; then only `kill` is left.
   */
  deliver(signal: NodeJS.Signals): boolean;
  /** Ends every process of the tree; nothing in it can refuse. */
  kill(): void;
}

export interface Sandbox {
  /** Tries what must fail from inside a sandbox; runs once, later calls get the same report. */
  probe(): Promise<ProbeReport>;
  /** Aborting kills the process, also after it has started. Refused unless every layer of `probe` holds. */
  spawn(spec: SandboxSpec, signal: AbortSignal): Promise<Result<ConfinedProcess, Fault>>;
}
