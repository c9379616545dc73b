/**
 * Which system calls a confined process may make: allow-lists with conditions on arguments, as a BPF program.
 * `tight` is for programs on our own Node (no new process, TCP sockets only), `spawn` for those that may start others
 * and use UDP, `unix` for those that the manifest lets use Unix sockets, too. What no list names is EPERM, what is newer
 * than our table ENOSYS.
 *
 * Attack: a Unix socket in a folder that the app may only read takes connections, since a read-only mount protects files
 * only. Without `unix` a process gets no Unix socket but pairs that are connected to each other and stay so.
 */
import {
  and,
  answer,
  argumentOffset,
  type Instruction,
  load,
  OFFSET,
  unless,
  unlessOneOf,
  when,
} from './bpf.ts';
import { SYSCALLS, type SyscallName } from './syscall-numbers.ts';

export type Profile = 'tight' | 'spawn' | 'unix';
export type Architecture = 'x64' | 'arm64';

/** Return values of a filter (linux/seccomp.h). */
export const ACTION = { kill: 0x8000_0000, allow: 0x7fff_0000, errno: 0x0005_0000 } as const;

const ERRNO = {
  EPERM: 1,
  EINVAL: 22,
  ENOTTY: 25,
  ENOSYS: 38,
  ENOPROTOOPT: 92,
  EOPNOTSUPP: 95,
  EAFNOSUPPORT: 97,
} as const;

/** `AUDIT_ARCH_*` (linux/audit.h). */
const AUDIT_ARCH: Readonly<Record<Architecture, number>> = { x64: 0xc000_003e, arm64: 0xc000_00b7 };

/** x32 calls carry this bit on x86-64; a list of 64-bit numbers would not see them. */
const X32_BIT = 0x4000_0000;

/**
 * What Node needs, found by tracing and by taking calls away one at a time, and the siblings of each: a list
 * of only what one workload was seen to need crashes in a tenth of the runs (`gettid`).
 */
const ALLOWED: readonly SyscallName[] = words(`
  munmap mprotect mremap madvise brk membarrier msync pkey_alloc pkey_free pkey_mprotect
  futex futex_waitv set_robust_list rseq set_tid_address sched_yield sched_getaffinity
  sched_getparam sched_getscheduler exit exit_group restart_syscall arch_prctl
  clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time getcpu alarm getitimer setitimer
  rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait rt_sigsuspend sigaltstack kill tgkill
  tkill pause
  getpid getppid gettid getpgid getpgrp getsid getuid geteuid getgid getegid getresuid getresgid getgroups capget
  getrlimit getrusage times uname sysinfo getrandom getpriority umask
  read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 open openat creat close
  lseek stat fstat lstat newfstatat statx statfs fstatfs access faccessat faccessat2 getcwd chdir fchdir getdents
  getdents64 readlink readlinkat mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 link linkat symlink
  symlinkat chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes utimensat futimesat truncate
  ftruncate fadvise64 fsync fdatasync flock copy_file_range sendfile dup dup2 dup3 pipe pipe2
  inotify_init inotify_init1 inotify_add_watch inotify_rm_watch
  epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 poll ppoll select pselect6 eventfd
  eventfd2
  connect bind listen accept accept4 getsockname getpeername getsockopt shutdown sendto recvfrom sendmsg
  recvmsg sendmmsg recvmmsg
  execve wait4 waitid
  landlock_create_ruleset landlock_add_rule landlock_restrict_self
`);

/** What programs that start other programs need besides. Identity changes lead nowhere: one id is mapped. */
const SPAWN_ALLOWED: readonly SyscallName[] = words(`
  fork vfork setsid setpgid pidfd_open pidfd_send_signal
  setuid setgid setreuid setregid setresuid setresgid setfsuid setfsgid setgroups
  splice tee timerfd_create timerfd_settime timerfd_gettime signalfd signalfd4 mlock munlock mlock2
`);

/** libc and libuv have another way when these do not exist; io_uring and clone3 hide arguments from a filter. */
const ABSENT: readonly SyscallName[] = words(`
  clone3 io_uring_setup io_uring_enter io_uring_register memfd_create memfd_secret
`);

/** No honest use in an app: the process ends, and its exit status (SIGSYS) says so. */
const KILLED: readonly SyscallName[] = words(`
  ptrace process_vm_readv process_vm_writev kcmp pidfd_getfd process_madvise process_mrelease
  mount umount2 pivot_root chroot move_mount open_tree open_tree_attr fsopen fsconfig fsmount fspick mount_setattr
  setns unshare bpf perf_event_open userfaultfd add_key request_key keyctl
  kexec_load kexec_file_load create_module init_module finit_module delete_module reboot swapon swapoff acct
  quotactl quotactl_fd syslog iopl ioperm settimeofday clock_settime clock_adjtime adjtimex sethostname
  setdomainname open_by_handle_at name_to_handle_at lookup_dcookie vhangup fanotify_init fanotify_mark
  mknod mknodat personality modify_ldt seccomp
`);

/** Splits a list of names; a name that the table lacks is a mistake in this file and throws at import. */
function words(text: string): SyscallName[] {
  return text.split(/\s+/).filter(Boolean).map(syscallName);
}

function syscallName(word: string): SyscallName {
  if (!isSyscallName(word)) throw new Error(`no system call is named ${word}`);
  return word;
}

function isSyscallName(word: string): word is SyscallName {
  return Object.hasOwn(SYSCALLS, word);
}

const CLONE_THREAD = 0x0001_0000;
const CLONE_FILES = 0x0000_0400;
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET; NEWTIME cannot be asked of `clone`. */
const CLONE_NEW = 0x7e02_0000;

const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const SOCK_STREAM = 1;
const SOCK_DGRAM = 2;
const SOCK_SEQPACKET = 5;
/** Without SOCK_NONBLOCK and SOCK_CLOEXEC. */
const SOCK_TYPE = ~0x0008_0800 >>> 0;
/** 0: the type's own; TCP; UDP. Leaves out ICMP, SCTP, MPTCP, UDP-Lite. */
const PROTOCOLS = [0, 6, 17];

/** FIONREAD FIONBIO FIOCLEX FIONCLEX TCGETS TIOCGWINSZ TIOCGPGRP FICLONE: never TIOCSTI or TIOCLINUX. */
const IOCTLS = [0x541b, 0x5421, 0x5451, 0x5450, 0x5401, 0x5413, 0x540f, 0x4004_9409];

/** SET_PDEATHSIG GET_DUMPABLE SET_NAME GET_NAME CAPBSET_READ SET_TIMERSLACK SET/GET_NO_NEW_PRIVS THP_DISABLE VMA */
const PRCTLS = [1, 3, 15, 16, 23, 29, 38, 39, 41, 0x5356_4d41];

/** None, CLOEXEC; never UNSHARE, which gives a thread its own list of open files. */
const CLOSE_RANGES = [0, 4];

/**
 * DUPFD GETFD SETFD GETFL SETFL, GETLK SETLK SETLKW, SETOWN GETOWN SETSIG GETSIG and their EX, GETLEASE DUPFD_QUERY CREATED_QUERY CANCELLK DUPFD_CLOEXEC SETPIPE_SZ GETPIPE_SZ ADD_SEALS GET_SEALS, hints.
 * Never SETLEASE or SETDELEG. Attack: who may only read a file takes a lease of it, and whoever else opens the file,
 * the user or the hub, waits for 45 seconds. Never OFD_SETLK: such a lock has no owner, so nobody finds who keeps it.
 */
const FCNTLS = [
  ...[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 15, 16],
  ...[1025, 1027, 1028, 1029, 1030, 1031, 1032, 1033, 1034, 1035, 1036, 1037, 1038],
];

/**
 * `fallocate` without a mode, and PUNCH_HOLE with KEEP_SIZE, which gives room back. Attack: with KEEP_SIZE alone, or to make
 * zeros of a range, a file takes any room on the disk at once, whatever the limit of its size (RLIMIT_FSIZE).
 */
const ALLOCATIONS = [0, 3];

/** The filter of a profile for `bwrap --seccomp`; at most 4,096 instructions. */
export function seccompFilter(profile: Profile, architecture: Architecture): Instruction[] {
  const number = (name: SyscallName) => SYSCALLS[name][architecture === 'x64' ? 0 : 1];
  const newest = Math.max(...Object.values(SYSCALLS).map((pair) => pair[architecture === 'x64' ? 0 : 1]));
  const each = (names: readonly SyscallName[], action: number) =>
    names.flatMap((name) => (number(name) < 0 ? [] : when('jumpEqual', number(name), [answer(action)])));
  const conditional = ([name, body]: readonly [SyscallName, readonly Instruction[]]) =>
    when('jumpEqual', number(name), body);
  const { kill, allow, errno } = ACTION;
  return [
    load(OFFSET.arch),
    ...unless('jumpEqual', AUDIT_ARCH[architecture], [answer(kill)]),
    load(OFFSET.nr),
    ...(architecture === 'x64' ? when('jumpNotLess', X32_BIT, [answer(kill)]) : []),
    ...when('jumpGreater', newest, [answer(errno | ERRNO.ENOSYS)]),
    ...each(ALLOWED, allow),
    ...(profile === 'tight' ? [] : each(SPAWN_ALLOWED, allow)),
    ...conditions(profile).flatMap(conditional),
    ...each(KILLED, kill),
    ...each(ABSENT, errno | ERRNO.ENOSYS),
    answer(errno | ERRNO.EPERM),
  ];
}

function conditions(profile: Profile): readonly (readonly [SyscallName, readonly Instruction[]])[] {
  const { errno } = ACTION;
  return [
    ['mmap', ownMemory()],
    ['clone', profile === 'tight' ? cloneOfThread() : cloneOfProcess()],
    ['socket', socketsOf(profile)],
    ['setsockopt', socketOptions()],
    ['socketpair', socketRule([AF_UNIX], profile === 'unix' ? ANY_TYPE : LASTING_PAIRS, [0])],
    ['ioctl', oneOf(1, IOCTLS, errno | ERRNO.ENOTTY)],
    ['close_range', oneOf(2, CLOSE_RANGES, errno | ERRNO.EINVAL)],
    ['fallocate', oneOf(1, ALLOCATIONS, errno | ERRNO.EOPNOTSUPP)],
    ['fcntl', oneOf(1, FCNTLS, errno | ERRNO.EINVAL)],
    ['prctl', oneOf(0, PRCTLS, errno | ERRNO.EPERM)],
    ['prlimit64', oneOf(0, [0], errno | ERRNO.EPERM)],
    ['get_robust_list', oneOf(0, [0], errno | ERRNO.EPERM)],
  ];
}

const MAP_SHARED = 0x01; // of MAP_SHARED_VALIDATE, too, and not of MAP_PRIVATE
const MAP_ANONYMOUS = 0x20;

/**
 * Attack: pages of anonymous shared memory stay when no process has them mapped any more (MADV_DONTNEED, a child that
 * ended), so they count for nobody. Files of a bounded file system serve as well.
 */
function ownMemory(): Instruction[] {
  const refused = when('jumpBits', MAP_SHARED, [answer(ACTION.errno | ERRNO.EPERM)]);
  return [load(argumentOffset(3)), ...when('jumpBits', MAP_ANONYMOUS, refused), answer(ACTION.allow)];
}

function cloneOfThread(): Instruction[] {
  return [
    load(argumentOffset(0)),
    ...when('jumpBits', CLONE_NEW, [answer(ACTION.errno | ERRNO.EPERM)]),
    ...when('jumpBits', CLONE_THREAD, [...ownFilesOfThread(), answer(ACTION.allow)]),
    answer(ACTION.errno | ERRNO.EPERM),
  ];
}

/** Attack: files in a thread's own list are not in that of its process, which is the one that the watchdog reads. */
function ownFilesOfThread(): Instruction[] {
  return unless('jumpBits', CLONE_FILES, [answer(ACTION.errno | ERRNO.EPERM)]);
}

function cloneOfProcess(): Instruction[] {
  return [
    load(argumentOffset(0)),
    ...when('jumpBits', CLONE_NEW, [answer(ACTION.errno | ERRNO.EPERM)]),
    ...when('jumpBits', CLONE_THREAD, ownFilesOfThread()),
    answer(ACTION.allow),
  ];
}

const ANY_TYPE = [SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET];

/** Attack: one end of a pair for datagrams can be connected anew, to a socket in a folder, and sends there. */
const LASTING_PAIRS = [SOCK_STREAM, SOCK_SEQPACKET];

function socketsOf(profile: Profile): Instruction[] {
  switch (profile) {
    case 'tight':
      return socketRule([AF_INET, AF_INET6], [SOCK_STREAM], PROTOCOLS);
    case 'spawn':
      return socketRule([AF_INET, AF_INET6], ANY_TYPE, PROTOCOLS);
    case 'unix':
      return socketRule([AF_UNIX, AF_INET, AF_INET6], ANY_TYPE, PROTOCOLS);
  }
}

/** `socket(domain, type, protocol)`, or `socketpair`: each of the three must be in its list, else EAFNOSUPPORT. */
function socketRule(
  domains: readonly number[],
  types: readonly number[],
  protocols: readonly number[],
): Instruction[] {
  const refuse = answer(ACTION.errno | ERRNO.EAFNOSUPPORT);
  return [
    load(argumentOffset(0)),
    ...unlessOneOf(domains, refuse),
    load(argumentOffset(1)),
    and(SOCK_TYPE),
    ...unlessOneOf(types, refuse),
    load(argumentOffset(2)),
    ...unlessOneOf(protocols, refuse),
    answer(ACTION.allow),
  ];
}

const SOL_SOCKET = 1;
/** SO_SNDBUF SO_RCVBUF SO_SNDBUFFORCE SO_RCVBUFFORCE */
const BUFFER_SIZES = [7, 8, 32, 33];
/** SO_ATTACH_FILTER SO_ATTACH_BPF SO_ATTACH_REUSEPORT_CBPF SO_ATTACH_REUSEPORT_EBPF */
const SOCKET_PROGRAMS = [26, 50, 51, 52];
const SOL_TCP = 6;
const TCP_ULP = 31;

/**
 * Attack: what waits in sockets is memory of the kernel that counts for no process, up to 8 MiB in each where the machine
 * allows it. A wish for other buffers is answered as if it was heard, since the kernel, too, gives what it likes.
 * Attack: programs of BPF that the kernel compiles and runs, and protocols above TCP, are reached by options, too.
 */
function socketOptions(): Instruction[] {
  const { allow, errno } = ACTION;
  const unknown = answer(errno | ERRNO.ENOPROTOOPT);
  return [
    load(argumentOffset(1)),
    ...when('jumpEqual', SOL_TCP, [
      load(argumentOffset(2)),
      ...when('jumpEqual', TCP_ULP, [unknown]),
      answer(allow),
    ]),
    ...unless('jumpEqual', SOL_SOCKET, [answer(allow)]),
    load(argumentOffset(2)),
    ...SOCKET_PROGRAMS.flatMap((option) => when('jumpEqual', option, [unknown])),
    ...unlessOneOf(BUFFER_SIZES, answer(allow)),
    answer(errno), // of 0: done
  ];
}

/** Allowed when the argument is one of the values, else `otherwise`. */
function oneOf(argument: number, values: readonly number[], otherwise: number): Instruction[] {
  return [load(argumentOffset(argument)), ...unlessOneOf(values, answer(otherwise)), answer(ACTION.allow)];
}

export function isArchitecture(name: string): name is Architecture {
  return name === 'x64' || name === 'arm64';
}
