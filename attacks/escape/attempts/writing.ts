/** What an app must not be able to write. */
import { type Attempt, call, type Program, text, zeros } from '../attempt.ts';
import { creates, opensForWriting, quoted, SHARED, tries } from './words.ts';

/** `fcntl(file, ...asked)` of a file of its own: of another's, who reads the file must own it. */
function leases(...asked: readonly number[]): Attempt['program'] {
  return ({ state }) => ({
    kind: 'calls',
    calls: [
      call('openat', -100, text(`${state}/leased`), 0o102, 0o600),
      call('fcntl', { result: 1 }, ...asked),
    ],
  });
}

/** An exclusive `flock` of a file that is open for reading, for some seconds. */
function locksFor(path: string, seconds: number): Program {
  return {
    kind: 'calls',
    calls: [
      call('openat', -100, text(path), 0, 0),
      call('flock', { result: 1 }, 2),
      call('clock_nanosleep', 0, 0, { words: [seconds, 0] }, 0),
    ],
  };
}

function writesPipe(path: string): Program {
  return tries(`const pipe = fs.openSync(${quoted(path)}, fs.constants.O_RDWR | fs.constants.O_NONBLOCK);
    fs.writeSync(pipe, 'planted')`);
}

function readsPipe(path: string): Program {
  return tries(`fs.openSync(${quoted(path)}, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK)`);
}

const writesState: Attempt['twin'] = ({ state }) => creates(`${state}/twin`);

function place(id: string, title: string, path: string, changes: Partial<Attempt> = {}): Attempt {
  return {
    id,
    group: 'writing',
    title,
    program: () => creates(path),
    twin: writesState,
    stops: ['EROFS'],
    layers: ['read-only-root'],
    setting: SHARED,
    ...changes,
  };
}

export const WRITING: readonly Attempt[] = [
  place('root', 'writes to /', '/planted'),
  place('etc', 'writes to /etc', '/etc/planted'),
  place('dev', 'puts a file into /dev', '/dev/planted'),
  place('programs', 'writes into /usr/bin', '/usr/bin/planted', { layers: [], also: 'bubblewrap' }),
  {
    id: 'own-code',
    group: 'writing',
    title: "writes to the app's own code",
    program: ({ code }) => opensForWriting(`${code}/note.txt`),
    twin: writesState,
    stops: ['EROFS', 'EACCES'],
    layers: [],
    also: 'bubblewrap',
    setting: SHARED,
  },
  {
    id: 'own-code-chmod',
    group: 'writing',
    title: "makes the app's own code writable",
    program: ({ code }) => tries(`fs.chmodSync('${code}/note.txt', 0o666)`),
    twin: ({ state }) => tries(`fs.writeFileSync('${state}/mode', ''); fs.chmodSync('${state}/mode', 0o600)`),
    stops: ['EROFS'],
    layers: [],
    also: 'bubblewrap',
    setting: SHARED,
  },
  {
    id: 'own-code-hard-link',
    group: 'writing',
    title: 'links its code into a folder that it may write to',
    program: ({ code, state }) =>
      tries(`fs.rmSync('${state}/linked', { force: true }); fs.linkSync('${code}/note.txt', '${state}/linked');
        fs.closeSync(fs.openSync('${state}/linked', 'r+'))`),
    twin: ({ state }) =>
      tries(`fs.rmSync('${state}/b', { force: true }); fs.writeFileSync('${state}/a', '');
        fs.linkSync('${state}/a', '${state}/b')`),
    stops: ['EXDEV', 'EPERM', 'EROFS'],
    layers: [],
    also: 'bubblewrap',
    setting: SHARED,
  },
  {
    id: 'own-code-rename',
    group: 'writing',
    title: 'moves a folder of its own over its code',
    program: ({ code, state }) =>
      tries(`fs.mkdirSync('${state}/fake', { recursive: true }); fs.renameSync('${state}/fake', '${code}')`),
    twin: ({ state }) =>
      tries(`fs.writeFileSync('${state}/c', ''); fs.renameSync('${state}/c', '${state}/d')`),
    stops: ['EBUSY', 'EXDEV', 'EROFS', 'ENOTEMPTY'],
    layers: [],
    also: 'bubblewrap',
    setting: SHARED,
  },
  {
    id: 'user-home',
    group: 'writing',
    title: "plants a key in the user's home",
    program: ({ baits }) => creates(`${baits.home}/.ssh/authorized_keys`),
    twin: writesState,
    stops: ['ENOENT'],
    layers: [],
    also: 'bubblewrap',
    setting: SHARED,
  },
  {
    id: 'user-home-by-link',
    group: 'writing',
    title: "writes into the user's home by a link that it left in its folder",
    program: ({ baits, state }) =>
      tries(`fs.rmSync('${state}/out', { force: true }); fs.symlinkSync(${quoted(baits.home)}, '${state}/out');
        fs.writeFileSync('${state}/out/planted', 'x')`),
    twin: ({ state }) =>
      tries(`fs.rmSync('${state}/in', { force: true }); fs.mkdirSync('${state}/inner', { recursive: true });
        fs.symlinkSync('${state}/inner', '${state}/in'); fs.writeFileSync('${state}/in/x', 'x')`),
    stops: ['ENOENT'],
    layers: [],
    also: 'bubblewrap',
    setting: SHARED,
  },
  {
    id: 'lease',
    group: 'writing',
    title: 'makes everybody wait who opens a file (F_SETLEASE)',
    program: leases(1024, 1), // F_WRLCK
    twin: leases(3), // F_GETFL
    stops: ['EINVAL'],
    layers: ['seccomp'],
    setting: SHARED,
  },
  {
    id: 'kept-lock',
    group: 'writing',
    title: 'keeps a lock on a file that it may only read, so that nobody else can write it',
    program: ({ code }) => locksFor(`${code}/note.txt`, 12),
    twin: ({ code }) => locksFor(`${code}/note.txt`, 1),
    stops: ['limit'],
    layers: ['watchdog'],
    setting: { in: 'alone' },
    cordonOnly: true,
  },
  {
    id: 'lock-of-nobody',
    group: 'writing',
    title: 'locks a file so that nobody can find out who did (F_OFD_SETLK)',
    program: ({ state }) => ({
      kind: 'calls',
      calls: [
        call('openat', -100, text(`${state}/locked`), 0o102, 0o600),
        call('fcntl', { result: 1 }, 37, zeros(32)), // F_OFD_SETLK, F_RDLCK
      ],
    }),
    twin: ({ state }) => ({
      kind: 'calls',
      calls: [
        call('openat', -100, text(`${state}/locked-too`), 0o102, 0o600),
        call('fcntl', { result: 1 }, 6, zeros(32)), // F_SETLK
      ],
    }),
    stops: ['EINVAL'],
    layers: ['seccomp'],
    setting: SHARED,
    cordonOnly: true,
  },
  {
    id: 'pipe-for-reading',
    group: 'writing',
    title: 'writes to a named pipe in a folder that it may only read',
    program: ({ code }) => writesPipe(`${code}/pipe`),
    twin: ({ code }) => readsPipe(`${code}/pipe`),
    stops: ['EACCES'],
    layers: ['landlock'],
    setting: SHARED,
    cordonOnly: true,
  },
  {
    id: 'pipe-opened-again',
    group: 'writing',
    title: 'opens a named pipe for reading, and then its descriptor for writing',
    program: ({ code }) =>
      tries(`const pipe = fs.openSync('${code}/pipe', fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
        fs.writeSync(fs.openSync('/proc/self/fd/' + pipe, fs.constants.O_RDWR | fs.constants.O_NONBLOCK), 'planted')`),
    // What Landlock must leave alone: writing to what is open anyway, and renaming from one own folder to another.
    twin: ({ state }) =>
      tries(`fs.writeFileSync('/dev/null', ''); fs.mkdirSync('${state}/from'); fs.mkdirSync('${state}/to');
        fs.writeFileSync('${state}/from/file', ''); fs.renameSync('${state}/from/file', '${state}/to/file')`),
    stops: ['EACCES'],
    layers: ['landlock'],
    setting: SHARED,
    cordonOnly: true,
  },
  {
    id: 'core-pattern',
    group: 'writing',
    title: 'opens the setting that starts a program as root at each crash',
    program: () => opensForWriting('/proc/sys/kernel/core_pattern'),
    twin: () => tries(`fs.readFileSync('/proc/sys/kernel/core_pattern')`),
    stops: ['EROFS', 'EACCES'],
    layers: ['kernel-settings', 'separate-user'],
    rootOnly: true,
    setting: SHARED,
  },
  {
    id: 'network-settings',
    group: 'writing',
    title: "opens the kernel's settings of its network for writing",
    program: () => opensForWriting('/proc/sys/net/ipv4/ip_unprivileged_port_start'),
    twin: () => tries(`fs.readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start')`),
    stops: ['EROFS', 'EACCES'],
    layers: ['kernel-settings'],
    also: 'user-namespace',
    setting: SHARED,
  },
  {
    id: 'namespace-settings',
    group: 'writing',
    title: "opens the kernel's limits of namespaces for writing",
    program: () => opensForWriting('/proc/sys/user/max_user_namespaces'),
    twin: () => tries(`fs.readFileSync('/proc/sys/kernel/pid_max')`),
    stops: ['ENOENT', 'EROFS', 'EACCES'],
    layers: ['kernel-settings', 'capabilities'],
    setting: SHARED,
  },
  {
    id: 'sysrq',
    group: 'writing',
    title: 'opens /proc/sysrq-trigger, which restarts the machine',
    program: () => opensForWriting('/proc/sysrq-trigger'),
    twin: () => tries(`fs.readFileSync('/proc/uptime')`),
    stops: ['EROFS', 'EACCES', 'ENOENT'],
    layers: ['separate-user'],
    rootOnly: true,
    also: 'bubblewrap',
    setting: SHARED,
  },
  {
    id: 'oom-score',
    group: 'writing',
    title: 'makes itself the last that is ended when memory is short',
    program: () => tries(`fs.writeFileSync('/proc/self/oom_score_adj', '-1000')`),
    twin: () => tries(`fs.writeFileSync('/proc/self/oom_score_adj', '100')`),
    stops: ['EACCES', 'EPERM'],
    layers: [],
    also: 'user-namespace',
    setting: SHARED,
  },
  {
    id: 'user-map',
    group: 'writing',
    title: 'maps itself to user 0',
    program: () => tries(`fs.writeFileSync('/proc/self/uid_map', '0 0 1')`),
    twin: () => tries(`fs.readFileSync('/proc/self/uid_map')`),
    stops: ['EPERM', 'EACCES', 'EROFS'],
    layers: [],
    also: 'user-namespace',
    setting: SHARED,
  },
];
