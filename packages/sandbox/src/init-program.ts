/**
 * The first process inside: it starts the app, waits for what ends, and ends everything when the app ends or the hub does.
 * bubblewrap brings one, but that one is an ordinary process of the app's user. Attack: the app opens its `/proc/1/mem`,
 * writes code into it, and so takes back its wish to die with the hub. This one cannot be written to, traced or looked
 * into: the kernel refuses it to everybody who has no capability in its user namespace (PR_SET_DUMPABLE, ptrace(2)).
 *
 * It does not rely on a signal either: signals of a dying parent do not reach every user. It holds one end of a socket pair,
 * the lifeline, whose other end only the hub has. When that closes, for whatever reason, process 1 ends, and with it,
 * by the kernel's doing, its whole pid namespace. A byte on the lifeline is the number of a signal that process 1 sends to
 * every other process in the sandbox.
 *
 * Ring 0.
 */
import { DATA_ADDRESS, program, type Step } from './machine-code.ts';
import type { Architecture } from './seccomp.ts';

/** The descriptor that is the lifeline inside. */
export const LIFELINE = 4;
/** What it exits with when the hub is gone: as after SIGKILL. */
const HUB_IS_GONE = 137;
/** As a shell, and bubblewrap, say it. */
const NOT_FOUND = 127;
const NOT_STARTED = 126;
/** Descriptors up to here are closed: it must keep no stream open that the app has closed. */
const HIGHEST_DESCRIPTOR = 255;

const SIGCHLD = 17;
const [SIG_BLOCK, SIG_SETMASK] = [0, 2];
const SFD_NONBLOCK = 0x800;
const WNOHANG = 1;
const [PR_SET_DUMPABLE, PR_SET_SECCOMP, SECCOMP_MODE_FILTER] = [4, 22, 2];

/** Constants: a mask with SIGCHLD, an empty one, and then the filter with its length. */
const DATA = { childMask: 0, emptyMask: 8, filter: 16 };
/** `struct sock_fprog`, then the instructions. */
const FILTER_HEADER = 16;

/**
 * Places in memory: two `struct pollfd`, the app's pid, a descriptor, the status of `wait4`, a time, what a signal says, the
 * signal to send.
 */
const AT = { lifeline: 0, signals: 8, app: 16, descriptor: 24, status: 32, time: 40, signal: 64, sent: 192 };
/** Of `revents`, all of which fit in one byte. */
const HAPPENED = 6;
const POLLIN = 1;
/** To `kill`: every process that the caller can see, but for process 1 and the caller. */
const ALL = -1;

/** Its arguments are the command that it runs, under `filter` (none: empty), as it then is itself. */
export function initProgram(filter: Buffer, architecture: Architecture): Buffer {
  return program(steps(filter.length > 0), architecture, data(filter));
}

function data(filter: Buffer): Buffer {
  const bytes = Buffer.alloc(DATA.filter + FILTER_HEADER);
  bytes.writeBigUInt64LE(1n << BigInt(SIGCHLD - 1), DATA.childMask);
  bytes.writeUInt16LE(filter.length / 8, DATA.filter);
  bytes.writeBigUInt64LE(BigInt(DATA_ADDRESS + DATA.filter + FILTER_HEADER), DATA.filter + 8);
  return Buffer.concat([bytes, filter]);
}

function steps(isFiltered: boolean): readonly Step[] {
  const underFilter: readonly Step[] = isFiltered
    ? [
        {
          do: 'call',
          name: 'prctl',
          args: [PR_SET_SECCOMP, SECCOMP_MODE_FILTER, { data: DATA.filter }, 0, 0],
        },
        { do: 'go', to: 'failed', when: 'not-zero' },
      ]
    : [];
  return [
    // An app that runs this file itself gets nothing by it, an unreadable process least of all.
    { do: 'call', name: 'getpid', args: [] },
    { do: 'go', to: 'begin', when: { equals: 1 } },
    { do: 'label', name: 'failed' },
    { do: 'call', name: 'exit_group', args: [NOT_STARTED] },

    { do: 'label', name: 'begin' },
    { do: 'call', name: 'prctl', args: [PR_SET_DUMPABLE, 0, 0, 0, 0] },
    { do: 'go', to: 'failed', when: 'not-zero' },
    // Only the end of the lifeline counts here, of which `ppoll` tells without being asked.
    { do: 'set', at: AT.lifeline, value: LIFELINE },
    { do: 'set', at: AT.lifeline + 4, value: 0 },
    // A hub that is gone by now starts no app. The kernel writes to the time that it is given.
    ...[0, 4, 8, 12].map((part): Step => ({ do: 'set', at: AT.time + part, value: 0 })),
    { do: 'call', name: 'ppoll', args: [{ memory: AT.lifeline }, 1, { memory: AT.time }, 0, 8] },
    { do: 'go', to: 'failed', when: 'not-zero' },
    { do: 'call', name: 'rt_sigprocmask', args: [SIG_BLOCK, { data: DATA.childMask }, 0, 8] },
    { do: 'go', to: 'failed', when: 'not-zero' },
    { do: 'call', name: 'clone', args: [SIGCHLD, 0, 0, 0, 0] },
    { do: 'go', to: 'failed', when: 'negative' },
    { do: 'go', to: 'app', when: 'zero' },
    { do: 'store', at: AT.app },

    // From here on in process 1.
    { do: 'set', at: AT.descriptor, value: HIGHEST_DESCRIPTOR },
    { do: 'set', at: AT.descriptor + 4, value: 0 },
    { do: 'label', name: 'close' },
    { do: 'load', at: AT.descriptor },
    { do: 'go', to: 'next', when: { equals: LIFELINE } },
    { do: 'call', name: 'close', args: [{ at: AT.descriptor }] },
    { do: 'load', at: AT.descriptor },
    { do: 'label', name: 'next' },
    { do: 'add', value: -1 },
    { do: 'store', at: AT.descriptor },
    { do: 'go', to: 'closed', when: 'negative' },
    { do: 'go', to: 'close', when: 'always' },

    { do: 'label', name: 'closed' },
    { do: 'call', name: 'signalfd4', args: [-1, { data: DATA.childMask }, 8, SFD_NONBLOCK] },
    { do: 'go', to: 'failed', when: 'not-zero' }, // 0 is the lowest that is free
    { do: 'set', at: AT.signals, value: 0 },
    { do: 'set', at: AT.signals + 4, value: POLLIN },
    { do: 'set', at: AT.lifeline + 4, value: POLLIN },
    ...underFilter,

    { do: 'label', name: 'wait' },
    { do: 'call', name: 'ppoll', args: [{ memory: AT.lifeline }, 2, 0, 0, 8] },
    { do: 'load-byte', at: AT.lifeline + HAPPENED, mask: 0xff & ~POLLIN },
    { do: 'go', to: 'hub-is-gone', when: 'not-zero' },
    { do: 'load-byte', at: AT.lifeline + HAPPENED, mask: POLLIN },
    { do: 'go', to: 'no-byte', when: 'zero' },
    { do: 'call', name: 'read', args: [LIFELINE, { memory: AT.sent }, 1] },
    { do: 'load-byte', at: AT.sent, mask: 0xff },
    { do: 'store', at: AT.sent },
    { do: 'call', name: 'kill', args: [ALL, { at: AT.sent }] },
    { do: 'label', name: 'no-byte' },
    { do: 'call', name: 'read', args: [0, { memory: AT.signal }, 128] },
    { do: 'label', name: 'reap' },
    { do: 'call', name: 'wait4', args: [-1, { memory: AT.status }, WNOHANG, 0] },
    { do: 'go', to: 'ended', when: { equals: { at: AT.app } } },
    { do: 'go', to: 'wait', when: 'zero' },
    { do: 'go', to: 'wait', when: 'negative' },
    { do: 'go', to: 'reap', when: 'always' },

    { do: 'label', name: 'hub-is-gone' },
    { do: 'call', name: 'exit_group', args: [HUB_IS_GONE] },

    { do: 'label', name: 'ended' },
    { do: 'load-byte', at: AT.status, mask: 0x7f },
    { do: 'go', to: 'exited', when: 'zero' },
    { do: 'add', value: 128 },
    { do: 'call', name: 'exit_group', args: ['result'] },
    { do: 'label', name: 'exited' },
    { do: 'load-byte', at: AT.status + 1, mask: 0xff },
    { do: 'call', name: 'exit_group', args: ['result'] },

    // From here on in the process that becomes the app.
    { do: 'label', name: 'app' },
    { do: 'call', name: 'close', args: [LIFELINE] },
    { do: 'call', name: 'rt_sigprocmask', args: [SIG_SETMASK, { data: DATA.emptyMask }, 0, 8] },
    { do: 'go', to: 'failed', when: 'not-zero' },
    ...underFilter,
    { do: 'call', name: 'execve', args: ['first-argument', 'arguments', 'environment'] },
    { do: 'call', name: 'exit_group', args: [NOT_FOUND] },
  ];
}
