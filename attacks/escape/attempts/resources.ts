/** Using up what the machine has. All are bounded by their own numbers, so that no harm is done where nothing stops them. */
import { type Attempt, call, type Program, text } from '../attempt.ts';
import { node, quoted, SHARED, tries } from './words.ts';

/** Small, so that the bombs may be small. */
/** Time of the processor is not what runs out first, also on a slow machine. */
export const BOMB_LIMITS = { memoryMiB: 300, cpuSeconds: 60, processes: 24, openFiles: 64, fileMiB: 4 };
export const BOMB_TMP_MIB = 8;

function bomb(
  id: string,
  title: string,
  program: Program | Attempt['program'],
  twin: Program | Attempt['twin'],
  changes: Pick<Attempt, 'stops' | 'layers'> & Partial<Attempt>,
): Attempt {
  return {
    id,
    group: 'resources',
    title,
    program: typeof program === 'function' ? program : () => program,
    twin: typeof twin === 'function' ? twin : () => twin,
    setting: { in: 'alone', limits: BOMB_LIMITS },
    ...changes,
  };
}

function probe(...args: readonly (string | number)[]): Program {
  return { kind: 'probe', args: args.map(String) };
}

/** Many times as long as whoever watches memory, or measures folders, waits between two looks: a busy machine makes both late. */
const WATCHED_MS = 10_000;
const MEASURED_MS = 15_000;

/** Buffers that are really written to, until there are `mib` of them; then they are held for the watch to see. */
function buffers(mib: number): Program {
  return node(`const held = [];
    while (held.length < ${mib / 16}) held.push(Buffer.alloc(16 << 20, 1));
    setTimeout(() => held.length > 0 && through(), ${WATCHED_MS})`);
}

/** Writes `count` files of `kib`; what the error of the last is called is why it stopped. */
function files(folder: string, count: number, kib: number): Program {
  return node(`const content = Buffer.alloc(${kib} << 10, 1);
    try {
      for (let n = 0; n < ${count}; n++) fs.writeFileSync(${quoted(folder)} + '/cordon-attack-' + n, content);
      setTimeout(() => through(), ${WATCHED_MS});
    } catch (error) { refused(error.code) }`);
}

/** Files of 4 MiB below a folder whose name is not UTF-8. */
function hiddenFiles(folder: string, count: number): Program {
  return node(`const content = Buffer.alloc(4 << 20, 1);
    const hidden = Buffer.concat([Buffer.from(${quoted(`${folder}/`)}), Buffer.from([0xff, 0xfe])]);
    fs.mkdirSync(hidden, { recursive: true });
    for (let n = 0; n < ${count}; n++) fs.writeFileSync(Buffer.concat([hidden, Buffer.from('/' + n)]), content);
    setTimeout(() => through(), ${MEASURED_MS})`);
}

/** Folders within folders, so that whoever measures them walks far for each. */
function nestedFolders(folder: string, depth: number): Program {
  return node(`process.chdir(${quoted(folder)});
    for (let n = 0; n < ${depth}; n++) { fs.mkdirSync('d', { recursive: true }); process.chdir('d'); }
    setTimeout(() => through(), ${MEASURED_MS})`);
}

/** `fallocate(file, mode, 0, mib)`. */
function allocates(mode: number, mib: number): Attempt['program'] {
  return ({ state }) => ({
    kind: 'calls',
    calls: [
      call('openat', -100, text(`${state}/allocated-${mib}`), 0o102, 0o600),
      call('fallocate', { result: 1 }, mode, 0, mib << 20),
    ],
  });
}

const KEEP_SIZE = 1;

/** Open files of 4 MiB that have no name any more. */
function deletedFiles(folder: string, count: number): Program {
  return node(`const content = Buffer.alloc(4 << 20, 1), held = [];
    for (let n = 0; n < ${count}; n++) {
      const path = ${quoted(folder)} + '/cordon-deleted-' + process.pid + '-' + n;
      held.push(fs.openSync(path, 'w'));
      fs.unlinkSync(path);
      fs.writeSync(held[n], content);
    }
    setTimeout(() => through(), ${MEASURED_MS})`);
}

const HURRIED: Attempt['setting'] = { in: 'alone', limits: { ...BOMB_LIMITS, cpuSeconds: 2 } };

const BOTH = ['resource-limits', 'watchdog'] as const;

export const RESOURCES: readonly Attempt[] = [
  bomb('fork-bomb', 'starts processes without end', probe('children', 60), probe('children', 5), {
    stops: ['EAGAIN', 'limit'],
    layers: BOTH,
  }),
  bomb('zombie-swarm', 'leaves ended processes unwaited for', probe('zombies', 60), probe('zombies', 5), {
    stops: ['EAGAIN', 'limit'],
    layers: BOTH,
  }),
  bomb('memory', 'fills memory', probe('hold', 1_000, 1), probe('hold', 50, 1), {
    stops: ['ENOMEM', 'limit'],
    layers: BOTH,
  }),
  bomb('memory-of-many', 'fills memory with three processes', probe('hold', 180, 3), probe('hold', 30, 3), {
    stops: ['limit'],
    layers: ['watchdog'],
  }),
  // Node may have threads, and of each the kernel counts what V8 reserves: no limit of one process bounds this.
  bomb('memory-of-buffers', 'fills memory with buffers of Node', buffers(1_024), buffers(64), {
    stops: [
      'ERR_MEMORY_ALLOCATION_FAILED',
      'Array buffer allocation failed',
      'limit',
      'SIGABRT',
      'SIGTRAP',
      'SIGILL',
    ],
    layers: ['watchdog'],
  }),
  bomb(
    'memory-of-text',
    'fills memory with text',
    node(`let text = 'x'.repeat(1 << 20); const held = [];
      for (let n = 0; n < 700; n++) held.push(Buffer.from(text + n).toString('latin1'));
      setTimeout(() => held.length > 0 && through(), ${WATCHED_MS})`),
    node(`const held = 'x'.repeat(1 << 20); through()`),
    {
      stops: ['limit', 'SIGABRT', 'SIGTRAP', 'SIGILL', 'code 133', 'code 134'],
      layers: ['watchdog'],
    },
  ),
  bomb(
    'memory-of-kernel',
    "fills the kernel's memory with sockets that nobody reads",
    probe('buffers', 600, 20),
    probe('buffers', 1, 1),
    {
      stops: ['limit'],
      layers: ['watchdog'],
      setting: { in: 'alone', limits: { ...BOMB_LIMITS, openFiles: 512 } },
    },
  ),
  bomb(
    'memory-of-tables',
    'fills memory with the tables by which the kernel finds memory',
    probe('tables', 192),
    probe('tables', 4),
    { stops: ['limit'], layers: ['watchdog'] },
  ),
  bomb(
    'temporary-files',
    'fills /tmp',
    ({ tmp }) => files(tmp, 24, 1_024),
    ({ tmp }) => files(tmp, 2, 1_024),
    { stops: ['ENOSPC'], layers: [], also: 'limits' },
  ),
  bomb(
    'many-files',
    'fills /tmp with empty files',
    ({ tmp }) => files(tmp, 40_000, 0),
    ({ tmp }) => files(tmp, 40, 0),
    { stops: ['ENOSPC', 'limit'], layers: ['watchdog'] },
  ),
  bomb(
    'shared-memory-files',
    'fills /dev/shm',
    () => files('/dev/shm', 8, 1_024),
    () => files('/dev/shm', 4, 8),
    { stops: ['ENOSPC'], layers: [], also: 'limits' },
  ),
  bomb(
    'large-file',
    'writes a file larger than allowed',
    ({ state }) => files(state, 1, 8 * 1_024),
    ({ state }) => files(state, 1, 1_024),
    { stops: ['EFBIG', 'SIGXFSZ', 'limit'], layers: ['resource-limits'] },
  ),
  bomb(
    'deleted-files',
    'fills the disk with files that it deletes and keeps open',
    ({ state }) => deletedFiles(state, 30),
    ({ state }) => deletedFiles(state, 3),
    {
      stops: ['limit'],
      layers: ['watchdog'],
      setting: { in: 'alone', limits: { ...BOMB_LIMITS, storageMiB: 80 } },
    },
  ),
  bomb(
    'allocated-file',
    'takes room for a file beyond its limit (fallocate with KEEP_SIZE)',
    allocates(KEEP_SIZE, 80),
    allocates(0, 1),
    { stops: ['ENOTSUP'], layers: ['seccomp'], setting: SHARED },
  ),
  bomb(
    'hidden-files',
    'fills the disk below a folder whose name is not UTF-8',
    ({ state }) => hiddenFiles(state, 30),
    ({ state }) => hiddenFiles(state, 3),
    {
      stops: ['limit'],
      layers: ['watchdog'],
      setting: { in: 'alone', limits: { ...BOMB_LIMITS, storageMiB: 80 } },
    },
  ),
  bomb(
    'nested-folders',
    'makes whoever measures its folder walk far',
    ({ state }) => nestedFolders(state, 500),
    ({ state }) => nestedFolders(state, 20),
    {
      stops: ['limit'],
      layers: ['watchdog'],
      setting: { in: 'alone', limits: { ...BOMB_LIMITS, storageMiB: 80 } },
    },
  ),
  bomb(
    'descriptors',
    'opens files without end',
    tries(`for (let n = 0; n < 200; n++) fs.openSync('/proc/self/stat')`),
    tries(`for (let n = 0; n < 10; n++) fs.openSync('/proc/self/stat')`),
    { stops: ['EMFILE'], layers: ['resource-limits'] },
  ),
  bomb(
    'watchers',
    'takes all instances of inotify that the user has',
    { kind: 'calls', calls: Array.from({ length: 20 }, () => call('inotify_init1', 0)) },
    { kind: 'calls', calls: Array.from({ length: 4 }, () => call('inotify_init1', 0)) },
    { stops: ['EMFILE'], layers: ['resource-limits'], setting: SHARED },
  ),
  bomb('processor', 'uses the processor without end', probe('spin', 6, 1), probe('spin', 1, 1), {
    stops: ['SIGXCPU', 'limit'],
    layers: BOTH,
    setting: HURRIED,
  }),
  bomb(
    'processor-of-many',
    'uses the processor with four processes',
    probe('spin', 1, 5),
    probe('spin', 0, 5),
    {
      stops: ['limit'],
      layers: ['watchdog'],
      setting: HURRIED,
    },
  ),
  bomb(
    'locked-memory',
    'keeps memory from being swapped',
    {
      kind: 'calls',
      // PROT_READ|WRITE, MAP_PRIVATE|ANONYMOUS; the limit is 64 KiB.
      calls: [call('mmap', 0, 32 << 20, 3, 0x22, -1, 0), call('mlock', { result: 1 }, 32 << 20)],
    },
    {
      kind: 'calls',
      calls: [call('mmap', 0, 1 << 14, 3, 0x22, -1, 0), call('mlock', { result: 1 }, 1 << 14)],
    },
    { stops: ['ENOMEM', 'EPERM', 'EAGAIN'], layers: ['resource-limits'], kernelMayRefuse: ['ENOMEM'] },
  ),
];
