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

/** Rights of Landlock (linux/landlock.h): to open for writing, and to rename or link from one folder to another. */
const [WRITE_FILE, REFER] = [1 << 1, 1 << 13];
const LANDLOCK_VERSION = 1;
const LANDLOCK_RULE_PATH_BENEATH = 1;
/** Since Linux 5.19. The first version always refuses to rename from one folder to another. */
const WITHOUT_REFER = 1;
const AT_FDCWD = -100;
const [O_PATH, O_CLOEXEC] = [0o10_000_000, 0o2_000_000];

/** A place inside that the app may write. */
export interface WritablePlace {
  /** Absolute path inside. */
  readonly path: string;
  readonly isFolder: boolean;
}

/** Constants: a mask with SIGCHLD, an empty one, the filter with its length, and then the paths. */
const DATA = { childMask: 0, emptyMask: 8, filter: 16 };
/** `struct sock_fprog`, then the instructions. */
const FILTER_HEADER = 16;

/**
 * Places in memory: two `struct pollfd`, the app's pid, a descriptor, the status of `wait4`, a time, what a signal says, the
 * signal to send, `struct landlock_path_beneath_attr` (at first: `landlock_ruleset_attr`), the set of rules.
 */
const AT = {
  ...{ lifeline: 0, signals: 8, app: 16, descriptor: 24, status: 32, time: 40, signal: 64, sent: 192 },
  ...{ rule: 200, rules: 216 },
};
/** Of `revents`, all of which fit in one byte. */
const HAPPENED = 6;
const POLLIN = 1;
/** To `kill`: every process that the caller can see, but for process 1 and the caller. */
const ALL = -1;

/**
 * Its arguments are the command that it runs, under `filter` (none: empty), as it then is itself. `writable`: all that the
 * app may open for writing, where the kernel has Landlock; null: without that layer.
 */
export function initProgram(
  filter: Buffer,
  architecture: Architecture,
  writable: readonly WritablePlace[] | null,
): Buffer {
  const constants = data(filter);
  const paths = (writable ?? []).map(({ path }) => Buffer.from(`${path}\0`));
  let end = constants.length;
  const places = (writable ?? []).map((place, index) => {
    const at = end;
    end += paths[index]?.length ?? 0;
    return { ...place, at };
  });
  const landlock = writable === null ? [] : underLandlock(places);
  return program(steps(filter.length > 0, landlock), architecture, Buffer.concat([constants, ...paths]));
}

/**
 * Attack: an app opens a named pipe for writing in a folder that it may only read. A read-only mount protects files and
 * names; Landlock looks at every kind of file that is opened, and knows no path but those that it is given. Where the
 * kernel has none the app starts without, and the self-test says so; whatever else fails starts no app.
 */
function underLandlock(places: readonly (WritablePlace & { readonly at: number })[]): readonly Step[] {
  return [
    { do: 'call', name: 'landlock_create_ruleset', args: [0, 0, LANDLOCK_VERSION] },
    { do: 'go', to: 'no-landlock', when: 'negative' },
    { do: 'go', to: 'no-landlock', when: { equals: WITHOUT_REFER } },
    { do: 'set', at: AT.rule, value: WRITE_FILE | REFER },
    { do: 'set', at: AT.rule + 4, value: 0 },
    { do: 'call', name: 'landlock_create_ruleset', args: [{ memory: AT.rule }, 8, 0] },
    { do: 'go', to: 'failed', when: 'negative' },
    { do: 'store', at: AT.rules },
    ...places.flatMap(({ at, isFolder }): readonly Step[] => [
      { do: 'call', name: 'openat', args: [AT_FDCWD, { data: at }, O_PATH | O_CLOEXEC, 0] },
      { do: 'store', at: AT.rule + 8 },
      { do: 'set', at: AT.rule, value: isFolder ? WRITE_FILE | REFER : WRITE_FILE },
      {
        do: 'call',
        name: 'landlock_add_rule',
        args: [{ at: AT.rules }, LANDLOCK_RULE_PATH_BENEATH, { memory: AT.rule }, 0],
      },
      { do: 'go', to: 'failed', when: 'not-zero' }, // also where the path could not be opened
    ]),
    { do: 'call', name: 'landlock_restrict_self', args: [{ at: AT.rules }, 0] },
    { do: 'go', to: 'failed', when: 'not-zero' },
    { do: 'call', name: 'close', args: [{ at: AT.rules }] },
    { do: 'label', name: 'no-landlock' },
  ];
}

function data(filter: Buffer): Buffer {
  const bytes = Buffer.alloc(DATA.filter + FILTER_HEADER);
  bytes.writeBigUInt64LE(1n << BigInt(SIGCHLD - 1), DATA.childMask);
  bytes.writeUInt16LE(filter.length / 8, DATA.filter);
  bytes.writeBigUInt64LE(BigInt(DATA_ADDRESS + DATA.filter + FILTER_HEADER), DATA.filter + 8);
  return Buffer.concat([bytes, filter]);
}

function steps(isFiltered: boolean, landlock: readonly Step[]): readonly Step[] {
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
    ...landlock,
    ...underFilter,
    { do: 'call', name: 'execve', args: ['first-argument', 'arguments', 'environment'] },
    { do: 'call', name: 'exit_group', args: [NOT_FOUND] },
  ];
}
