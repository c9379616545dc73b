/** Other processes: those of the host, and what is around the app in its own sandbox. */
import { type Argument, type Attempt, type Call, call, zeros } from '../attempt.ts';
import { ALONE, findsBait, node, SHARED, tries } from './words.ts';

/** The process that ends the app; what the app may do with itself is the twin. */
function ofInit(
  id: string,
  title: string,
  code: (process: string) => string,
  stops: readonly string[] = ['EACCES', 'EPERM'],
): Attempt {
  return {
    id: `init-${id}`,
    group: 'processes',
    title: `${title} of the process that ends it`,
    program: () => tries(code('1')),
    twin: () => tries(code('self')),
    stops,
    layers: ['own-init'],
    // Yama lets nobody but its ancestors look at a process.
    kernelMayRefuse: ['EACCES', 'EPERM'],
    cordonOnly: true, // what ends an app is each sandbox's own
    setting: SHARED,
  };
}

/** The same by a system call, which names the process by its number. */
function callOfInit(
  id: string,
  title: string,
  calls: (process: Argument) => readonly Call[],
  changes: Pick<Attempt, 'layers' | 'stops'> & Partial<Attempt>,
): Attempt {
  return {
    id: `init-${id}`,
    group: 'processes',
    title: `${title} the process that ends it`,
    program: () => ({ kind: 'calls', calls: calls(1) }),
    twin: () => ({ kind: 'calls', calls: [call('getpid')] }),
    kernelMayRefuse: ['EPERM'],
    cordonOnly: true,
    setting: SHARED,
    ...changes,
  };
}

const INIT: readonly Attempt[] = [
  ofInit(
    'memory',
    'opens the memory for writing',
    (pid) => `fs.closeSync(fs.openSync('/proc/${pid}/mem', 'r+'))`,
  ),
  ofInit(
    'memory-read',
    'opens the memory for reading',
    (pid) => `fs.closeSync(fs.openSync('/proc/${pid}/mem'))`,
  ),
  ofInit('address', 'learns the address of the code', (pid) => `fs.readFileSync('/proc/${pid}/syscall')`),
  ofInit('maps', 'learns the addresses of the memory', (pid) => `fs.readFileSync('/proc/${pid}/maps')`),
  ofInit('descriptors', 'opens the open files', (pid) => `fs.readdirSync('/proc/${pid}/fd')`),
  ofInit('folder', 'goes through the folder', (pid) => `fs.readdirSync('/proc/${pid}/cwd/')`),
  ofInit(
    'score',
    'changes the turn',
    (pid) => `fs.closeSync(fs.openSync('/proc/${pid}/oom_score_adj', 'r+'))`,
  ),
  {
    ...ofInit('name', 'changes the name', (pid) => `fs.writeFileSync('/proc/${pid}/comm', 'other')`, [
      'EACCES',
      'EINVAL',
      'EPERM',
    ]),
    layers: [],
    also: 'kernel',
  },
  // PTRACE_SEIZE: unlike PTRACE_ATTACH it does not stop whom it traces.
  callOfInit('trace', 'traces', (pid) => [call('ptrace', 0x4206, pid, 0, 0)], {
    stops: ['SIGSYS'],
    layers: ['seccomp', 'own-init'],
  }),
  callOfInit('compare', 'compares the files of', (pid) => [call('kcmp', pid, pid, 2, 0, 0)], {
    stops: ['SIGSYS'],
    layers: ['seccomp', 'own-init'],
  }),
  callOfInit(
    'steal',
    'takes a descriptor out of',
    (pid) => [call('pidfd_open', pid, 0), call('pidfd_getfd', { result: 1 }, 0, 0)],
    { stops: ['SIGSYS'], layers: ['seccomp', 'own-init'] },
  ),
  callOfInit('limits', 'learns and sets limits of', (pid) => [call('prlimit64', pid, 7, 0, zeros(16))], {
    stops: ['EPERM'],
    layers: ['seccomp'],
  }),
  callOfInit('priority', 'puts itself before', (pid) => [call('setpriority', 0, pid, 19)], {
    stops: ['EPERM'],
    layers: ['seccomp'],
  }),
  callOfInit(
    'locks',
    'learns an address from',
    (pid) => [call('get_robust_list', pid, { bytes: '00'.repeat(8) }, { bytes: '00'.repeat(8) })],
    { stops: ['EPERM'], layers: ['seccomp', 'own-init'] },
  ),
  {
    id: 'unfiltered-helper',
    group: 'processes',
    title: 'finds a process around it that has no filter of system calls',
    program: () =>
      findsBait(
        `fs.readdirSync('/proc').filter((name) => Number(name) > 0).map((pid) => {
          try { return fs.readFileSync('/proc/' + pid + '/status', 'latin1') } catch { return '' } }).join()`,
        'Seccomp:\t0',
      ),
    twin: () => findsBait(`fs.readFileSync('/proc/self/status', 'latin1')`, 'Seccomp:'),
    stops: ['absent'],
    layers: ['seccomp'],
    cordonOnly: true,
    setting: SHARED,
  },
  {
    id: 'unlimited-forwarder',
    group: 'processes',
    title: 'finds higher limits than its own at the helper that brings its network',
    program: () =>
      node(`const limits = (pid) => [...fs.readFileSync('/proc/' + pid + '/limits', 'latin1')
          .matchAll(/^(Max [a-z ]+?)\\s{2,}\\S+\\s+(\\S+)/gm)].map(([, name, hard]) => [name, hard === 'unlimited' ? Infinity : Number(hard)]);
        const own = new Map(limits('self'));
        limits(2).some(([name, hard]) => hard > own.get(name)) ? through() : refused('absent')`),
    twin: () => tries(`fs.readFileSync('/proc/2/limits')`),
    stops: ['absent'],
    layers: [],
    also: 'limits',
    cordonOnly: true,
    setting: { in: 'network' },
  },
  {
    id: 'files-of-forwarder',
    group: 'processes',
    title: 'finds files of the host open at the helper that brings its network',
    program: () =>
      node(`const open = fs.readdirSync('/proc/2/fd').map((name) => { try { return fs.readlinkSync('/proc/2/fd/' + name) } catch { return '' } });
        open.some((target) => target.startsWith('/') && target !== '/dev/null') ? through() : refused('absent')`),
    twin: () => tries(`fs.readdirSync('/proc/2/fd')`),
    stops: ['absent'],
    layers: [],
    also: 'hub',
    cordonOnly: true,
    setting: { in: 'network' },
  },
];

export const PROCESSES: readonly Attempt[] = [
  {
    id: 'signal-hub',
    group: 'processes',
    title: 'sends a signal to the hub',
    program: ({ baits }) => tries(`process.kill(${baits.hub}, 0)`),
    twin: () => tries('process.kill(process.pid, 0)'),
    stops: ['ESRCH', 'EPERM'],
    layers: ['pid-namespace', 'separate-user'],
    setting: SHARED,
  },
  {
    id: 'pidfd-hub',
    group: 'processes',
    title: 'takes hold of the hub by a descriptor and signals it',
    program: ({ baits }) => ({
      kind: 'calls',
      calls: [call('pidfd_open', baits.hub, 0), call('pidfd_send_signal', { result: 1 }, 0, 0, 0)],
    }),
    twin: () => ({
      kind: 'calls',
      calls: [
        call('getpid'),
        call('pidfd_open', { result: 1 }, 0),
        call('pidfd_send_signal', { result: 2 }, 0, 0, 0),
      ],
    }),
    stops: ['ESRCH', 'EPERM'],
    layers: ['pid-namespace', 'separate-user'],
    setting: SHARED,
  },
  {
    id: 'limits-of-hub',
    group: 'processes',
    title: 'reads and sets limits of the hub',
    program: ({ baits }) => ({ kind: 'calls', calls: [call('prlimit64', baits.hub, 7, 0, zeros(16))] }),
    twin: () => ({ kind: 'calls', calls: [call('prlimit64', 0, 7, 0, zeros(16))] }),
    stops: ['EPERM', 'ESRCH'],
    layers: ['seccomp', 'pid-namespace', 'separate-user'],
    setting: SHARED,
  },
  {
    id: 'trace-hub',
    group: 'processes',
    title: 'traces the hub',
    // PTRACE_SEIZE: unlike PTRACE_ATTACH it does not stop whom it traces.
    program: ({ baits }) => ({ kind: 'calls', calls: [call('ptrace', 0x4206, baits.hub, 0, 0)] }),
    twin: () => ({ kind: 'calls', calls: [call('getppid')] }),
    stops: ['SIGSYS'],
    layers: ['seccomp', 'pid-namespace'],
    also: 'user-namespace',
    setting: SHARED,
  },
  {
    id: 'trace-child',
    group: 'processes',
    title: 'traces a process of its own',
    program: () => ({ kind: 'probe', args: ['ptrace'] }),
    twin: () => ({ kind: 'probe', args: ['children', '1'] }),
    stops: ['SIGSYS'],
    layers: ['seccomp'],
    setting: SHARED,
  },
  {
    id: 'read-memory',
    group: 'processes',
    title: 'reads the memory of another process (process_vm_readv)',
    program: () => ({ kind: 'probe', args: ['readv', '0'] }),
    twin: () => ({ kind: 'probe', args: ['children', '1'] }),
    stops: ['SIGSYS'],
    layers: ['seccomp'],
    setting: SHARED,
  },
  {
    id: 'steal-descriptor',
    group: 'processes',
    title: 'takes a descriptor out of a process (pidfd_getfd)',
    program: () => ({
      kind: 'calls',
      calls: [call('getpid'), call('pidfd_open', { result: 1 }, 0), call('pidfd_getfd', { result: 2 }, 0, 0)],
    }),
    twin: () => ({ kind: 'calls', calls: [call('getpid'), call('pidfd_open', { result: 1 }, 0)] }),
    stops: ['SIGSYS'],
    layers: ['seccomp'],
    setting: SHARED,
  },
  {
    id: 'compare-processes',
    group: 'processes',
    title: 'learns addresses of the kernel by comparing processes (kcmp)',
    program: () => ({
      kind: 'calls',
      calls: [call('getpid'), call('kcmp', { result: 1 }, { result: 1 }, 0, 0, 0)],
    }),
    twin: () => ({ kind: 'calls', calls: [call('getpid')] }),
    stops: ['SIGSYS'],
    layers: ['seccomp'],
    setting: SHARED,
  },
  {
    id: 'launcher-group',
    group: 'processes',
    title: 'signals the process group of what started it',
    program: ({ baits }) =>
      node(`const group = Number(fs.readFileSync('/proc/self/stat', 'latin1').split(') ')[1].split(' ')[2]);
        group === 0 || group === ${baits.group} ? through() : refused('absent')`),
    twin: () => tries(`fs.readFileSync('/proc/self/stat')`),
    stops: ['absent'],
    layers: ['session'],
    setting: SHARED,
  },
  {
    id: 'outlive',
    group: 'processes',
    title: 'leaves a process behind that goes on after the app was ended',
    program: ({ state }) =>
      node(`fs.rmSync('${state}/outlived', { force: true });
        require('node:child_process').spawn(process.execPath, ['-e', \`setTimeout(() => {
          require('node:fs').writeFileSync('${state}/outlived', '') }, 700)\`], { detached: true, stdio: 'ignore' }).unref();
        setTimeout(() => refused('ended'), 100)`),
    leaves: 'outlived',
    twin: () => tries(`require('node:child_process').execFileSync(process.execPath, ['-e', '0'])`),
    stops: ['ended'],
    layers: ['pid-namespace'],
    setting: ALONE,
  },
  {
    id: 'become-root',
    group: 'processes',
    title: 'becomes user 0 (setuid)',
    program: () => ({ kind: 'calls', calls: [call('setuid', 0)] }),
    twin: () => ({ kind: 'calls', calls: [call('getuid'), call('setuid', { result: 1 })] }),
    stops: ['EINVAL', 'EPERM'],
    layers: ['separate-user'],
    rootOnly: true,
    setting: SHARED,
  },
  {
    id: 'raise-limit',
    group: 'processes',
    title: 'raises a limit that was set for it',
    program: () => ({
      kind: 'calls',
      // RLIMIT_NOFILE, soft and hard 1,048,577: more than any kernel's default.
      calls: [call('prlimit64', 0, 7, { words: [1_048_577, 1_048_577] }, 0)],
    }),
    twin: () => ({ kind: 'calls', calls: [call('prlimit64', 0, 7, { words: [32, 32] }, 0)] }),
    stops: ['EPERM'],
    layers: [],
    also: 'user-namespace',
    setting: SHARED,
  },
  {
    id: 'raise-priority',
    group: 'processes',
    title: 'puts itself before all others (setpriority)',
    program: () => tries(`require('node:os').setPriority(-20)`),
    twin: () => tries(`require('node:os').getPriority()`),
    stops: ['EACCES', 'EPERM', 'ERR_SYSTEM_ERROR'],
    layers: [],
    also: 'user-namespace',
    setting: SHARED,
  },
  ...INIT,
];
