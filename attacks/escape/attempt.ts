/**
 * What one attempt to get out is: a small hostile program, how it must end, which layers stop it, and its twin: a
 * program of the same make that does what is allowed. An attempt whose twin fails has shown nothing.
 *
 * Nothing here is trusted by the hub.
 */

import { arch } from 'node:os';
import type { LayerName } from '@cordon/sandbox';
import { SYSCALLS, type SyscallName } from '@cordon/sandbox/parts';
/** Where things are, as the program that tries sees them, and the baits that the hub laid out. */
export interface Place {
  /** The app's own code: read-only, holds `note.txt`. */
  readonly code: string;
  /** The app's own folder: it may write there. */
  readonly state: string;
  /** A private folder for what is not kept. */
  readonly tmp: string;
  readonly baits: Baits;
}

/** Things of the host that no app may reach. All of them are made for the suite and hold no secret. */
export interface Baits {
  /** A folder like a user's home: a key, another app's folder, the hub's journal, all for their owner only. */
  readonly home: string;
  /** A Unix socket with a path, as agents and daemons have them. */
  readonly socket: string;
  /** An abstract one, without the leading NUL. */
  readonly abstractSocket: string;
  readonly tcpPort: number;
  readonly udpPort: number;
  /** The hub: a process that runs as long as the suite. */
  readonly hub: number;
  readonly group: number;
  /** Links of `/proc/self/ns` outside, by name. */
  readonly namespaces: Readonly<Record<string, string>>;
  readonly hostname: string;
  /** Key of a segment of System V shared memory; null where none could be made. */
  readonly sharedMemory: number | null;
}

/** Stands in every bait: where it turns up, something got through. */
export const BAIT = 'cordon-bait-4711';

/** A variable of the hub, with a key that no app may see. */
export const BAIT_VARIABLE = 'CORDON_ATTACK_KEY';

export type Program =
  /** System calls, made one after the other by the probe, until one fails. */
  | { readonly kind: 'calls'; readonly calls: readonly Call[] }
  /** Something that the probe does by its own, see `probe.c`. */
  | { readonly kind: 'probe'; readonly args: readonly string[] }
  /** CommonJS. Says `through()` or `refused(code)`; what it throws is a refusal with the error's code. */
  | { readonly kind: 'node'; readonly code: string }
  /** The same words, printed. */
  | { readonly kind: 'python'; readonly code: string }
  | { readonly kind: 'shell'; readonly code: string };

/** An argument of a system call. */
export type Argument =
  | number
  | { readonly text: string }
  /** A buffer with these bytes, in hexadecimal, for the kernel to read or to write to. */
  | { readonly bytes: string }
  /** What an earlier call returned; the first is 1. */
  | { readonly result: number }
  /** A pointer to words of 8 bytes. */
  | { readonly words: readonly Argument[] };

export interface Call {
  readonly number: number;
  readonly args: readonly Argument[];
  /** Whether it returns twice, as `fork` does: the child ends at once. */
  readonly forks: boolean;
}

/** A system call by name. Where this architecture has none of that name, a number that no kernel knows. */
export function call(name: SyscallName, ...args: readonly Argument[]): Call {
  return { number: SYSCALLS[name][arch() === 'x64' ? 0 : 1], args, forks: false };
}

export function text(value: string): Argument {
  return { text: value };
}

export function zeros(count: number): Argument {
  return { bytes: '00'.repeat(count) };
}

export type Group =
  | 'reading'
  | 'writing'
  | 'processes'
  | 'namespaces'
  | 'kernel'
  | 'sockets'
  | 'terminal'
  | 'resources'
  | 'javascript'
  | 'egress';

/** How the program is run. */
export interface Setting {
  /**
   * `shared`: in one sandbox with others. `alone`: in its own sandbox, since it ends what is around it.
   * `javascript`: alone, as an app in JavaScript that was granted nothing. `network`: with a proxy.
   */
  readonly in: 'shared' | 'alone' | 'javascript' | 'network';
  /** Small limits, for those who use up things. */
  readonly limits?: Readonly<Record<string, number>>;
}

export interface Attempt {
  readonly id: string;
  readonly group: Group;
  /** What it tries, in a few words: "reads the user's key". */
  readonly title: string;
  readonly program: (place: Place) => Program;
  /** The same with something allowed. */
  readonly twin: (place: Place) => Program;
  /** Codes of errors, names of signals, `limit`, or statuses of the proxy; any of them is the expected stop. */
  readonly stops: readonly string[];
  /** Each of these alone stops it; without all of them it gets through. */
  readonly layers: readonly LayerName[];
  /** Besides layers: what stops it on every machine, so that nothing can be seen by leaving layers out. */
  readonly also?: 'egress' | 'limits' | 'user-namespace' | 'kernel' | 'bubblewrap' | 'hub';
  /** It can get through only where the hub is root; an ordinary user may not do it anyway. */
  readonly rootOnly?: boolean;
  /** How kernels, by their own settings, end it where no layer is left. */
  readonly kernelMayRefuse?: readonly string[];
  readonly setting: Setting;
  /** Takes all that there is of something which others need: it is tried when they are through. */
  readonly exhausts?: boolean;
  /** It got through if this file of `state` is there some time after its end. */
  readonly leaves?: string;
  /** Gets through, and why that is borne: what the sandbox does not promise. */
  readonly known?: string;
  /** Not for the comparison: it would harm what is around it, or needs the proxy. */
  readonly cordonOnly?: boolean;
  readonly terminal?: boolean;
  readonly architecture?: 'x64';
}
