/** Parts of the kernel that an app has no business with, and namespaces of its own. */
import { type Attempt, type Call, call, text, zeros } from '../attempt.ts';
import { findsBait, node, SHARED, tries } from './words.ts';

const HARMLESS: Attempt['twin'] = () => ({ kind: 'calls', calls: [call('getpid')] });

/** System calls that no list names: the process ends with SIGSYS. */
function calls(id: string, title: string, made: readonly Call[], changes: Partial<Attempt> = {}): Attempt {
  return {
    id,
    group: 'kernel',
    title,
    program: () => ({ kind: 'calls', calls: made }),
    twin: HARMLESS,
    stops: ['SIGSYS'],
    layers: ['seccomp'],
    setting: SHARED,
    ...changes,
  };
}

const NAMESPACES: Partial<Attempt> = { group: 'namespaces' };
const POWERS: Partial<Attempt> = { ...NAMESPACES, layers: ['seccomp', 'capabilities'] };
/**
 * Mounts belong to the outer one of bubblewrap's two user namespaces, so that a capability in the inner one moves
 * nothing: where neither the filter nor the capabilities stop it, the kernel does.
 */
const MOUNTS: Partial<Attempt> = { ...POWERS, kernelMayRefuse: ['EPERM', 'EINVAL', 'EBUSY', 'ENOENT'] };
const NESTED: Partial<Attempt> = { ...NAMESPACES, layers: ['seccomp', 'no-nested-namespaces'] };
const NEW_USER = 0x1000_0000;
const NEW_NETWORK = 0x4000_0000;
const SIGCHLD = 17;
const AT_FDCWD = -100;

/** A new user namespace in a process of its own: `clone_args` of 64 bytes, flags and the signal at its end. */
const CLONE3: Call = {
  ...call('clone3', { words: [NEW_USER, 0, 0, 0, SIGCHLD, 0, 0, 0] }, 64),
  forks: true,
};

const SEEN_BY: Readonly<Record<string, Pick<Attempt, 'layers' | 'also'>>> = {
  cgroup: { layers: ['cgroup-namespace'] },
  net: { layers: ['network-namespace'] },
  ipc: { layers: ['ipc-namespace'] },
  pid: { layers: ['pid-namespace'] },
  user: { layers: [], also: 'user-namespace' },
  mnt: { layers: [], also: 'bubblewrap' },
};

export const KERNEL: readonly Attempt[] = [
  calls('unshare-user', 'makes a user namespace (unshare)', [call('unshare', NEW_USER)], NESTED),
  calls(
    'clone-user',
    'makes a user namespace (clone)',
    [{ ...call('clone', NEW_USER + SIGCHLD, 0, 0, 0, 0), forks: true }],
    {
      ...NESTED,
      stops: ['EPERM'],
      twin: () => ({ kind: 'calls', calls: [{ ...call('clone', SIGCHLD, 0, 0, 0, 0), forks: true }] }),
    },
  ),
  calls('clone3-user', 'makes a user namespace (clone3)', [CLONE3], { ...NESTED, stops: ['ENOSYS'] }),
  calls('unshare-network', 'makes a network namespace', [call('unshare', NEW_NETWORK)], POWERS),
  calls(
    'join-namespace',
    'joins a namespace (setns)',
    [call('openat', AT_FDCWD, text('/proc/self/ns/mnt'), 0), call('setns', { result: 1 }, 0)],
    MOUNTS,
  ),
  calls(
    'mount',
    'mounts a file system',
    [call('mount', text('none'), text('/proc'), text('tmpfs'), 0, 0)],
    MOUNTS,
  ),
  calls(
    'remount',
    'makes a read-only mount writable',
    [call('mount', 0, text('/opt'), 0, 0x1020, 0)],
    MOUNTS,
  ),
  calls('unmount', 'unmounts what covers something', [call('umount2', text('/proc/sys'), 2)], MOUNTS),
  calls('pivot-root', 'changes the root (pivot_root)', [call('pivot_root', text('.'), text('.'))], MOUNTS),
  calls('chroot', 'changes the root (chroot)', [call('chroot', text('/'))], POWERS),
  calls('open-tree', 'copies mounts (open_tree)', [call('open_tree', AT_FDCWD, text('/'), 1)], MOUNTS),
  calls('new-mount-api', 'opens a file system (fsopen)', [call('fsopen', text('tmpfs'), 0)], MOUNTS),
  calls('set-hostname', 'names the machine', [call('sethostname', text('x'), 1)], MOUNTS),
  {
    id: 'hostname',
    group: 'namespaces',
    title: 'learns the name of the machine',
    program: ({ baits }) =>
      node(
        `require('node:os').hostname() === ${JSON.stringify(baits.hostname)} ? through() : refused('absent')`,
      ),
    twin: () => tries(`require('node:os').hostname()`),
    stops: ['absent'],
    layers: ['uts-namespace'],
    setting: SHARED,
  },
  ...(['cgroup', 'net', 'ipc', 'pid', 'user', 'mnt'] as const).map(sameNamespace),
  {
    id: 'shared-memory',
    group: 'namespaces',
    title: 'opens shared memory of the host (System V)',
    program: ({ baits }) => ({ kind: 'calls', calls: [call('shmget', baits.sharedMemory ?? 1, 0, 0)] }),
    twin: HARMLESS,
    stops: ['EPERM'],
    layers: ['seccomp', 'ipc-namespace'],
    setting: SHARED,
  },
  calls('add-key', 'puts a key into the keyring of the kernel', [
    call('add_key', text('user'), text('cordon-attack'), text('x'), 1, -2),
  ]),
  calls('keyctl', 'reads the keyring of the session', [call('keyctl', 0, -3, 1)]),
  calls('request-key', 'asks for a key of the keyring', [
    call('add_key', text('user'), text('cordon-attack'), text('x'), 1, -2),
    call('request_key', text('user'), text('cordon-attack'), 0, -2),
  ]),
  calls(
    'bpf',
    'loads a program into the kernel (bpf)',
    [
      // BPF_MAP_CREATE of an array: key 4 bytes, value 4 bytes, one entry.
      call('bpf', 0, { bytes: `02000000040000000400000001000000${'00'.repeat(56)}` }, 72),
    ],
    { kernelMayRefuse: ['EPERM'] },
  ),
  calls(
    'perf',
    'measures the processor (perf_event_open)',
    [
      // PERF_TYPE_SOFTWARE, size 112, CPU clock; without the kernel and the hypervisor.
      call(
        'perf_event_open',
        { bytes: `0100000070000000${'00'.repeat(32)}61000000${'00'.repeat(68)}` },
        0,
        -1,
        -1,
        0,
      ),
    ],
    { kernelMayRefuse: ['EACCES', 'EPERM', 'ENOENT'] },
  ),
  calls(
    'io-uring',
    'makes system calls where no filter looks (io_uring)',
    [call('io_uring_setup', 4, zeros(120))],
    { stops: ['ENOSYS'], kernelMayRefuse: ['EPERM', 'ENOSYS', 'ENOMEM'] },
  ),
  calls('userfaultfd', 'stops the kernel in the middle of a copy (userfaultfd)', [call('userfaultfd', 1)], {
    kernelMayRefuse: ['EPERM', 'ENOSYS'],
  }),
  calls(
    'memfd',
    'makes a program that no file system shows (memfd_create)',
    [call('memfd_create', text('x'), 0)],
    {
      stops: ['ENOSYS'],
    },
  ),
  calls('memfd-secret', 'makes memory that the kernel itself cannot see', [call('memfd_secret', 0)], {
    stops: ['ENOSYS'],
    kernelMayRefuse: ['ENOSYS'],
  }),
  calls(
    'program-of-socket',
    'loads a program into the kernel by an option of a socket',
    [
      call('socket', 2, 1, 0),
      // SO_ATTACH_FILTER: one instruction, which lets everything pass.
      call('setsockopt', { result: 1 }, 1, 26, { words: [1, { bytes: '06000000ffff0000' }] }, 16),
    ],
    {
      stops: ['ENOPROTOOPT'],
      kernelMayRefuse: ['EPERM'],
      // SO_REUSEADDR
      twin: () => ({
        kind: 'calls',
        calls: [call('socket', 2, 1, 0), call('setsockopt', { result: 1 }, 1, 2, { bytes: '01000000' }, 4)],
      }),
    },
  ),
  calls('personality', 'switches off the scattering of addresses', [call('personality', 0x004_0000)]),
  calls('own-filter', 'asks for a filter of its own that a helper answers (seccomp)', [
    call('seccomp', 2, 0, zeros(4)),
  ]),
  calls('fanotify', 'watches all files of a file system', [call('fanotify_init', 0x200, 0)], {
    kernelMayRefuse: ['EPERM', 'ENOSYS'],
  }),
  calls(
    'file-handle',
    'opens files by number and around every path',
    [call('name_to_handle_at', AT_FDCWD, text('/'), { bytes: `80000000${'00'.repeat(140)}` }, zeros(8), 0)],
    { kernelMayRefuse: ['EOPNOTSUPP'] },
  ),
  calls('kernel-log', "reads the kernel's messages", [call('syslog', 3, zeros(64), 64)], {
    kernelMayRefuse: ['EPERM'],
  }),
  calls('kernel-module', 'loads a module into the kernel', [call('finit_module', -1, text(''), 0)], {
    kernelMayRefuse: ['EPERM', 'ENOSYS'],
  }),
  calls('other-kernel', 'loads another kernel', [call('kexec_load', 0, 0, 0, 0)], {
    kernelMayRefuse: ['EPERM', 'ENOSYS'],
  }),
  // Without its magic numbers it restarts nothing, whoever calls it.
  calls('reboot', 'restarts the machine', [call('reboot', 0, 0, 0, 0)], {
    kernelMayRefuse: ['EPERM', 'EINVAL'],
  }),
  calls('clock', 'sets the clock', [call('settimeofday', 0, 0)], { kernelMayRefuse: ['EPERM'] }),
  calls('swap', 'makes the machine swap to its file', [call('swapon', text('/nonexistent'), 0)], {
    kernelMayRefuse: ['EPERM', 'ENOSYS'],
  }),
  calls(
    'device-node',
    'makes a device of its own',
    [
      // Character device 1:8, /dev/random, which nobody minds.
      call('mknodat', AT_FDCWD, text('/tmp/cordon-attack-device'), 0o20666, 0x108),
    ],
    { kernelMayRefuse: ['EPERM', 'EROFS', 'EACCES'], also: 'user-namespace' },
  ),
  calls('ports', 'talks to hardware by its ports', [call('ioperm', 0x80, 1, 1)], {
    architecture: 'x64',
    kernelMayRefuse: ['EPERM', 'ENOSYS'],
  }),
  {
    id: 'calls-of-32-bits',
    group: 'kernel',
    title: 'makes a system call as a 32-bit program would (int 0x80)',
    program: () => ({ kind: 'probe', args: ['int80'] }),
    twin: HARMLESS,
    // SIGSEGV: this kernel has no such entry, so that no filter is asked.
    stops: ['SIGSYS', 'SIGSEGV'],
    layers: ['seccomp'],
    kernelMayRefuse: ['SIGSEGV', 'ENOSYS'],
    architecture: 'x64',
    setting: SHARED,
  },
  // getpid with the bit of x32, whose numbers a list of 64-bit numbers does not know.
  calls(
    'calls-of-x32',
    'makes a system call as an x32 program would',
    [{ number: 0x4000_0000 + 39, args: [], forks: false }],
    { architecture: 'x64', kernelMayRefuse: ['ENOSYS'] },
  ),
  calls(
    'unknown-call',
    'makes a system call that is newer than the list',
    [{ number: 1_000, args: [], forks: false }],
    { stops: ['ENOSYS'], layers: [], also: 'kernel' },
  ),
  {
    id: 'terminal-own',
    group: 'terminal',
    title: 'types into a terminal that it made (TIOCSTI)',
    program: () => ({
      kind: 'calls',
      calls: [
        call('openat', AT_FDCWD, text('/dev/ptmx'), 2),
        call('ioctl', { result: 1 }, 0x5412, { bytes: '61' }),
      ],
    }),
    twin: () => ({ kind: 'calls', calls: [call('openat', AT_FDCWD, text('/dev/ptmx'), 2)] }),
    stops: ['ENOTTY'],
    layers: ['seccomp'],
    kernelMayRefuse: ['EPERM', 'EIO'],
    setting: SHARED,
  },
  {
    id: 'terminal-own-wide',
    group: 'terminal',
    title: 'does so with bits that a filter may overlook',
    program: () => ({
      kind: 'calls',
      calls: [
        call('openat', AT_FDCWD, text('/dev/ptmx'), 2),
        call('ioctl', { result: 1 }, 0x7_0000_5412, { bytes: '61' }),
      ],
    }),
    twin: () => ({ kind: 'calls', calls: [call('openat', AT_FDCWD, text('/dev/ptmx'), 2)] }),
    stops: ['ENOTTY'],
    layers: ['seccomp'],
    kernelMayRefuse: ['EPERM', 'EIO'],
    setting: SHARED,
  },
  {
    id: 'terminal-of-user',
    group: 'terminal',
    title: "types into the terminal of the user's shell (TIOCSTI)",
    program: () => ({
      kind: 'calls',
      calls: [
        call('openat', AT_FDCWD, text('/dev/tty'), 2),
        call('ioctl', { result: 1 }, 0x5412, { bytes: '61' }),
      ],
    }),
    twin: () => ({ kind: 'calls', calls: [call('openat', AT_FDCWD, text('/dev/null'), 2)] }),
    stops: ['ENXIO'],
    layers: ['session', 'seccomp'],
    kernelMayRefuse: ['EIO'],
    terminal: true,
    setting: SHARED,
  },
  {
    id: 'console',
    group: 'terminal',
    title: 'reads the screen of the console (TIOCLINUX)',
    program: () => ({
      kind: 'calls',
      calls: [
        call('openat', AT_FDCWD, text('/dev/ptmx'), 2),
        call('ioctl', { result: 1 }, 0x541c, { bytes: '02' }),
      ],
    }),
    twin: () => ({ kind: 'calls', calls: [call('openat', AT_FDCWD, text('/dev/ptmx'), 2)] }),
    stops: ['ENOTTY'],
    layers: ['seccomp'],
    kernelMayRefuse: ['ENOTTY', 'EINVAL'],
    setting: SHARED,
  },
];

function sameNamespace(name: string): Attempt {
  return {
    id: `same-${name}-namespace`,
    group: 'namespaces',
    title: `finds itself in the host's ${name} namespace`,
    program: ({ baits }) =>
      findsBait(`fs.readlinkSync('/proc/self/ns/${name}')`, baits.namespaces[name] ?? 'none'),
    twin: () => findsBait(`fs.readlinkSync('/proc/self/ns/${name}')`, name),
    stops: ['absent'],
    layers: [],
    ...SEEN_BY[name],
    setting: SHARED,
  };
}
